"""One representative of all equal networks, by unit norms, sorted units, or matching.

A network is a vector (E,): its D weights, then running statistics of BatchNorm.  `Units` counts V
hidden units that can be scaled and U that can be permuted.
"""

import itertools
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from flatviz.checks import Count, Positive, Seed, Vector, Vectors, check_many_weights
from flatviz.core import generator, public
from flatviz.symmetry.actions import gathered, moved, random_order, scaled_by
from flatviz.symmetry.units import Layer, Units

# Rule -> the number by which a unit is sorted, from its incoming weights (S, n, m)
Rule = Literal["first", "max"]
RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "first": lambda V: V[..., 0],
    "max": lambda V: V.amax(-1),
}


@public
def unit_norm(units: Units, W: Vectors, *, norm: Positive = 1.0) -> tuple[Tensor, Tensor]:
    """Scale all hidden units to incoming weights of length `norm`.

    Layer by layer, f_i = norm / |incoming weights of unit i after the factors before|; the last
    layer absorbs the rest.  Shifts (biases) are scaled, not counted; in layers that a residual sum
    ties, rows that read units of later layers are not counted either.  A gain of BatchNorm becomes
    1 or -1: its size is removed, its sign is part of the function.  A unit without incoming weights
    (norm 0) is not scaled.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        norm: Length of each unit's incoming weights.

    Returns:
        The networks (S, E), and the factors (S, V).

    Raises:
        ValueError: For a network that scaling would change.

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> W, factor = fv.symmetry.unit_norm(fv.symmetry.units_of(net), net.w[None])
        >>> net.unflatten(W[0])["0.weight"].norm(dim=1).round(decimals=4).tolist()
        [1.0, 1.0, 1.0]
    """
    return normed(units, units.check("scale", W), torch.ones_like(units.free), norm)


def normed(units: Units, W: Tensor, which: Tensor, norm: float = 1.0) -> tuple[Tensor, Tensor]:
    """Apply `unit_norm` to the layers of the units `which` (V,) alone."""
    factor = W.new_ones(len(W), units.n_scaled)
    counted = units.mass.clone()
    for layer in units.scaled:
        counted[layer.columns] = False
    for layer in units.scaled:
        if which[layer.start]:
            length = W[:, layer.rows[:, counted[layer.rows[0]]]].norm(dim=2)
            factor[:, layer.slice] = torch.where(length > 0, norm / length, 1.0)
            W = scaled_by(units, W, factor, [layer])
        counted[layer.columns] = units.mass[layer.columns]
    return W, factor


@public
def sort_units(units: Units, W: Vectors, *, rule: Rule = "max") -> tuple[Tensor, Tensor]:
    """Sort the units of each layer in decreasing order of one number.

    Layer by layer from the input; ties keep their order; classes are never sorted.  Units of a
    grouped convolution are sorted inside their group, and groups by their largest number.  Scale
    first: sorting gives the same result for all equal networks only where scaling was removed.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        rule: "first", the first incoming weight, after the units before it were sorted (the
            released code of the paper); "max", the largest incoming weight (the text of the paper).

    Returns:
        The networks (S, E), and the order (S, U).

    Raises:
        ValueError: For another rule, or a network that permutations would change.

    Source: Laurent et al. 2024 (arXiv 2310.08287), section 5.2.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> W, order = fv.symmetry.sort_units(fv.symmetry.units_of(net), net.w[None])
        >>> largest = net.unflatten(W[0])["0.weight"].amax(1)
        >>> bool((largest[:-1] >= largest[1:]).all()), order.shape
        (True, torch.Size([1, 3]))
    """
    W = units.check("permute", W)
    number = RULES[rule]
    order = torch.arange(units.n_permuted, device=W.device).repeat(len(W), 1)
    swapped = {-1}  # clusters whose groups are in order; -1 is no cluster
    for layer in units.permuted:
        keys = number(gathered(units, W, order)[:, weights_in(units, layer)]).unflatten(
            1, (layer.groups, -1)
        )
        order = moved(order, [layer], keys.argsort(dim=2, descending=True, stable=True))
        if layer.cluster not in swapped:  # groups are swapped once, in all layers of the cluster
            largest = keys.amax(2)[:, None]
            order = moved(
                order,
                cluster_layers(units, layer.cluster),
                largest.argsort(dim=2, descending=True, stable=True),
            )
            swapped.add(layer.cluster)
    return gathered(units, W, order), order


def cluster_layers(units: Units, cluster: int) -> list[Layer]:
    """Return the layers that swap their groups together."""
    return [layer for layer in units.permuted if layer.cluster == cluster]


def weights_in(units: Units, layer: Layer) -> Tensor:
    """Return addresses (n, m) of each unit's incoming weights of Linear and convolutions.

    They are in memory order.
    """
    return layer.rows[:, units.kernel[layer.rows[0]]]


