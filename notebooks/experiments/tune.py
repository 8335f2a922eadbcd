# %% [markdown]
# # Experiment: settings by equal trials
#
# **Question.** Which settings does each method need? A comparison is fair if every method had the same number of trials.
#
# **Grid.** For each method the settings of its record, then points of one Sobol sequence on log scales: learning rate, steps, radius
# (0 among them), temperature, weight decay and the width of the prior, where the method has them. All methods share the points: two
# methods that have a setting try the same values of it, in the same trials. A trial is scored by the NLL on a validation split
# as small as the shots, averaged over seeds that no other experiment uses. Test scores choose nothing.
#
# **The choice varies too.** The validation split of each seed also chooses alone, and the test split of that seed scores what it chose.
# Between seeds these test scores differ by the choice as well, as for somebody with one split: the variance of the choice is part of their
# intervals, and of those of the differences between methods.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored choices
TABLE = "tuned_digits_mlp"  # stored choices, or path of a JSON file
SAVE = ""  # path of a JSON file to write the choices to: what `flatviz tour --tuned` reads
METHODS = "vi,sabma,sam_mu,sgd,swag,f-swag,f-vi,laplace,ensemble"  # names of `fv.METHODS`
TRIALS = 16  # of each method
SEEDS = 6  # from 1000 on
DATA = "digits"  # task, by name
MODEL = "mlp"  # network, by name
EPOCHS = 0  # of pre-training; 0: those of the network's recipe
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px

# %%
import flatviz as fv
from flatviz.datasets.splits import hold_out
from flatviz.experiments import judged, paired, run, sentences, shown
from flatviz.families.members import Choice
from flatviz.families.preparation import build_model, task_for
from flatviz.families.tour import HEAD_STD, prepare
from flatviz.families.tune import choices_of, nlls_of
from flatviz.storage.cache import committed

# %% [markdown]
# ## The grid

# %%
FIRST = 1000  # the first seed
asked = [name.strip() for name in METHODS.split(",")]
grid = [
    dict(method=m, setting=f"trial {i}", seed=FIRST + s)
    for s in range(SEEDS)
    for m in asked
    for i in range(TRIALS)
]


