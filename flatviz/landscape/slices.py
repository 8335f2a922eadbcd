"""Values of an objective along a line, over a plane, at given weights."""

from __future__ import annotations

from typing import Any

import torch

from flatviz.checks import Several, Vector, Vectors, check_many_weights, check_weights
from flatviz.core.boundary import public
from flatviz.core.objective import ObjectiveLike, as_objective
from flatviz.core.progress import Progress
from flatviz.landscape.extent import Extent, ends
from flatviz.landscape.grid import Cache, Grid, Precision, ticks_between
from flatviz.results import Curve, Plane, Surface


@public
def slice_plane(
    f: ObjectiveLike,
    plane: Plane,
    *,
    extent: Extent | None = None,
    resolution: Several = 41,
    exact: bool = False,
    precision: Precision | None = None,
    progress: Progress = False,
    cache: Cache = None,
    engine: Any = None,
) -> Surface:
    """f(origin + a axes[0] + b axes[1]) on a grid of `resolution` points a side; values (U, V).

    extent, in units of a and b: a number e for [-e, e] on every axis; (lo, hi) for all; a pair for each;
    default: that of the plane.  Where it is symmetric and `resolution` odd, the origin is on the grid.
    extent="auto": in each direction out to 5 times the value at the origin, found from a few points on each axis (at most
        64 times what the plane suggests), then moved by half a step at most, so that the origin is on the grid.
    resolution: points along each axis; 41 (1,681 points) is smooth on a screen, 11 is enough for a look.
    exact: leave out every trick that reuses work between points.
    precision: "float32" or "bfloat16": a quick look, its measured error in `Surface.error`.
    cache: True (the user's cache folder) or a folder: values are kept as they come, so a run that was killed goes on,
        and the same slice is never computed twice; a kill costs the point at work (16 points where the plan runs them
        together).  engine: a `dask.distributed` Client (extra "cluster").
    Memory: batches whose largest activation takes a MiB (`exact` and `slice_line`'s ends too), and at most a GiB for what
        is kept between points.
    Diverged cells stay NaN or inf and are counted in `n_diverged`.

    Raises:
        ValueError: For a bad extent or resolution, or a plane of another net.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "step")
        >>> surface = fv.slice_plane(lambda w: (w * w).sum(), plane, extent=1.0, resolution=3)
        >>> surface.values.tolist()
        [[2.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 2.0]]
    """
    f = as_objective(f)
    check_weights(plane.origin, f.dim, "the plane's origin")
    sides = ends(f, plane.origin, plane.axes, extent, plane.extent, resolution)
    ticks = [ticks_between(lo, hi, resolution, plane.origin) for lo, hi in sides]
    options = dict(exact=exact, precision=precision, progress=progress, cache=cache, engine=engine)
    grid = Grid(f, plane.origin, plane.axes, ticks, **options)
    about = dict(label=f.label, n=f.n, batchnorm=f.batchnorm, precision=precision, error=grid.error)
    return Surface(plane, *ticks, grid.values, **about)


@public
def slice_line(f: ObjectiveLike, a: Vector, b: Vector, *, resolution: Several = 41) -> Curve:
    """f((1 - t) a + t b) at `resolution` values of t from 0 to 1, both ends computed; a, b (D,).

    The ends are f(a) and f(b) themselves.  Frozen BatchNorm statistics are those of f's net all along, not the other end's:
    `Curve.name` says whose, and `quantity(..., batchnorm=data)` re-estimates them.

    Raises:
        ValueError: If the ends differ in shape, or are not of f's weights.

    Example:
        >>> import torch, flatviz as fv
        >>> curve = fv.slice_line(lambda w: (w * w - 1).square().sum(), -torch.ones(2), torch.ones(2), resolution=5)
        >>> curve.values.tolist(), curve.barrier
        ([0.0, 1.125, 2.0, 1.125, 0.0], 2.0)
    """
    f = as_objective(f)
    check_weights(b, check_weights(a, f.dim, "a").numel(), "b")
    t = torch.linspace(0, 1, resolution, dtype=a.dtype, device=a.device)
    name = f"line{whose}" if (whose := f.whose_statistics(a, b)) else ""
    inside = Grid(f, a, (b - a)[None], [t[1:-1]]).values if resolution > 2 else t[:0]
    at_ends = f.many(torch.stack([a, b]))
    values = torch.cat([at_ends[:1], inside.to(at_ends), at_ends[1:]])
    return Curve(t, values, y_label=f.label, name=name, n=f.n, batchnorm=f.batchnorm)


@public
def slice_path(f: ObjectiveLike, W: Vectors, *, t: Vector | None = None, x_label: str = "step", name: str = "") -> Curve:
    """F at each of W (S, D) in turn: along a training path, a curve, a chain.

    t (S,): the place of each on the axis that `x_label` names; default 0, 1, 2, ...  name: of the curve, in legends.

    Raises:
        ValueError: If t and W differ in length.

    Example:
        >>> import torch, flatviz as fv
        >>> path = torch.tensor([[2.0, 0.0], [1.0, 0.5], [0.0, 0.0]])
        >>> fv.slice_path(lambda w: w.square().sum(), path, name="training").values.tolist()
        [4.0, 1.25, 0.0]
    """
    f = as_objective(f)
    check_many_weights(W, f.dim)
    t = torch.arange(len(W), dtype=W.dtype, device=W.device) if t is None else t
    if t.shape != (len(W),):
        raise ValueError(f"t must have shape ({len(W)},), got {tuple(t.shape)}: one value for each weight vector")
    return Curve(t, f.many(W), x_label, f.label, name, f.n, f.batchnorm)
