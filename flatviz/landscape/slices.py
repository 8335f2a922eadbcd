"""Values of an objective along a line and over a plane."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz._checks import check_count, check_weights
from flatviz.core.progress import Progress, track
from flatviz.landscape._objective import described, evaluate
from flatviz.results import Curve, ObjectiveLike, Plane, Surface

Extent = float | Sequence[float] | Sequence[Sequence[float]]


def slice_plane(
    f: ObjectiveLike,
    plane: Plane,
    *,
    extent: Extent | None = None,
    resolution: int = 41,
    exact: bool = False,
    progress: Progress = False,
) -> Surface:
    """f(origin + a axes[0] + b axes[1]) on a grid of `resolution` x `resolution` points; values (U, V).

    extent, in units of a and b: a number e for [-e, e] on both axes; (lo, hi) for both; ((a_lo, a_hi), (b_lo, b_hi));
    default: the plane's own.  Where it is symmetric and `resolution` odd, the origin is on the grid.
    exact: leave out every trick that reuses work between points.
    Diverged cells stay NaN or inf and are counted in `n_diverged`.  Raises ValueError for a bad extent or resolution.
    """
    check_count(resolution, "resolution", least=2)
    (a_lo, a_hi), (b_lo, b_hi) = _extent(plane.extent if extent is None else extent)
    a, b = _ticks(a_lo, a_hi, resolution, plane.origin), _ticks(b_lo, b_hi, resolution, plane.origin)
    rows = []
    for a_i in track(a, "surface", progress):
        coords = torch.stack([a_i.expand_as(b), b], dim=1)
        rows.append(evaluate(f, plane.points(coords)))
    return Surface(plane, a, b, torch.stack(rows), **described(f))


def slice_line(
    f: ObjectiveLike, a: Tensor, b: Tensor, *, resolution: int = 41, exact: bool = False, progress: Progress = False
) -> Curve:
    """f((1 - t) a + t b) at `resolution` values of t from 0 to 1, both ends computed; a, b (D,).

    Raises ValueError if the ends differ in shape.
    """
    check_weights(b, check_weights(a, a.numel(), "a").numel(), "b")
    t = torch.linspace(0, 1, check_count(resolution, "resolution", least=2), dtype=a.dtype, device=a.device)
    parts = [evaluate(f, torch.lerp(a, b, part[:, None])) for part in track(t.split(16), "line", progress)]
    about = described(f)
    return Curve(t, torch.cat(parts), y_label=about["label"], n=about["n"], batchnorm=about["batchnorm"])


def _ticks(lo: float, hi: float, n: int, like: Tensor) -> Tensor:
    """n values from lo to hi, mirror images about their middle, so that the middle of an odd number is exact."""
    steps = torch.arange(n, dtype=torch.float64) * 2 - (n - 1)
    return ((lo + hi) / 2 + (hi - lo) / 2 * steps / (n - 1)).to(like)


def _extent(extent: Extent | None) -> tuple[tuple[float, float], tuple[float, float]]:
    expected = "extent must be a number > 0, (lo, hi) or ((a_lo, a_hi), (b_lo, b_hi)) with lo < hi"
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
    if tuple(values.shape) != (2, 2) or not bool((values[:, 0] < values[:, 1]).all()):
        raise ValueError(f"{expected}, got {extent!r}")
    (a_lo, a_hi), (b_lo, b_hi) = values.tolist()
    return (a_lo, a_hi), (b_lo, b_hi)
