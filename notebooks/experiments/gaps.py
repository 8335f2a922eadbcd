# %% [markdown]
# # Experiment: do the default fits arrive?
#
# **Question.** A fit that was stopped early says where it was stopped, not what its method does. How far is each default fit from a
# fit of four times the steps, and how far are its widths from their fixed point?
#
# **Grid.** The methods that fit a Gaussian from a start, with the settings of their records, on two tasks: *digits*, the default
# (100 examples), and *digits-near* (20 examples). `convergence_gap` measures each fit: the objective of the method (of SA-BMA and
# SAM the loss after the ascent, plus T KL / N) against that of the longer fit at the same draws.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "gaps"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
FIRST = 500  # the first seed
SEEDS = 5  # four minutes of CPU time each
METHODS = "vi,f-vi,sabma,sam_mu,authors_code"  # names of `fv.METHODS`
TASKS = "digits,digits-near"  # by name
EPOCHS = 60  # of pre-training
STEPS = 0  # of each fit; 0: those of the method
WORKERS = 1  # more than 1: processes of a local Dask cluster
DEVICE = "cpu"

# %%
import math

import pandas as pd
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, read_table, run, shown, write_table
from flatviz.families.members import fit_member
from flatviz.families.preparation import task_for
from flatviz.families.tour import prepare

# %% [markdown]
# ## What is measured
#
# The gap is objective(q) − objective(a fit of four times the steps), at the same noise. The objective is the method's: of SA-BMA and
# SAM the loss after the ascent, plus τ KL(q ‖ prior), with τ = KL weight / N. The widths are compared with their fixed point,
# σ² = leverage / (E_q[h] / τ + diag P), h the diagonal of the Hessian. Each number has its noise: two standard errors.


# %%
def settings_of(net, method, radius=None, fit=None):
    """The keywords of a method's fit; ValueError where they have no fixed point."""
    settings = fv.METHODS[method].keywords(net, radius=radius, settings=fit)
    if "start_scale" not in settings or settings["kl_weight"] == 0:
        raise ValueError(f"a method must fit a Gaussian from a start, with a KL weight > 0, got {method}: leave it out")
    return settings


def at_rest(net, task, prior, q, method, settings, seed, n_draws):
    """Objective of each pair of draws, (n_draws / 2,), and the mean relative distance of each variance, (D,)."""
    still = settings | dict(start=q, start_scale=1.0, steps=2 * ((n_draws + 1) // 2), lr=0.0)
    history = fv.METHODS[method].fit(net, task.train, prior, seed=seed, progress=False, **still).history
    values = history.loss + settings["kl_weight"] / len(task.train) * history.kl
    values = values if history.sharpness is None else values + history.sharpness
    return values.double().view(-1, 2).mean(1), history.pull.double() / q.leverage.cpu()


def convergence_gap(net, task, prior, q, method, *, seed, radius=None, fit=None, times=4, n_draws=200):
    """Quantity -> value: how far `q`, fitted by a method on `task.train`, is from a fit of `times` the steps."""
    settings = settings_of(net, method, radius, fit)
    steps = settings["steps"], times * settings["steps"]
    longer = fv.METHODS[method].fit(net, task.train, prior, seed=seed, **settings | {"steps": steps[1]})
    at = lambda q: [at_rest(net, task, prior, q, method, settings, seed + i, n_draws) for i in (1, 2)]
    (short, first), (more, second) = at(q)
    values = torch.cat((short, more))
    saved = values - torch.cat([objective for objective, _ in at(longer)])
    products = first * second  # of independent draws: unbiased for the square
    widths, noise = float(products.mean()), 2 * float(products.std()) / math.sqrt(q.dim)
    found = {"objective": values.mean(), "gap": saved.mean(), "gap_noise": 2 * saved.std() / math.sqrt(len(saved))}
    found |= {"widths": math.sqrt(max(widths, 0.0)), "widths_noise": math.sqrt(noise)}
    return found | {"few steps": steps[0], "many steps": steps[1]}


# %% [markdown]
# ## Fit and measure

# %%
seeds = range(FIRST, FIRST + SEEDS)
grid = [dict(setting=t, method=m, seed=s) for s in seeds for t in TASKS.split(",") for m in METHODS.split(",")]


# %%
def fit(cells, device):
    """The gap of each method on the tasks of one seed."""
    for name in dict.fromkeys(cell["setting"] for cell in cells):
        seed = cells[0]["seed"]
        net, task, prior = prepare("mlp", task=task_for(name, seed), seed=seed, epochs=EPOCHS, device=device)
        for cell in (cell for cell in cells if cell["setting"] == name):
            how = dict(seed=seed, fit={"steps": STEPS} if STEPS else None)
            q = fit_member(net, task, prior, cell["method"], **how)
            yield cell, convergence_gap(net, task, prior, q, cell["method"], **how)


def measure(gap, cell):
    """The numbers of `convergence_gap`."""
    return gap


# %% [markdown]
# ## Run, or read

# %%
table = run(grid, fit, measure, name="gaps", device=DEVICE, workers=WORKERS) if RUN else read_table(TABLE)
if SAVE:
    write_table(table, SAVE)
cells = table[["setting", "method"]].drop_duplicates().to_dict("records")


# %% [markdown]
# ## The gaps
#
# Means over seeds ± half of the 95 % interval, in nats an example. *Left*: the gap as a share of the objective. *Noise*: two standard
# errors of one measurement. *Variances off*: root mean square over the weights of variance / fixed point − 1.


# %%
def row(cell):
    v = at(table, **cell)
    words = {"task": cell["setting"], "method": fv.METHODS[cell["method"]].label, "steps": f"{v['few steps'].mean():.0f}"}
    words |= {
        "objective": shown(v.objective),
        "lower by, after 4 times the steps": shown(v.gap),
        "noise": f"{v.gap_noise.mean():.2g}",
    }
    return words | {"left": shown(v.gap / v.objective, factor=100) + " %", "variances off": shown(v.widths, factor=100) + " %",
                    "their noise": f"{100 * v.widths_noise.mean():.0f} %"}  # fmt: skip


pd.DataFrame([row(cell) for cell in cells]).style.hide()

# %%
left = table[table.quantity.isin(["gap", "objective"])].pivot(
    index=["setting", "method", "seed"], columns="quantity", values="value"
)
left = left.assign(share=left.gap / left.objective).reset_index()
left["method"] = left.method.map(lambda m: fv.METHODS[m].label)
fig = px.strip(left, x="share", y="method", color="setting", template="plotly_white", title="What four times the steps still gain",
               labels=dict(share="gap / objective", method="", setting=""))  # fmt: skip
fig.update_xaxes(tickformat=".0%", rangemode="tozero").update_layout(legend=dict(orientation="h", y=1.15))

# %% [markdown]
# *Figure: a point for each seed: how much lower the objective of the longer fit is, as a share of the objective.*
#
# ## Verdict
#
# A default fit has **arrived** where its gap is within the noise of the measurement in every seed.

# %%
for cell in cells:
    v = at(table, **cell)
    above = int((v.gap > v.gap_noise).sum())
    word = "has arrived" if above == 0 else "has not arrived"
    share = 100 * (v.gap / v.objective).mean()
    name = f"{fv.METHODS[cell['method']].label}, {cell['setting']}"
    print(f"{name}: {word}: gap above its noise in {above} of {len(v)} seeds, {share:.1f} % of the objective left")

# %% [markdown]
# ## What would change our mind
#
# The objective is one number: it can be near its least value while λ1 or the scores still move. The [evidence](evidence.ipynb) has VI
# at a quarter to four times the steps, with all scores.
