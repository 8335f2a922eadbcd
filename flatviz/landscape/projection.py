"""Weight vectors seen on a plane, and how far off it they lie."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, tensor
from flatviz.core.boundary import public
from flatviz.core.objective import ObjectiveLike, as_objective
from flatviz.gaussian import Gaussian
from flatviz.results import Plane, Projection, placed

Points = Annotated[Tensor, tensor()]


@public
def project(W: Points | Gaussian, plane: Plane, f: ObjectiveLike | None = None, *, name: str = "") -> Projection:
    """Nearest points of the plane to weight vectors (S, D): coords (S, 2), and the distance (S,) to them.

    Solves the 2 x 2 least-squares problem, so oblique axes are served; the residual is orthogonal to both.
    W: draws, a mean, a training path; one vector (D,) is taken as (1, D).  A `Gaussian` gives its mean, and
    `covariance` (2, 2) of its coordinates: P Sigma P^T, P = (A A^T)^-1 A; `spread` is the root mean square distance of
    its draws from the plane.  With `f`, `values` (S,) is the objective at the vectors themselves.

    Raises:
        ValueError: On a wrong shape.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance")
        >>> shadow = fv.project(torch.tensor([[1.0, 2.0, 3.0]]), plane, lambda w: w.sum())
        >>> shadow.coords.tolist(), shadow.distance.tolist(), shadow.values.tolist()
        ([[1.0, 2.0]], [3.0], [6.0])
    """
    gaussian = W if isinstance(W, Gaussian) else None
    W = gaussian.mean if gaussian is not None else W
    W = check_many_weights(W[None] if W.ndim == 1 else W, plane.origin.numel())
    axes, r = plane.axes.double(), (W - plane.origin).double()
    coords = torch.linalg.lstsq(axes.T, r.T).solution.T
    distance = (r - coords @ axes).norm(dim=1)
    f = None if f is None else as_objective(f)
    values, label = (None, "loss") if f is None else (f.many(W), f.label)
    covariance = spread = None
    if gaussian is not None:
        covariance, off = _shadow(gaussian, axes)
        spread = float((off + distance[0].square()).sqrt())
        covariance = covariance.to(W.dtype)
    return Projection(plane, coords.to(W.dtype), distance.to(W.dtype), values, label, name, covariance, spread)


def _shadow(q: Gaussian, axes: Tensor) -> tuple[Tensor, Tensor]:
    """Covariance (2, 2) of the coordinates of q's draws, and the variance left off the plane, ()."""
    wide = placed(q, torch.float64)
    pinv = torch.linalg.pinv(axes)  # (D, 2): coords = r @ pinv
    covariance = pinv.T @ wide.cov_mul(pinv.T).T
    inside = (covariance * (axes @ axes.T)).sum()
    return covariance, (wide.variance.sum() - inside).clamp_min(0)
