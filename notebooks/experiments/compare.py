# %% [markdown]
# # Experiment: every method, and its flat-seeking version
#
# **Question.** What do the methods of the field cost and give on the same few examples, and what does seeking flat ground change?
#
# **Grid.** Digits, 10 shots a class, an MLP of which the norm layers and the head are treated. Every method of `fv.METHODS` with the
# default settings, not tuned; *F-* takes every gradient at the end of a step of SAM, so that a step costs two gradients. Each method that
# has such a version is fitted twice as long as well, for a comparison at equal gradients: twice the steps, snapshots, burn-in and steps
# from draw to draw. Each seed draws its split, network, prior and noise, and all methods of a seed share them.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "compare"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
METHODS = ""  # names of `fv.METHODS` with commas between; "": those of the stored table
LENGTHS = (
    "1,2"  # of the fits, in default lengths; longer than 1: of methods with a flat-seeking version
)
SEEDS = 40
DATA = "digits"  # task, by name
MODEL = "mlp"  # network, by name
EPOCHS = 0  # of pre-training; 0: those of the network's recipe
STEPS = 0  # of each fit that takes steps; 0: those of the method
DRAWS = 30  # averaged for a prediction
SPECTRA = 3  # draws of which the curvature is measured
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import time

import numpy as np
import pandas as pd
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.experiments import (
    QUANTITIES,
    at,
    judged,
    paired,
    read_table,
    run,
    sentences,
    shown,
    write_table,
)
from flatviz.experiments.statistics import HOLDS, MISSING, NOT, OPEN, apart, mean_zero
from flatviz.families.members import Fitting, unless_diverged
from flatviz.families.preparation import task_for
from flatviz.families.tour import prepare
from flatviz.families.tune import scored
from flatviz.site import defined_in
from flatviz.storage.cache import committed

reference = defined_in("reference")
reference_of = reference["reference_of"]
weights_mmd = reference["weights_mmd"]

# %% [markdown]
# ## The grid

# %%
PLAIN = ("sgd", "fisher_sam", "swa", "swag_diag", "swag", "mfvi", "moped", "vi", "sabma", "bsam", "laplace", "sgld", "sghmc", "csgld",
         "emcmc", "svgd", "dropout", "ensemble", "multiswag")  # fmt: skip
every = [n for m in PLAIN for n in (m, f"f-{m}") if n in fv.METHODS]
asked = [name.strip() for name in METHODS.split(",")] if METHODS else every
cells = [
    dict(method=m, steps=float(n))
    for n in str(LENGTHS).split(",")
    for m in asked
    if n == "1" or f"f-{m}" in asked
]
grid = [dict(cell, seed=seed) for seed in range(SEEDS) for cell in cells]
LONGER = (
    "steps",
    "snapshots",
    "burn_in",
    "thin",
    "cycle_steps",
)  # settings that are the length of a fit
COMPARED_WITH_HMC = (DATA, MODEL, EPOCHS) == (
    "digits",
    "mlp",
    0,
)  # the network whose exact posterior is stored
SAMPLED = 10  # seeds, from 0 on, whose exact posterior is stored


# %%
def fit(
    cells,
    device,
    model=MODEL,
    data=DATA,
    epochs=EPOCHS,
    steps=STEPS,
    compared=COMPARED_WITH_HMC,
    sampled=SAMPLED,
):
    """Posteriors of one seed with the seconds that each took; None for a fit that diverged."""
    seed = cells[0]["seed"]
    net, task, prior = prepare(
        model, task=task_for(data, seed), seed=seed, epochs=epochs or None, device=device
    )
    exact = reference_of(net, task, prior, seed=seed) if compared and seed < sampled else None
    for cell in cells:
        started = time.perf_counter()
        usual = fv.METHODS[cell["method"]].tuned(net).settings | ({"steps": steps} if steps else {})
        settings = {name: round(cell["steps"] * usual[name]) for name in LONGER if name in usual}
        q = unless_diverged(
            Fitting(net, task, prior, seed=seed, fit=settings).member, cell["method"]
        )
        yield cell, (net, task, q, exact, time.perf_counter() - started)


# %%
SCORES, CALIBRATION, NEAR = (
    ("accuracy", "nll", "ece", "brier"),
    ("class_ece", "ace", "temperature", "tempered_nll"),
    ("agreement", "tv", "mmd"),
)


