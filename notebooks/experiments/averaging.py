# %% [markdown]
# # Experiment: does flatness matter when draws are averaged?
#
# **Question.** Flat minima are said to make better ensembles. Take the draws of *one* posterior: does the sharpness of a draw,
# λ1 of the training loss's Hessian, go with its score, and are ensembles of flat draws better than ensembles of sharp
# ones? And does the rank of SA-BMA's covariance matter?
#
# **Grid.** Digits, 10 shots a class; each seed draws its split, network, prior and noise. VI and SA-BMA (radius 1) with a prior
# of rank 5, SA-BMA also with ranks 1, 2 and 10. Beside it a toy: two modes of equal depth, one wider than the other, and the
# number of runs of SA-BMA that end in the wide one.
#
# **Source of the claims.** Lim et al.: Flat posterior does matter for Bayesian model averaging,
# [arXiv 2406.15664](https://arxiv.org/abs/2406.15664).

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "averaging"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
SEEDS = 40
DRAWS = 30  # of each posterior
EPOCHS = 60  # of pre-training
STEPS = 0  # of each fit; 0: those of the method
MODE_RUNS = 40  # of the toy, for each width ratio and radius
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import dataclasses
import math

import numpy as np
import pandas as pd
import plotly.express as px
import torch
from scipy.stats import spearmanr

# %%
import flatviz as fv
from flatviz.experiments import judged, read_table, run, write_table
from flatviz.experiments.statistics import mean_zero
from flatviz.families.members import Fitting, with_head_std
from flatviz.families.tour import RANK, prepare
from flatviz.metrics.curvature import ordered
from flatviz.results import Prediction, interval
from flatviz.training.method import OF_RUN

torch.set_num_threads(1)

# %% [markdown]
# ## What is measured
#
# Draws are averaged in three orders: sharpest first, flattest first, and at random (mean of ten orders). All draws together are
# the same ensemble in each order. The fits use the tempered objective of tour and lab: KL weight 0.03, standard
# deviation 0.3 of the prior on the head.

# %%
RADII = {"vi": 0.0, "sabma": 1.0}
RANKS, SIZES, SCORES = (1, 2, 5, 10), (1, 2, 5, 10, 30), ("nll", "accuracy", "ece")
ORDERS = ("sharp", "random", "flat")  # in which draws are averaged
TEMPERED = {
    name: fv.METHODS["vi"].plain.settings[name]
    for name in ("kl_weight", "start_scale", "weight_decay")
}
HEAD_STD, SHUFFLES, WEYL_DRAWS = 0.3, 10, 5

# %%
full = [
    dict(setting=f"rank {RANK}", method=m, radius=r, seed=s)
    for s in range(SEEDS)
    for m, r in RADII.items()
]
ranks = [
    dict(full[1], setting=f"rank {k}", seed=s) for s in range(SEEDS) for k in RANKS if k != RANK
]
grid = full + ranks


# %%
def of_rank(swag, rank):
    """SWAG's Gaussian with its last `rank` deviations alone: what `SWAG` of that rank gives from the same run."""
    scale = math.sqrt(
        max(swag.rank - 1, 1) / max(rank - 1, 1)
    )  # each rank divides by its own K - 1
    return dataclasses.replace(swag, factor=scale * swag.factor[swag.rank - rank :])


# %%
def fit(cells, device, epochs=EPOCHS, settings=TEMPERED | (dict(steps=STEPS) if STEPS else {})):
    """Posteriors of one seed, which share a network and a prior."""
    seed = cells[0]["seed"]
    net, task, prior = prepare(
        "mlp",
        task=fv.datasets.digits_transfer(seed=seed),
        seed=seed,
        epochs=epochs,
        rank=max(RANKS),
        device=device,
    )
    wide = with_head_std(net, prior, HEAD_STD)
    for cell in cells:
        prior = of_rank(wide, int(cell["setting"].split()[1]))
        yield (
            cell,
            (
                net,
                task,
                Fitting(net, task, prior, seed=seed, fit=settings).member(
                    cell["method"], cell["radius"]
                ),
            ),
        )


# %%
def measure(fitted, cell, n_draws=DRAWS):
    """Scores of the ensemble and mean lambda1; of the two posteriors of the usual rank also everything about single draws."""
    (net, task, q), seed = fitted, cell["seed"]
    f, values = fv.nll(net, task.train), {}
    if cell["setting"] == f"rank {RANK}":
        values = of_draws(net, task, f, q.sample(n_draws, seed=seed + 1), seed)
    if cell["method"] == "sabma":
        scores = fv.predict(net, q, task.test, n_draws, seed=seed + 1).scores
        values["lambda1"] = sharpness(f, q.sample(WEYL_DRAWS, seed=seed + 1), seed).mean()
        values |= {name: scores[name][-1] for name in SCORES}
    return values


