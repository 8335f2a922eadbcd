# %% [markdown]
# # Experiment: posteriors with equal networks counted once
#
# **Question.** Two networks whose hidden units are permuted or rescaled are *one function* at two places. How far are draws of
# several methods from a pool of independently trained networks, as they are and once equal networks are counted once? Do the
# trends hold that Laurent et al. saw on large networks ([arXiv 2310.08287](https://arxiv.org/abs/2310.08287))? And do
# conclusions on flatness survive when each draw is moved to the lightest network equal to it?
#
# **Grid.** *digits*: 1,797 upright scans, 1,347 to train on and 450 to test on. *digits-near*: the 700 scans of its source, turned by 15
# degrees, to train on, and the upright ones of its test split to test on. *Outside*: the test scans with their pixels shuffled. Perceptron
# 64-16-16-10, ReLU, plain SGD. A set has 100 weight vectors: of one mode (a training run), or ten of each of ten modes. The
# **control**, ten networks copied, has no spread of any method. Replicates (the seeds of the table) are sets of starting networks
# that share no network; the pool that is the target is one.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "symmetry"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
DATA = (
    "digits"  # the task that is run and drawn, or digits-near; the other's rows are those of TABLE
)
SEED = 0  # of split, pool and methods
TARGET = 300  # networks of the target
REPLICATES = 40
MODES = 10  # of a replicate
PER_SET = 100  # weight vectors of a set
EPOCHS = 60  # of the pool
PERMUTATIONS = 200  # of the two-sample test
STARTS = 3  # of each alignment
TOY = 2000  # toy networks
MASS = 48  # OptuNets of each recipe
MASS_EPOCHS = 60
LARGE = 8  # OptuNets of 28 x 28 pixels
PAIRS = 150  # networks whose pairs are compared
ORDERS = 40  # networks whose units are followed over epochs
SEEDS = 5  # of the study on flatness; 0 leaves it out
DRAWS = 8  # weight vectors whose flatness is measured
FIT_EPOCHS = 60  # of its pre-training
STEPS = 0  # of its fits; 0: those of the methods' records
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"
# a folder of checkpoints
CHECKPOINTS = ""  # its path: the study of these networks stands in the section of that name; SAVE writes its table
MODEL = "resnet18"  # theirs: one of torchvision's, resnet20, optunet, or FILE.py:FUNCTION, which returns the module
WIDTH = 8  # channels of resnet20's first stage
TEST = ""  # images from 0 to 1 to be judged on: image-folder:PATH, cifar10:ROOT, ...
OUTSIDE = ""  # images of other classes; "": those of TEST with their pixels shuffled
TRAIN = ""  # images that they were trained on: SWAG and Laplace start from some of them
IMAGES = 1000  # of each of the three, at most

# %%
import math
import runpy
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px
import torch
from IPython.display import display
from scipy.stats import (
    binomtest,
    chisquare,
    combine_pvalues,
    kendalltau,
    norm,
    spearmanr,
    ttest_1samp,
)
from torch import nn

# %%
import flatviz as fv
from flatviz.core.arithmetic import pick
from flatviz.core.seeds import generator, saved_rng
from flatviz.experiments import holm, read_table, run, write_table
from flatviz.experiments.statistics import HOLDS, LEVEL, NOT, OPEN
from flatviz.families.members import Fitting, with_head_std
from flatviz.families.preparation import task_for
from flatviz.families.tour import prepare
from flatviz.models.public import load_weights
from flatviz.results import interval
from flatviz.site import defined_in
from flatviz.storage.cache import cached
from flatviz.symmetry.discrepancy import WHOLE, Mmd
from flatviz.symmetry.pool import diversity_of
from flatviz.symmetry.removal import weights_in

SETTINGS = defined_in("along")["SETTINGS"]
torch.set_num_threads(1)

# %%
VARIANTS = {"raw": "as trained", "first": "unit norm, sorted by first weight", "max": "unit norm, sorted by largest weight",
            "aligned": "least mass, aligned"}  # fmt: skip
RECIPE = dict(
    lr=0.05, weight_decay=1e-3, batch_size=32
)  # plain SGD, of the pool and of what starts from it
FITS = {
    "swag": RECIPE | dict(momentum=0.0, rank=10, snapshots=20),
    "dropout": RECIPE | dict(momentum=0.0, rate=0.1, steps=400),
    "laplace": dict(structure="last_layer", steps=0),
    "sgld": dict(lr=0.01, burn_in=0, thin=10, weight_decay=1e-3, batch_size=32),
    "sghmc": dict(lr=0.001, burn_in=0, thin=10, weight_decay=1e-3, batch_size=32),
    "mfvi": dict(
        steps=1000, batch_size=128, mc_samples=4
    ),  # a Bayesian network at T = 1, prior N(0, 1), from the trained one
}
CHAINS = ("sgld", "sghmc", "dropout")  # whose number of draws is a setting
KERNELS = ("both", "laplace", "gaussian")
SETS = [f"{m}/{modes}" for m in FITS for modes in ("one", "multi")] + [
    "ensemble",
    "control",
    "single",
]
SCORES = (
    "accuracy",
    "ece",
    "ace",
    "class_ece",
    "brier",
    "mi",
    "ood_mi",
    "auroc",
    "aupr_out",
    "aupr_in",
    "fpr95",
)
device, why = pick(DEVICE, nn.Linear(64, 64))  # the perceptrons of the pool are as small

# %% [markdown]
# ## Data and pool


# %%
def upright(seed):
    """All scans of the digits, upright."""
    task = fv.datasets.digits_transfer(shots=10, seed=seed, validation=0)
    parts = (
        (torch.rot90(task.source.x, -1, dims=(2, 3)), task.source.y),
        (task.train.x, task.train.y),
        (task.test.x, task.test.y),
    )
    return fv.Data(*(torch.cat(part) for part in zip(*parts)))


def splits_of(name, seed):
    """Of a task what to train on, to test on, and the latter under one random permutation of pixels."""
    source = generator(seed + 1)
    if name == "digits":
        every = upright(seed)
        order = torch.randperm(len(every), generator=source)
        train, test = every.subset(order[:1347]), every.subset(order[1347:])
    else:
        task = task_for(name, seed)
        train, test = task.source, task.test
    shuffled = test.x.flatten(1)[:, torch.randperm(64, generator=source)].view_as(test.x)
    return tuple(data.to(device) for data in (train, test, fv.Data(shuffled, test.y)))


def perceptron():
    """64-16-16-10 without normalisation, 1,482 weights."""
    with saved_rng(0):
        layers = nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 10)
        return fv.Net.from_module(nn.Sequential(nn.Flatten(), *layers)).to(device)


# %%
train, test, outside = splits_of(DATA, SEED)
net = perceptron()
units = fv.symmetry.units_of(net)


