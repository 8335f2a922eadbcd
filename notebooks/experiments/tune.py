# %% [markdown]
# # Experiment: settings by equal trials
#
# **Question.** Which settings does each method need? A comparison is fair if every method had the same number of trials.
#
# **Grid.** For each method the settings of its record, then points of one Sobol sequence on log scales: learning rate, steps, radius
# (0 among them), temperature, weight decay and the width of the prior, where the method has them. All methods share the points: two
# methods that have a setting try the same values of it, in the same trials. A trial is scored by the NLL on a validation split
# as small as the shots, averaged over seeds that the [evidence](evidence.ipynb) does not use. Test scores are not looked at.

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
WORKERS = 1  # more than 1: processes of a local Dask cluster
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
from flatviz.experiments import run
from flatviz.families.choice import Choice
from flatviz.families.preparation import task_for
from flatviz.families.tour import prepare
from flatviz.families.tune import choices_of, validation_nll, with_validation
from flatviz.storage.committed import committed

# %% [markdown]
# ## The grid

# %%
FIRST = 1000  # seed; the evidence uses 0, 1, 2 ...
asked = [name.strip() for name in METHODS.split(",")]
grid = [dict(method=m, setting=f"trial {i}", seed=FIRST + s) for s in range(SEEDS) for m in asked for i in range(TRIALS)]


# %%
def fit(cells, device, model=MODEL, data=DATA, trials=TRIALS, epochs=EPOCHS):
    """Every trial with what it is fitted on; all of a seed share a network."""
    seed = cells[0]["seed"]
    task, _ = with_validation(task_for(data, seed), seed)
    net, task, prior = prepare(model, task=task, seed=seed, epochs=epochs or None, device=device)
    task, validation = with_validation(task, seed)
    choices = {cell["method"]: choices_of(fv.METHODS[cell["method"]], net, trials) for cell in cells}
    for cell in cells:
        yield cell, (choices[cell["method"]][int(cell["setting"].split()[1])], net, task, validation, prior)


def measure(fitted, cell):
    """Validation NLL of the trial; inf where it diverged."""
    return {"nll": validation_nll(fv.METHODS[cell["method"]], *fitted, seed=cell["seed"])}


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    table = run(grid, fit, measure, name="tune", device=DEVICE, workers=WORKERS)
    score = table.groupby(["method", "setting"], sort=False).value.mean().unstack(sort=False)
    net = prepare(MODEL, task=task_for(DATA, FIRST), seed=FIRST, epochs=EPOCHS or None)[0]
    chosen = {}
    for method in asked:
        best = int(score.loc[method].to_numpy().argmin())
        about = dict(validation_nll=score.loc[method].iloc[best], validation_nll_of_the_record=score.loc[method].iloc[0])
        about |= dict(
            trials=TRIALS, diverged=int(np.isinf(score.loc[method]).sum()), seeds=sorted(set(table.seed)), model=MODEL
        )
        chosen[method] = dataclasses.asdict(choices_of(fv.METHODS[method], net, TRIALS)[best]) | about
else:
    path = Path(TABLE) if TABLE.endswith(".json") else committed(f"{TABLE}.json")
    chosen = json.loads(path.read_text(encoding="utf-8"))["methods"]
if SAVE:
    command = (
        f"flatviz run tune -p RUN=True -p METHODS={METHODS} -p TRIALS={TRIALS} -p SEEDS={SEEDS} -p DATA={DATA} -p MODEL={MODEL}"
    )
    written = json.dumps({"command": f"{command} -p SAVE=FILE", "methods": chosen}, indent=1, default=float)
    Path(SAVE).write_text(written, encoding="utf-8")

# %% [markdown]
# ## What was chosen
#
# Mean validation NLL of the best trial and of the record's own settings; *changed*: settings of the best trial that differ from the
# record's settings of today.


# %%
def changed(method, about):
    """Settings that differ from the record's, as text."""
    record = fv.METHODS[method].plain
    settings = {k: v for k, v in about["settings"].items() if record.settings.get(k) != v}
    radius = about["radius"] if about["radius"] != record.radius else None
    return str(Choice(settings, radius, about["head_std"]))


rows = pd.DataFrame([dict(method=fv.METHODS[m].label, NLL=a["validation_nll"], record=a["validation_nll_of_the_record"],
                          diverged=f"{a['diverged']} of {a['trials']}", changed=changed(m, a)) for m, a in chosen.items()])  # fmt: skip
rows.style.hide().format("{:.3f}", subset=["NLL", "record"])

# %%
px.scatter(
    rows, x=["record", "NLL"], y="method", title="Validation NLL before and after tuning", labels=dict(value="NLL", variable="")
)

# %% [markdown]
# *Figure: validation NLL of each method with the settings of its record, and with those of its best trial.*
#
# ## What would change our mind
#
# Six validation splits of 100 images: differences of a hundredth or two between methods say nothing. The choice itself varies with
# the splits, and no interval here contains that.
