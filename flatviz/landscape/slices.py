"""Values of an objective along a line, over a plane, at given weights; weights seen on a plane."""

from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import Several, Vector, Vectors, check_many_weights, check_weights, tensor
from flatviz.core import ObjectiveLike, Progress, as_objective, public
from flatviz.gaussian import Gaussian
from flatviz.landscape.grid import Cache, Extent, Precision, ends, on_grid, ticks_between
from flatviz.results import Curve, Plane, Projection, Surface, placed


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
) -> Surface:
    """Compute f(origin + a axes[0] + b axes[1]) on a grid, values (U, V).

    Memory: points are computed in batches whose largest activation takes 4 MiB (1 MiB with `exact`,
    and for the ends of `slice_line`), and values kept between points take at most a GiB.  Diverged
    cells stay NaN or inf and are counted in `n_diverged`.

    Args:
        f: Objective, w (D,) -> ().
        plane: Origin and axes of the grid.
        extent: In units of a and b: a number e for [-e, e] on every axis; (lo, hi) for all; a pair
            for each; None: that of the plane. With a symmetric extent and odd `resolution` the
            origin is a grid point.  "auto": goes out in each direction until f is 5 times its value
            at the origin, at most to 64 times what the plane suggests, then shifts by at most half
            a step, so that the origin is a grid point.
        resolution: Points along each axis; 41 (1,681 points) is smooth on a screen, 11 is enough
            for a look.
        exact: Reuse no work between points.
        precision: "float32" or "bfloat16": a quick look, its measured error in `Surface.error`.
        progress: True for a bar, or a function (done, total, label) that is called before each
            step.
        cache: True (the user's cache folder) or a folder: values are stored as they are computed,
            so that a killed run resumes, without the 16 points at work and those of the last
            second. One stored point is computed again and compared.

    Raises:
        ValueError: For a bad extent or resolution, a plane of another net, or a precision beside
            exact=True or where the engine cannot follow the network.

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
    a, b = (ticks_between(lo, hi, resolution, plane.origin) for lo, hi in sides)
    values, error = on_grid(
        f,
        plane.origin,
        plane.axes,
        [a, b],
        exact=exact,
        precision=precision,
        progress=progress,
        cache=cache,
    )
    return Surface(plane, a, b, values, f.label, f.n, f.batchnorm, precision, error)


@public
def slice_line(
    f: ObjectiveLike,
    a: Vector,
    b: Vector,
    *,
    resolution: Several = 41,
) -> Curve:
    """Compute f((1 - t) a + t b) at `resolution` values of t from 0 to 1, both ends included.

    The ends are f(a) and f(b) themselves.  Frozen BatchNorm statistics are those of f's net at
    every t; `Curve.name` says whose, and `quantity(..., batchnorm=data)` re-estimates them.

    Args:
        f: Objective, w (D,) -> ().
        a: Weights (D,) at t = 0.
        b: Weights (D,) at t = 1.
        resolution: Number of points, ends included.

    Raises:
        ValueError: If the ends differ in shape, or are not of f's weights.

    Example:
        >>> import torch, flatviz as fv
        >>> f = lambda w: (w * w - 1).square().sum()
        >>> curve = fv.slice_line(f, -torch.ones(2), torch.ones(2), resolution=5)
        >>> curve.values.tolist(), curve.barrier
        ([0.0, 1.125, 2.0, 1.125, 0.0], 2.0)
    """
    f = as_objective(f)
    check_weights(a, f.dim, "a")
    check_weights(b, a.numel(), "b")
    t = torch.linspace(0, 1, resolution, dtype=a.dtype, device=a.device)
    whose = f.whose_statistics(a, b)
    name = f"line{whose}" if whose else ""
    inside = t[1:-1]
    if len(inside):
        inside, _ = on_grid(f, a, (b - a)[None], [inside])
    at_ends = f.many(torch.stack([a, b]))
    first, last = at_ends.split(1)
    values = torch.cat([first, inside.to(at_ends), last])
    return Curve(
        t,
        values,
        y_label=f.label,
        name=name,
        n=f.n,
        batchnorm=f.batchnorm,
    )


@public
def slice_path(
    f: ObjectiveLike,
    W: Vectors,
    *,
    t: Vector | None = None,
    x_label: str = "step",
    name: str = "",
) -> Curve:
    """Compute f at each row of W (S, D) in turn: along a training path, a curve, a chain.

    Args:
        f: Objective, w (D,) -> ().
        W: Weight vectors (S, D).
        t: The place of each on the axis that `x_label` names, (S,); default 0, 1, 2, ...
        x_label: Title of that axis.
        name: The curve's name in legends.

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
    if t is None:
        t = torch.arange(len(W), dtype=W.dtype, device=W.device)
    if t.shape != (len(W),):
        raise ValueError(
            f"t must have shape ({len(W)},), got {tuple(t.shape)}: one value for each weight vector"
        )
    return Curve(t, f.many(W), x_label, f.label, name, f.n, f.batchnorm)


Points = Annotated[Tensor, tensor()]


@public
def project(
    W: Points | Gaussian,
    plane: Plane,
    f: ObjectiveLike | None = None,
    *,
    name: str = "",
) -> Projection:
    """Project weight vectors (S, D) onto a plane: `coords` (S, 2) and `distance` (S,) from it.

    It solves the 2 x 2 least-squares problem, so axes may be oblique; the residual is orthogonal to
    both.

    Args:
        W: Draws (S, D), a mean or one vector (D,), a training path.  A `Gaussian` gives its mean,
            and `covariance` (2, 2) of its coordinates: P Sigma P^T, P = (A A^T)^-1 A; `spread` is
            the root mean square distance of its draws from the plane.
        plane: The plane, with axes A (2, D).
        f: Objective; `values` (S,) is then f at the vectors themselves.
        name: The projection's name in legends.

    Raises:
        ValueError: On a wrong shape.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance")
        >>> shadow = fv.project(torch.tensor([[1.0, 2.0, 3.0]]), plane, lambda w: w.sum())
        >>> shadow.coords.tolist(), shadow.distance.tolist(), shadow.values.tolist()
        ([[1.0, 2.0]], [3.0], [6.0])
    """
    points = W.mean if isinstance(W, Gaussian) else W
    points = points[None] if points.ndim == 1 else points
    check_many_weights(points, plane.origin.numel())
    axes = plane.axes.double()
    r = (points - plane.origin).double()
    coords = torch.linalg.lstsq(axes.T, r.T).solution.T
    distance = (r - coords @ axes).norm(dim=1)
    values = None
    label = "loss"
    if f is not None:
        f = as_objective(f)
        values = f.many(points)
        label = f.label
    covariance = spread = None
    if isinstance(W, Gaussian):
        wide = placed(W, torch.float64)
        pinv = torch.linalg.pinv(axes)  # (D, 2): coords = r @ pinv
        covariance = pinv.T @ wide.cov_mul(pinv.T).T
        on_plane = (covariance * (axes @ axes.T)).sum()
        off = (wide.variance.sum() - on_plane).clamp_min(0)  # the variance off the plane
        spread = float((off + distance[0].square()).sqrt())
        covariance = covariance.to(points.dtype)
    coords = coords.to(points.dtype)
    distance = distance.to(points.dtype)
    return Projection(plane, coords, distance, values, label, name, covariance, spread)
