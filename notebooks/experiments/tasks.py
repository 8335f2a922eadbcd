# %% [markdown]
# # Experiment: where does transfer help?
#
# **Question.** A prior from a source task is worth examples where the source is near, and costs examples where it is far. On which
# of our tasks does a network that was pre-trained predict better than one that never saw the source?
#
# **Grid.** Nine tasks: 700 source digits turned by 15, 30 or 90 degrees; 2, 5 or 10 upright digits a class. On each, without the
# source: **logistic regression** on the pixels and the network trained **from scratch** on the few digits; after pre-training, on norm
# layers and head: **SGD**, **VI** and **SA-BMA** with the settings of their records. Every seed draws its own splits, networks and
# noise. C of logistic regression (five values) and the length of training from scratch (two) are chosen by the NLL on a validation
# split as large as the shots; the methods with the source choose nothing. That is an advantage for those without.
#
# **Comparison.** Seed by seed, on the test split. A task is chosen by validation scores alone.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "tasks"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
FIRST = 400  # the first seed
SEEDS = 20
EPOCHS = 60  # of pre-training
STEPS = 0  # of each fit; 0: those of the method
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import pandas as pd
import plotly.express as px

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
from flatviz.experiments.statistics import HOLDS, NOT
from flatviz.families.members import Fitting
from flatviz.families.preparation import at_solution, without_source
from flatviz.families.tour import prepare
from flatviz.metrics.averaging import averaged

# %% [markdown]
# ## The grid
#
# On one task VI is fitted at other temperatures too: with 20 examples the KL weighs five times as much as with 100.

# %%
TURNS, SHOTS = (15, 30, 90), (2, 5, 10)
TASKS = {f"{turn} degrees, {shots} shots": (turn, shots) for turn in TURNS for shots in SHOTS}
WITHOUT = {"logistic": "logistic regression", "scratch": "from scratch"}
WITH = {"sgd": 0.0, "vi": 0.0, "sabma": 2.0}  # and the radius
NEAR, DEFAULT = "15 degrees, 2 shots", fv.METHODS["vi"].plain.settings["kl_weight"]
TEMPERATURES = (0.01, 0.1, 0.3, 1.0)  # beside the default
grid = []
for seed in range(FIRST, FIRST + SEEDS):
    for task in TASKS:
        grid += [
            dict(setting=task, method=m, radius=WITH.get(m, 0.0), seed=seed)
            for m in (*WITHOUT, *WITH)
        ]
    grid += [
        dict(setting=f"{NEAR}, T {t:g}", method="vi", radius=0.0, seed=seed) for t in TEMPERATURES
    ]


# %% [markdown]
# ## Fit and measure


# %%
def fit(cells, device):
    """Predictions of one seed on the validation and the test split; the tasks of a turn share their pre-training."""
    seed, prepared = cells[0]["seed"], {}
    for cell in cells:
        name, _, temperature = cell["setting"].partition(", T ")
        turn, shots = TASKS[name]
        task = fv.datasets.digits_transfer(shots=shots, degrees=turn, seed=seed)
        if turn not in prepared:
            prepared[turn] = prepare("mlp", task=task, seed=seed, epochs=EPOCHS, device=device)
        net, _, prior = prepared[turn]
        task = task.to(net.device)
        if (few := f"{shots} shots") not in prepared:  # the same digits at each turn of the source
            prepared[few] = dict(zip(WITHOUT, without_source(task, "mlp", seed=seed).values()))
        splits = task.validation, task.test
        if cell["method"] in WITHOUT:
            yield cell, [at_solution(prepared[few][cell["method"]], data) for data in splits]
        else:
            settings = {"steps": STEPS} if STEPS else {}
            settings |= {"kl_weight": float(temperature)} if temperature else {}
            q = Fitting(net, task, prior, seed=seed, fit=settings).member(
                cell["method"], cell["radius"] or None
            )
            draws = 1 if cell["method"] == "sgd" else 30
            yield (
                cell,
                [
                    averaged(fv.predict(net, q, data.x, draws, seed=seed + 1), data.y)
                    for data in splits
                ],
            )


def measure(predictions, cell):
    values = {}
    for split, prediction in zip(("validation_", ""), predictions):
        values |= {
            f"{split}{score}": prediction.scores[score][-1] for score in ("nll", "accuracy", "ece")
        }
    return values


# %% [markdown]
# ## Run, or read

# %%
table = (
    run(grid, fit, measure, name="tasks", device=DEVICE, workers=WORKERS)
    if RUN
    else read_table(TABLE)
)
if SAVE:
    write_table(table, SAVE)

# %%
LABELS = WITHOUT | {m: fv.METHODS[m].label for m in WITH}
SCORES = ("accuracy", "nll", "ece")

# %% [markdown]
# ## Values
#
# Test scores: means over seeds ± half of the 95 % interval.


# %%
def scores_of(setting, method, split=""):
    """Means with their intervals, by name of the score."""
    cell = at(table, setting=setting, method=method)
    return {
        QUANTITIES[q].label: shown(cell[f"{split}{q}"], factor=QUANTITIES[q].factor) for q in SCORES
    }


pd.DataFrame(
    [{"task": t, "method": LABELS[m]} | scores_of(t, m) for t in TASKS for m in LABELS]
).style.hide()