# %%
def fit(cells, device, model=MODEL, data=DATA, trials=TRIALS, epochs=EPOCHS):
    """Every trial with what it is fitted on; all of a seed share a network."""
    seed = cells[0]["seed"]
    task = task_for(data, seed)
    if task.validation is None:  # as many of the test examples as there are shots
        validation, test = hold_out(task.test, max(1, len(task.train) // task.n_classes), seed=seed)
        task = dataclasses.replace(task, validation=validation, test=test)
    net, task, prior = prepare(model, task=task, seed=seed, epochs=epochs or None, device=device)
    choices = {
        cell["method"]: choices_of(fv.METHODS[cell["method"]], net, trials) for cell in cells
    }
    for cell in cells:
        yield cell, (choices[cell["method"]][int(cell["setting"].split()[1])], net, task, prior)


def measure(fitted, cell):
    """NLL of the trial on the validation split, and on the test split, which chooses nothing; inf where it diverged."""
    choice, net, task, prior = fitted
    how = dict(prior=prior, seed=cell["seed"])
    nll, test = nlls_of(
        fv.METHODS[cell["method"]], choice, net, task, (task.validation, task.test), **how
    )
    return {"nll": nll, "test": test}


# %%
def choices_in(rows, net, trials=TRIALS):
    """The choice of one method, by all splits together and by each alone, with validation and test NLL."""
    method, found = fv.METHODS[rows.method.iloc[0]], {}
    nll, test = (
        rows[rows.quantity == q].pivot(index="seed", columns="setting", values="value")
        for q in ("nll", "test")
    )
    names = list(dict.fromkeys(rows.setting))
    mean, alone = nll[names].mean(), nll[names].idxmin(axis=1)
    best = int(mean.to_numpy().argmin())
    found |= dict(
        validation_nll=mean.iloc[best], validation_nll_of_the_record=mean.iloc[0], trial=names[best]
    )
    found |= dict(test_nll=list(test[names[best]]), trial_by_split=list(alone))
    found |= dict(test_nll_by_split=[test.loc[seed, trial] for seed, trial in alone.items()])
    found |= dict(trials=trials, diverged=int(np.isinf(mean).sum()), seeds=list(nll.index))
    return dataclasses.asdict(choices_of(method, net, trials)[best]) | found


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    table = run(grid, fit, measure, name="tune", device=DEVICE, workers=WORKERS)
    net = fv.Net.from_module(build_model(MODEL, task_for(DATA, FIRST), seed=FIRST))
    chosen = {
        m: choices_in(rows, net) | {"model": MODEL}
        for m, rows in table.groupby("method", sort=False)
    }
else:
    path = Path(TABLE) if TABLE.endswith(".json") else committed(f"{TABLE}.json")
    chosen = json.loads(path.read_text(encoding="utf-8"))["methods"]
if SAVE:
    command = f"flatviz run tune -p RUN=True -p METHODS={METHODS} -p TRIALS={TRIALS} -p SEEDS={SEEDS} -p DATA={DATA} -p MODEL={MODEL}"
    written = json.dumps(
        {"command": f"{command} -p SAVE=FILE", "methods": chosen}, indent=1, default=float
    )
    Path(SAVE).write_text(written, encoding="utf-8")

# %% [markdown]
# ## What was chosen
#
# Mean validation NLL of the best trial and of the record's own settings; *changed*: settings of the best trial that differ from the
# record's settings of today. *Test NLL*: mean ± half of the 95 % interval over seeds, of the trial that all splits choose together, and of
# the trial that each split chooses for its own seed; *alike*: how many splits choose the trial that all choose together.


# %%
def changed(method, about):
    """Settings that differ from the record's, as text."""
    record = fv.METHODS[method].plain
    settings = {k: v for k, v in about["settings"].items() if record.settings.get(k) != v}
    radius = about["radius"] if about["radius"] != record.radius else None
    return str(
        Choice(settings, radius, about["head_std"] if about["head_std"] != HEAD_STD else None)
    )


def tested(about):
    """Test NLL of the common choice and of the choices by split, as text."""
    texts = [shown(pd.Series(about[name])) for name in ("test_nll", "test_nll_by_split")]
    alike = f"{about['trial_by_split'].count(about['trial'])} of {len(about['seeds'])}"
    return dict(zip(("test NLL", "chosen by split", "alike"), [*texts, alike]))


# %%
by_split = {
    m: about for m, about in chosen.items() if "trial_by_split" in about
}  # a file of before has none
rows = []
for m, about in chosen.items():
    found = dict(NLL=about["validation_nll"], record=about["validation_nll_of_the_record"])
    found |= tested(about) if m in by_split else {}
    found |= dict(diverged=f"{about['diverged']} of {about['trials']}", changed=changed(m, about))
    rows.append(dict(method=fv.METHODS[m].label, **found))
rows = pd.DataFrame(rows)
rows.style.hide().format("{:.3f}", subset=["NLL", "record"])

# %%
px.scatter(
    rows,
    x=["record", "NLL"],
    y="method",
    title="Validation NLL before and after tuning",
    labels=dict(value="NLL", variable=""),
)

# %% [markdown]
# *Figure: validation NLL of each method with the settings that its record had at the time, and with those of its best trial.*
#
# ## Verdicts
#
# Test NLL of each method against VI's, both with what the split of each seed chooses: "holds" is a lower NLL, corrected by Holm.

# %% tags=["finding"]
of_seeds = {
    m: pd.DataFrame({"nll": about["test_nll_by_split"]}, index=about["seeds"])
    for m, about in by_split.items()
}
others = [m for m in of_seeds if m != "vi" and "vi" in of_seeds]
if others:
    claims = [
        paired(of_seeds[m], of_seeds["vi"]).assign(claim=fv.METHODS[m].label, against="VI")
        for m in others
    ]
    print(*sentences(judged(pd.concat(claims, ignore_index=True), family="tune")), sep="\n")
else:
    print("Choices by split were not stored.")

# %% [markdown]
# ## What would change our mind
#
# Six validation splits of 100 images: differences of a hundredth or two between methods say nothing. The choice of all splits together is
# one choice; how it would vary with six other splits is not measured.
