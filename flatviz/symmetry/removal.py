"""One representative for all equal networks: unit norms, and units sorted by one number of their incoming weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import Positive, Vectors
from flatviz.core.boundary import public
from flatviz.symmetry.actions import gathered, scaled_by
from flatviz.symmetry.numbering import Layer
from flatviz.symmetry.units import Units

# rule -> number of a unit from its incoming weights (S, n, m)
Rule = Literal["first", "max"]
RULES: dict[str, Callable[[Tensor], Tensor]] = {"first": lambda V: V[..., 0], "max": lambda V: V.amax(-1)}


@public
def unit_norm(units: Units, W: Vectors, *, norm: Positive = 1.0) -> tuple[Tensor, Tensor]:
    """Networks whose hidden units all have incoming weights of length `norm`, and the factors (S, V) that made them so.

    W (S, E).  Layer by layer f_i = norm / |incoming weights of unit i after the factors before|; the last layer takes up
    the rest.  Shifts (biases) are scaled, not counted; nor are, of layers that a residual sum ties, rows that read units
    which come later; of BatchNorm the gain becomes 1 or -1 (its size is removed, its
    sign is function); a unit without incoming weights (norm 0) stands still.

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
    factor = torch.ones(len(W), units.n_scaled, dtype=W.dtype, device=W.device)
    for layer in units.scaled:
        squares = scaled_by(units, W, factor).square()
        length = incoming(units, squares, before=layer.start)[:, layer.start : layer.stop].sqrt()
        factor[:, layer.start : layer.stop] = torch.where(length > 0, norm / length, 1.0)
    return scaled_by(units, W, factor), factor


def incoming(units: Units, squares: Tensor, *, before: int | None = None) -> Tensor:
    """Sum over each unit's incoming weights (shifts left out) of `squares` (S, E): (S, V).

    before: leave out those that read this unit or a later one.
    """
    kept = units.mass
    if before is not None:
        kept = kept & ((units.scale_column < before) | (units.scale_column == units.n_scaled))
    kept, sums = kept.to(squares.device), squares.new_zeros(len(squares), units.n_scaled + 1)
    return sums.index_add_(1, units.scale_row.to(squares.device)[kept], squares[:, kept])[:, :-1]


@public
def sort_units(units: Units, W: Vectors, *, rule: Rule = "max") -> tuple[Tensor, Tensor]:
    """Networks whose units stand in falling order of one number, and the order (S, U) that sorted them.

    W (S, E).  rule: "first", the first incoming weight, after the units before it were sorted (what the released code of
    the paper does); "max", the largest (what its text says).  Layer by layer from the input; ties keep their order;
    classes are never sorted.  Units of a grouped convolution are sorted inside their group, and
    groups by their largest number.  Scale first: sorting is one of all equal networks only where scaling was removed.

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
    swapped: set[int] = set()
    for layer in units.permuted:
        keys = number(gathered(units, W, order)[:, weights_in(units, layer)])
        inside = keys.unflatten(1, (layer.groups, -1)).argsort(dim=2, descending=True, stable=True)
        inside = inside + (torch.arange(layer.groups, device=W.device) * (layer.n // layer.groups))[None, :, None]
        order = moved(order, [layer], inside.flatten(1))
        if layer.cluster >= 0 and layer.cluster not in swapped:  # groups are swapped once, in all layers of the cluster
            largest = keys.unflatten(1, (layer.groups, -1)).amax(2)
            order = moved(order, layers_of(units, layer.cluster), largest.argsort(dim=1, descending=True, stable=True))
            swapped.add(layer.cluster)
    return gathered(units, W, order), order


def layers_of(units: Units, cluster: int) -> list[Layer]:
    """The layers that swap their groups together."""
    return [layer for layer in units.permuted if layer.cluster == cluster]


def moved(order: Tensor, layers: list[Layer], chosen: Tensor) -> Tensor:
    """`order` (S, U) where in each of `layers`, cut into n equal pieces, piece i is piece chosen[s, i] of before; chosen (S, n)."""
    order = order.clone()
    for layer in layers:
        pieces = order[:, layer.start : layer.stop].unflatten(1, (chosen.shape[1], -1))
        order[:, layer.start : layer.stop] = pieces.gather(1, chosen[..., None].expand_as(pieces)).flatten(1)
    return order


def weights_in(units: Units, layer: Layer) -> Tensor:
    """Addresses (n, m) of the incoming weights of Linear and convolutions of each unit of a layer, in the order of memory."""
    where = (units.kernel & (units.row >= layer.start) & (units.row < layer.stop)).nonzero()[:, 0]
    return where[units.row[where].argsort(stable=True)].view(layer.n, -1)


@public
def canonical(units: Units, W: Vectors, *, rule: Rule = "max", norm: Positive = 1.0) -> Tensor:
    """`unit_norm`, then `sort_units`: the same vector for all networks that differ by scaling and permutation.

    W and the result (S, E).  norm: length of each unit's incoming weights; rule: as in `sort_units`.

    Raises:
        ValueError: For a network that scaling or permutation would change.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units = fv.symmetry.units_of(net)
        >>> equal = fv.symmetry.permute(units, net.w[None], torch.tensor([2, 0, 1]))
        >>> bool(torch.allclose(fv.symmetry.canonical(units, equal), fv.symmetry.canonical(units, net.w[None]), atol=1e-6))
        True
    """
    return sort_units(units, unit_norm(units, W, norm=norm)[0], rule=rule)[0]
