"""Weight vectors seen on a plane, and how far off it they lie."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_many_weights
from flatviz.landscape._objective import described, evaluate
from flatviz.results import ObjectiveLike, Plane, Projection


def project(W: Tensor, plane: Plane, f: ObjectiveLike | None = None, *, name: str = "") -> Projection:
    """Nearest points of the plane to weight vectors (S, D): coords (S, 2), and the distance (S,) to them.

    Solves the 2 x 2 least-squares problem, so oblique axes are served; the residual is orthogonal to both.
    With `f`, `values` (S,) is the objective at the vectors themselves.  One vector (D,) is taken as (1, D).
    Raises ValueError on a wrong shape.
    """
    W = check_many_weights(W[None] if W.ndim == 1 else W, plane.origin.numel())
    axes, r = plane.axes.double(), (W - plane.origin).double()
    coords = torch.linalg.lstsq(axes.T, r.T).solution.T
    distance = (r - coords @ axes).norm(dim=1)
    values = None if f is None else evaluate(f, W)
    label = "loss" if f is None else described(f)["label"]
    return Projection(plane, coords.to(W.dtype), distance.to(W.dtype), values, label, name)
