# %% [markdown]
# # Experiment: posteriors with equal networks counted once
#
# **Question.** Two networks whose hidden units are permuted or rescaled are *one function* at two places. How far are draws of
# several methods from a pool of independently trained networks, as they are and once equal networks are counted once? Do the
# trends hold that Laurent et al. saw on large networks ([arXiv 2310.08287](https://arxiv.org/abs/2310.08287))? And do
# conclusions on flatness survive when each draw is moved to the lightest network equal to it?
#
# **Grid.** 1,797 digits, 1,347 to train on and 450 to test on; *outside*: those 450 with their pixels shuffled. Perceptron
# 64-16-16-10, ReLU, plain SGD. A set has 100 weight vectors: of one mode (a training run), or ten of each of ten modes. The
# **control**, ten networks copied, has no spread of any method. Replicates (the seeds of the table) are sets of starting networks
# that share no network; the pool that is the target is one.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "symmetry"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
SEED = 0  # of split, pool and methods
TARGET, REPLICATES, MODES, PER_SET = 300, 4, 10, 100  # networks of the target, replicates, modes, weight vectors of a set
EPOCHS, PERMUTATIONS, STARTS = 60, 200, 3  # of the pool; of the two-sample test; of each alignment
TOY, MASS, MASS_EPOCHS, LARGE, PAIRS, ORDERS = 2000, 48, 60, 8, 150, 24  # networks of the side studies
SEEDS, DRAWS, FIT_EPOCHS, STEPS = 5, 8, 60, 0  # of the study on flatness; STEPS of each fit, 0: the setting's
WORKERS = 1  # more than 1: processes of a local Dask cluster
DEVICE = "cpu"

# %%
import math

import numpy as np
import pandas as pd
import plotly.express as px
import torch
from scipy.stats import chisquare, kendalltau, spearmanr
from torch import nn

# %%
import flatviz as fv
from flatviz.core.devices import pick_device
from flatviz.core.seeds import generator, saved_rng
from flatviz.experiments import read_table, run, write_table
from flatviz.experiments.statistics import HOLDS, NOT, OPEN
from flatviz.families.choice import with_head_std
from flatviz.families.members import fit_member
from flatviz.families.tour import prepare
from flatviz.models.optunet import optunet
from flatviz.results import interval
from flatviz.storage.cache import cached
from flatviz.symmetry.mmd import WHOLE
from flatviz.symmetry.removal import weights_in

# %%
VARIANTS = {"raw": "as trained", "first": "unit norm, sorted by first weight", "max": "unit norm, sorted by largest weight",
            "aligned": "least mass, aligned"}  # fmt: skip
RECIPE = dict(lr=0.05, weight_decay=1e-3, batch_size=32)  # plain SGD, of the pool and of what starts from it
FITS = {
    "swag": RECIPE | dict(momentum=0.0, rank=10, snapshots=20),
    "dropout": RECIPE | dict(momentum=0.0, rate=0.1, steps=400),
    "laplace": dict(structure="last_layer", steps=0, weight_decay=1e-3),
    "sgld": dict(lr=0.01, burn_in=0, thin=10, weight_decay=1e-3, batch_size=32),
}
SETS = [f"{m}/{modes}" for m in FITS for modes in ("one", "multi")] + ["ensemble", "control", "single"]
SCORES = ("accuracy", "ece", "brier", "mi", "ood_mi", "auroc", "aupr_out", "aupr_in", "fpr95")
device = pick_device(DEVICE)

# %% [markdown]
# ## Data and pool


# %%
def digits(seed):
    """All scans upright: those to train on, to test on, and the latter under one random permutation of pixels."""
    task = fv.datasets.digits_transfer(shots=10, seed=seed, validation=0)
    parts = (torch.rot90(task.source.x, -1, dims=(2, 3)), task.source.y), (task.train.x, task.train.y), (task.test.x, task.test.y)
    x, y = (torch.cat(part) for part in zip(*parts))
    source = generator(seed + 1)
    order, pixels = torch.randperm(len(x), generator=source), torch.randperm(64, generator=source)
    train, test = order[:1347], order[1347:]
    shuffled = x[test].flatten(1)[:, pixels].view_as(x[test])
    return tuple(fv.Data(*part).to(device) for part in ((x[train], y[train]), (x[test], y[test]), (shuffled, y[test])))