# %%
rows = []
for task, (turn, shots) in TASKS.items():
    for method, label in LABELS.items():
        values = at(table, setting=task, method=method)[["accuracy"]]
        (row,) = paired(values, 0 * values).itertuples()
        rows.append(
            dict(
                turn=f"source turned by {turn}°",
                shots=shots,
                method=label,
                accuracy=row.mean,
                half=row.half,
            )
        )
COLORS = dict(
    zip(LABELS.values(), ["#6b7780", "#4d5761", *(fv.METHODS[m].look.color for m in WITH)])
)
fig = px.line(pd.DataFrame(rows), x="shots", y="accuracy", error_y="half", color="method", symbol="method", facet_col="turn",
              color_discrete_map=COLORS, line_dash="method", template="plotly_white", height=430,
              labels=dict(shots="shots a class", accuracy="test accuracy", method=""),
              line_dash_map={name: "dot" if name in WITHOUT.values() else "solid" for name in LABELS.values()},
              title="Test accuracy with and without the source")  # fmt: skip
fig.for_each_annotation(lambda a: a.update(text=a.text.split("=")[-1])).update_xaxes(tickvals=SHOTS)
fig.update_yaxes(tickformat=".0%").update_layout(legend=dict(orientation="h", y=-0.25), margin_t=90)

# %% [markdown]
# *Figure: test accuracy over the number of shots, a panel for each turn of the source; dotted lines are without the source. Bars are
# 95 % intervals over seeds.*
#
# ## Verdicts
#
# Each method with the source against each one without, in test accuracy and NLL, seed by seed; corrected by Holm for all of them.
# Transfer **helps** a method on a task where it is better than both of those without the source, **harms** where it is worse than
# one of them, and else is **inconclusive**, for accuracy and NLL apart.

# %%
parts = []
for task in TASKS:
    for method in WITH:
        for other, against in WITHOUT.items():
            mine, theirs = (
                at(table, setting=task, method=m)[["accuracy", "nll"]] for m in (method, other)
            )
            claim = f"{task}: {LABELS[method]} against {against}"
            parts.append(
                paired(mine, theirs, logs=()).assign(
                    setting=task, method=method, claim=claim, against=against
                )
            )
verdicts = judged(pd.concat(parts, ignore_index=True), family="all")


# %% tags=["finding"]
def in_short(rows):
    """Whether transfer helps, by the verdicts against both methods without the source."""
    words = set(rows.verdict)
    return "harms" if NOT in words else "helps" if words == {HOLDS} else "inconclusive"


short = (
    verdicts.groupby(["setting", "method", "quantity"], sort=False)[["verdict"]]
    .apply(in_short)
    .unstack(sort=False)
)
worth = lambda task, m: {QUANTITIES[q].label: short[q][task, m] for q in ("accuracy", "nll")}
pd.DataFrame(
    [{"task": task, "transfer with": LABELS[m]} | worth(task, m) for task in TASKS for m in WITH]
).style.hide()

# %%
print(f"corrected by Holm for these {len(verdicts)}:")
print(*sentences(verdicts), sep="\n")

# %% [markdown]
# ## The task where transfer helps most, by validation scores
#
# Mean validation accuracy of VI less that of the better method without the source. The validation scores of the latter are a little
# too good, for their settings were chosen on them.


# %%
def validation_gain(task):
    mean = {
        m: at(table, setting=task, method=m)["validation_accuracy"].mean() for m in ("vi", *WITHOUT)
    }
    return 100 * (mean["vi"] - max(mean[m] for m in WITHOUT))


gains = pd.Series({task: validation_gain(task) for task in TASKS}).sort_values(ascending=False)
for task, gain in gains.items():
    print(f"{task}: {gain:+.1f} points on validation")
print(f"chosen: {gains.index[0]}")

# %% [markdown]
# ## Which temperature with 20 examples?
#
# VI on the task with 15 degrees and 2 shots, which `--data digits-near` names.

# %%
at_t = {t: NEAR if t == DEFAULT else f"{NEAR}, T {t:g}" for t in sorted((DEFAULT, *TEMPERATURES))}
rows = [{"T": f"{t:g}", "validation NLL": shown(at(table, setting=s, method="vi")["validation_nll"])} | scores_of(s, "vi")
        for t, s in at_t.items()]  # fmt: skip
pd.DataFrame(rows).style.hide()

# %%
by_validation = {t: at(table, setting=s, method="vi")[["validation_nll"]] for t, s in at_t.items()}
parts = [
    paired(by_validation[DEFAULT], by_validation[t], {"validation_nll": -1}).assign(t=t)
    for t in TEMPERATURES
]
for row in judged(pd.concat(parts), family="T").itertuples():
    word = {HOLDS: "lower", NOT: "higher"}.get(row.verdict, "not significantly different")
    print(
        f"validation NLL at T = {DEFAULT:g} less that at {row.t:g}: {row.mean:+.3f} ± {row.half:.3f}: {word}"
    )

# %% [markdown]
# ## What would change our mind
#
# One data set, one small network, one kind of distance between source and target. A baseline with augmented digits, or a network
# that is better suited to few images, could beat both; then transfer would have to beat that. Other classes as a source, or images
# of a user (`image-folder:PATH`), ask the same question of `flatviz tour`, which prints both baselines.
