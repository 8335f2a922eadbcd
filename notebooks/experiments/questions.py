# %% [markdown]
# # Experiment: which weights, from which start, how many draws?
#
# **Question.** The paper on SA-BMA ([arXiv 2406.15664](https://arxiv.org/abs/2406.15664)) treats norm layers and head of a pre-trained
# network. Does SA-BMA help where **all weights** are treated? Where the network starts **from scratch**, without a source? And is
# flatness needed: would a **larger ensemble** of draws of VI do as well?
#
# **Grid.** On *digits-near* (2 shots a class, where transfer helps) and *digits* (10 shots, where it harms): VI and SA-BMA over norm
# layers and a new head, and over all weights, with SWAG's prior of the source; the head is new there too. On *digits* also from
# scratch: the prior is N(0, 0.1²) on every weight, q starts at torch's initial values with 0.3 of the prior's width. The first table
# below shows why 0.1, and why *digits-near* is left out.
#
# **Comparison.** Seed by seed, SA-BMA with VI of as many steps and of as many gradients (twice the steps).

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "questions"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
FIRST = 800  # the first seed
SEEDS = 40
LONGER = 5  # seeds on which SA-BMA is fitted for twice the steps too, to see what that still gains
EPOCHS = 60  # of pre-training
STEPS = 0  # of each fit; 0: those of the method
SIZES = "1,2,5,10,30,120"  # draws that are averaged
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import math

import numpy as np
import pandas as pd
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.experiments import (
    QUANTITIES,
    at,
    equivalent,
    judged,
    paired,
    read_table,
    run,
    sentences,
    shown,
    write_table,
)
from flatviz.experiments.statistics import LEVEL, mean_zero
from flatviz.families.members import unless_diverged
from flatviz.families.preparation import build_model, task_for
from flatviz.families.tour import HEAD_STD, RANK, prepare
from flatviz.site import defined_in

at_a_glance = defined_in("compare")["at_a_glance"]
measured_of = defined_in("reference")["measured_of"]

# %% [markdown]
# ## Fit and measure

# %%
NEAR, FAR = "digits-near", "digits"
HEAD, ALL, SCRATCH = "norm+head", "all weights", "from scratch"
SETTINGS = [(NEAR, HEAD), (NEAR, ALL), (FAR, HEAD), (FAR, ALL), (FAR, SCRATCH)]
PRIOR_STD, START, WIDTHS = 0.1, 0.3, (0.1, 0.3, 1.0)
RADII = {HEAD: (1.0, 2.0), ALL: (1.0,), SCRATCH: (1.0,)}
usual = STEPS or fv.METHODS["vi"].plain.settings["steps"]

# %%
grid = []
for seed in range(FIRST, FIRST + SEEDS):
    for task, weights in SETTINGS:
        cell = dict(setting=f"{task}, {weights}", seed=seed)
        grid += [
            dict(cell, method="vi", radius=0.0, steps=1.0),
            dict(cell, method="vi", radius=0.0, steps=2.0),
        ]
        grid += [dict(cell, method="sabma", radius=r, steps=1.0) for r in RADII[weights]]
        grid += [dict(cell, method="sabma", radius=1.0, steps=2.0)] if seed < FIRST + LONGER else []


# %%
def from_scratch(task, seed, std, device):
    """Network with all weights treated at torch's initial values, the prior N(0, std^2), and where q starts."""
    net = fv.Net.from_module(build_model("mlp", task.for_source(), seed=seed)).to(device)
    w = net.w.detach()
    prior = fv.Gaussian(torch.zeros_like(w), torch.full_like(w, math.log(std)))
    start = fv.Gaussian(w, torch.full_like(w, math.log(START * std)), w.new_zeros(RANK, len(w)))
    return net, prior, dict(start=start, start_scale=1.0)


def started(name, seed, device):
    """Task of a name, and for each choice of weights the network, the prior and where q starts."""
    net, task, prior = prepare(
        "mlp", task=task_for(name, seed), seed=seed, epochs=EPOCHS, treated="all", device=device
    )
    few = fv.transfer(net, prior, head_std=HEAD_STD)
    head = next(b.name for b in few[0].blocks if b.kind == "head").rpartition(".")[0]
    every = fv.transfer(net, prior, treated="all", head=head, head_std=HEAD_STD)
    return task, {
        HEAD: (*few, {}),
        ALL: (*every, {}),
        SCRATCH: from_scratch(task, seed, PRIOR_STD, device),
    }


# %%
def fit(cells, device):
    """The posteriors of one seed, None for one that diverged; radii of as many steps are fitted at once."""
    seed, of = cells[0]["seed"], {}
    for task, weights in SETTINGS:
        some = [cell for cell in cells if cell["setting"] == f"{task}, {weights}"]
        if some and task not in of:
            of[task] = started(task, seed, device)
        for share in dict.fromkeys(cell["steps"] for cell in some):
            data, (net, prior, start) = of[task][0], of[task][1][weights]
            part = [cell for cell in some if cell["steps"] == share]
            family = [fv.SABMA(prior, radius=cell["radius"], **start) for cell in part]
            how = dict(seeds=[seed], steps=round(share * usual))
            found = unless_diverged(fv.fit_many, net, data.train, family, **how) or {}
            yield from ((cell, (net, data, found.get((i, seed)))) for i, cell in enumerate(part))


