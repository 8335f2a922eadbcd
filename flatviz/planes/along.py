"""Planes along directions that mean something: given ones, the gradient, an adversary's, the sharpest."""

from __future__ import annotations

import math

import torch

from flatviz.checks import Vector, check_weights
from flatviz.core.boundary import public
from flatviz.results import Plane, Spectrum

RISE = 1.0  # the default extent of `plane_eigen`: where the quadratic model has risen by this much


@public
def plane_along(
    w: Vector, u: Vector, v: Vector, *, orthonormal: bool = False, name: str = "plane of given directions"
) -> Plane:
    """The plane from `w` along given directions u, v (D,), as they are.

    orthonormal: by Gram-Schmidt, which keeps the direction of the first; unit: distance.

    Raises:
        ValueError: For a direction of length 0, or, with orthonormal, for parallel ones.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.plane_along(torch.zeros(3), torch.tensor([2.0, 0, 0]), torch.tensor([1.0, 1, 0]))
        >>> [round(length, 2) for length in plane.lengths], round(plane.angle)  # as given, 45 degrees apart
        ([2.0, 1.41], 45)
        >>> fv.plane_along(torch.zeros(3), *plane.axes, orthonormal=True).orthonormal
        True
    """
    check_weights(w, w.numel())
    axes = torch.stack([check_weights(d, w.numel(), f"direction {i}") for i, d in ((1, u), (2, v))])
    if not orthonormal:
        return Plane(w.clone(), axes, "one given direction", name=name, extent=((-1.0, 1.0),) * 2)
    Q, R = torch.linalg.qr(axes.double().T)
    size = R.diagonal().abs()
    if bool((size <= 1e-6 * axes.double().norm(dim=1)).any()):
        raise ValueError("directions must not be parallel, got such ones: a plane needs two")
    reach = float(size.max())
    axes = (Q * R.diagonal().sign()).T.to(w.dtype)
    return Plane(w.clone(), axes, "distance in weight space", name=name, extent=((-reach, reach),) * 2)


@public
def plane_eigen(w: Vector, spectrum: Spectrum) -> Plane:
    """The plane of the first two Hessian eigenvectors at `w` (D,); orthonormal, unit: distance.

    Extent: along each axis where the quadratic model lambda a^2 / 2 has risen by 1, at most ten times the other's.

    Raises:
        ValueError: For a spectrum of one eigenvector.

    Example:
        >>> import torch, flatviz as fv
        >>> w, h = torch.ones(5), torch.tensor([50.0, 2.0, 0.1, 0.1, 0.1])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (h * w * w).sum(), w, k=2)
        >>> [round(hi, 2) for _, hi in fv.plane_eigen(w, spectrum).extent]  # short across the steep direction
        [0.2, 1.0]
    """
    check_weights(w, spectrum.vectors.shape[1])
    if len(spectrum.values) < 2:
        raise ValueError("spectrum must hold two eigenvectors, got one: ask top_eigenpairs for more")
    values = spectrum.values[:2].abs()
    least = float(values.max()) / 100 or 1.0
    reach = [math.sqrt(2 * RISE / max(float(v), least)) for v in values]
    name = "plane of Hessian eigenvectors 1 and 2"
    extent = ((-reach[0], reach[0]), (-reach[1], reach[1]))
    return Plane(w.clone(), spectrum.vectors[:2], "distance in weight space", name, None, extent)