def measure(fitted, cell, n_draws=DRAWS, n_spectra=SPECTRA):
    """Scores, mutual information, curvature, nearness to HMC, and cost in seconds and in gradients a step."""
    net, task, q, exact, seconds = fitted
    if q is None:
        return dict.fromkeys(
            [
                *SCORES,
                *CALIBRATION,
                "mi",
                "lambda1",
                "ratio",
                *(() if exact is None else NEAR),
                "seconds",
                "gradients",
            ],
            np.nan,
        )
    method, seed = fv.METHODS[cell["method"]], cell["seed"]
    prediction = scored(net, method, q, task.test, seed=seed + 1, n_draws=n_draws)
    validated = scored(net, method, q, task.validation, seed=seed + 1, n_draws=n_draws)
    f, W = fv.nll(net, task.train), q.sample(min(n_spectra, prediction.n_draws), seed=seed + 1)
    spectra = torch.stack([fv.top_eigenpairs(f, w, 5, iters=40, seed=seed).values for w in W])
    values = {name: prediction.scores[name][-1] for name in SCORES} | dict(
        mi=fv.metrics.mutual_information(prediction).mean()
    )
    values |= {
        name: fv.score(prediction, name, n_draws=prediction.n_draws) for name in CALIBRATION[:2]
    }
    values |= tempered(validated, prediction)
    values |= dict(lambda1=spectra[:, 0].mean(), ratio=(spectra[:, 0] / spectra[:, 4]).mean())
    near = {}
    if exact is not None:
        p = exact.probabilities
        near = dict(
            agreement=fv.metrics.agreement(prediction, p),
            tv=fv.metrics.total_variation(prediction, p),
        )
        near["mmd"] = weights_mmd(q, exact, seed=seed + 1)
    cost = method.gradients * method.tuned(net).settings.get("members", 1)
    return values | near | dict(seconds=seconds, gradients=cost)


def tempered(validated, prediction):
    """Temperature of the smallest NLL on the validation split, and the test NLL at it; NaN where none is best."""
    missing = dict.fromkeys(CALIBRATION[2:], np.nan)
    if bool((validated.bma().argmax(1) == validated.y).all()):
        return missing
    try:
        temperature = fv.metrics.fit_temperature(validated)
    except ValueError:  # no better than chance
        return missing
    return dict(
        temperature=temperature,
        tempered_nll=fv.metrics.scale_temperature(prediction, temperature).scores["nll"][-1],
    )


# %%
def at_a_glance(table, baselines):
    """Show the verdicts on one method as a table of marks: settings by quantities.

    A cell has a mark for each baseline: + better, − worse, · inconclusive, nothing where not
    comparable; * after a mark: the rank test gives another verdict.  The first column is the ratio
    of λ1 to that of the last baseline.

    Args:
        table: Result of `judged`, with the columns setting and baseline; one row for each setting,
            baseline and quantity.
        baselines: In the order of the marks.
    """
    marks = table.verdict.map({HOLDS: "+", NOT: "−", OPEN: "·", MISSING: ""}) + np.where(
        apart(table), "*", ""
    )
    wide = table.assign(mark=marks).pivot(
        index="setting", columns=["quantity", "baseline"], values="mark"
    )
    logs = table[(table.quantity == "lambda1") & (table.baseline == baselines[-1])].set_index(
        "setting"
    )["mean"]
    cells = {
        QUANTITIES[q].label: wide[q][list(baselines)].agg("/".join, axis=1)
        for q in table.quantity.unique()
    }
    return (
        pd.DataFrame({"λ1 ratio": np.exp(logs).map("{:.2f}".format), **cells})
        .loc[logs.index]
        .reset_index()
    )


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    reference = [committed("hmc_digits.safetensors")] if COMPARED_WITH_HMC else []
    table = run(grid, fit, measure, name="compare", files=reference, device=DEVICE, workers=WORKERS)
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE)

# %% [markdown]
# ## Values
#
# Means over seeds ± half of the 95 % interval. T: the temperature dividing the logits at which the validation split has the smallest
# NLL; a seed whose answers there are all right, or no better than chance, has none, and is left out of T and NLL at T.
#
# MI: mutual information of label and weights. λ1: largest eigenvalue of the training loss's Hessian over the treated weights, mean over
# draws; λ1/λ5: over the fifth largest. Agreement, TV (total variation) and MMD² (of the treated weights): with HMC, over the seeds whose
# exact posterior is stored, 0 to 9. *gradients*: of one network, that a training step takes.

# %%
HEADS = dict(accuracy="accuracy %", nll="NLL", ece="ECE", brier="Brier", class_ece="class-wise ECE", ace="ACE",
             temperature="T", tempered_nll="NLL at T", mi="MI", lambda1="λ1", ratio="λ1/λ5", agreement="agreement %",
             tv="TV", mmd="100 MMD²", seconds="seconds", gradients="gradients")  # fmt: skip
FACTORS = dict(accuracy=100, agreement=100)
known = table.dropna(subset="value")
texts = {c: {HEADS[q]: shown(v.value, factor=FACTORS.get(q, 1)) for q, v in rows.groupby("quantity", sort=False)}
         for c, rows in known.groupby(["method", "steps"], sort=False)}  # fmt: skip
named = [
    fv.METHODS[m].label + (f", {steps:g} times as long" if steps > 1 else "") for m, steps in texts
]
rows = pd.DataFrame(texts.values(), index=named).fillna("")
rows[list(HEADS.values())[:8]]

# %%
rows[[head for head in list(HEADS.values())[8:] if head in rows]]