def sharpness(f, W, seed):
    """lambda1 at each row of W."""
    return torch.stack([fv.top_eigenpairs(f, w, 1, iters=40, seed=seed).values[0] for w in W])


# %%
def of_draws(net, task, f, W, seed):
    """Correlations over draws, ensembles in three orders, Weyl's bounds of the first five draws in each order."""
    lambda1, prediction = sharpness(f, W, seed), fv.predict(net, W, task.test, len(W), seed=seed)
    each = [Prediction(outputs[None], task.test.y).scores for outputs in prediction.outputs]
    loss, error = torch.cat([s["nll"] for s in each]), 1 - torch.cat([s["accuracy"] for s in each])
    values = correlations(lambda1, loss, error, f.many(W))
    for order in ORDERS:
        first = W[ordered(torch.arange(len(W)), lambda1, order, seed=seed)[:WEYL_DRAWS]]
        bounds = fv.metrics.weyl_bounds(f, first, iters=40, seed=seed)
        values |= {
            f"Weyl {what}, {order}": b for what, b in zip(("lower", "middle", "upper"), bounds)
        }
        values |= ensembles(prediction, lambda1, order, seed)
    return values


# %%
def correlations(lambda1, loss, error, train):
    """Spearman's correlations over draws; the last is that of lambda1 and the test NLL at equal training loss."""
    r = lambda a, b: float(spearmanr(a.cpu(), b.cpu()).statistic)
    ab, ag, bg = r(lambda1, loss), r(lambda1, train), r(loss, train)
    partial = (ab - ag * bg) / math.sqrt(max((1 - ag**2) * (1 - bg**2), 1e-12))
    names = ("nll", "error", "train", "nll given train")
    return {f"correlation with {n}": v for n, v in zip(names, (ab, r(lambda1, error), ag, partial))}


def ensembles(prediction, lambda1, order, seed):
    """Scores of the ensembles of the first draws in an order, by their number."""
    seeds = range(seed, seed + (SHUFFLES if order == "random" else 1))
    each = [
        Prediction(ordered(prediction.outputs, lambda1, order, seed=s), prediction.y).scores
        for s in seeds
    ]
    at = {size: min(size, len(lambda1)) - 1 for size in SIZES}
    mean = lambda name, i: torch.stack([s[name][i] for s in each]).double().mean()
    return {f"{name}, {size} {order}": mean(name, i) for size, i in at.items() for name in SCORES}


# %% [markdown]
# ## The toy: two modes of equal depth
#
# l(w) = −log(½ exp(−(w − a)² / 2t²) + ½ exp(−(w − b)² / 2(ρt)²)) with a = −2, b = 2, t = 0.3 and the width ratio ρ. q = N(m, s²) starts
# where its expected gradient is zero, so that at the start neither side is preferred. Where VI ends in the wide mode in nearly all of
# its runs, no share of SA-BMA's runs could be significantly larger: the claim is *not testable*.

# %%
NARROW_AT, WIDE_AT, NARROW, START_STD, PRIOR_STD = -2.0, 2.0, 0.3, 0.5, 2.0
TOY = dict(kl_weight=0.1, start_scale=1.0, steps=600, likelihood=1.0)
modes = [dict(setting=f"width ratio {ratio}", method="sabma", radius=r, seed=s)
         for ratio in (2, 5, 10) for r in (0.0, 0.5, 1.0, 2.0) for s in range(MODE_RUNS)]  # fmt: skip


def loss(w, ratio):
    narrow, wide = (w - NARROW_AT) / NARROW, (w - WIDE_AT) / (ratio * NARROW)
    return -torch.logaddexp(-0.5 * narrow.square(), -0.5 * wide.square()) + math.log(2)


# %%
class TwoModes(torch.nn.Module):
    """The loss as a network of one weight: half of its output squared is l(w) + 1, a regression of 0 with noise 1."""

    def __init__(self, ratio, start=0.0):
        super().__init__()
        self.ratio, self.w = ratio, torch.nn.Parameter(torch.tensor([start], dtype=torch.float64))

    def forward(self, x):
        return (2 * (loss(self.w, self.ratio) + 1)).sqrt().expand(len(x), -1)


