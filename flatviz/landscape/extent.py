"""How far a picture reaches: as asked, as the plane suggests, or out to where the objective has risen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import kind
from flatviz.core.objective import Objective

WANTED = "'auto', a number > 0, (lo, hi), or a pair for each axis"
Extent = Annotated[float | str | Sequence[float] | Sequence[Sequence[float]], kind((Real, str, tuple, list, Tensor), WANTED)]
RISE = 5.0  # extent="auto" ends where the objective is this multiple of its value at the origin
DOUBLINGS = 8  # of a quarter of what the plane suggests: where the objective never rises so far, the extent is 64 times that
HALVINGS = 30  # of the same
BISECTIONS = 3  # of an interval of factor 2: the end is at most 9 % beyond the crossing


def ends(
    f: Objective, origin: Tensor, axes: Tensor, extent: Extent | None, suggested: Sequence[Sequence[float]] | None, n: int
) -> list[tuple[float, float]]:
    """(lo, hi) along each of `axes` (2, D): `extent`, else `suggested`; "auto": each end is searched for, and 0 is one of `n` ticks."""
    if extent == "auto":
        reach = None if suggested is None else [max(abs(lo), abs(hi)) for lo, hi in suggested]
        return [_with_zero(lo, hi, n) for lo, hi in auto_extent(f, origin, axes, reach)]
    return extent_of(suggested if extent is None else extent)


def extent_of(extent: Extent | None) -> list[tuple[float, float]]:
    """(lo, hi) of each of the two axes."""
    expected = "extent must be 'auto', a number > 0, (lo, hi) or ((a_lo, a_hi), (b_lo, b_hi)) with lo < hi"
    if extent is None:
        raise ValueError(f"{expected}: this plane suggests none")
    try:
        values = torch.as_tensor(extent, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{expected}, got {extent!r}") from error
    if values.ndim == 0:
        values = torch.stack([-values, values])
    if values.ndim == 1 and len(values) == 2:
        values = values.expand(2, 2)
    whole = extent is not True and tuple(values.shape) == (2, 2) and bool(values.isfinite().all())
    if not whole or not bool((values[:, 0] < values[:, 1]).all()):
        raise ValueError(f"{expected}, got {extent!r}")
    return [(float(lo), float(hi)) for lo, hi in values]


def auto_extent(f: Objective, origin: Tensor, axes: Tensor, reach: Sequence[float] | None = None) -> list[tuple[float, float]]:
    """(lo, hi) along each axis where f is first found at RISE times its value at the origin, or not finite.

    Seen at a few points on each axis: steps out by doubling from a quarter of `reach` (default: of the axis), inwards by
    halving where that is already too far, then bisections.

    Raises:
        ValueError: Where f at the origin is 0 or not finite.
    """
    centre = float(f.many(origin[None])[0])
    if centre == 0 or not math.isfinite(centre):
        raise ValueError(
            f"extent='auto' is a multiple of the value at the origin, which must be finite and not 0, got {centre:g}: give a number"
        )
    target = centre + (RISE - 1) * abs(centre)

    def end(axis: Tensor, start: float) -> float:
        return _first_over(lambda t: not float(f.many((origin + t * axis)[None])[0]) < target, start)

    starts = [r / 4 for r in reach or [1.0] * len(axes)]
    return [(-end(-axis, start), end(axis, start)) for axis, start in zip(axes, starts)]


def _first_over(over: Callable[[float], bool], t: float) -> float:
    """The distance at which `over` begins to hold, at most 9 % beyond; t doubled `DOUBLINGS` times where it never does."""
    outside = next((s for k in range(DOUBLINGS + 1) if over(s := t * 2**k)), None)
    if outside is None:
        return t * 2**DOUBLINGS
    inside = outside / 2
    if outside == t:  # the first step was too far
        inside = next((s for k in range(1, HALVINGS + 1) if not over(s := t / 2**k)), 0.0)
        outside = 2 * inside or t / 2**HALVINGS
    for _ in range(BISECTIONS):
        middle = math.sqrt((inside or outside / 2) * outside)
        inside, outside = (inside, middle) if over(middle) else (middle, outside)
    return outside


def _with_zero(lo: float, hi: float, n: int) -> tuple[float, float]:
    """The ends widened so that 0 is one of n ticks, with one on either side at least."""
    if n < 3:
        return lo, hi
    below = min(max(round(-lo / (hi - lo) * (n - 1)), 1), n - 2)
    step = max(-lo / below, hi / (n - 1 - below))
    return -below * step, (n - 1 - below) * step
