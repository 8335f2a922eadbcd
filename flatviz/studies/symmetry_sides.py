"""What the trends and pictures of symmetries need beside the table: toy weights, masses, pairs, orders over epochs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, saved_rng
from flatviz.models.optunet import optunet
from flatviz.studies.symmetric_draws import Draws, Sizes
from flatviz.symmetry.collapse import pair_diversity
from flatviz.symmetry.hidden import units_of
from flatviz.symmetry.minmass import min_mass
from flatviz.symmetry.pool import train_pool
from flatviz.symmetry.removal import sort_units, unit_norm, weights_in
from flatviz.symmetry.units import Units

CELLS = {  # of the mass study: OptuNet's recipe, and what of it changes
    "lr 0.1, batch 16, wd 2e-4": dict(lr=0.1, batch_size=16, weight_decay=2e-4),
    "lr 0.1, batch 16, wd 2e-3": dict(lr=0.1, batch_size=16, weight_decay=2e-3),
    "lr 0.2, batch 8, wd 2e-4": dict(lr=0.2, batch_size=8, weight_decay=2e-4),
}
LARGE = "28 x 28, 392 weights, lr 0.1, batch 16, wd 2e-4"
PERCEPTRON = "perceptron, lr 0.05, batch 32, wd 1e-3"
TOY_LOSS = 0.05  # mean loss up to which the toy's networks are looked at


def side_figures(
    draws: Draws, units: Units, sizes: Sizes, *, seed: int, progress: Progress = False
) -> dict[str, dict[str, Tensor]]:
    """What the trends and plots need beside the table: toy weights, masses, pairs, orders over epochs, indices of maxima."""
    return {
        "toy": _toy(sizes, seed, progress),
        "mass": _masses(draws, units, sizes, seed, progress),
        "pairs": _pairs(draws, sizes),
        "orders": _orders(draws, sizes, seed, progress),
        "largest": {name: _largest(units, sets[0]) for name, sets in (draws.sets | {"target": (draws.target,)}).items()},
        "marginals": _marginals(draws, units),
    }


def _toy(sizes: Sizes, seed: int, progress: Progress) -> dict[str, Tensor]:
    """The network 2-2-1 of the paper's first figure: its two output weights raw, at unit norm 3, and sorted.

    The sigmoid of one output is the softmax of (0, output): a last layer that is not trained makes two classes of it.
    """
    g = generator(seed)
    y = torch.arange(400) % 2
    centers = torch.tensor([[-2.09, -1.89], [2.19, 2.17]])
    data = Data(centers[y] + 0.98 * torch.randn(400, 2, generator=g), y)
    with saved_rng(0):
        module = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1), nn.Linear(1, 2))
    with torch.no_grad():
        module[3].weight.copy_(torch.tensor([[0.0], [1.0]])), module[3].bias.zero_()
    net = Net.from_module(module, lambda name: not name.startswith("3"))
    pool = train_pool(net, data, sizes.toy, seed=seed, epochs=10, lr=2.0, weight_decay=0.0, batch_size=10, progress=progress)
    units, W = units_of(net), pool.W[pool.loss <= max(TOY_LOSS, float(pool.loss.quantile(0.1)))]
    scaled, _ = unit_norm(units, W, norm=3.0)
    out = next(b for b in net.blocks if b.name == "2.weight").slice
    return {"raw": W[:, out], "scaled": scaled[:, out], "sorted": scaled[:, out].sort(1).values}  # ascending, as there


def _masses(draws: Draws, units: Units, sizes: Sizes, seed: int, progress: Progress) -> dict[str, Tensor]:
    """name -> (S, 2): mass as trained and least mass, of OptuNets by recipe and of the pool's perceptrons."""
    small = Task(draws.train, draws.train, draws.test, n_classes=10)
    wide = Data(nn.functional.interpolate(draws.train.x, size=28, mode="bilinear"), draws.train.y)
    recipes = {name: (small, draws.train, sizes.mass, sizes.mass_epochs, cell) for name, cell in CELLS.items()}
    first = next(iter(CELLS.values()))
    recipes[LARGE] = (Task(wide, wide, wide, n_classes=10), wide, sizes.large, max(2, sizes.mass_epochs // 2), first)
    masses = {}
    for name, (task, data, n, epochs, cell) in recipes.items():
        net = Net.from_module(optunet(task))
        pool = train_pool(net, data, n, seed=seed, epochs=epochs, progress=progress, **cell)
        least = min_mass(units_of(net), pool.W.double())
        masses[name] = torch.stack([least.before, least.after], 1)
    least = min_mass(units, draws.target.double())
    return masses | {PERCEPTRON: torch.stack([least.before, least.after], 1)}


def _pairs(draws: Draws, sizes: Sizes) -> dict[str, Tensor]:
    tables = {}
    for name, data in (("in", draws.test), ("out", draws.outside)):
        pairs = pair_diversity(draws.net, draws.target[: sizes.pairs], data.x)
        tables |= {name: pairs.information, f"{name} disagreement": pairs.disagreement}
    return tables


def _orders(draws: Draws, sizes: Sizes, seed: int, progress: Progress) -> dict[str, Tensor]:
    """Kendall's tau between the sorted orders of successive epochs, (S, T): rate 0.1, a tenth at 1/3 and at 2/3 of T."""
    from scipy.stats import kendalltau  # comes with scikit-learn

    T = sizes.epochs
    pool = train_pool(
        draws.net, draws.train, sizes.orders, seed=seed + 7, epochs=T, lr=0.1, drops=(T // 3, 2 * T // 3),
        weight_decay=1e-3, batch_size=32, keep_epochs=True, progress=progress,
    )  # fmt: skip
    units = units_of(draws.net)
    first = units.permuted[0]
    ranks = torch.stack(
        [sort_units(units, unit_norm(units, W)[0])[1][:, first.start : first.stop] for W in pool.epochs]
    ).argsort(2)
    tau = [[kendalltau(a, b)[0] for a, b in zip(now, later)] for now, later in zip(ranks[:-1].tolist(), ranks[1:].tolist())]
    return {"tau": torch.tensor(tau).T, "drops": torch.tensor([T // 3, 2 * T // 3])}


def _largest(units: Units, W: Tensor) -> Tensor:
    """How often each unit of the first layer holds its largest incoming weight, (16,)."""
    layer = units.permuted[0]
    return torch.bincount(W[:, weights_in(units, layer)].amax(2).argmax(1), minlength=layer.n)


def _marginals(draws: Draws, units: Units) -> dict[str, Tensor]:
    """Weights of the target by layer, raw and with symmetries removed, for histograms: at most 4,000 of each."""
    removed = sort_units(units, unit_norm(units, draws.target)[0])[0]
    samples, g = {}, generator(0)
    for block in draws.net.blocks:
        if len(block.shape) > 1:
            row = block.stop - block.start
            rows = torch.randint(len(removed) * (row // block.shape[0]), (4000,), generator=g)
            for name, W in (("raw", draws.target), ("removed", removed)):
                first = W[:, block.slice].view(len(W), block.shape[0], -1)[:, 0].flatten()  # of the first unit
                samples[f"{block.name} {name}"] = first[rows % len(first)]
    return samples