# %%
def expected_gradient(mean, std, ratio):
    """Gradient of E_q[l] in (mean, log_std) of q = N(mean, std^2), by quadrature over 8 standard deviations to each side."""
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    weight, w = torch.softmax(-0.5 * z.square(), 0), (mean + std * z).requires_grad_()
    (slope,) = torch.autograd.grad(loss(w, ratio).sum(), w)
    return (weight * slope).sum(), (weight * slope * std * z).sum()


def balance(ratio):
    """The mean between the modes at which the expected gradient is zero, by bisection."""
    low, high, std = NARROW_AT, WIDE_AT, torch.tensor(START_STD, dtype=torch.float64)
    for _ in range(60):
        middle = (low + high) / 2
        uphill = (
            float(expected_gradient(torch.tensor(middle, dtype=torch.float64), std, ratio)[0]) > 0
        )
        low, high = (middle, high) if uphill else (low, middle)
    return low


# %%
def fit_modes(cells, start=None, settings=TOY):
    """SA-BMA from the balance of the modes at one width ratio, all radii and seeds at once."""
    ratio = int(cells[0]["setting"].split()[-1])
    net = fv.Net.from_module(TwoModes(ratio, balance(ratio) if start is None else start))
    nothing = fv.Data(
        torch.zeros(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64)
    )
    first, prior = (
        fv.Gaussian(net.w, torch.full_like(net.w, std).log()) for std in (START_STD, PRIOR_STD)
    )
    radii, seeds = (list(dict.fromkeys(cell[key] for cell in cells)) for key in ("radius", "seed"))
    numbers = {name: value for name, value in settings.items() if name not in OF_RUN}
    run = {name: value for name, value in settings.items() if name in OF_RUN}
    family = [fv.SABMA(prior, start=first, radius=r, **numbers) for r in radii]
    fitted = fv.fit_many(net, nothing, family, seeds=seeds, **run)
    place = {radius: i for i, radius in enumerate(radii)}
    yield from ((cell, (fitted[place[cell["radius"]], cell["seed"]], ratio)) for cell in cells)


def in_the_wide_mode(fitted, cell):
    """Whether the posterior's mean ended on the wide mode's side of the ridge between the modes."""
    q, ratio = fitted
    ridge = (NARROW_AT * ratio + WIDE_AT) / (1 + ratio)  # as many widths away from both
    return {"in the wide mode": float(q.mean[0] > ridge)}


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    parts = [run(grid, fit, measure, name="averaging", device=DEVICE, workers=WORKERS)]
    parts += [
        run(
            modes, fit_modes, in_the_wide_mode, name="two modes", group=["setting"], workers=WORKERS
        )
    ]
    table = pd.concat(parts, ignore_index=True)
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE)

# %%
draws, toy = table[table.experiment == "averaging"], table[table.experiment == "two modes"]
LABELS = {"vi": "VI", "sabma": "SA-BMA"}


def of(method, quantity, rank=RANK):
    """Values of a quantity, one a seed."""
    rows = draws[
        (draws.method == method) & (draws.setting == f"rank {rank}") & (draws.quantity == quantity)
    ]
    return rows.set_index("seed").value


def shown(values, form):
    """Mean, and half of its 95 % interval."""
    mean, half = interval(torch.tensor(values.to_numpy()))
    return f"{mean:{form}} ± {half:.2g}"


# %% [markdown]
# ## Does a sharp draw score worse?
#
# Spearman's correlation over the draws of a posterior, mean over seeds ± half of the 95 % interval. *nll given train*: at equal
# training loss.

# %%
WITH = ("nll", "error", "train", "nll given train")
pd.DataFrame(
    {LABELS[m]: {w: shown(of(m, f"correlation with {w}"), "+.2f") for w in WITH} for m in RADII}
).T

# %% [markdown]
# ## Are ensembles of flat draws better?

# %%
orders = pd.DataFrame([dict(method=LABELS[m], score=q, order=o, **{str(n): shown(of(m, f"{q}, {n} {o}"), ".3f") for n in SIZES})
                       for m in RADII for q in SCORES for o in ORDERS])  # fmt: skip
orders

# %%
nll = draws[draws.quantity.str.match(r"nll, \d+ \w+")]
nll = nll.assign(
    size=nll.quantity.str.extract(r"(\d+)", expand=False).astype(int),
    order=nll.quantity.str.split().str[-1],
)
mean = (
    nll.assign(method=nll.method.map(LABELS))
    .groupby(["method", "size", "order"], as_index=False)
    .value.mean()
)
fig = px.line(mean, x="size", y="value", color="order", facet_col="method", markers=True, log_x=True, labels=dict(value="test NLL"),
              title="The same draws in three orders", template="plotly_white")  # fmt: skip
