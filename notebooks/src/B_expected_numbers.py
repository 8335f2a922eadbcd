# %% [markdown]
# # B · Which numbers should you see?
#
# **You will find** the figures of the course, read from files that the project's commands wrote, to compare with yours.
# No number on this page was typed.
#
# **Takes** five minutes to read and a minute and a half to run on a CPU.
#
# **Number to expect**: the accuracy of VI in your tour is within 0.05 of that of seed 0 in the committed results. A cell below
# asserts it.
#
# **Needs** [chapter 00](00_tour.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import json

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, read_table
from flatviz.families.tour import run_tour

# %%
from flatviz.pages.document import family_rows, text_table
from flatviz.plots.theme import figure
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
small = dict(radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}, epochs=8, fit=dict(steps=20), repeats=0)
few = dict(n_draws=5, n_spectra=2, k=5, resolution=5, around_resolution=5)
tour = run_tour(**(small | dict(measured=few) if FAST else {}))
print(text_table(family_rows(tour.family)))

# %% [markdown]
# ## Many seeds
#
# `flatviz run evidence` repeated split, network, prior and noise. Its values are a row for each fit and quantity:

# %%
table = read_table("evidence")
print(len(table), "values; the columns:", ", ".join(table))

# %% [markdown]
# The setting `near, T 0.03` is that of the tour (digits-near, KL weight 0.03), `T 0.03` that of the chapters with ten digits a class;
# at `T 1` the posterior is that of Bayes, and `no KL` is the objective of the published scripts. The seeds are not yours, but your
# tour's figures should lie within their range:


# %%
def of(setting, method, radius, quantity, steps=1.0):
    """A value a seed; steps in those of VI."""
    cell = at(table, setting=setting, method=method, radius=radius, steps=steps)
    return torch.tensor(cell[quantity].to_numpy())


# %%
mine = tour.family[tour.family.index("vi", 0.0)].prediction.scores
for name in ("accuracy", "nll", "ece"):
    theirs = of("near, T 0.03", "vi", 0.0, name)
    print(f"VI, {name:8} yours {mine[name][-1]:.3f}, over {len(theirs)} seeds {theirs.min():.3f} to {theirs.max():.3f}")

# %%
accuracies = of("near, T 0.03", "vi", 0.0, "accuracy")
assert FAST or accuracies.min() - 0.03 < mine["accuracy"][-1] < accuracies.max() + 0.03

# %% [markdown]
# **Live.** Choose a setting and a quantity. `steps` are in those of VI: a step of SAM or SA-BMA takes two gradients, so VI with
# twice the steps costs as much.

# %%
cells = table[["method", "radius", "steps"]].drop_duplicates()
entries = list(cells.itertuples(index=False, name=None))
words = dict(lambda1="λ1", nll="test NLL (nats)", accuracy="test accuracy", ece="ECE", shifted_nll="NLL on corrupted digits")


# %%
def label(method, radius, steps):
    name = fv.METHODS[method].label
    return name + (f" {radius:g}" if radius else "") + (f", {steps:g} × steps" if steps != 1 else "")


# %%
def over_seeds(setting, quantity):
    alt = f"{words[quantity]} of {len(entries)} fits in the setting {setting}, mean and 95 % interval over seeds"
    fig = figure(f"{words[quantity]}, over seeds", alt, xaxis_title=words[quantity], height=520, showlegend=False)
    for entry in reversed(entries):
        add(fig, entry, interval(of(setting, *entry[:2], quantity, entry[2])))
    return fig.update_yaxes(type="category", automargin=True)


# %%
def add(fig, entry, ten):
    record = fv.METHODS[entry[0]]
    look = dict(mode="markers", marker=dict(color=record.look.color, symbol=record.look.symbol, size=9))
    fig.add_scatter(x=ten[:1], y=[label(*entry)], error_x=dict(array=ten[1:]), name=record.label, **look)


# %%
_ = ipywidgets.interact(over_seeds, setting=list(dict.fromkeys(table.setting)), quantity=list(words))

# %% [markdown]
# *Figure: a row for each method, radius and number of steps, with the mean of the quantity over the seeds and its 95 %
# interval.*
#
# Intervals of two methods may overlap although one is better on every seed: compare *paired* differences, as
# [chapter 11](11_transfer_and_shift.ipynb) does. `flatviz run evidence` prints all of them with verdicts;
# on the course's site they are the page *What really holds*.
#
# ## Where the other results lie
#
# Each file with the command that wrote it, where the file names one; `data/README.md` has the command of each and says how
# good it is.

# %%
for path in sorted(committed("evidence.csv").parent.glob("*.json")):
    result = json.loads(path.read_text(encoding="utf-8"))
    print(f"{path.name:28} {result.get('command', 'see data/README.md')}")

# %% [markdown]
# ## Summary
#
# - Bits agree on one machine; statements over seeds with their intervals agree everywhere.
# - Your figure of one seed belongs inside the range of many seeds; outside it, something is wrong.
# - Methods are compared seed by seed, at equal steps and at equal gradients.
#
# ## Exercises
#
# **1.** Two methods, the same seeds, and their intervals overlap. Can one still be better on every seed? Look at λ1 of VI and of
# SA-BMA at radius 1 in the setting `no KL`. (`of` gives the values in the order of their seeds.)
#
# <details><summary>Solution</summary>
#
# Yes: what seeds share moves both methods alike, and drops out of the difference. The cell counts the seeds.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
vi_lambda1, sabma_lambda1 = of("no KL", "vi", 0.0, "lambda1"), of("no KL", "sabma", 1.0, "lambda1")
(mean_vi, half_vi), (mean_sabma, half_sabma) = interval(vi_lambda1), interval(sabma_lambda1)
print(f"VI {mean_vi:.2f} ± {half_vi:.2f}, SA-BMA {mean_sabma:.2f} ± {half_sabma:.2f}")
print("flatter in", int((sabma_lambda1 < vi_lambda1).sum()), "of", len(vi_lambda1), "seeds")
assert interval(sabma_lambda1 - vi_lambda1)[0] < 0

# %% [markdown]
# **2.** VI with twice the steps: does its training loss fall, and its test NLL? Use the setting `no KL`. What does that say about
# comparing methods at equal steps, when one of them takes two gradients a step?
#
# <details><summary>Solution</summary>
#
# The training loss falls and the test NLL rises: it overfits. A method that trains less, for whatever reason, looks better on
# the test set. So compare at equal gradients, and at equal training loss, too.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
for name in ("train", "nll"):
    once, twice = of("no KL", "vi", 0.0, name), of("no KL", "vi", 0.0, name, 2.0)
    mean, half = interval(twice - once)
    print(f"{name:5} {once.mean():.3f} -> {twice.mean():.3f}, difference {mean:+.3f} ± {half:.3f}")
assert of("no KL", "vi", 0.0, "train", 2.0).mean() < of("no KL", "vi", 0.0, "train").mean()

# %% [markdown]
# ## References
#
# - [PyTorch on reproducibility](https://pytorch.org/docs/stable/notes/randomness.html): what a seed fixes, and what it does not.
# - Holm: A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979,
#   [jstor 4615733](https://www.jstor.org/stable/4615733).
