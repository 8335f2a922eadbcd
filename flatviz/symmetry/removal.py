"""One representative of all equal networks, by unit norms, sorted units, or matching.

A network is a vector (E,): its D weights, then running statistics of BatchNorm.  `Units` counts V
hidden units that can be scaled and U that can be permuted.
"""

from typing import Literal, NamedTuple

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from flatviz.checks import Count, Positive, Seed, Vector, Vectors, check_many_weights
from flatviz.core import generator, public
from flatviz.symmetry.actions import gathered, moved, random_order, scaled_by
from flatviz.symmetry.units import Layer, Units

Rule = Literal["first", "max"]  # the number by which a unit is sorted


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
    W = units.check("scale", W)
    every = torch.ones_like(units.free)
    return normed(units, W, every, norm)


def normed(
    units: Units,
    W: Tensor,
    which: Tensor,
    norm: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Apply `unit_norm` to the layers of the units `which` (V,) alone."""
    factor = W.new_ones(len(W), units.n_scaled)
    counted = units.mass.clone()
    for layer in units.scaled:
        counted[layer.columns] = False
    for layer in units.scaled:
        if which[layer.start]:
            incoming = layer.rows[:, counted[layer.rows[0]]]
            length = W[:, incoming].norm(dim=2)
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
    unchanged = torch.arange(units.n_permuted, device=W.device)
    order = unchanged.repeat(len(W), 1)
    swapped = {-1}  # clusters whose groups are in order; -1 is no cluster
    for layer in units.permuted:
        incoming = gathered(units, W, order)[:, weights_in(units, layer)]
        key = incoming.amax(-1) if rule == "max" else incoming[..., 0]
        keys = key.unflatten(1, (layer.groups, -1))
        order = moved(order, [layer], _decreasing(keys))
        if layer.cluster not in swapped:  # groups are swapped once, in all layers of the cluster
            tied = cluster_layers(units, layer.cluster)
            largest = keys.amax(2)[:, None]
            order = moved(order, tied, _decreasing(largest))
            swapped.add(layer.cluster)
    return gathered(units, W, order), order


def _decreasing(keys: Tensor) -> Tensor:
    """Order the last dimension by falling keys; ties keep their order."""
    return keys.argsort(dim=-1, descending=True, stable=True)


def cluster_layers(units: Units, cluster: int) -> list[Layer]:
    """Return the layers that swap their groups together."""
    return [layer for layer in units.permuted if layer.cluster == cluster]


def weights_in(units: Units, layer: Layer) -> Tensor:
    """Return addresses (n, m) of each unit's incoming weights of Linear and convolutions.

    They are in memory order.
    """
    return layer.rows[:, units.kernel[layer.rows[0]]]


@public
def canonical(
    units: Units,
    W: Vectors,
    *,
    rule: Rule = "max",
    norm: Positive = 1.0,
) -> Tensor:
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
    W, _ = unit_norm(units, W, norm=norm)
    W, _ = sort_units(units, W, rule=rule)
    return W


MAX_SWEEPS = 100  # each sweep raises the match; 3 to 6 are usual


@public
def align(
    units: Units,
    W: Vectors,
    reference: Vector,
    *,
    starts: Count = 5,
    seed: Seed = 0,
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
    reference = reference.to(W)
    parts = _parts(units, W.device)
    source = generator(seed)
    unchanged = torch.arange(units.n_permuted, device=W.device)
    best = unchanged.repeat(len(W), 1)
    best_match = W.new_full((len(W),), -torch.inf)
    for start in range(starts):
        order = best.clone()
        if start > 0:
            another = (seed + start) % 2**63
            order = random_order(units, len(W), seed=another)
            order = order.to(W.device)
        turns = torch.randperm(len(parts), generator=source)
        shuffled = [parts[i] for i in turns]
        match = _climb(units, W, reference, order, shuffled)
        better = match > best_match
        best[better] = order[better]
        best_match[better] = match[better]
    return gathered(units, W, best)


class _Part(NamedTuple):
    """Pieces of `layers` that move together, each inside its group.

    They are the units of one layer, or the groups of all layers of a cluster.  `touching` (n, m)
    are the addresses of the weights in and out of each piece, in the same order.
    """

    layers: list[Layer]
    groups: int
    touching: Tensor


def _parts(units: Units, device: torch.device) -> list[_Part]:
    """List the assignment problems of a sweep."""

    def part(layers: list[Layer], pieces: int, groups: int) -> _Part:
        touching = []
        counted = torch.arange(units.size) < units.dim
        for layer in layers:
            rows = layer.rows[:, layer.rows[0] < units.dim]
            touching.append(rows.reshape(pieces, -1))
            counted[rows] = False  # so that none is counted twice
        for layer in layers:
            columns = layer.columns[:, counted[layer.columns[0]]]
            touching.append(columns.reshape(pieces, -1))
        return _Part(layers, groups, torch.cat(touching, 1).to(device))

    parts = []
    clusters = {}
    for layer in units.permuted:
        parts.append(part([layer], layer.n, layer.groups))
        if layer.cluster >= 0:
            clusters[layer.cluster] = layer.groups
    for cluster, groups in clusters.items():
        parts.append(part(cluster_layers(units, cluster), groups, 1))
    return parts


def _climb(
    units: Units,
    W: Tensor,
    reference: Tensor,
    order: Tensor,
    parts: list[_Part],
) -> Tensor:
    """Change `order` (S, U) in place until no reordered part raises a match; return them (S,)."""

    def match_of(V: Tensor) -> Tensor:
        return V[:, : units.dim] @ reference[: units.dim]

    match = match_of(gathered(units, W, order))
    rising = torch.arange(len(W), device=W.device)
    for _ in range(MAX_SWEEPS):
        before = match[rising]
        for layers, groups, touching in parts:
            now = gathered(units, W[rising], order[rising])[:, touching]
            products = torch.einsum("nm,skm->snk", reference[touching], now)
            columns = _assignments(products, groups)
            new = moved(order[rising], layers, columns)
            value = match_of(gathered(units, W[rising], new))
            better = value > match[rising] + 1e-12 * value.abs()
            at = rising[better]
            order[at] = new[better]
            match[at] = value[better]
        rising = rising[match[rising] > before]
        if not len(rising):
            break
    return match


def _assignments(products: Tensor, groups: int) -> Tensor:
    """Find the columns in each group that maximise sum_i products[s, i, column[i]].

    The result is (S, groups, n / groups).
    """
    size = products.shape[1] // groups
    table = products.detach().cpu().double()
    grouped = table.view(len(table), groups, size, groups, size)
    inside = grouped.diagonal(dim1=1, dim2=3)  # of one group, (S, size, size, groups)
    inside = inside.permute(0, 3, 1, 2)
    tables = inside.flatten(0, 1).numpy()
    columns = []
    for each in tables:
        _, column = linear_sum_assignment(each, maximize=True)
        columns.append(column)
    best = torch.as_tensor(np.stack(columns), device=products.device)
    return best.view(len(products), groups, size)