fig.for_each_annotation(lambda a: a.update(text=a.text.split("=")[-1])).update_xaxes(tickvals=SIZES)
fig.update_layout(legend=dict(orientation="h", y=-0.25))

# %% [markdown]
# *Figure: test NLL over the number of averaged draws, mean over seeds, a line for each order, VI and SA-BMA beside each other. All
# orders end in the same ensemble.*
#
# ## Weyl's bounds on the averaged Hessian
#
# λ1 of the mean Hessian of the first five draws, between its bounds; *holds in*: seeds in which it lies between them, within a
# numerical tolerance of 1 % (Lanczos' method).


# %%
def weyl_row(method, order):
    low, middle, high = (
        of(method, f"Weyl {what}, {order}") for what in ("lower", "middle", "upper")
    )
    within = int(((low <= middle * 1.01) & (middle <= high * 1.01)).sum())
    cells = {"lower bound": low, "λ1 of the mean": middle, "upper bound": high}
    return {"method": LABELS[method], "first draws": order, **{k: shown(v, ".3g") for k, v in cells.items()},
            "holds in": f"{within} of {len(low)}"}  # fmt: skip


pd.DataFrame([weyl_row(m, o) for m in RADII for o in ORDERS])

# %% [markdown]
# ## SA-BMA by rank

# %%
pd.DataFrame(
    {k: {q: shown(of("sabma", q, k), ".3g") for q in ("lambda1", *SCORES)} for k in RANKS}
).T.rename_axis("rank")

# %% [markdown]
# ## Runs of SA-BMA that end in the wide mode

# %%
ends = toy.groupby(["setting", "radius"], sort=False).value.agg(["sum", "size"]).astype(int)
(ends["sum"].astype(str) + " of " + ends["size"].astype(str)).unstack(sort=False)

# %% [markdown]
# ## Verdicts
#
# Each claim is a mean over seeds that should have one sign: correlations (as Fisher's *z*), differences between orders paired by
# seed, differences between ranks. A claim **holds** or **does not hold** where its *p* (Student's *t*), corrected by Holm for all
# claims below, is under 0.05; else it is **inconclusive**: the data do not decide, and the interval shows which effects remain possible.

# %%
ABOUT = dict(
    zip(WITH, ("test NLL", "test error", "training loss", "test NLL at equal training loss"))
)
fisher = lambda r: np.arctanh(r.clip(-1 + 1e-6, 1 - 1e-6))
claims = [(f"{LABELS[m]}, over draws: λ1 and {what} rise together (Spearman)", fisher(of(m, f"correlation with {w}")), 1)
          for m in RADII for w, what in ABOUT.items()]  # fmt: skip
claims += [(f"{LABELS[m]}, {n} flattest draws less {n} {called}: lower NLL", of(m, f"nll, {n} flat") - of(m, f"nll, {n} {other}"), -1)
           for m in RADII for other, called in (("sharp", "sharpest"), ("random", "random")) for n in (1, 5, 10)]  # fmt: skip

# %%
for k in [k for k in RANKS if k != RANK]:
    of_rank_k, usual = (lambda q, k=k: of("sabma", q, k)), (lambda q: of("sabma", q))
    text = f"SA-BMA, rank {k} less rank {RANK}: lower"
    claims.append((f"{text} λ1 (log ratio)", np.log(of_rank_k("lambda1") / usual("lambda1")), -1))
    claims.append((f"{text} NLL", of_rank_k("nll") - usual("nll"), -1))
verdicts = judged(
    pd.DataFrame([dict(claim=text, **mean_zero(values, sign)) for text, values, sign in claims]),
    family="averaging",
)


# %% tags=["finding"]
def sentence(row):
    """The claim with its mean, 95 % interval, number of seeds that agree, and verdict."""
    ends = [row.mean, row.mean - row.half, row.mean + row.half]
    correlation = "{:+.2f} ({:+.2f} to {:+.2f})".format(*np.tanh(ends))
    amount = correlation if "Spearman" in row.claim else f"{row.mean:+.2g} ± {row.half:.2g}"
    return f"{row.claim}: {amount}, {row.gains} of {row.n} seeds: {row.verdict}"


print(*map(sentence, verdicts.itertuples(index=False)), sep="\n")

# %% [markdown]
# ## What would change our mind
#
# More seeds narrow the intervals, which are not corrected for the number of claims, while the verdicts are. Draws of a posterior with
# several modes would test the claim better than draws of one Gaussian.
