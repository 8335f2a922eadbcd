# %% [markdown]
# # B · Which numbers should you see?
#
# **You will find** the figures of the course, read from files that the project's commands wrote, to compare with yours.
# No number on this page was typed.
#
# **Takes** five minutes to read and a minute and a half to run on a CPU.
#
# **Number to expect**: the accuracy of VI in your tour is within 0.05 of that of seed 0 in the committed results. A cell below
# checks it.
#
# **Needs** [chapter 00](00_tour.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import json
import math

import ipywidgets
import pandas as pd
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, read_table
from flatviz.families.tour import TourSettings, run_tour

# %%
from flatviz.pages.document import family_rows
from flatviz.plots.theme import figure, style
from flatviz.results import interval
from flatviz.storage.cache import committed

# %% [markdown]
# ## Which digits to trust
#
# A seed fixes every bit on one machine, one PyTorch and one number of threads. Another machine pre-trains another network: sums
# are then taken in another order, and training adds the differences up. What agrees everywhere are statements over several
# seeds with their intervals, and of the tour's table roughly the first digit. So compare a figure with the *range* of the same
# quantity over seeds: outside it, something is wrong; inside, it is noise.

# %%
print(f"this page: torch {torch.__version__}, {torch.get_num_threads()} threads")

# %% [markdown]
# ## The tour
#
# What `flatviz tour` prints here, seed 0. λ1 is the largest Hessian eigenvalue of the training loss over the treated weights,
# mean and range over draws; λ1/λ5 its ratio to the fifth. NLL, ECE and Brier score are of the test digits, lower is better.

# %%
small = TourSettings(
    radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)},
    epochs=8,
    fit=dict(steps=20),
    measured=dict(n_draws=5, n_spectra=2, k=5, resolution=5, around_resolution=5),
)
tour = run_tour(settings=small if FAST else TourSettings())
print(pd.DataFrame(family_rows(tour.family)).to_string(index=False))

# %% [markdown]
# ## Many seeds
#
# `flatviz run frontier` repeated split, network, prior and noise. Its values are a row for each fit and quantity:

# %%
table = read_table("frontier").query("restart == 0")
print(len(table), "values; the columns:", ", ".join(table))

# %% [markdown]
# The setting `digits-near` at $T$ = 0.03 (the KL weight) is that of the tour, `digits` is that of the chapters with ten digits a class;
# at $T$ = 1 the posterior is that of Bayes. The seeds are not yours, but your tour's figures should lie within their range:


# %%
def of(setting, method, radius, quantity, T=0.03, knob=1.0):
    """A value a seed; knob: the scale of VI's covariance after the fit, or the value of another method's setting."""
    cells = table[(table["T"] == T) | (table["T"].isna() & (T != T))]
    cell = at(cells, setting=setting, method=method, radius=radius, knob=knob)
    return torch.tensor(cell[quantity].to_numpy())


# %%
mine = tour.family[tour.family.index("vi", 0.0)].prediction.scores
for name in ("accuracy", "nll", "ece"):
    theirs = of("digits-near", "vi", 0.0, name)
    print(
        f"VI, {name:8} yours {mine[name][-1]:.3f}, over {len(theirs)} seeds {theirs.min():.3f} to {theirs.max():.3f}"
    )

# %%
accuracies = of("digits-near", "vi", 0.0, "accuracy")
if not FAST:
    near = accuracies.min() - 0.03 < mine["accuracy"][-1] < accuracies.max() + 0.03
    fv.expect(bool(near), "your accuracy is among those of the stored seeds, to 3 points")

# %% [markdown]
# **Live.** Choose a setting and a quantity.

# %%
words = dict(
    lambda1="λ1",
    nll="test NLL (nats)",
    accuracy="test accuracy",
    ece="ECE",
    train="training loss",
    kl="KL to the prior",
)


# %%
def label(method, radius, T, knob):
    name = (
        style(method).label
        + (f" {radius:g}" if radius else "")
        + (f", T = {T:g}" if T == T else "")
    )
    return name + (f", {knob:g}" if knob != 1 else "")


# %%
def fits_of(setting):
    rows = table.query("setting == @setting")[["method", "radius", "T", "knob"]].drop_duplicates()
    return list(rows.itertuples(index=False, name=None))