# %%
sizes = [int(n) for n in SIZES.split(",")]


def measure(fitted, cell):
    """λ1 and scores of 30 draws, NLL and accuracy of each size of ensemble, and the objective where the fit ended."""
    net, task, q = fitted
    if q is None:
        return {
            name: np.nan
            for name in ("lambda1", "nll", "accuracy", "ece", "shifted_nll", "objective")
        }
    seed, last = cell["seed"], q.history.loss[-max(1, len(q.history.loss) // 20) :]
    values = measured_of(net, task, q, seed=seed)
    scores = fv.predict(net, q, task.test, max(sizes), seed=seed + 1).scores
    values |= {f"{name} of {n}": scores[name][n - 1] for name in ("nll", "accuracy") for n in sizes}
    n, kl_weight = len(last), fv.METHODS["vi"].plain.settings["kl_weight"]
    objective = last.mean() + kl_weight / len(task.train) * q.history.kl[-n:].mean()
    return values | {
        "objective": objective
        + (0.0 if cell["method"] == "vi" else q.history.sharpness[-n:].mean())
    }


# %% [markdown]
# ## The prior's width from scratch
#
# VI from scratch on seeds that the comparison does not use; a width is chosen by the NLL on validation splits.

# %%
trials = [dict(setting=f"{task}, {SCRATCH}, width {std:g}", method="vi", radius=0.0, seed=1000 + i)
          for task in (NEAR, FAR) for std in WIDTHS for i in range(min(3, SEEDS))]  # fmt: skip


def fit_width(cells, device=DEVICE):
    """VI from scratch at each width, None where it diverged."""
    for cell in cells:
        name, _, std = cell["setting"].split(", ")
        task = task_for(name, cell["seed"]).to(device)
        net, prior, start = from_scratch(task, cell["seed"], float(std.split()[1]), device)
        vi = fv.VI(prior, **start)
        q = unless_diverged(fv.fit, net, task.train, vi, seed=cell["seed"], steps=usual)
        yield cell, (net, task, q)


def measure_width(fitted, cell):
    """NLL and accuracy on the validation split."""
    net, task, q = fitted
    scores = q and fv.predict(net, q, task.validation, 30, seed=cell["seed"] + 1).scores
    return {f"validation_{name}": scores[name][-1] if q else np.nan for name in ("nll", "accuracy")}


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    how = dict(device=DEVICE, workers=WORKERS)
    table = pd.concat([run(trials, fit_width, measure_width, name="widths", **how),
                       run(grid, fit, measure, name="questions", **how)], ignore_index=True)  # fmt: skip
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE)
tried, table = table[table.experiment == "widths"], table[table.experiment == "questions"]

# %%
names = dict.fromkeys(tried.setting)
scores = {name: at(tried, setting=name) for name in names}
pd.DataFrame(
    [
        {
            "VI": name,
            "validation NLL": shown(scores[name].validation_nll),
            "validation accuracy %": shown(scores[name].validation_accuracy, factor=100),
        }
        for name in names
    ]
).style.hide()

# %%
for task in (NEAR, FAR):
    mean = {
        name: scores[name].validation_nll.mean(skipna=False)
        for name in names
        if name.startswith(f"{task}, ")
    }
    least = min(mean, key=mean.get)
    test = mean_zero(scores[least].validation_nll - math.log(10))
    word = "better" if test["mean"] + test["half"] < 0 else "not shown to be better"
    print(
        f"{least}: the least validation NLL, {mean[least]:.2f} nats: {word} than guessing, {math.log(10):.2f} ({test['n']} seeds)"
    )

# %%
sizes = sorted({int(q.rpartition(" ")[2]) for q in table.quantity if q.startswith("nll of ")})


def of(setting, method, radius, steps=1.0):
    """(seeds, quantities) of one kind of fit."""
    return at(table, setting=setting, method=method, radius=radius, steps=steps)


# %% [markdown]
# ## Values
#
# Means over seeds ± half of the 95 % interval. *Objective*: mean over the last twentieth of the steps, where the learning rate is nearly
# 0. *Lower by*: how much lower it is after twice the steps, as a share of it; of SA-BMA on fewer seeds. Where the
# interval of this share lies above 0, the fit has not converged. *Steps*: those of the method's default, or twice as many.

# %%
SHOWN = ("lambda1", "nll", "accuracy", "ece", "shifted_nll")
kinds = table[["setting", "method", "radius", "steps"]].drop_duplicates()
rows = []
for kind in kinds.itertuples(index=False):
    values, longer = (
        of(*kind),
        of(kind.setting, kind.method, kind.radius, 2.0) if kind.radius < 2 else None,
    )
    row = dict(
        weights=kind.setting,
        method=fv.METHODS[kind.method].label,
        radius=f"{kind.radius:g}",
        steps=f"{kind.steps:g} x",
    )
    row |= {
        QUANTITIES[q].label: shown(values[q].dropna(), factor=QUANTITIES[q].factor) for q in SHOWN
    }
    gap = (
        (1 - longer.objective / values.objective).dropna()
        if longer is not None and kind.steps == 1
        else ()
    )
    rows.append(
        row
        | {
            "objective": shown(values.objective.dropna()),
            "lower by": f"{shown(100 * gap)} %" if len(gap) else "",
        }
    )
pd.DataFrame(rows).style.hide()

# %% [markdown]
# ## Verdicts: does SA-BMA help?
#
# SA-BMA less VI over the same weights, seed by seed; corrected by Holm for all claims of one setting. What a lower
# temperature of VI does in place of the radius: [frontier](frontier.ipynb).

# %%
parts = []
for task, weights in SETTINGS:
    setting = f"{task}, {weights}"
    for radius in RADII[weights]:
        for steps, baseline in ((1.0, "equal steps"), (2.0, "equal gradients")):
            found = paired(of(setting, "sabma", radius)[list(SHOWN)], of(setting, "vi", 0.0, steps))
            about = dict(setting=setting, radius=radius, baseline=baseline, against="VI")
            parts.append(
                found.assign(claim=f"{setting}: SA-BMA, radius {radius:g}, {baseline}", **about)
            )
verdicts = judged(pd.concat(parts, ignore_index=True), family=["setting"])
print(*sentences(verdicts), sep="\n")

# %% [markdown] tags=["finding"]
# At a glance: SA-BMA at radius 1 against VI of equal steps / of equal gradients; **+** better, **−** worse, **·** inconclusive, **\***
# where the rank test has another verdict. *λ1 ratio*: SA-BMA's λ1 over VI's at equal gradients.

# %% tags=["finding"]
at_a_glance(verdicts[verdicts.radius == 1], ("equal steps", "equal gradients")).style.hide()

# %% [markdown]
# ## Verdicts: is a larger ensemble enough?
#
# Over norm layers and head, NLL of a quarter of the draws less that of VI with all of them. Where it *holds* that SA-BMA's is the lower
# one, a larger ensemble does not replace flatness; where it *does not hold*, a larger ensemble is better. Each verdict is followed by
# that of two one-sided tests: whether the two NLLs lie within 0.01 nats of each other.

# %%
nll = table[
    table.quantity.str.startswith("nll of ") & table.setting.str.endswith(HEAD) & (table.steps == 1)
]
nll = nll.assign(
    draws=nll.quantity.str.rpartition(" ")[2].astype(int), task=nll.setting.str.partition(",")[0]
)
nll["method"] = [
    f"{fv.METHODS[m].label}" + (f", radius {r:g}" if r else "")
    for m, r in zip(nll.method, nll.radius)
]
means = (
    nll.groupby(["task", "method", "draws"], sort=False)
    .value.apply(mean_zero)
    .unstack()
    .reset_index()
)
fig = px.line(means, x="draws", y="mean", color="method", facet_col="task", log_x=True, markers=True, template="plotly_white",
              title="Test NLL by the number of draws that are averaged", labels=dict(mean="test NLL (nats)", method=""))  # fmt: skip
fig.for_each_annotation(lambda a: a.update(text=a.text.split("=")[-1])).update_xaxes(tickvals=sizes)
fig.update_layout(legend=dict(orientation="h", y=-0.2))

# %% [markdown]
# *Figure: mean test NLL over seeds, a panel for each task; over norm layers and head.*

# %%
MARGIN = 0.01  # nats
most, quarter = sizes[-1], sizes[-2]
pairs = []
for task in (NEAR, FAR):
    vi = of(f"{task}, {HEAD}", "vi", 0.0)
    for radius in (*RADII[HEAD], 0.0):
        who = (
            f"SA-BMA, radius {radius:g}, with {quarter} draws"
            if radius
            else f"VI with {quarter} draws"
        )
        values = of(f"{task}, {HEAD}", "sabma", radius) if radius else vi
        test = mean_zero(values[f"nll of {quarter}"] - vi[f"nll of {most}"], better=-1)
        about = dict(
            task=task,
            who=who,
            radius=radius,
            against=f"VI with {most}",
            quantity="nll",
            ratio=False,
        )
        pairs.append({**about, **test, "same": equivalent(test, MARGIN)})
larger = judged(pd.DataFrame(pairs), family="ensemble")
claimed = larger.assign(claim=larger.task + ": " + larger.who + " against " + larger.against)
for row, said in zip(larger.itertuples(), sentences(claimed)):
    word = (
        f"within {MARGIN:g} nats" if row.same < LEVEL else f"not shown to be within {MARGIN:g} nats"
    )
    print(f"{said}; {word} (p {row.same:.2g})")

# %% [markdown]
# ## What would change our mind
#
# One small network without residual connections, digits, one prior from scratch. VI over 9,226 weights and few examples keeps most
# weights at the prior. A network and data large enough to learn from scratch need a card (`--device auto`), and a prior chosen on
# validation data of their own.
