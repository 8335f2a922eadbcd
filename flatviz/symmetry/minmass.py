"""The lightest of all networks that differ by scaling: coordinate descent on the mass, for many networks at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import Count, Positive, Vectors
from flatviz.core.boundary import public
from flatviz.symmetry.actions import scaled_by
from flatviz.symmetry.units import Units


@dataclass(frozen=True, eq=False)
class MinMass:
    """Lightest equal networks `W` (S, E) and the factors (S, V) that made them.

    `before` and `after` (S,) are the masses, `residual` (S,) the largest |in - out| / (in + out) of a unit, 0 at the
    minimum.  Units without incoming or outgoing weights stand still, with factor 1, and are not counted.
    """

    W: Tensor
    factor: Tensor
    before: Tensor
    after: Tensor
    residual: Tensor


@public
def min_mass(units: Units, W: Vectors, *, tolerance: Positive = 1e-12, max_sweeps: Count = 500) -> MinMass:
    """Minimum over positive factors f of the mass sum_ij W_ij^2 (f_i / f_j)^2, for each row of W (S, E), in float64.

    Convex in log f, strictly so where every unit is connected to inputs or outputs.  One unit: with a, b the squared
    length of its incoming and outgoing weights, f = (b / a)^(1/4) makes both sqrt(a b).  A sweep does so for all units of
    a layer at once, layer by layer; it ends where a sweep removes less than `tolerance` of the mass.

    Raises:
        ValueError: For a network with normalisation, whose mass has no minimum, and for one that scaling would
            change.

    Source: the problem, Laurent et al. 2024 (arXiv 2310.08287); the steps, Stock et al. 2019 (arXiv 1902.10416).

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> least = fv.symmetry.min_mass(fv.symmetry.units_of(net), net.w[None])
        >>> bool(least.after < least.before), bool(least.residual < 1e-6)
        (True, True)
    """
    W = units.check("scale", W)
    if units.free:
        raise ValueError(
            f"min_mass needs a network without normalisation, got {units.free}: it undoes any scaling of the layer before, "
            "whose mass can fall to 0 and has no minimum; use unit_norm"
        )
    edges = _Edges(units, W.double())
    dead = (edges.incoming() == 0) | (edges.outgoing() == 0)
    before = total = edges.total()
    for _ in range(max_sweeps):
        for group in edges.groups:
            edges.balance(group, dead)
        last, total = total, edges.total()
        if not bool((last - total > tolerance * last).any()):
            break
    factor = edges.log_factor.exp().to(W.dtype)
    a, b = edges.incoming(), edges.outgoing()
    residual = torch.where(dead, 0.0, (a - b).abs() / (a + b).clamp_min(torch.finfo(a.dtype).tiny)).amax(1)
    return MinMass(scaled_by(units, W, factor), factor, before, total, residual)


class _Edges:
    """Squared weights (A, S), summed over kernels, one row a pair of units; kept current as units are scaled.

    Networks lie along the last axis, so that sums over units read memory in order.
    """

    def __init__(self, units: Units, W: Tensor) -> None:
        kept = units.mass & ((units.scale_row < units.n_scaled) | (units.scale_column < units.n_scaled))
        pairs = torch.stack([units.scale_row[kept], units.scale_column[kept]])
        pairs, inverse = pairs.unique(dim=1, return_inverse=True)
        squares = W[:, kept.to(W.device)].square().T.contiguous()
        self.row, self.column = pairs.to(W.device)
        self.squares = squares.new_zeros(pairs.shape[1], len(W)).index_add_(0, inverse.to(W.device), squares)
        self.rest = W[:, (units.mass & ~kept).to(W.device)].square().sum(1)  # what no factor changes
        self.n, self.log_factor = units.n_scaled, W.new_zeros(len(W), units.n_scaled)
        self.groups = [g for layer in units.scaled for g in self._independent(layer.start, layer.stop)]

    def _independent(self, start: int, stop: int) -> list[tuple[int, int, Tensor, Tensor]]:
        """A layer as (start, stop, edges in, edges out); one unit at a time where its units feed each other."""
        inside = [(e >= start) & (e < stop) for e in (self.row, self.column)]
        if stop - start > 1 and bool((inside[0] & inside[1]).any()):
            return [g for u in range(start, stop) for g in self._independent(u, u + 1)]
        loop = inside[0] & inside[1]  # a unit that feeds itself: no factor changes that weight
        return [(start, stop, *((i & ~loop).nonzero()[:, 0] for i in inside))]

    def total(self) -> Tensor:
        return self.squares.sum(0) + self.rest

    def incoming(self) -> Tensor:
        return self._summed(self.row, self.column)

    def outgoing(self) -> Tensor:
        return self._summed(self.column, self.row)

    def _summed(self, unit: Tensor, other: Tensor) -> Tensor:
        sums = self.squares.new_zeros(self.n + 1, self.squares.shape[1])
        return sums.index_add_(0, unit[unit != other], self.squares[unit != other])[:-1].T

    def balance(self, group: tuple[int, int, Tensor, Tensor], dead: Tensor) -> None:
        """Make in and out of some units equal."""
        start, stop, into, out = group
        a, b = (self.squares.new_zeros(stop - start, self.squares.shape[1]) for _ in range(2))
        a.index_add_(0, self.row[into] - start, self.squares[into])
        b.index_add_(0, self.column[out] - start, self.squares[out])
        step = torch.where(dead[:, start:stop].T, 0.0, 0.25 * (b.log() - a.log()))
        self.log_factor[:, start:stop] += step.T
        square = (2 * step).exp()
        self.squares[into] *= square[self.row[into] - start]
        self.squares[out] /= square[self.column[out] - start]