# %%
def axes(setting, quantity, n):
    alt = f"{words[quantity]} of {n} fits on {setting}, mean and 95 % interval over seeds"
    how = dict(xaxis_title=words[quantity], height=160 + 20 * n, showlegend=False)
    return figure(f"{words[quantity]}, over seeds", alt, **how)


# %%
def over_seeds(setting, quantity):
    entries = fits_of(setting)
    fig = axes(setting, quantity, len(entries))
    for method, radius, T, knob in reversed(entries):
        add(
            fig,
            method,
            label(method, radius, T, knob),
            interval(of(setting, method, radius, quantity, T, knob)),
        )
    return fig.update_yaxes(type="category", automargin=True)


# %%
def add(fig, method, name, ten):
    marker = dict(color=style(method).color, symbol=style(method).symbol, size=9)
    fig.add_scatter(
        x=ten[:1], y=[name], error_x=dict(array=ten[1:]), name=name, mode="markers", marker=marker
    )


# %%
_ = ipywidgets.interact(
    over_seeds, setting=list(dict.fromkeys(table.setting)), quantity=list(words)
)

# %% [markdown]
# *Figure: a row for each method, radius and temperature, with the mean of the quantity over the seeds and its 95 %
# interval.*
#
# Intervals of two methods may overlap although one is better on every seed: compare *paired* differences, as
# [chapter 11](11_transfer_and_shift.ipynb) does. `flatviz run frontier` prints them with verdicts;
# on the course's site they are the page *What really holds*.
#
# ## Where the other results lie
#
# Each file with the command that wrote it, where the file names one; `data/README.md` has the command of each and says how
# good it is.

# %%
for path in sorted(committed("frontier.csv").parent.glob("*.json")):
    result = json.loads(path.read_text(encoding="utf-8"))
    print(f"{path.name:28} {result.get('command', 'see data/README.md')}")

# %% [markdown]
# ## Summary
#
# - Bits agree on one machine; statements over seeds with their intervals agree everywhere.
# - Your figure of one seed belongs inside the range of many seeds; outside it, something is wrong.
# - Methods are compared seed by seed, at equal temperature and at equal training loss.
#
# ## Exercises
#
# **1.** Two methods, the same seeds, and their intervals overlap. Can one still be better on every seed? Look at λ1 of VI and of
# SA-BMA at radius 1 on `digits-near`. (`of` gives the values in the order of their seeds.)
#
# <details><summary>Solution</summary>
#
# Yes: what seeds share moves both methods alike, and drops out of the difference. The cell counts the seeds.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
vi_lambda1, sabma_lambda1 = (
    of("digits-near", "vi", 0.0, "lambda1"),
    of("digits-near", "sabma", 1.0, "lambda1"),
)
(mean_vi, half_vi), (mean_sabma, half_sabma) = interval(vi_lambda1), interval(sabma_lambda1)
print(f"VI {mean_vi:.2f} ± {half_vi:.2f}, SA-BMA {mean_sabma:.2f} ± {half_sabma:.2f}")
print("flatter in", int((sabma_lambda1 < vi_lambda1).sum()), "of", len(vi_lambda1), "seeds")
fv.expect(interval(sabma_lambda1 - vi_lambda1)[0] < 0, "SA-BMA is flatter on average")

# %% [markdown]
# **2.** Compare SA-BMA at radius 1 and $T$ = 0.03 with VI at $T$ = 0.03 and at 0.02, in λ1 and in training loss. What does that say about
# comparing methods at equal temperature?
#
# <details><summary>Solution</summary>
#
# SA-BMA is flatter than VI at its temperature, and fits the training data more closely. VI at 0.02 has about SA-BMA's training loss
# and nearly its λ1. So compare at equal training loss, too.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
for T in (0.03, 0.02):
    for name in ("train", "lambda1"):
        mean, half = interval(
            (of("digits-near", "sabma", 1.0, name) / of("digits-near", "vi", 0.0, name, T)).log()
        )
        print(
            f"SA-BMA over VI at T = {T:g}, {name:8} {math.exp(mean):.2f} ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})"
        )

# %% [markdown]
# ## References
#
# - [PyTorch on reproducibility](https://pytorch.org/docs/stable/notes/randomness.html): what a seed fixes, and what it does not.
# - Holm: A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979,
#   [jstor 4615733](https://www.jstor.org/stable/4615733).
