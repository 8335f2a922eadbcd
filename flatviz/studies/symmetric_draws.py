"""Draws of several methods, in one mode and in ten, beside a pool of independent trainings: what `symmetry` compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator, saved_rng
from flatviz.datasets.digits import digits_transfer
from flatviz.posteriors import METHODS
from flatviz.storage.cache import cached
from flatviz.symmetry.pool import train_pool

RECIPE = dict(lr=0.05, weight_decay=1e-3, batch_size=32)  # plain SGD, of the pool and of what goes on from it
SGD = RECIPE | dict(momentum=0.0)
FITS = {
    "swag": SGD | dict(rank=10, snapshots=20),
    "dropout": SGD | dict(rate=0.1, steps=400),
    "laplace": dict(structure="last_layer", steps=0, weight_decay=1e-3),
    "sgld": dict(lr=0.01, burn_in=0, thin=10, weight_decay=1e-3, batch_size=32),
}
DE, CONTROL, SINGLE = "ensemble", "control", "single"
LABELS = {"one": "one mode", "multi": "ten modes"}


@dataclass(frozen=True)
class Sizes:
    """How much is computed: networks of the target, replicates of every set, modes and draws of a set, and so on."""

    target: int = 300
    replicates: int = 4
    modes: int = 10
    draws: int = 100
    epochs: int = 60
    toy: int = 2000
    mass: int = 48
    mass_epochs: int = 60
    large: int = 8
    pairs: int = 150
    orders: int = 24
    permutations: int = 200
    starts: int = 3

    @property
    def trained(self) -> int:
        """Networks of the pool: target, one reference, modes and a set of ensemble members for each replicate."""
        return self.target + self.replicates * (1 + self.modes + self.draws)


SMALL = Sizes(target=16, replicates=2, modes=2, draws=6, epochs=4, toy=40, mass=4, mass_epochs=8, large=2, pairs=8, orders=3,
              permutations=19, starts=1)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Draws:
    """Weight vectors: the `target` (m, D), a `reference` a replicate (R, D), and sets[name][replicate] (n, D).

    Names are "<method>/one", "<method>/multi", "ensemble", and "control" (the modes copied, with no spread of their own)
    and "single" (one network copied); `n_diverged` networks of the pool were left out.
    """

    net: Net
    train: Data
    test: Data
    outside: Data
    target: Tensor
    reference: Tensor
    sets: dict[str, tuple[Tensor, ...]]
    n_diverged: int

    def runs(self, name: str, modes: int) -> Tensor | None:
        """Which independent run each draw of a set is of; None where each is one."""
        n = len(self.sets[name][0])
        if name == DE:
            return None
        return torch.zeros(n).long() if name == SINGLE or name.endswith("/one") else torch.arange(n) * modes // n


def digits(seed: int = 0) -> tuple[Data, Data, Data]:
    """All 1,797 scans upright: 1,347 to train on, 450 to test on, and those 450 under one random permutation of pixels."""
    task = digits_transfer(shots=10, seed=seed, validation=0)
    upright = Data(torch.rot90(task.source.x, -1, dims=(2, 3)).contiguous(), task.source.y)
    parts = (upright, task.train, task.test)
    x, y = torch.cat([d.x for d in parts]), torch.cat([d.y for d in parts])
    source = generator(seed + 1)
    order = torch.randperm(len(x), generator=source)
    train, test = order[:1347], order[1347:]
    pixels = torch.randperm(64, generator=source)
    outside = x[test].flatten(1)[:, pixels].view_as(x[test])
    return Data(x[train], y[train]), Data(x[test], y[test]), Data(outside, y[test])


def network() -> Net:
    """The perceptron 64-16-16-10 without normalisation, 1,482 weights."""
    with saved_rng(0):
        return Net.from_module(
            nn.Sequential(
                *(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 10)),
            )
        )


def make_draws(sizes: Sizes, *, seed: int, progress: Progress = False, say: Callable[[str], None] = lambda text: None) -> Draws:
    """Train the pool, then every method from `modes` of its networks for each replicate.  Kept in the cache folder."""
    train, test, outside = digits(seed)
    net = network()
    about = dict(seed=seed, n=sizes.trained, epochs=sizes.epochs, **RECIPE)
    pool = cached("symmetry", partial(_pool, net, train, sizes, seed, progress), label="pool", say=say, **about)[0]
    R, M, W = sizes.replicates, sizes.modes, pool["W"]
    ends = torch.tensor([0, R, R + R * M, R + R * M + R * sizes.draws, len(W)])
    if int(ends[4] - ends[3]) < max(4, sizes.target // 2):
        raise ValueError(f"the pool must keep half of its target, got {pool['n_diverged']} diverged networks: lower lr")
    reference, modes, members, target = (W[a:b] for a, b in zip(ends, ends[1:]))
    modes, sets = modes.view(R, M, -1), {}
    for name in FITS:
        one, multi = [], []
        for r in track(range(R), f"{name} from {M} networks", progress):
            each = _fitted(name, net, train, modes[r], sizes, seed + 100 * r)
            one.append(each[0]), multi.append(torch.cat([rows[: sizes.draws // M] for rows in each]))
        sets[f"{name}/one"], sets[f"{name}/multi"] = tuple(one), tuple(multi)
    sets[DE] = members.view(R, sizes.draws, -1).unbind()
    sets[CONTROL] = modes.repeat_interleave(sizes.draws // M, 1).unbind()
    sets[SINGLE] = modes[:, :1].repeat_interleave(sizes.draws, 1).unbind()
    return Draws(net, train, test, outside, target, reference, sets, pool["n_diverged"])


def _pool(net: Net, train: Data, sizes: Sizes, seed: int, progress: Progress) -> dict:
    pool = train_pool(net, train, sizes.trained, seed=seed, epochs=sizes.epochs, progress=progress, **RECIPE)
    return {"W": pool.W, "n_diverged": pool.n_diverged}


def _fitted(name: str, net: Net, train: Data, W: Tensor, sizes: Sizes, seed: int) -> list[Tensor]:
    """`draws` weight vectors of the method from each row of W (M, D), of the first row; of the others only its share."""
    seeds = [seed + i for i in range(len(W))]
    counts = [sizes.draws, *[sizes.draws // sizes.modes] * (len(W) - 1)]
    method, settings = METHODS[name], FITS[name]
    if method.fit_members is not None:
        fitted = method.fit_members(net, train, W, seeds=seeds, **settings)
    else:
        chain = name in ("sgld", "dropout")
        fitted = [
            method.fit(net.at(w), train, seed=s, **settings, **({"n_draws": n} if chain else {}))
            for w, s, n in zip(W, seeds, counts)
        ]
    return [q.sample(n, seed=s) for q, s, n in zip(fitted, seeds, counts)]
