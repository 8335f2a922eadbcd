"""Planes along directions that mean something: given ones, the gradient, an adversary's, the sharpest."""

from __future__ import annotations

import math

import torch

from flatviz.checks import Vector, Whole, check_weights
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
    axes = torch.stack([check_weights(d, check_weights(w, w.numel()).numel(), f"direction {i}") for i, d in
                        enumerate((u, v), 1)])  # fmt: skip
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
def plane_eigen(w: Vector, spectrum: Spectrum, ranks: tuple[Whole, Whole] = (0, 1)) -> Plane:
    """The plane of two Hessian eigenvectors at `w` (D,), those of the given ranks; orthonormal, unit: distance.

    Extent: along each axis where the quadratic model lambda a^2 / 2 has risen by 1, at most ten times the other's.

    Raises:
        ValueError: For ranks the spectrum does not have.

    Example:
        >>> import torch, flatviz as fv
        >>> w, h = torch.ones(5), torch.tensor([50.0, 2.0, 0.1, 0.1, 0.1])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (h * w * w).sum(), w, k=2)
        >>> [round(hi, 2) for _, hi in fv.plane_eigen(w, spectrum).extent]  # short across the steep direction
        [0.2, 1.0]
    """
    check_weights(w, spectrum.vectors.shape[1])
    have = len(spectrum.values)
    if len(set(ranks)) != 2 or not all(0 <= r < have for r in ranks):
        raise ValueError(f"ranks must be two different ones of 0..{have - 1}, got {ranks}: ask top_eigenpairs for more")
    index = torch.tensor(ranks, device=w.device)
    values = spectrum.values[index].abs()
    least = float(values.max()) / 100 or 1.0
    reach = [math.sqrt(2 * RISE / max(float(v), least)) for v in values]
    name = f"plane of Hessian eigenvectors {ranks[0] + 1} and {ranks[1] + 1}"
    extent = ((-reach[0], reach[0]), (-reach[1], reach[1]))
    return Plane(w.clone(), spectrum.vectors[index], "distance in weight space", name, None, extent)