def trained_pool(n, epochs):
    """Independently trained networks, one after the other: references, modes, ensemble members, target."""
    pool = fv.symmetry.train_pool(net, train, n, seed=SEED, epochs=epochs, **RECIPE)
    return {"W": pool.W, "n_diverged": pool.n_diverged}


def parts_of_pool():
    """Reference (R, D), modes (R, M, D), members (R, n, D) and target (m, D): no network is in two of them."""
    n = TARGET + REPLICATES * (1 + MODES + PER_SET)
    about = dict(what=trained_pool, n=n, epochs=EPOCHS)
    pool, _ = cached(
        "symmetry",
        lambda: trained_pool(n, EPOCHS),
        label=f"pool of {n} networks",
        say=print,
        **about,
    )
    counts = [REPLICATES, REPLICATES * MODES, REPLICATES * PER_SET]
    if len(pool["W"]) - sum(counts) < max(4, TARGET // 2):
        raise ValueError(
            f"the pool must keep half of its target, got {pool['n_diverged']} diverged networks: lower the rate"
        )
    reference, modes, members, target = pool["W"].split([*counts, len(pool["W"]) - sum(counts)])
    print(f"target of {len(target)} networks; {pool['n_diverged']} diverged and are left out")
    return (
        reference,
        modes.view(REPLICATES, MODES, -1),
        members.view(REPLICATES, PER_SET, -1),
        target,
    )


if RUN and not CHECKPOINTS:
    reference, modes, members, target = parts_of_pool()

# %% [markdown]
# ## Sets of draws, one replicate at a time


# %%
def fitted(name, W, seed):
    """Weight vectors of the method from each row of W (M, D): a whole set of the first row, of the others their share."""
    seeds, counts = [seed + i for i in range(MODES)], [PER_SET, *[PER_SET // MODES] * (MODES - 1)]
    method, settings = fv.METHODS[name], FITS[name]
    own = [settings | (dict(n_draws=n) if name in CHAINS else {}) for n in counts]
    posteriors = [
        method.fit(net.at(w), train, seed=s, **given) for w, s, given in zip(W, seeds, own)
    ]
    return [q.sample(n, seed=s) for q, s, n in zip(posteriors, seeds, counts)]


def sets_of(replicate):
    """Name -> weight vectors (n, D)."""
    sets, share = {}, PER_SET // MODES
    for name in FITS:
        rows = fitted(name, modes[replicate], SEED + 100 * replicate)
        sets[f"{name}/one"], sets[f"{name}/multi"] = rows[0], torch.cat([W[:share] for W in rows])
    sets |= {
        "ensemble": members[replicate],
        "control": modes[replicate].repeat_interleave(share, 0),
    }
    sets["single"] = modes[replicate][:1].repeat_interleave(PER_SET, 0)
    return sets


# %%
def removed(W, variant, to, units=units):
    """The rows of W with symmetries removed; to: the reference at least mass."""
    if variant == "raw":
        return W
    if variant == "aligned":
        return fv.symmetry.align(units, fv.symmetry.min_mass(units, W).W, to, starts=STARTS)
    return fv.symmetry.sort_units(units, fv.symmetry.unit_norm(units, W)[0], rule=variant)[0]


def fit_sets(cells):
    """MMD of every set of one replicate from the target, for each removal; and the set itself, to be scored."""
    sets = sets_of(cells[0]["seed"])
    to = fv.symmetry.min_mass(units, reference[cells[0]["seed"]][None]).W[0]
    for variant in VARIANTS:
        given = {name: removed(W, variant, to) for name, W in sets.items()}
        pool, layers = removed(target, variant, to), fv.symmetry.layers_of(net)
        far = {kernel: fv.symmetry.mmd(pool, given, layers=layers, kernel=kernel, permutations=PERMUTATIONS if kernel == "both" else 0)
               for kernel in (KERNELS if variant in ("raw", "aligned") else ("both",))}  # fmt: skip
        for cell in (cell for cell in cells if cell["setting"] == variant):
            yield (
                cell,
                (
                    {kernel: found[cell["method"]] for kernel, found in far.items()},
                    sets[cell["method"]],
                ),
            )


# %%
def measure_set(fitted, cell):
    """100 MMD², median over layers and of all weights, and its p; of a set as trained also what it predicts, and `same_units`."""
    of, W = fitted
    values = {
        "mmd": 100 * of["both"].of(),
        "mmd, all weights": 100 * of["both"].of(WHOLE),
        "p": of["both"].p_value(),
    }
    values |= {
        f"mmd, {kernel}": 100 * distance.of() for kernel, distance in of.items() if kernel != "both"
    }
    return values | (scores_of(W) | same_units(W) if cell["setting"] == "raw" else {})


def same_units(W):
    """The p of a chi-square test that each unit of the first layer holds its largest incoming weight equally often."""
    layer = units.permuted[0]
    counts = torch.bincount(W[:, weights_in(units, layer)].amax(2).argmax(1), minlength=layer.n)
    return {"same units": chisquare(counts.cpu())[1]}


def scores_of(W):
    """Scores inside and outside; for AUROC and so on the score of an input is 1 - largest probability of the average."""
    distinct = W.unique(dim=0)
    shown = W if len(distinct) == len(W) else distinct  # copies predict alike
    return scores_from(*(fv.predict(net, shown, x, len(shown), seed=0) for x in (test, outside.x)))


def scores_from(inside, other):
    """Scores of the average of all draws, inside and outside."""
    ood = fv.metrics.ood_scores(1 - inside.bma().amax(1), 1 - other.bma().amax(1))
    scores = [fv.score(inside, k, n_draws=inside.n_draws) for k in SCORES[:5]]
    mi = [fv.metrics.mutual_information(p).mean() for p in (inside, other)]
    return dict(
        zip(
            SCORES, [*scores, *mi, *(ood[k] for k in ("auroc", "aupr_out", "aupr_in", "fpr95_out"))]
        )
    )


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
    pool = fv.symmetry.train_pool(
        small, data, n, seed=seed, epochs=10, lr=2.0, weight_decay=0.0, batch_size=10
    )
    W = pool.W[pool.loss <= max(TOY_LOSS, float(pool.loss.quantile(0.1)))]
    scaled = fv.symmetry.unit_norm(fv.symmetry.units_of(small), W, norm=3.0)[0]
    out = next(b for b in small.blocks if b.name == "2.weight").slice
    return {"raw": W[:, out], "scaled": scaled[:, out], "sorted": scaled[:, out].sort(1).values}


# %%
def toy_values(weights):
    """Spread before and after removal, bounds of its fall, quartiles of the raw ring's radius, numbers of networks."""
    spread = lambda W: W.var(0).sum() / W.square().sum(1).mean()
    inside = torch.stack([W.abs().amax(1) <= WINDOW for W in weights.values()]).all(0)
    raw, after = weights["raw"][inside], weights["sorted"][inside]
    g, n = generator(0), len(raw)
    falls = torch.stack(
        [spread(raw[i]) - spread(after[i]) for i in torch.randint(n, (200, n), generator=g)]
    )
    low, high = falls.quantile(torch.tensor([0.025, 0.975]))
    radius = raw.norm(dim=1).quantile(torch.tensor([0.25, 0.5, 0.75]))
    values = {
        "spread raw": spread(raw),
        "spread removed": spread(after),
        "fall, low": low,
        "fall, high": high,
    }
    values |= {
        f"radius, {q}": r for q, r in zip(("first quartile", "median", "third quartile"), radius)
    }
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
    "28 x 28, 392 weights, lr 0.1, batch 16, wd 2e-4": dict(
        lr=0.1, batch_size=16, weight_decay=2e-4
    ),
}
PERCEPTRON = "perceptron, lr 0.05, batch 32, wd 1e-3"


def optunet(channels, side, n_classes):
    """OptuNet (Laurent et al. 2024), reconstructed: images of 28 x 28 pixels, 392 weights, or of 8 x 8, 168 weights."""
    first, pool, second = {28: (4, 3, 5), 8: (3, 2, 2)}[side]
    lower = nn.Conv2d(channels, 2, first, bias=False), nn.ReLU(), nn.MaxPool2d(pool)
    upper = (
        nn.Conv2d(2, 10, second, groups=2, bias=False),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )
    return nn.Sequential(*lower, *upper, nn.Linear(10, n_classes))


# %%
def masses(recipe):
    """(mass, least mass) of each network of a recipe."""
    if recipe == PERCEPTRON:
        least = fv.symmetry.min_mass(units, target.double())
        return [{"mass": m, "least mass": n} for m, n in zip(least.before, least.after)]
    data, n, epochs = train, MASS, MASS_EPOCHS
    if recipe.startswith("28"):
        data = fv.Data(nn.functional.interpolate(train.x, size=28, mode="bilinear"), train.y)
        n, epochs = LARGE, max(2, MASS_EPOCHS // 2)
    small = fv.Net.from_module(optunet(*data.x.shape[1:3], 10)).to(device)
    pool = fv.symmetry.train_pool(small, data, n, seed=SEED, epochs=epochs, **RECIPES[recipe])
    least = fv.symmetry.min_mass(fv.symmetry.units_of(small), pool.W.double())
    return [{"mass": m, "least mass": n} for m, n in zip(least.before, least.after)]


# %%
def orders():
    """Kendall's tau of each network, mean over the first and the last sixth of the epochs."""
    how = dict(
        lr=0.1,
        drops=(EPOCHS // 3, 2 * EPOCHS // 3),
        weight_decay=1e-3,
        batch_size=32,
        keep_epochs=True,
    )
    pool, first = (
        fv.symmetry.train_pool(net, train, ORDERS, seed=SEED + 7, epochs=EPOCHS, **how),
        units.permuted[0],
    )
    in_order = [
        fv.symmetry.sort_units(units, fv.symmetry.unit_norm(units, W)[0])[1][
            :, first.start : first.stop
        ]
        for W in pool.epochs
    ]
    ranks = torch.stack(in_order).argsort(2).tolist()
    return tau_values(
        torch.tensor(
            [[kendalltau(a, b)[0] for a, b in zip(*pair)] for pair in zip(ranks, ranks[1:])]
        ).T.double()
    )


def tau_values(tau):
    """Means over the first and the last sixth of the epochs, of each row."""
    n = max(1, tau.shape[1] // 6)
    return [
        {"tau, early": a, "tau, late": b, "epochs": n}
        for a, b in zip(tau[:, :n].mean(1), tau[:, -n:].mean(1))
    ]


# %%
def pairs():
    """How alike two networks of the target answer, over all pairs of some."""
    return pair_values(
        *(fv.symmetry.pair_diversity(net, target[:PAIRS], data.x) for data in (test, outside))
    )


def pair_values(*diversity):
    """Mean, standard deviation, least and median of the mutual information in nats; disagreement; rank correlation."""
    inside, other = (of.information.double() for of in diversity)
    disagreement = diversity[0].disagreement
    values = {f"{what} {name}": x for name, v in (("inside", inside), ("outside", other))
              for what, x in (("mean", v.mean()), ("sd", v.std()), ("least", v.min()), ("median", v.median()))}  # fmt: skip
    values |= {
        "disagreement": disagreement.mean(),
        "least disagreement": disagreement.min(),
        "pairs": len(inside),
    }
    return values | {"Spearman": float(spearmanr(inside.cpu(), other.cpu())[0])}


# %%
def line(kind):
    """Test loss along the straight line between two networks of the target."""
    two = target[:2]
    least = fv.symmetry.min_mass(units, two).W
    ends = {"as trained": two, "unit norm, sorted": removed(two, "max", None),
            "least mass, aligned": torch.stack([least[0], fv.symmetry.align(units, least[1:], least[0], starts=20)[0]])}  # fmt: skip
    return line_values(fv.slice_line(fv.nll(net, test), *ends[kind], resolution=31))


def line_values(curve):
    """The loss at each point."""
    return {f"loss at {t:.3f}": v for t, v in zip(curve.t.tolist(), curve.values)}


# %%
LINES = ("as trained", "unit norm, sorted", "least mass, aligned")
toys = [dict(setting="toy")] if DATA == "digits" else []  # it has data of its own
sides = [*toys, dict(setting="pairs"), *(dict(setting=f"line, {kind}") for kind in LINES)]
sides += [dict(setting="largest weight", method="target")]
sides += [dict(setting="orders", seed=i) for i in range(ORDERS)]
sides += [dict(setting=f"mass, {r}", seed=i) for r, n in {**dict.fromkeys(RECIPES, MASS), PERCEPTRON: TARGET}.items()
          for i in range(LARGE if r.startswith("28") else n)]  # fmt: skip


def fit_sides(cells):
    """Values of one side study; none of networks that diverged."""
    setting, _, kind = cells[0]["setting"].partition(", ")
    studies = {"toy": lambda: [toy_values(toy(TOY))], "pairs": lambda: [pairs()], "line": lambda: [line(kind)], "orders": orders,
               "largest weight": lambda: [same_units(target)], "mass": lambda: masses(kind)}  # fmt: skip
    values = studies[setting]()
    yield from zip(cells, values + [{}] * (len(cells) - len(values)))


# %% [markdown]
# ## Flatness at least mass
#
# The network of the other experiments treats norm layers and head; of its equal networks those differ that scale the
# last hidden units (gain and shift of the norm layer against columns of the head), the only scaling of treated weights alone.

# %%
RADII = {"vi": 0.0, "sam_mu": 0.2, "sabma": 1.0, "authors_code": 0.5}
USED = ("no KL", "T 0.03")
MEASURES = {"lambda1": "λ1", "trace": "trace", "sam": "SAM-sharpness", "adaptive": "ASAM-sharpness"}
flatness = [
    dict(setting=s, method=m, radius=r, seed=i)
    for i in range(SEEDS)
    for s in USED
    for m, r in RADII.items()
]


def fit_flatness(cells):
    """Draws of each method of one seed."""
    seed = cells[0]["seed"]
    net, task, prior = prepare("mlp", task=task_for(DATA, seed), seed=seed, epochs=FIT_EPOCHS)
    for cell in cells:
        chosen = SETTINGS[cell["setting"]]
        given, wide = (
            chosen.fit | (dict(steps=STEPS) if STEPS else {}),
            with_head_std(net, prior, chosen.head_std),
        )
        radius = cell["radius"] if cell["method"] != "vi" else None
        q = Fitting(net, task, wide, seed=seed, fit=given).member(cell["method"], radius)
        yield cell, (net, task, q.sample(DRAWS, seed=seed + 1))


# %%
def measure_flatness(fitted, cell):
    """Means over draws of four measures, as drawn and at least mass; how far that moves them, and the change of a logit."""
    net, task, W = fitted
    f, least, values = (
        fv.nll(net, task.train),
        fv.symmetry.min_mass(fv.symmetry.units_of(net), W).W,
        {},
    )
    for where, V in (("", W), (" at least mass", least)):
        found = fv.sharpness(f, V, k=2, probes=5, iters=25, eta=1e-6, seed=cell["seed"])
        values |= {f"{name}{where}": getattr(found, name).mean() for name in MEASURES}
    change = [(net(a, task.train.x) - net(b, task.train.x)).abs().max() for a, b in zip(W, least)]
    return values | {
        "moved": ((least - W).norm(dim=1) / W.norm(dim=1)).mean(),
        "logit change": max(map(float, change)),
    }


# %% [markdown]
# ## A folder of checkpoints
#
# `flatviz run symmetry -p checkpoints=FOLDER -p model=resnet18 -p test=image-folder:PATH` compares networks of yours, or the sets
# that the paper released: each file is one network. *Target*: most of them; *ensemble*: others; *control* and *single*: copies. With
# `train` also SWAG and Laplace, from ten of them (`modes`). Weights lie in a file on disk and are read layer by layer, and one network
# predicts at a time. So memory is about 16 bytes times networks times weights of the largest layer.

# %%
SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt", ".tar")
LEAST = 12  # networks: four of a target, four of an ensemble, two modes, a reference
space = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
MORE_FITS = {
    "swag": dict(lr=0.01, rank=10, snapshots=20),
    "laplace": dict(structure="last_layer", steps=0),
}


def mapped(n, width):
    """A tensor (n, width) that lies in a file."""
    file = tempfile.NamedTemporaryFile(dir=space.name, delete=False)
    return torch.from_file(file.name, shared=True, size=n * width).view(n, width)


def module_of(images):
    """A network of the architecture of the checkpoints."""
    few = images.subset(torch.arange(2))
    task = fv.Task(few, few, few, int(images.y.max()) + 1)
    if ".py:" in MODEL:
        file, _, name = MODEL.rpartition(":")
        return runpy.run_path(file)[name]()
    if MODEL == "optunet":
        return optunet(*task.input_shape[:2], task.n_classes)
    return (
        fv.models.resnet20(task, width=WIDTH)
        if MODEL == "resnet20"
        else fv.models.torchvision_model(task, MODEL)
    )


# %%
def read_checkpoints(folder, module, example, fits=()):
    """The net, its units, V: a row of weights, with running statistics behind, for each file, and rows for `fits`; the groups."""
    files = sorted(p for p in Path(folder).rglob("*") if p.suffix in SUFFIXES)
    if len(files) < LEAST:
        raise ValueError(
            f"CHECKPOINTS must be a folder of {LEAST} networks or more, got {len(files)} in {folder!r}"
        )
    nets = (
        fv.Net.from_module(load_weights(module, file).eval(), example=example) for file in files
    )
    net = next(nets)
    units, groups = fv.symmetry.units_of(net), groups_of(len(files))
    V = mapped(
        len(files) + len(fits) * (len(groups[2]["single"]) + len(groups[2]["control"])), units.size
    )
    V[0] = units.extended(net)
    for row, other in zip(V[1:], nets):
        row.copy_(units.extended(other))
    return net, units, V, groups


def groups_of(n):
    """Numbers of the networks: the reference, those where fits start, sets by name, target."""
    order, modes, size = (
        torch.randperm(n, generator=generator(SEED)),
        min(MODES, n // 6),
        min(PER_SET, n // 3),
    )
    first, fresh = order[1 : 1 + modes], order[1 + modes : 1 + modes + size]
    sets = {
        "ensemble": fresh,
        "control": first.repeat_interleave(size // modes),
        "single": first[:1].repeat(size),
    }
    return order[0], first, sets, order[1 + modes + size :]


def add_fits(net, units, V, first, sets, train):
    """Fill the last rows of V with draws of each method, and name them in `sets`."""
    size, at = (
        len(sets["single"]),
        len(V) - len(MORE_FITS) * (len(sets["single"]) + len(sets["control"])),
    )
    for name, settings in MORE_FITS.items():
        for kind, starts, n in (("one", first[:1], size), ("multi", first, size // len(first))):
            sets[f"{name}/{kind}"] = torch.arange(at, at + n * len(starts))
            for start, rows in zip(starts, V[at:].split(n)):
                q = fv.METHODS[name].fit(
                    units.net_at(net, V[start]), train, seed=SEED + int(start), **settings
                )
                for row, w in zip(rows, q.sample(n, seed=SEED + int(start))):
                    row.copy_(
                        units.extended(
                            fv.engine.refresh_batchnorm(net, w, train).at(w)
                            if net.has_batchnorm
                            else net.at(w)
                        )
                    )
            at += n * len(starts)


def predictions(net, units, V, data):
    """Outputs of the network at each row of V."""
    nets = (units.net_at(net, v) for v in V)
    with torch.no_grad():
        return fv.Prediction(
            torch.stack([torch.cat([n(n.w, x) for x in data.x.split(256)]) for n in nets]), data.y
        )


# %%
def distances_of(net, units, V, groups):
    """Rows of 100 MMD² of each set from the target, median over layers, and its p, for each removal; a layer at a time."""
    reference, _, sets, target = groups
    to = fv.symmetry.min_mass(units, V[reference][None]).W[0]
    layers = {name: at for name, at in fv.symmetry.layers_of(net).items() if name != WHOLE}
    for variant in ("raw", "max", "aligned"):
        moved = V if variant == "raw" else mapped(*V.shape)
        for row, v in zip(moved, V) if variant != "raw" else ():
            row.copy_(removed(v[None], variant, to, units)[0])
        parts = [
            fv.symmetry.mmd(
                A[target],
                {n: A[index] for n, index in sets.items()},
                permutations=PERMUTATIONS if len(layers) < 100 else 0,
            )
            for A in (moved[:, at] for at in layers.values())
        ]
        for name in sets:
            far = Mmd(
                tuple(layers),
                *(
                    torch.cat([getattr(p[name], f) for p in parts], -1)
                    for f in ("value", "permuted")
                ),
            )
            yield variant, name, {"mmd": 100 * far.of(), "p": far.p_value()}


def study_of(folder, test, outside, train=None):
    """The long table of a folder of checkpoints."""
    net, units, V, groups = read_checkpoints(
        folder, module_of(test).eval(), test.x[:2], MORE_FITS if train else ()
    )
    if train:
        add_fits(net, units, V, *groups[1:3], train)
    found = [*distances_of(net, units, V, groups)]
    for name, index in groups[2].items():
        shown, back = index.unique(return_inverse=True)
        found.append(
            (
                "raw",
                name,
                scores_from(*(predictions(net, units, V[shown], data) for data in (test, outside))),
            )
        )
    some = [
        diversity_of(predictions(net, units, V[groups[3][:PAIRS]], d).outputs.softmax(-1))
        for d in (test, outside)
    ]
    found.append(("pairs", "target", pair_values(*some)))
    columns = ("setting", "method", "quantity", "value")
    rows = [
        (setting, name, q, float(v)) for setting, name, values in found for q, v in values.items()
    ]
    return pd.DataFrame(rows, columns=columns).assign(experiment="checkpoints", seed=SEED)


# %% [markdown]
# ## Run, or read


# %%
def with_task(rows):
    """The stored table; one of before this column is of the digits."""
    return rows if "task" in rows else rows.assign(task="digits")


# %%
if RUN and not CHECKPOINTS:
    grid = [
        dict(setting=v, method=name, seed=r)
        for r in range(REPLICATES)
        for v in VARIANTS
        for name in SETS
    ]
    parts = [run(grid, fit_sets, measure_set, name="sets", workers=WORKERS)]
    parts += [
        run(
            sides,
            fit_sides,
            lambda values, cell: values,
            name="sides",
            group=["setting"],
            workers=WORKERS,
        )
    ]
    if SEEDS:
        parts += [run(flatness, fit_flatness, measure_flatness, name="flatness", workers=WORKERS)]
    table = pd.concat(parts, ignore_index=True).assign(task=DATA)
    stored = with_task(read_table(TABLE))
    table = pd.concat([stored[stored.task != DATA], table], ignore_index=True)
else:
    table = with_task(read_table(TABLE))
if SAVE and not CHECKPOINTS:
    write_table(table, SAVE)


# %%
sets, sides_of = table[table.experiment == "sets"], table[table.experiment == "sides"]
TASKS = [DATA, *(task for task in dict.fromkeys(table.task) if task != DATA)]
side = sides_of[sides_of.task == DATA]


def values_in(task):
    """Of a task: (variant, set, quantity) -> values, one a replicate."""
    columns = ["setting", "method", "quantity"]
    wide = sets[sets.task == task].pivot_table(
        index="seed", columns=columns, values="value", sort=False
    )
    return lambda variant, name, quantity: wide[variant, name, quantity].to_numpy()


of = values_in(DATA)


def mean_of(values):
    """Mean, and half of its 95 % interval."""
    return interval(torch.tensor(np.asarray(values, float)))


def plus_minus(values):
    """The same in three and two digits."""
    mean, half = mean_of(values)
    return f"{mean:.3g}" if math.isnan(half) else f"{mean:.3g} ± {half:.2g}"


def middle(values):
    """The median; the lower of two middle ones, as torch has it."""
    return np.sort(values)[(len(values) - 1) // 2]


def label(name):
    """What a set is called."""
    plain = {
        "ensemble": "deep ensemble",
        "control": "ten networks copied (control)",
        "single": "one network copied",
    }
    method, _, mode = name.partition("/")
    return (
        plain.get(name)
        or f"{fv.METHODS[method].label}, {'one mode' if mode == 'one' else 'ten modes'}"
    )


# %% [markdown]
# ## Distances from the target
#
# 100 MMD² (unbiased, mean of 20 kernels with bandwidths of the target alone), median over layers: mean over replicates ± half of
# the 95 % interval. *p*: of one distribution, by permuted labels, median over replicates.

# %%
names = list(dict.fromkeys(sets[sets.task == DATA].method))


def distances(name):
    """A row of the table."""
    row = {VARIANTS[v]: plus_minus(of(v, name, "mmd")) for v in VARIANTS}
    row["all weights, aligned"] = plus_minus(of("aligned", name, "mmd, all weights"))
    row["over control, aligned"] = plus_minus(
        of("aligned", name, "mmd") / of("aligned", "control", "mmd")
    )
    p = lambda v: middle(of(v, name, "p"))
    return row | {f"p, {v}": f"{p(v):.2g}" for v in ("raw", "aligned")}


pd.DataFrame({label(name): distances(name) for name in names}).T

# %%
mmd = (
    sets[(sets.task == DATA) & (sets.quantity == "mmd")]
    .groupby(["setting", "method"], sort=False)
    .value.agg(lambda v: mean_of(v)[0])
    .reset_index()
)
mmd["half"] = [mean_of(of(v, m, "mmd"))[1] for v, m in zip(mmd.setting, mmd.method)]
px.scatter(mmd, x="value", error_x="half", y=mmd.method.map(label), color=mmd.setting.map(VARIANTS), height=520,
           labels=dict(value="100 MMD² from the target", y="", color=""), title="Distances from the pool",
           template="plotly_white").update_layout(legend=dict(orientation="h", y=-0.2))  # fmt: skip

# %% [markdown]
# *Figure: a marker for each set and removal, with its interval; the control is ten networks copied. Mean-field VI approximates the
# posterior at T = 1, whose draws do not minimise a loss as the networks of the pool do.*
#
# ## By one kernel alone
#
# Spearman's correlation over the sets of draws, without the controls, of MMD² by one kind of kernel with MMD² by both: mean over
# replicates ± half of the 95 % interval. At 1 the order of the sets does not depend on the kernel.


# %%
def correlation(of, variant, first, second):
    """Rank correlation of two quantities over the sets of draws, one a replicate; a score is one of the sets as trained."""
    some = [n for n in SETS if n not in ("control", "single")]
    at = lambda q: np.array([of(variant if q.startswith("mmd") else "raw", n, q) for n in some]).T
    return np.array([spearmanr(a, b)[0] for a, b in zip(at(first), at(second))])


by_kernel = {
    VARIANTS[v]: {k: plus_minus(correlation(of, v, "mmd", f"mmd, {k}")) for k in KERNELS[1:]}
    for v in ("raw", "aligned")
}
pd.DataFrame(by_kernel).T

# %% [markdown]
# ## What each set predicts
#
# On test digits, and on the same with shuffled pixels (mutual information, MI, in nats).

# %%
LABELS = ("accuracy %", "ECE", "ACE", "class-wise ECE", "Brier", "MI", "MI outside", "AUROC", "AUPR, outside positive",
          "AUPR, inside positive", "FPR95")  # fmt: skip
HEADS = dict(zip(LABELS, SCORES))
percent = lambda q: 100 if q == "accuracy" else 1
pd.DataFrame(
    {
        label(n): {h: plus_minus(percent(q) * of("raw", n, q)) for h, q in HEADS.items()}
        for n in names
    }
).T

# %% [markdown]
# Spearman's correlation over the sets of draws of the distance from the target with each score: does a nearer set predict better, or know
# better what lies outside?

# %%
quality = {
    h: {VARIANTS[v]: plus_minus(correlation(of, v, "mmd", q)) for v in ("raw", "aligned")}
    for h, q in HEADS.items()
}
pd.DataFrame(quality).T.rename_axis("score", axis=0)

# %% [markdown]
# ## Two output weights of the toy, and mass
#
# The toy is trained again here, in a smaller pool, for the picture alone.

# %%
found = toy(min(TOY, 400))
points = pd.concat(
    [pd.DataFrame(W.numpy(), columns=["w1", "w2"]).assign(which=name) for name, W in found.items()]
)
px.scatter(points, x="w1", y="w2", facet_col="which", opacity=0.4, range_x=[-WINDOW, WINDOW], range_y=[-WINDOW, WINDOW],
           title="Two output weights of each toy network").update_traces(marker_size=4)  # fmt: skip

# %% [markdown]
# *Figure: a point for each trained network of two hidden units, at its two output weights: as trained, at unit norm of each unit's
# incoming weights, and with the units sorted as well. A ring becomes a few clusters.*


# %%
def masses_in(side):
    """Mass, least mass and excess in % of every network."""
    rows = side[side.setting.str.startswith("mass, ")]
    mass = rows.pivot_table(
        index=["setting", "seed"], columns="quantity", values="value", sort=False
    )
    return mass.assign(excess=100 * (mass["mass"] / mass["least mass"] - 1))


mass = masses_in(side)
px.scatter(mass.reset_index(), x="mass", y="least mass", color="setting", log_x=True, log_y=True,
           title="Mass as trained, and the least of all rescalings").update_layout(legend=dict(orientation="h", y=-0.25))  # fmt: skip

# %% [markdown]
# *Figure: a point for each trained network. Its distance below the diagonal is mass that weight decay left and that a rescaling of
# hidden units removes without changing the function.*
#
# ## Trends
#
# Of each stored task. T1 to T9 are the paper's; *control* is ours. Each is judged by a rule from its figures; intervals are 95 %, over
# replicates unless said otherwise. **Inconclusive**: the figures allow both. T2 is a sign test over networks; T4 tests each step of the
# order, the control each method, by a *t* test over replicates; all corrected by Holm. T5a bounds the share of equal
# pairs, T5b has an interval of the ratio of two relative spreads, for normal values. "No effect" needs a margin; a test that finds nothing
# does not show it: in T3 the ensemble's distance is below a tenth of that of ten modes, in T5c and T9 the correlation lies within ± 0.5;
# beyond it they do not hold. T6 claims only that no difference is found at the 5 % level (target and ensemble, corrected by Holm), by
# chi-square tests that Fisher's method joins over the replicates; that there is none is not shown. T3, T8 and T9 are of these methods and
# sets: their intervals cover other networks, not other methods.


# %%
def trend(name, claim, holds, fails, figures):
    """A row of the table of trends."""
    return dict(
        trend=name, claim=claim, verdict=HOLDS if holds else NOT if fails else OPEN, figures=figures
    )


def single(setting, method="", side=side):
    """Values of a side study, by quantity."""
    rows = side[(side.setting == setting) & (side.method == method)]
    return rows.set_index("quantity").value


def mean_mmd(of, name, variant="raw"):
    """Mean of 100 MMD² over replicates."""
    return float(of(variant, name, "mmd").mean())


# %%
def t1(v):
    text = f"spread {v['spread raw']:.2f} raw, {v['spread removed']:.2f} removed, fall {v['fall, low']:.2f} to {v['fall, high']:.2f}; "
    text += "raw ring of radius {:.2f} (quartiles {:.2f} to {:.2f}); ".format(
        *(v[f"radius, {q}"] for q in ("median", "first quartile", "third quartile"))
    )
    text += f"{v['networks inside']:.0f} of {v['networks']:.0f} networks"
    return trend(
        "T1",
        "scaling and permutation hide structure",
        v["fall, low"] > 0.1,
        v["fall, high"] < 0.1,
        text,
    )


def t2(mass, margin=0.01):
    """A sign test for each recipe: more than half of its networks are further than the margin (in %) from their least mass."""
    excess = mass.groupby("setting", sort=False).excess
    usual = excess.agg(middle)
    parts = [
        f"{s.removeprefix('mass, ')}: median {usual[s]:.2g} % (least {least:.2g})"
        for s, least in excess.min().items()
    ]
    above = excess.agg(lambda e: (e > margin).sum())
    p = {side: holm([binomtest(k, n, alternative=side).pvalue for k, n in zip(above, excess.size())]).max()
         for side in ("greater", "less")}  # fmt: skip
    parts += [
        f"above {margin:g} %: {above.sum()} of {len(mass)} networks, largest corrected p of a recipe {p['greater']:.1g}"
    ]
    return trend(
        "T2",
        "weight decay does not reach the least mass",
        p["greater"] < LEVEL,
        p["less"] < LEVEL,
        "; ".join(parts),
    )


# %%
def t3(of):
    ratio, half = mean_of(
        np.mean(
            [of("raw", f"{m}/one", "mmd") / of("raw", f"{m}/multi", "mmd") for m in FITS], axis=0
        )
    )
    least = np.min([of("raw", f"{m}/multi", "mmd") for m in FITS], axis=0)
    share, wide = mean_of(of("raw", "ensemble", "mmd") / least)
    text = f"one mode {ratio:.1f} ± {half:.1f} times ten modes; ensemble {100 * share:.1f} ± {100 * wide:.1f} % of the nearest ten modes"
    fails = ratio + half < 2 or share - wide > 0.1
    claim = "ensemble at less than a tenth of the distance of ten modes, ten modes at less than half of that of one"
    return trend("T3", claim, ratio - half > 2 and share + wide < 0.1, fails, text)


def t4(of, variants=tuple(VARIANTS)):
    """Two steps of the order for each method and removal, each a one-sided t test over replicates, corrected by Holm."""
    far = lambda name, v: of(v, name, "mmd")
    changed = max(
        abs(mean_mmd(of, f"{m}/multi", v) / mean_mmd(of, f"{m}/multi") - 1)
        for v in variants
        for m in FITS
    )
    steps = {f"{first}, {v}": far(first, v) - far(then, v) for v in variants for m in FITS
             for first, then in ((f"{m}/one", f"{m}/multi"), (f"{m}/multi", "ensemble"))}  # fmt: skip
    p = {
        side: holm([ttest_1samp(gain, 0, alternative=side)[1] for gain in steps.values()])
        for side in ("greater", "less")
    }
    broken = [name for name, gain in steps.items() if gain.mean() < 0]
    text = f"values change by up to {100 * changed:.0f} %; order of means broken: {', '.join(broken) or 'nowhere'}; "
    text += f"{(p['greater'] < LEVEL).sum()} of {len(steps)} steps significant"
    claim = "removal changes values, not the order one mode, ten modes, ensemble"
    return trend("T4", claim, (p["greater"] < LEVEL).all(), (p["less"] < LEVEL).any(), text)


# %%
def t5(v):
    rho, cv = v["Spearman"], [v[f"sd {w}"] / v[f"mean {w}"] for w in ("inside", "outside")]
    text = f"MI inside {v['mean inside']:.4f} nats (least {v['least inside']:.4f}), disagreement {100 * v['disagreement']:.1f} % "
    text += f"(least {100 * v['least disagreement']:.1f}); outside {v['mean outside']:.3f} nats"
    # pairs that share a network are not independent: tests count the disjoint ones, half as many as there are networks
    disjoint = (1 + math.isqrt(1 + 8 * int(v["pairs"]))) // 4
    most = 1 - LEVEL ** (1 / disjoint)  # of pairs that are one function, where none of so many is
    text += (
        f"; at most {100 * most:.1f} % of pairs are one function (95 %, {disjoint} disjoint pairs)"
    )
    low, high = np.tanh(
        np.arctanh(rho)
        + np.array([-1, 1]) * norm.ppf(1 - LEVEL) * 1.03 / math.sqrt(max(1, disjoint - 3))
    )
    distinct = v["least inside"] > 0.05 * v["median inside"]
    error = math.sqrt(
        sum(0.5 / disjoint + c**2 / disjoint for c in cv)
    )  # of the log of the ratio, for normal values
    ratio, factor = cv[0] / cv[1], math.exp(norm.ppf(1 - LEVEL) * error)
    spread = f"relative spread {cv[0]:.2f} inside, {cv[1]:.2f} outside, ratio {ratio:.2f} ({ratio / factor:.2f} to {ratio * factor:.2f}, "
    spread += f"90 %); absolute {v['sd inside']:.4f} and {v['sd outside']:.3f} nats"
    claim = "relative to their mean, pairs differ less among themselves inside than outside"
    return [
        trend("T5a", f"less than {LEVEL:.0%} of pairs of networks are one function", distinct and most < LEVEL,
              v["least inside"] < 1e-6, text),
        trend("T5b", claim, ratio * factor < 1, ratio / factor > 1, spread),
        trend("T5c", "diversity inside says little of that outside", -0.5 < low and high < 0.5, low > 0.5 or high < -0.5,
              f"Spearman {rho:.2f} over {v['pairs']:.0f} pairs, {low:.2f} to {high:.2f} (90 %, {disjoint} disjoint pairs; margin 0.5)"),
    ]  # fmt: skip


def t6(of, target):
    """Chi-square tests of each replicate, joined by Fisher's method."""
    p = {
        name: combine_pvalues(of("raw", name, "same units"))[1]
        for name in [f"{m}/one" for m in FITS] + ["ensemble"]
    }
    ensemble, one = p.pop("ensemble"), max(p.values())
    text = f"p of uniform: target {target:.2f}, ensemble {ensemble:.2f}; one mode at most {max(one, 1e-99):.0e}"
    holds = holm([target, ensemble]).min() >= LEVEL and one < 1e-3
    claim = (
        "units have different marginals in one mode; in ensemble and target no difference is found"
    )
    return trend("T6", claim, holds, min(target, ensemble) < 1e-3, text)


def t7(tau):
    early, late, n = tau["tau, early"], tau["tau, late"], int(tau["epochs"].iloc[0])
    gain, half = mean_of(late - early)
    text = f"Kendall's tau {early.mean():.2f} in the first {n} epochs, {late.mean():.3f} in the last {n}; gain {gain:.2f} ± {half:.2f}"
    holds = gain - half > 0 and late.mean() > 0.98
    return trend(
        "T7",
        "units change places while the rate is high, then freeze",
        holds,
        gain + half < 0,
        text,
    )


# %%
def t8(of):
    """Ten modes less one, mean over methods, a replicate at a time."""
    gain = lambda q, sign: np.mean(
        [sign * (of("raw", f"{m}/multi", q) - of("raw", f"{m}/one", q)) for m in FITS], axis=0
    )
    asked = {
        "accuracy": gain("accuracy", 1),
        "Brier": gain("brier", -1),
        "FPR95": gain("fpr95", -1),
    }
    found = {name: mean_of(100 * values) for name, values in asked.items()}
    text = "; ".join(
        f"{name} better by {mean:.2f} ± {half:.2f} points" for name, (mean, half) in found.items()
    )
    holds, fails = (
        all(m - h > 0 for m, h in found.values()),
        any(m + h < 0 for m, h in found.values()),
    )
    return trend("T8", "ten modes predict better than one, inside and outside", holds, fails, text)


def t9(of):
    """Rank correlation over sets of MMD and AUROC, a replicate at a time; the claim is that it is within 0.5 of 0."""
    texts, bounds = [], []
    for variant in ("raw", "aligned"):
        mean, half = mean_of(correlation(of, variant, "mmd", "auroc"))
        texts.append(f"{variant} {mean:.2f} ± {half:.2f}"), bounds.append((abs(mean), half))
    holds, fails = all(m + h < 0.5 for m, h in bounds), any(m - h > 0.5 for m, h in bounds)
    text = f"Spearman of MMD and AUROC over {len(SETS) - 2} sets: {', '.join(texts)}"
    return trend(
        "T9",
        "over these sets, distance from the target does not go with quality outside",
        holds,
        fails,
        text,
    )


def control(of):
    """Whether ten modes come nearer than ten networks copied, which have nothing of any method."""
    nearer = {
        (v, m): 1 - of(v, f"{m}/multi", "mmd") / of(v, "control", "mmd")
        for v in ("raw", "aligned")
        for m in FITS
    }
    texts = [
        "{} {} {:.0f} ± {:.0f} %".format(m, v, *mean_of(100 * gain))
        for (v, m), gain in nearer.items()
    ]
    p = {
        side: holm([ttest_1samp(gain, 0, alternative=side)[1] for gain in nearer.values()])
        for side in ("greater", "less")
    }
    raw, aligned = (p["greater"].reshape(2, -1) < LEVEL).sum(1)
    text = f"nearer than copies: {raw} of {len(FITS)} raw, {aligned} of {len(FITS)} aligned ({'; '.join(texts)})"
    claim = "ten modes of every method are nearer than ten copied networks"
    return trend("control", claim, raw == aligned == len(FITS), (p["less"] < LEVEL).any(), text)


# %%
def trends_in(task):
    """Every trend of a task; the toy, T1, has data of its own and is run beside the digits."""
    side, of = sides_of[sides_of.task == task], values_in(task)
    tau = side[side.setting == "orders"].pivot(index="seed", columns="quantity", values="value")
    first = [t1(single("toy", side=side))] if (side.setting == "toy").any() else []
    first += [t2(masses_in(side)), t3(of), t4(of), *t5(single("pairs", side=side))]
    return first + [
        t6(of, single("largest weight", "target", side)["same units"]),
        t7(tau),
        t8(of),
        t9(of),
        control(of),
    ]


# %%
trends = {task: trends_in(task) for task in TASKS}
for task, rows in trends.items():
    print(f"{task}:")
    for row in rows:
        print(f"{row['trend']:8} {row['verdict']:13} {row['claim']}\n{'':22} {row['figures']}")

# %% [markdown]
# ## The checkpoints
#
# 100 MMD² from the target, as trained and with symmetries removed, its p, and the scores of each set; then T5, functional collapse.

# %%
if CHECKPOINTS:
    read = defined_in("transfer")["read_images"]
    at = lambda images: torch.randperm(len(images), generator=generator(SEED))[:IMAGES]
    some = lambda images: fv.Data(images.x[at(images)], images.y[at(images)])
    shown = some(read(TEST, None, train=False))
    mixed = shown.x.flatten(2)[
        ..., torch.randperm(shown.x[0, 0].numel(), generator=generator(SEED))
    ].view_as(shown.x)
    other = some(read(OUTSIDE, None, train=False)) if OUTSIDE else fv.Data(mixed, shown.y)
    learned = some(read(TRAIN, None)) if TRAIN else None
    checked = study_of(CHECKPOINTS, shown, other, learned)
    display(
        checked.pivot_table(
            index="method", columns=["setting", "quantity"], values="value", sort=False
        )
        .round(4)
        .T
    )
    for row in t5(checked[checked.setting == "pairs"].set_index("quantity").value):
        print(f"{row['trend']:8} {row['verdict']:13} {row['claim']}\n{'':22} {row['figures']}")
    if SAVE:
        write_table(checked, SAVE)

# %% [markdown]
# ## A line between two networks
#
# Test loss along the straight line between two networks of the target, and its highest rise above the straight line between its
# ends.


# %%
def barrier(values):
    """Highest rise above the straight line between the ends, at least 0."""
    return float(max(0, (values - np.linspace(values[0], values[-1], len(values))).max()))


curves = {kind: single(f"line, {kind}").to_numpy() for kind in LINES}
px.line(pd.DataFrame(curves, index=np.linspace(0, 1, len(curves[LINES[0]]))), labels=dict(index="t", value="test loss"),
        title="; ".join(f"{kind}: barrier {barrier(v):.4g}" for kind, v in curves.items()))  # fmt: skip

# %% [markdown]
# *Figure: test loss between two networks as trained, sorted, and aligned. Alignment lowers the barrier.*
#
# ## Which conclusions on flatness survive at least mass?
#
# Ratio of each measure to VI's, geometric mean over seeds with its 95 % interval, paired by seed. Below 1 the method is flatter;
# where the interval holds 1 the conclusion is *open*. Five seeds, not corrected for the number of rows: *no longer shown* does not mean
# that it is gone.


# %%
def conclusion(rows, setting, method, measure):
    """Ratio to VI with its interval, and what follows from it."""
    wide = rows[(rows.setting == setting) & (rows.quantity == measure)]
    wide = wide.pivot(index="seed", columns="method", values="value")
    mean, half = mean_of(np.log((wide[method] / wide["vi"]).clip(lower=1e-12)))
    ratio, low, high = np.exp([mean, mean - half, mean + half])
    return (
        f"{ratio:.2f} ({low:.2f} to {high:.2f})",
        "below VI" if high < 1 else "above VI" if low > 1 else "open",
    )


def survival(rows, setting, method, measure):
    """A row of the table."""
    (drawn, first), (least, then) = (
        conclusion(rows, setting, method, f"{measure}{where}") for where in ("", " at least mass")
    )
    changed = "no longer shown" if then == "open" else "reversed"
    said = f"open; then {then}" if first == "open" else "survives" if first == then else changed
    cells = {
        "method": f"{fv.METHODS[method].label} {RADII[method]:g}, {setting}",
        "measure": MEASURES[measure],
    }
    return cells | {"as drawn": drawn, "at least mass": least, "conclusion": first, "then": said}


# %%
asked = [(s, m, q) for s in USED for m in RADII if m != "vi" for q in MEASURES]
ends = {}
for task in TASKS:
    flat = table[(table.experiment == "flatness") & (table.task == task)]
    rows = pd.DataFrame([survival(flat, *row) for row in asked if len(flat)])
    display(rows.style.hide().set_caption(task))
    if len(rows):
        ends[task] = rows.then.value_counts()

# %% tags=["finding"]
for task, count in ends.items():
    decided = sum(n for word, n in count.items() if not word.startswith("open"))
    print(
        f"- **{task}**: of {decided} conclusions on flatness relative to VI,"
        f" {count.get('survives', 0)} survive at least mass, {count.get('reversed', 0)} are"
        f" reversed, {count.get('no longer shown', 0)} are no longer shown."
    )

# %% [markdown]
# ## What would change our mind
#
# Where a trend is inconclusive, more replicates decide. On the digits the task is easy (97 % accuracy), so that networks differ little
# inside; *digits-near* is tested on scans that are turned against those of the training. On flatness, intervals that end at 1.00 change
# sides from machine to machine.