def perceptron():
    """64-16-16-10 without normalisation, 1,482 weights."""
    with saved_rng(0):
        layers = nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 10)
        return fv.Net.from_module(nn.Sequential(nn.Flatten(), *layers)).to(device)


# %%
train, test, outside = digits(SEED)
net = perceptron()
units = fv.units_of(net)


def trained_pool(n, epochs):
    """Independently trained networks, one after the other: references, modes, ensemble members, target."""
    pool = fv.train_pool(net, train, n, seed=SEED, epochs=epochs, **RECIPE)
    return {"W": pool.W, "n_diverged": pool.n_diverged}


def parts_of_pool():
    """Reference (R, D), modes (R, M, D), members (R, n, D) and target (m, D): no network is in two of them."""
    n = TARGET + REPLICATES * (1 + MODES + PER_SET)
    about = dict(what=trained_pool, n=n, epochs=EPOCHS)
    pool, _ = cached("symmetry", lambda: trained_pool(n, EPOCHS), label=f"pool of {n} networks", say=print, **about)
    counts = [REPLICATES, REPLICATES * MODES, REPLICATES * PER_SET]
    if len(pool["W"]) - sum(counts) < max(4, TARGET // 2):
        raise ValueError(f"the pool must keep half of its target, got {pool['n_diverged']} diverged networks: lower the rate")
    reference, modes, members, target = pool["W"].split([*counts, len(pool["W"]) - sum(counts)])
    print(f"target of {len(target)} networks; {pool['n_diverged']} diverged and are left out")
    return reference, modes.view(REPLICATES, MODES, -1), members.view(REPLICATES, PER_SET, -1), target


if RUN:
    reference, modes, members, target = parts_of_pool()

# %% [markdown]
# ## Sets of draws, one replicate at a time


# %%
def fitted(name, W, seed):
    """Weight vectors of the method from each row of W (M, D): a whole set of the first row, of the others their share."""
    seeds, counts = [seed + i for i in range(MODES)], [PER_SET, *[PER_SET // MODES] * (MODES - 1)]
    method, settings = fv.METHODS[name], FITS[name]
    if method.fit_members is not None:
        posteriors = method.fit_members(net, train, W, seeds=seeds, **settings)
    else:
        own = [settings | (dict(n_draws=n) if name in ("sgld", "dropout") else {}) for n in counts]
        posteriors = [method.fit(net.at(w), train, seed=s, **given) for w, s, given in zip(W, seeds, own)]
    return [q.sample(n, seed=s) for q, s, n in zip(posteriors, seeds, counts)]


def sets_of(replicate):
    """Name -> weight vectors (n, D), and which training run each is of (None: each is one)."""
    sets, share = {}, PER_SET // MODES
    for name in FITS:
        rows = fitted(name, modes[replicate], SEED + 100 * replicate)
        sets[f"{name}/one"], sets[f"{name}/multi"] = rows[0], torch.cat([W[:share] for W in rows])
    sets |= {"ensemble": members[replicate], "control": modes[replicate].repeat_interleave(share, 0)}
    sets["single"] = modes[replicate][:1].repeat_interleave(PER_SET, 0)
    one = {name: name == "single" or name.endswith("/one") for name in sets if name != "ensemble"}
    runs = {name: torch.arange(len(sets[name])) * (0 if alone else MODES) // len(sets[name]) for name, alone in one.items()}
    return sets, runs


# %%
def removed(W, variant, to):
    """The rows of W with symmetries removed; to: the reference at least mass."""
    if variant == "raw":
        return W
    if variant == "aligned":
        return fv.align(units, fv.min_mass(units, W).W, to, starts=STARTS).W
    return fv.sort_units(units, fv.unit_norm(units, W)[0], rule=variant)[0]


def fit_sets(cells):
    """MMD of every set of one replicate from the target, for each removal; and the set itself, to be scored."""
    sets, runs = sets_of(cells[0]["seed"])
    to = fv.min_mass(units, reference[cells[0]["seed"]][None]).W[0]
    for variant in VARIANTS:
        given = {name: removed(W, variant, to) for name, W in sets.items()}
        how = dict(layers=fv.layers_of(net), runs=runs, resamples=0, permutations=PERMUTATIONS)
        distances = fv.mmd(removed(target, variant, to), given, **how)
        yield from ((cell, (distances[cell["method"]], sets[cell["method"]])) for cell in cells if cell["setting"] == variant)


# %%
def measure_set(fitted, cell):
    """100 MMD², median over layers and of all weights, and its p; of a set as trained also what it predicts."""
    distance, W = fitted
    values = {"mmd": 100 * distance.interval()[0], "mmd, all weights": 100 * distance.interval(WHOLE)[0], "p": distance.p_value()}
    return values | (scores_of(W) if cell["setting"] == "raw" else {})


def scores_of(W):
    """Scores inside and outside; for AUROC and so on the score of an input is 1 - largest probability of the average."""
    distinct = W.unique(dim=0)
    shown = W if len(distinct) == len(W) else distinct  # copies predict alike
    inside, other = (fv.predict(net, shown, x, len(shown), seed=0) for x in (test, outside.x))
    ood = fv.ood_scores(1 - inside.bma().amax(1), 1 - other.bma().amax(1))
    scores = [inside.scores[k][-1] for k in ("accuracy", "ece", "brier")]
    mi = [fv.mutual_information(p).mean() for p in (inside, other)]
    return dict(zip(SCORES, [*scores, *mi, *(ood[k] for k in ("auroc", "aupr_out", "aupr_in", "fpr95_out"))]))


# %% [markdown]
# ## Side studies: toy, mass, pairs, orders of units, a line between two networks
#
# **Toy**: 2-2-1 networks; share of the mean square of the two output weights that is variance, 1 on a ring about 0 and less where
# points gather, of the networks inside the square |w| ≤ 4; bootstrap over networks.

# %%
WINDOW, TOY_LOSS = 4.0, 0.05  # the square; mean loss up to which networks are looked at
CENTERS = torch.tensor([[-2.09, -1.89], [2.19, 2.17]])


def toy(n, seed=SEED):
    """Output weights (S, 2) of trained toys: raw, at unit norm 3, and with units sorted as well.

    The sigmoid of one output is the softmax of (0, output): a last layer that is not trained makes two classes of it.
    """
    y = torch.arange(400) % 2
    data = fv.Data(CENTERS[y] + 0.98 * torch.randn(400, 2, generator=generator(seed)), y)
    with saved_rng(0):
        module = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1), nn.Linear(1, 2))
    with torch.no_grad():
        module[3].weight.copy_(torch.tensor([[0.0], [1.0]])), module[3].bias.zero_()
    small = fv.Net.from_module(module, lambda name: not name.startswith("3"))
    pool = fv.train_pool(small, data, n, seed=seed, epochs=10, lr=2.0, weight_decay=0.0, batch_size=10)
    W = pool.W[pool.loss <= max(TOY_LOSS, float(pool.loss.quantile(0.1)))]
    scaled = fv.unit_norm(fv.units_of(small), W, norm=3.0)[0]
    out = next(b for b in small.blocks if b.name == "2.weight").slice
    return {"raw": W[:, out], "scaled": scaled[:, out], "sorted": scaled[:, out].sort(1).values}


# %%
def toy_values(weights):
    """Spread before and after removal, bounds of its fall, quartiles of the raw ring's radius, numbers of networks."""
    spread = lambda W: W.var(0).sum() / W.square().sum(1).mean()
    inside = torch.stack([W.abs().amax(1) <= WINDOW for W in weights.values()]).all(0)
    raw, after = weights["raw"][inside], weights["sorted"][inside]
    g, n = generator(0), len(raw)
    falls = torch.stack([spread(raw[i]) - spread(after[i]) for i in torch.randint(n, (200, n), generator=g)])
    low, high = falls.quantile(torch.tensor([0.025, 0.975]))
    radius = raw.norm(dim=1).quantile(torch.tensor([0.25, 0.5, 0.75]))
    values = {"spread raw": spread(raw), "spread removed": spread(after), "fall, low": low, "fall, high": high}
    values |= {f"radius, {q}": r for q, r in zip(("first quartile", "median", "third quartile"), radius)}
    return values | {"networks inside": n, "networks": len(inside)}


# %% [markdown]
# **Mass**: sum of squares as trained, and the least of all rescalings, of OptuNets by recipe and of the pool's perceptrons.
# **Orders**: Kendall's tau between the sorted orders of successive epochs while the rate falls to a tenth at a third and at two
# thirds of the epochs; mean over the first and the last sixth. **Pairs**: mutual information of two networks' answers.

# %%
RECIPES = {
    "lr 0.1, batch 16, wd 2e-4": dict(lr=0.1, batch_size=16, weight_decay=2e-4),
    "lr 0.1, batch 16, wd 2e-3": dict(lr=0.1, batch_size=16, weight_decay=2e-3),
    "lr 0.2, batch 8, wd 2e-4": dict(lr=0.2, batch_size=8, weight_decay=2e-4),
    "28 x 28, 392 weights, lr 0.1, batch 16, wd 2e-4": dict(lr=0.1, batch_size=16, weight_decay=2e-4),
}
PERCEPTRON = "perceptron, lr 0.05, batch 32, wd 1e-3"


def masses(recipe):
    """(mass, least mass) of each network of a recipe."""
    if recipe == PERCEPTRON:
        least = fv.min_mass(units, target.double())
        return [{"mass": m, "least mass": n} for m, n in zip(least.before, least.after)]
    data, n, epochs = train, MASS, MASS_EPOCHS
    if recipe.startswith("28"):
        data = fv.Data(nn.functional.interpolate(train.x, size=28, mode="bilinear"), train.y)
        n, epochs = LARGE, max(2, MASS_EPOCHS // 2)
    small = fv.Net.from_module(optunet(fv.Task(data, data, data, n_classes=10))).to(device)
    pool = fv.train_pool(small, data, n, seed=SEED, epochs=epochs, **RECIPES[recipe])
    least = fv.min_mass(fv.units_of(small), pool.W.double())
    return [{"mass": m, "least mass": n} for m, n in zip(least.before, least.after)]


# %%
def orders():
    """Kendall's tau of each network, mean over the first and the last sixth of the epochs."""
    how = dict(lr=0.1, drops=(EPOCHS // 3, 2 * EPOCHS // 3), weight_decay=1e-3, batch_size=32, keep_epochs=True)
    pool, first = fv.train_pool(net, train, ORDERS, seed=SEED + 7, epochs=EPOCHS, **how), units.permuted[0]
    in_order = [fv.sort_units(units, fv.unit_norm(units, W)[0])[1][:, first.start : first.stop] for W in pool.epochs]
    ranks = torch.stack(in_order).argsort(2).tolist()
    return tau_values(torch.tensor([[kendalltau(a, b)[0] for a, b in zip(*pair)] for pair in zip(ranks, ranks[1:])]).T.double())


def tau_values(tau):
    """Means over the first and the last sixth of the epochs, of each row."""
    n = max(1, tau.shape[1] // 6)
    return [{"tau, early": a, "tau, late": b, "epochs": n} for a, b in zip(tau[:, :n].mean(1), tau[:, -n:].mean(1))]


# %%
def pairs():
    """How alike two networks of the target answer, over all pairs of some."""
    found = [fv.pair_diversity(net, target[:PAIRS], data.x) for data in (test, outside)]
    return pair_values(*(p.information for p in found), found[0].disagreement)


def pair_values(inside, other, disagreement):
    """Mean, standard deviation, least and median of the mutual information in nats; disagreement; rank correlation."""
    inside, other = inside.double(), other.double()
    values = {f"{what} {name}": x for name, v in (("inside", inside), ("outside", other))
              for what, x in (("mean", v.mean()), ("sd", v.std()), ("least", v.min()), ("median", v.median()))}  # fmt: skip
    values |= {"disagreement": disagreement.mean(), "least disagreement": disagreement.min(), "pairs": len(inside)}
    return values | {"Spearman": float(spearmanr(inside.cpu(), other.cpu())[0])}


# %%
def line(kind):
    """Test loss along the straight line between two networks of the target."""
    two = target[:2]
    least = fv.min_mass(units, two).W
    ends = {"as trained": two, "unit norm, sorted": removed(two, "max", None),
            "least mass, aligned": torch.stack([least[0], fv.align(units, least[1:], least[0], starts=20).W[0]])}  # fmt: skip
    return line_values(fv.slice_line(fv.nll(net, test), *ends[kind], resolution=31))


def line_values(curve):
    """The loss at each point."""
    return {f"loss at {t:.3f}": v for t, v in zip(curve.t.tolist(), curve.values)}


def largest(W):
    """How often each unit of the first layer holds its largest incoming weight."""
    layer = units.permuted[0]
    counts = torch.bincount(W[:, weights_in(units, layer)].amax(2).argmax(1), minlength=layer.n)
    return {f"unit {i}": n for i, n in enumerate(counts.tolist())}


# %%
LINES = ("as trained", "unit norm, sorted", "least mass, aligned")
sides = [dict(setting="toy"), dict(setting="pairs"), *(dict(setting=f"line, {kind}") for kind in LINES)]
sides += [dict(setting="largest weight", method=name) for name in ("target", *SETS)]
sides += [dict(setting="orders", seed=i) for i in range(ORDERS)]
sides += [dict(setting=f"mass, {r}", seed=i) for r, n in {**dict.fromkeys(RECIPES, MASS), PERCEPTRON: TARGET}.items()
          for i in range(LARGE if r.startswith("28") else n)]  # fmt: skip


def fit_sides(cells):
    """Values of one side study; none of networks that diverged."""
    setting, _, kind = cells[0]["setting"].partition(", ")
    if setting == "largest weight":
        sets = {"target": target, **sets_of(0)[0]}
        values = [largest(sets[cell["method"]]) for cell in cells]
    else:
        studies = {"toy": lambda: [toy_values(toy(TOY))], "pairs": lambda: [pairs()], "orders": orders,
                   "line": lambda: [line(kind)], "mass": lambda: masses(kind)}  # fmt: skip
        values = studies[setting]()
    yield from zip(cells, values + [{}] * (len(cells) - len(values)))


# %% [markdown]
# ## Flatness at least mass
#
# The network of the [evidence](evidence.ipynb) treats norm layers and head; of its equal networks those differ that scale the
# last hidden units (gain and shift of the norm layer against columns of the head), the only scaling of treated weights alone.

# %%
RADII = {"vi": 0.0, "sam_mu": 0.2, "sabma": 1.0, "authors_code": 0.5}
SETTINGS = {"plain": (0.1, dict(kl_weight=0.0)), "tempered": (0.3, dict(kl_weight=0.03))}  # head std of the prior, fit
MEASURES = {"lambda1": "λ1", "trace": "trace", "sam": "SAM-sharpness", "adaptive": "ASAM-sharpness"}
flatness = [dict(setting=s, method=m, radius=r, seed=i) for i in range(SEEDS) for s in SETTINGS for m, r in RADII.items()]


def fit_flatness(cells):
    """Draws of each method of one seed."""
    seed = cells[0]["seed"]
    net, task, prior = prepare("mlp", seed=seed, epochs=FIT_EPOCHS)
    for cell in cells:
        head_std, settings = SETTINGS[cell["setting"]]
        given, wide = settings | dict(steps=STEPS or 300), with_head_std(net, prior, head_std)
        radius = cell["radius"] if cell["method"] != "vi" else None
        q = fit_member(net, task, wide, cell["method"], radius, seed=seed, fit=given)
        yield cell, (net, task, q.sample(DRAWS, seed=seed + 1))


# %%
def measure_flatness(fitted, cell):
    """Means over draws of four measures, as drawn and at least mass; how far that moves them, and the change of a logit."""
    net, task, W = fitted
    f, least, values = fv.nll(net, task.train), fv.min_mass(fv.units_of(net), W).W, {}
    for where, V in (("", W), (" at least mass", least)):
        found = fv.sharpness(f, V, k=2, probes=5, iters=25, eta=1e-6, seed=cell["seed"])
        values |= {f"{name}{where}": getattr(found, name).mean() for name in MEASURES}
    change = [(net(a, task.train.x) - net(b, task.train.x)).abs().max() for a, b in zip(W, least)]
    return values | {"moved": ((least - W).norm(dim=1) / W.norm(dim=1)).mean(), "logit change": max(map(float, change))}


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    grid = [dict(setting=v, method=name, seed=r) for r in range(REPLICATES) for v in VARIANTS for name in SETS]
    parts = [run(grid, fit_sets, measure_set, name="sets", workers=WORKERS)]
    parts += [run(sides, fit_sides, lambda values, cell: values, name="sides", group=["setting"], workers=WORKERS)]
    if SEEDS:
        parts += [run(flatness, fit_flatness, measure_flatness, name="flatness", workers=WORKERS)]
    table = pd.concat(parts, ignore_index=True)
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE)
