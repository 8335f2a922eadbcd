"""Where over a plane the loss is sharp: extreme eigenvalues of the Hessian, or their ratio, at every point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Seed, Several, check_count
from flatviz.core.boundary import public
from flatviz.core.objective import DivergedError, Objective, ObjectiveLike, as_objective
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.landscape.extent import Extent, ends
from flatviz.landscape.grid import Cache, Grid, ticks_between
from flatviz.landscape.krylov import Krylov, room_for
from flatviz.landscape.operators import Operator
from flatviz.results import Plane, Surface


@public
def map_curvature(
    f: ObjectiveLike,
    plane: Plane,
    *,
    which: Literal["largest", "smallest"] = "largest",
    extent: Extent | None = None,
    resolution: Several = 11,
    iters: Count = 30,
    tol: NonNegative = 1e-3,
    seed: Seed = 0,
    progress: Progress = False,
    preview: Callable[[Surface], None] | None = None,
    cache: Cache = None,
) -> Surface:
    """The largest or smallest Hessian eigenvalue of `f` at every point of the plane; a Surface of eigenvalues.

    which: "largest" or "smallest".  resolution: 11, for a point costs as much as hundreds of a slice.
    Each point costs at most `iters` products H v, fewer once the residual is below `tol` |lambda|_max.  A smallest one
    below 0 says how far the loss is from convex there.  Where the loss diverged there is none: NaN, counted in
    `n_diverged`.  Other arguments as in `slice_plane`.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(2), torch.eye(2), "distance")
        >>> bumps = lambda w: w[0] ** 4 + w[1] ** 2
        >>> fv.landscape.map_curvature(bumps, plane, extent=1.0, resolution=3).values[:, 1].tolist()  # 12 a^2, or 2
        [12.0, 2.0, 12.0]
    """
    check_count(iters, "iters", least=2)
    f = as_objective(f)
    sides = ends(f, plane.origin, plane.axes, extent, plane.extent, resolution)
    a, b = (ticks_between(lo, hi, resolution, plane.origin) for lo, hi in sides)
    g = _Extreme(f, which, iters, tol, seed)
    about = dict(label=g.label, n=g.n, batchnorm=g.batchnorm)

    def show(values: Tensor, step: int) -> None:
        every = torch.arange(resolution // 2 % step, resolution, step)
        preview(Surface(plane, a[every], b[every], values[every][:, every], **about))

    grid = Grid(g, plane.origin, plane.axes, [a, b], progress=progress, cache=cache, preview=show if preview else None)
    return Surface(plane, a, b, grid.values, **about)


class _Extreme(Objective):
    """w -> the largest (smallest) eigenvalue of the Hessian of f at w."""

    def __init__(self, f: Objective, which: str, iters: int, tol: float, seed: int) -> None:
        self._f, self._sign, self._settings = f, 1.0 if which == "largest" else -1.0, (iters, tol, seed)
        self.n, self.batchnorm, self.dim = f.n, f.batchnorm, f.dim
        self.label = f"{which} Hessian eigenvalue"
        self.key = f"{which} {self._settings} {f.key}" if f.key else ""

    def __call__(self, w: Tensor) -> Tensor:
        iters, tol, seed = self._settings
        if not bool(w.isfinite().all()):
            return w.new_tensor(math.nan)
        try:
            operator = Operator(self._f, w)
            run = Krylov(lambda v: self._sign * operator(v), w, room_for(1, iters, w), generator(seed))
            values, _, _ = run.find(1, iters, tol)
        except DivergedError:
            return w.new_tensor(math.nan)
        return (self._sign * values[0]).to(w)
