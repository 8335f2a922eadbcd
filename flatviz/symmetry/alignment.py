"""Units of many networks matched to those of one reference, by linear assignment layer after layer."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from flatviz.checks import Count, Seed, Vector, Vectors, check_many_weights
from flatviz.core.boundary import public
from flatviz.core.seeds import generator
from flatviz.symmetry.actions import gathered, random_order
from flatviz.symmetry.numbering import Layer
from flatviz.symmetry.removal import layers_of, moved
from flatviz.symmetry.units import Units

MAX_SWEEPS = 100  # a bound only: each sweep raises the match, and 3 to 6 are usual


@public
def align(units: Units, W: Vectors, reference: Vector, *, starts: Count = 5, seed: Seed = 0) -> Tensor:
    """`W` (S, E), the units of each row permuted so that it comes close to `reference` (E,): weight matching.

    Maximises <reference, P W> over permutations, one layer at a time: with all others fixed the best order is a linear
    assignment of C[i, j] = the products of all weights that touch unit i of the reference and unit j of the network.
    A local optimum (the whole is NP-hard for two hidden layers and more), the best of `starts`: the first from the order
    the networks have, the others from random ones, each through the layers in another random order.
    Remove scaling first (`min_mass`, `unit_norm`); running statistics move along and do not count.

    Raises:
        ValueError: For a network that permutations would change.

    Source: Ainsworth et al. 2023 (arXiv 2209.04836), algorithm 1.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units = fv.symmetry.units_of(net)
        >>> moved = fv.symmetry.permute(units, net.w[None], torch.tensor([2, 0, 1]))
        >>> torch.equal(fv.symmetry.align(units, moved, net.w)[0], net.w)
        True
    """
    W = units.check("permute", W)
    check_many_weights(reference[None], W.shape[1], "reference")
    steps = _Steps(units, W, reference.to(W))
    source = generator(seed)
    best = torch.arange(units.n_permuted, device=W.device).repeat(len(W), 1)
    match = torch.full((len(W),), -torch.inf, dtype=W.dtype, device=W.device)
    for start in range(starts):
        initial = best.clone() if start == 0 else random_order(units, len(W), seed=seed + start).to(W.device)
        layers = torch.randperm(len(steps.parts), generator=source).tolist()
        order, value = steps.climb(initial, layers)
        better = value > match
        best[better], match = order[better], torch.where(better, value, match)
    return gathered(units, W, best)


class _Steps:
    """The assignments of one set of networks.

    A part (layers, n, groups) is n pieces of layers that move alike, each inside its group: the units of one layer, or the
    groups of all layers of a cluster.
    """

    def __init__(self, units: Units, W: Tensor, reference: Tensor) -> None:
        self.units, self.W, self.reference = units, W, reference
        self.parts: list[tuple[list[Layer], int, int]] = [([layer], layer.n, layer.groups) for layer in units.permuted]
        clusters = {layer.cluster: layer.groups for layer in units.permuted if layer.cluster >= 0}
        self.parts += [(layers_of(units, cluster), groups, 1) for cluster, groups in clusters.items()]
        self.touching = [self._touching(layers, n).to(W.device) for layers, n, _ in self.parts]

    def _touching(self, layers: list[Layer], n: int) -> Tensor:
        """Addresses of all weights of each piece, in and out, in corresponding order: (n, m)."""
        units, weights = self.units, torch.arange(len(self.units.row)) < self.units.dim
        in_rows = torch.zeros_like(weights)
        for layer in layers:
            in_rows |= (units.row >= layer.start) & (units.row < layer.stop)
        addresses = []
        for layer in layers:
            for unit, counted in ((units.row, weights), (units.column, weights & ~in_rows)):  # none is counted twice
                where = (counted & (unit >= layer.start) & (unit < layer.stop)).nonzero()[:, 0]
                addresses.append(where[unit[where].argsort(stable=True)].view(n, -1))
        return torch.cat(addresses, 1)

    def climb(self, order: Tensor, parts: list[int]) -> tuple[Tensor, Tensor]:
        """Sweep over the parts until no network's match rises: orders (S, U) and matches (S,)."""
        match = self._match(gathered(self.units, self.W, order))
        active = torch.arange(len(self.W), device=self.W.device)
        for _ in range(MAX_SWEEPS):
            before = match[active]
            for p in parts:
                self._assign(p, order, match, active)
            active = active[match[active] > before]
            if not len(active):
                break
        return order, match

    def _match(self, W: Tensor) -> Tensor:
        return W[:, : self.units.dim] @ self.reference[: self.units.dim]

    def _assign(self, p: int, order: Tensor, match: Tensor, active: Tensor) -> None:
        """The best order of one part for the active networks; kept where the match rises."""
        (layers, _, groups), index, current = self.parts[p], self.touching[p], order[active]
        now = gathered(self.units, self.W[active], current)
        products = torch.einsum("nm,skm->snk", self.reference[index], now[:, index])
        new = moved(current, layers, _assignments(products, groups))
        value = self._match(gathered(self.units, self.W[active], new))
        better = value > match[active] + 1e-12 * value.abs()
        order[active[better]], match[active[better]] = new[better], value[better]


def _assignments(products: Tensor, groups: int) -> Tensor:
    """The columns (S, n) that maximise sum_i products[s, i, column[i]], each inside its group."""
    tables = products.detach().cpu().double().numpy()
    size = tables.shape[1] // groups
    columns = np.empty(tables.shape[:2], dtype=np.int64)
    for g in range(groups):
        part = slice(g * size, (g + 1) * size)
        for s, table in enumerate(tables[:, part, part]):  # scipy solves one table a call
            columns[s, part] = g * size + linear_sum_assignment(table, maximize=True)[1]
    return torch.as_tensor(columns, device=products.device)