# %%
means = (
    known[known.steps == known.steps.min()]
    .groupby(["method", "quantity"], sort=False)
    .value.mean()
    .unstack()
    .reset_index()
)
means = means.assign(
    label=means.method.map(lambda m: fv.METHODS[m].label),
    seeks=np.where(means.method.str.startswith("f-"), "flat", "plain"),
)
colors = {fv.METHODS[m].label: fv.METHODS[m].look.color for m in means.method}
px.scatter(means, x="lambda1", y="nll", color="label", symbol="seeks", log_x=True, color_discrete_map=colors,
           symbol_map=dict(plain="circle", flat="circle-open"), labels=dict(lambda1="λ1", nll="test NLL", label=""),
           title="Curvature and test NLL of every method", template="plotly_white", height=700).update_layout(
           legend=dict(orientation="h", y=-0.25, title=""))  # fmt: skip

# %% [markdown]
# *Figure: test NLL over λ1, means over seeds, a point for each method; open: its flat-seeking version.*
#
# ## Verdicts
#
# The flat-seeking version less the method itself, seed by seed: at equal steps, where the flat-seeking version takes twice as many
# gradients, and at equal gradients, where the method itself is fitted twice as long. A claim **holds** or **does not hold** where its
# *p*, corrected by Holm for all claims at equal steps, or all at equal gradients, is under 0.05; else it is **inconclusive**.
# Where a method predicts worse after a fit of twice the length, the comparison at equal gradients favours the flat-seeking version, and
# at equal steps its second gradient does: read both.

# %%
pairs = [m for m in dict.fromkeys(table.method) if f"f-{m}" in set(table.method)]
BASELINES = {"equal steps": 1.0, "equal gradients": 2.0}
BETTER = {"lambda1": -1, "nll": -1, "accuracy": 1, "ece": -1}


def differences(rows, method, steps):
    """The flat-seeking version less the method itself after `steps` times its default steps, paired by seed."""
    flat, plain = at(rows, method=f"f-{method}", steps=1.0), at(rows, method=method, steps=steps)
    near = [paired(flat[flat.index < SAMPLED], plain, {"tv": -1})] if "tv" in flat else []
    return pd.concat([paired(flat, plain, BETTER), *near])


def verdicts_from(rows):
    """Every claim, judged from these rows; None where no method has a flat-seeking version."""
    lengths = {baseline: steps for baseline, steps in BASELINES.items() if steps in set(rows.steps)}
    parts = [differences(rows, m, steps).assign(flat=fv.METHODS[f"f-{m}"].label, against=fv.METHODS[m].label, baseline=baseline)
             for baseline, steps in lengths.items() for m in pairs]  # fmt: skip
    return judged(pd.concat(parts, ignore_index=True), family=["baseline"]) if parts else None


# %%
verdicts = verdicts_from(table)
if pairs:
    verdicts["claim"] = verdicts.flat + " against " + verdicts.against + ", " + verdicts.baseline
    print(*sentences(verdicts), sep="\n")

# %% [markdown]
# ### At a glance
#
# Against the method itself at equal steps / at equal gradients; **+** better, **−** worse,
# **·** inconclusive, **\*** where the rank test has another verdict. *λ1 ratio*: at
# equal gradients.

# %%
both = bool(pairs) and set(verdicts.baseline) == set(BASELINES)
at_a_glance(verdicts.assign(setting=verdicts.flat), list(BASELINES)).style.hide() if both else None

# %% tags=["finding"]
for (baseline, q), words in (
    verdicts.groupby(["baseline", "quantity"], sort=False).verdict if pairs else ()
):
    print(
        f"{baseline}: {HEADS[q]} better in {(words == HOLDS).sum()}, worse in {(words == NOT).sum()} of {len(words)} methods"
    )

# %% [markdown]
# Is a method harmed by training twice as long, so that its flat-seeking version looks good beside it? By 95 % intervals, not corrected.

# %%
if both:
    gains = verdicts[
        (verdicts.baseline == "equal gradients")
        & (verdicts.quantity == "nll")
        & (verdicts.verdict == HOLDS)
    ]
    of = {fv.METHODS[m].label: m for m in pairs}
    higher = [
        mean_zero(at(table, method=of[m], steps=2.0).nll - at(table, method=of[m], steps=1.0).nll)
        for m in gains.against
    ]
    count = sum(test["mean"] > test["half"] for test in higher)
    print(
        f"F- has a lower NLL than {len(gains)} methods that took twice its steps; {count} of these were better after half of them"
    )

# %% [markdown]
# The first ten seeds were judged before the other thirty were run. The verdicts from those thirty alone:

# %%
if both and table.seed.max() >= SAMPLED:
    two = verdicts.merge(
        verdicts_from(table[table.seed >= SAMPLED]),
        on=["flat", "baseline", "quantity"],
        suffixes=("", "_later"),
    )
    moved = two[two.verdict != two.verdict_later]
    reversed_ = (moved.verdict != OPEN) & (moved.verdict_later != OPEN)
    print(
        f"seeds from {SAMPLED} on: {len(moved)} of {len(two)} verdicts differ from those above, {reversed_.sum()} are reversed"
    )

# %% [markdown]
# ## What would change our mind
#
# The default settings were chosen by hand; [tune](tune.ipynb) chooses settings by equal trials, and another choice may turn a verdict.
