"""The plane through three weight vectors."""

from __future__ import annotations

import torch

from flatviz.checks import Vector, check_weights
from flatviz.core.boundary import public
from flatviz.results import Plane

MARGIN = 1.3


@public
def plane_through(a: Vector, b: Vector, c: Vector) -> Plane:
    """The plane that holds `a`, `b`, `c` (D,) each; its origin is their average, its first axis points from a to b.

    Orthonormal, unit: distance.

    Raises:
        ValueError: If the three lie on one line.

    Example:
        >>> import torch, flatviz as fv
        >>> a, b, c = torch.eye(3)
        >>> plane = fv.plane_through(a, b, c)
        >>> shadows = fv.project(torch.stack([a, b, c]), plane)
        >>> float(shadows.distance.max()) < 1e-6
        True
    """
    points = torch.stack([check_weights(v, a.numel(), name) for v, name in ((a, "a"), (b, "b"), (c, "c"))]).double()
    origin = points.mean(0)
    first = points[1] - points[0]
    second = points[2] - points[0]
    second = second - first * (first @ second) / (first @ first).clamp_min(1e-300)
    if first.norm() == 0 or second.norm() <= 1e-6 * first.norm():
        raise ValueError("a plane needs three points that are not on one line, got such points: use slice_line")
    axes = torch.stack([first / first.norm(), second / second.norm()])
    reach = (MARGIN * ((points - origin) @ axes.T).abs().amax(0)).tolist()
    extent = (-reach[0], reach[0]), (-reach[1], reach[1])
    unit, name = "distance in weight space", "plane through three points"
    return Plane(origin.to(a.dtype), axes.to(a.dtype), unit, name, extent=extent)