@public
def canonical(units: Units, W: Vectors, *, rule: Rule = "max", norm: Positive = 1.0) -> Tensor:
    """Apply `unit_norm`, then `sort_units`, so that equal networks become the same vector.

    These are networks that differ by scaling and permutation.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        rule: As in `sort_units`.
        norm: Length of each unit's incoming weights.

    Returns:
        The networks (S, E).

    Raises:
        ValueError: For a network that scaling or permutation would change.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units = fv.symmetry.units_of(net)
        >>> equal = fv.symmetry.permute(units, net.w[None], torch.tensor([2, 0, 1]))
        >>> first, second = fv.symmetry.canonical(units, torch.cat([net.w[None], equal]))
        >>> torch.allclose(first, second, atol=1e-6)
        True
    """
    return sort_units(units, unit_norm(units, W, norm=norm)[0], rule=rule)[0]


MAX_SWEEPS = 100  # each sweep raises the match; 3 to 6 are usual


@public
def align(
    units: Units, W: Vectors, reference: Vector, *, starts: Count = 5, seed: Seed = 0
) -> Tensor:
    """Permute the units of each row of `W` (S, E) so that it matches `reference` (E,).

    It maximises <reference, P W> over permutations P, one layer at a time: with all others fixed,
    the best order solves a linear assignment problem with C[i, j] the product of all weights that
    touch unit i of the reference and unit j of the network.  The result is the best local optimum
    of `starts` (the global problem is NP-hard for two hidden layers and more).  The first starts
    from the networks' order, the others from random orders, each through the layers in another
    random order.

    Remove scaling first (`min_mass`, `unit_norm`).  Running statistics are permuted and do not
    count.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        reference: Weight vector (E,).
        starts: Number of starts; the best optimum of them is returned.
        seed: Fixes random starts and orders of layers.

    Returns:
        The networks (S, E).

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
    steps = _Matching(units, W, reference.to(W))
    source = generator(seed)
    best = torch.arange(units.n_permuted, device=W.device).repeat(len(W), 1)
    match = torch.full((len(W),), -torch.inf, dtype=W.dtype, device=W.device)
    for start in range(starts):
        if start == 0:
            initial = best.clone()
        else:
            initial = random_order(units, len(W), seed=(seed + start) % 2**63).to(W.device)
        layers = torch.randperm(len(steps.parts), generator=source).tolist()
        order, value = steps.climb(initial, layers)
        better = value > match
        best[better] = order[better]
        match = torch.where(better, value, match)
    return gathered(units, W, best)


class _Matching:
    """The assignment problems of one set of networks.

    A part (layers, n, groups) is n pieces of layers that move together, each inside its group: the
    units of one layer, or the groups of all layers of a cluster.
    """

    def __init__(self, units: Units, W: Tensor, reference: Tensor) -> None:
        self.units = units
        self.W = W
        self.reference = reference
        self.parts: list[tuple[list[Layer], int, int]] = [
            ([layer], layer.n, layer.groups) for layer in units.permuted
        ]
        clusters = {layer.cluster: layer.groups for layer in units.permuted if layer.cluster >= 0}
        self.parts += [
            (cluster_layers(units, cluster), groups, 1) for cluster, groups in clusters.items()
        ]
        self.touching = [self._touching(layers, n).to(W.device) for layers, n, _ in self.parts]

    def _touching(self, layers: list[Layer], n: int) -> Tensor:
        """Return addresses (n, m) of the weights in and out of each piece, in the same order."""
        rows = [layer.rows[:, layer.rows[0] < self.units.dim] for layer in layers]
        counted = torch.ones(self.units.size, dtype=torch.bool)
        for at in rows:
            counted[at] = False  # so that none is counted twice
        columns = [layer.columns[:, counted[layer.columns[0]]] for layer in layers]
        by_layer = itertools.chain.from_iterable(zip(rows, columns))
        return torch.cat([addresses.reshape(n, -1) for addresses in by_layer], 1)

    def climb(self, order: Tensor, parts: list[int]) -> tuple[Tensor, Tensor]:
        """Sweep over the parts until no match rises; return orders (S, U) and matches (S,)."""
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
        """Reorder part `p` of the active networks in place where that raises the match."""
        layers, _, groups = self.parts[p]
        index = self.touching[p]
        current = order[active]
        now = gathered(self.units, self.W[active], current)
        products = torch.einsum("nm,skm->snk", self.reference[index], now[:, index])
        new = moved(current, layers, _assignments(products, groups))
        value = self._match(gathered(self.units, self.W[active], new))
        better = value > match[active] + 1e-12 * value.abs()
        order[active[better]] = new[better]
        match[active[better]] = value[better]


def _assignments(products: Tensor, groups: int) -> Tensor:
    """Find the columns in each group that maximise sum_i products[s, i, column[i]].

    The result is (S, groups, n / groups).
    """
    size = products.shape[1] // groups
    grouped = products.detach().cpu().double().view(len(products), groups, size, groups, size)
    inside = grouped.diagonal(dim1=1, dim2=3)  # of one group, (S, size, size, groups)
    tables = inside.permute(0, 3, 1, 2).flatten(0, 1).numpy()
    best = np.stack([linear_sum_assignment(table, maximize=True)[1] for table in tables])
    return torch.as_tensor(best, device=products.device).view(len(products), groups, size)
