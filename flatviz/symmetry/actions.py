"""Permutation, positive scaling and sign flips of hidden units, on weight vectors W (S, E)."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Numbers, Seed, Vectors
from flatviz.core import generator, public
from flatviz.symmetry.units import Layer, Units


@public
def permute(units: Units, W: Vectors, order: Tensor) -> Tensor:
    """Permute hidden units: W^l -> P^l W^l P^{l-1}^T, b^l -> P^l b^l.

    The function does not change.  Unit u of the result is unit order[s, u] of W.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        order: Order of the U units: (U,) for all vectors, or (S, U), one for each.
            permute(permute(W, p), q) = permute(W, p[q]).

    Raises:
        ValueError: For an order that is no permutation inside each layer, or splits the groups of a
            grouped convolution.

    Example:
        >>> import torch, torch.nn as nn, flatviz as fv
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units, x = fv.symmetry.units_of(net), torch.randn(5, 4)
        >>> moved = fv.symmetry.permute(units, net.w[None], torch.tensor([2, 0, 1]))
        >>> bool(torch.allclose(net(moved[0], x), net(net.w, x), atol=1e-6))
        True
    """
    W = units.check("permute", W)
    order = check_order(units, order, len(W))
    return gathered(units, W, order.to(W.device))


@public
def rescale(units: Units, W: Vectors, factor: Numbers) -> Tensor:
    """Rescale hidden units: W^l -> diag(f^l) W^l diag(f^{l-1})^{-1}, b^l -> f^l b^l.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        factor: Factors f > 0 of the V units: (V,) for all vectors, or (S, V), one for each.  With
            BatchNorm a convolution's factor goes into mean (once) and variance (twice), which is
            exact for eps = 0; gain and shift have other factors.

    Raises:
        ValueError: For a factor that is not above 0 or makes a weight 0 or infinite, and for a
            network whose hidden functions are not positively homogeneous.

    Example:
        >>> import torch, torch.nn as nn, flatviz as fv
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> units, factor = fv.symmetry.units_of(net), torch.tensor([2.0, 0.5, 10.0])
        >>> W = fv.symmetry.rescale(units, net.w[None], factor)
        >>> bool(torch.allclose(fv.symmetry.rescale(units, W, 1 / factor)[0], net.w))
        True
    """
    W = units.check("scale", W)
    factor = _factors(units, W, factor, "factor")
    positive = (factor > 0) & factor.isfinite()
    if not positive.all():
        raise ValueError(
            "factor must be finite and above 0, got"
            f" {float(factor[~positive][0]):g}: take its absolute value"
        )
    scaled = scaled_by(units, W, factor)
    lost = ~scaled.isfinite() | ((scaled == 0) & (W != 0))
    if lost.any():
        raise ValueError(
            f"factor must keep the weights inside {W.dtype}, got {float(factor.min()):g} to"
            f" {float(factor.max()):g}, of which {int(lost.sum())} weights become 0 or infinite:"
            " take factors nearer to 1"
        )
    return scaled


@public
def flip(units: Units, W: Vectors, sign: Numbers) -> Tensor:
    """Flip signs of hidden units: W^l -> diag(s^l) W^l diag(s^{l-1}), b^l -> s^l b^l.

    The hidden functions must be odd, such as tanh.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        sign: Signs s of the V units, -1 or 1: (V,) for all vectors, or (S, V), one for each.

    Raises:
        ValueError: For other numbers, and for a network with a function that is not odd.

    Example:
        >>> import torch, torch.nn as nn, flatviz as fv
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)))
        >>> units, x = fv.symmetry.units_of(net), torch.randn(5, 4)
        >>> flipped = fv.symmetry.flip(units, net.w[None], -torch.ones(3))
        >>> bool(torch.allclose(net(flipped[0], x), net(net.w, x), atol=1e-6))
        True
    """
    W = units.check("flip", W)
    sign = _factors(units, W, sign, "sign")
    wrong = sign[sign.abs() != 1]
    if len(wrong):
        raise ValueError(f"sign must hold -1 and 1 only, got {float(wrong[0]):g}")
    return scaled_by(units, W, sign)


def gathered(units: Units, W: Tensor, order: Tensor) -> Tensor:
    """Apply `permute` without checks; order (S, U)."""
    W = W.clone()
    for layer in units.permuted:
        rows = W[:, layer.rows]
        at = order[:, layer.slice, None] - layer.start
        W[:, layer.rows] = rows.gather(1, at.expand_as(rows))
    for layer in units.permuted:  # inside each group alone, as whole groups moved with their rows
        columns = W[:, layer.columns]
        at = order[:, layer.slice, None] - layer.start
        group_size = layer.inside.to(W.device)
        unit = torch.arange(layer.n, device=W.device)
        group_start = unit[:, None] // group_size * group_size
        W[:, layer.columns] = columns.gather(1, at % group_size + group_start)
    return W


def scaled_by(
    units: Units,
    W: Tensor,
    factor: Tensor,
    layers: Sequence[Layer] | None = None,
) -> Tensor:
    """Apply `rescale` to `layers` (default: all) without checks; factor (S, V) of any sign."""
    W = W.clone()
    layers = units.scaled if layers is None else layers
    for layer in layers:
        power = units.power[layer.rows[0]].to(W)
        W[:, layer.rows] *= factor[:, layer.slice, None] ** power
    for layer in layers:
        W[:, layer.columns] /= factor[:, layer.slice, None]
    return W


def moved(order: Tensor, layers: Iterable[Layer], chosen: Tensor) -> Tensor:
    """Reorder pieces inside groups of `order` (S, U), in each layer.

    A layer has G groups of n pieces, each of one or more units.  Piece i of group g becomes the one
    that was piece chosen[s, g, i] of that group; chosen is (S, G, n).
    """
    order = order.clone()
    groups, n = chosen.shape[1:]
    group_start = n * torch.arange(groups, device=chosen.device)
    source = (chosen + group_start[:, None]).flatten(1)
    for layer in layers:
        here = order[:, layer.slice]
        pieces = here.unflatten(1, (groups * n, -1))
        index = source[..., None].expand_as(pieces)
        order[:, layer.slice] = pieces.gather(1, index).flatten(1)
    return order


@public
def random_order(units: Units, n: Count, *, seed: Seed) -> Tensor:
    """Draw `n` orders (n, U), uniform over the permutation group.

    Args:
        units: Hidden units, as `units_of` returns.
        n: Number of orders.
        seed: Fixes them.

    Example:
        >>> import torch.nn as nn, flatviz as fv
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> fv.symmetry.random_order(fv.symmetry.units_of(net), 2, seed=0).sort(1).values.tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    source = generator(seed)

    def shuffled(groups: int, size: int) -> Tensor:
        """Draw n orders of the members of each group, (n, groups, size)."""
        keys = torch.rand(n, groups, size, generator=source, dtype=torch.float64)
        return keys.argsort(2)

    swaps = {}  # cluster -> order of the groups of all its layers
    order = torch.arange(units.n_permuted).repeat(n, 1)
    for layer in units.permuted:
        inside = shuffled(layer.groups, layer.n // layer.groups)
        order = moved(order, [layer], inside)
        if layer.cluster >= 0:
            if layer.cluster not in swaps:
                swaps[layer.cluster] = shuffled(1, layer.groups)
            order = moved(order, [layer], swaps[layer.cluster])
    return order


@public
def random_factor(
    units: Units,
    n: Count,
    *,
    seed: Seed,
    std: NonNegative = 1.0,
) -> Tensor:
    """Draw `n` scale factors (n, V), exp of normal numbers of standard deviation `std`.

    Args:
        units: Hidden units, as `units_of` returns.
        n: Number of vectors of factors.
        seed: Fixes them.
        std: Standard deviation of log factor.

    Example:
        >>> import torch.nn as nn, flatviz as fv
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> fv.symmetry.random_factor(fv.symmetry.units_of(net), 2, seed=0).shape
        torch.Size([2, 3])
    """
    source = generator(seed)
    z = torch.randn(n, units.n_scaled, generator=source, dtype=torch.float64)
    return (std * z).exp()


def check_order(units: Units, order: Tensor, n: int) -> Tensor:
    """Check that each row of `order` is in the permutation group; return it as (n, U)."""
    is_long = order.dtype == torch.long
    if not is_long or order.shape not in _shapes(units.n_permuted, n):
        came = tuple(order.shape) if is_long else order.dtype
        raise ValueError(
            f"order must be int64 of shape ({units.n_permuted},), or have a row for each of the {n}"
            f" networks, got {came}"
        )
    order = order.expand(n, -1)
    swaps: dict[int, Tensor] = {}  # cluster -> order of the groups of all its layers
    for layer in units.permuted:
        unit = order[:, layer.slice] - layer.start
        group_of = unit // (layer.n // layer.groups)
        by_group = group_of.unflatten(1, (layer.groups, -1))
        expected = torch.arange(layer.groups, device=order.device)
        expected = expected.expand(n, -1)
        if layer.cluster >= 0:
            expected = swaps.setdefault(layer.cluster, by_group[..., 0])
        every = torch.arange(layer.n, device=order.device)
        once = (unit.sort(1).values == every).all()
        together = (by_group == expected[..., None]).all()
        if not (once and together):
            raise ValueError(
                f"order must hold units {layer.start} to {layer.stop - 1} once each in layer"
                f" {layer.name!r}, and keep its {layer.groups} groups together: swap whole groups"
            )
    return order


def _factors(units: Units, W: Tensor, factor: Tensor, name: str) -> Tensor:
    """Return factors as (S, V), like W; `name` is for errors."""
    if factor.shape not in _shapes(units.n_scaled, len(W)):
        raise ValueError(
            f"{name} must have shape ({units.n_scaled},), a row a network, got"
            f" {tuple(factor.shape)}"
        )
    return factor.to(W).expand(len(W), -1)


def _shapes(size: int, n: int) -> tuple[tuple[int, ...], ...]:
    return (size,), (n, size)
