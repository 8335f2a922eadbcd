"""Planes that given directions, draws, a path or three weight vectors span."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import Vector, Vectors, check_many_weights, check_weights
from flatviz.core.boundary import public
from flatviz.results import Draws, Plane, Spectrum

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


MARGIN = 1.15  # how far beyond the outermost draw the default extent reaches
ROOM = 1.3  # the same beyond three points
MOST = 2**24  # numbers up to which W is copied to float64 and decomposed whole; above, by blocks of columns
NARROWEST = 0.8  # its shorter side over its longer one: a strip is hard to read


@public
def plane_pca(draws: Vectors | Draws, *, name: str | None = None) -> Plane:
    """First two principal axes of weight vectors (S, D), through their mean; orthonormal, unit: distance.

    `explained` states their share of the draws' variance: what the picture does not show is the rest.

    Raises:
        ValueError: For fewer than three draws, or draws on one line.

    Example:
        >>> import torch, flatviz as fv
        >>> W = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([5.0, 2.0, 0.1, 0.1])
        >>> plane = fv.plane_pca(W)
        >>> plane.name, plane.orthonormal, sum(plane.explained) > 0.99
        ('PCA of 20 draws', True, True)
    """
    W = check_many_weights(draws.W if isinstance(draws, Draws) else draws)
    return _plane(W, W.mean(0), name or f"PCA of {len(W)} draws", "use plane_random")


@public
def plane_path(W: Vectors, *, name: str | None = None) -> Plane:
    """First two principal axes of a training path W (S, D) seen from its end: of W[i] - W[-1]; orthonormal.

    `explained` is their share of the summed squared distance from the end, not of a variance about a mean.

    Raises:
        ValueError: For fewer than three points, or points on one line.

    Source: Li et al. 2018 (arXiv 1712.09913), section 7.2.

    Example:
        >>> import torch, flatviz as fv
        >>> t = torch.linspace(0, 1, 10)
        >>> plane = fv.planes.plane_path(torch.stack([t, t**2, 0 * t], dim=1))
        >>> plane.origin.tolist()  # where the path ends
        [1.0, 1.0, 0.0]
    """
    check_many_weights(W)
    return _plane(W, W[-1], name or f"PCA of a path of {len(W)} points", "record more steps")


def _plane(W: Tensor, origin: Tensor, name: str, instead: str) -> Plane:
    if len(W) < 3:
        raise ValueError(f"a PCA plane needs at least 3 draws, got {len(W)}: draw more, or {instead}")
    scale, axes, coords = (_svd if W.numel() <= MOST else _by_gram)(W, origin)
    axes *= axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()  # a sign is free: fix it, or pictures flip
    share = scale.square() / scale.square().sum().clamp_min(1e-300)
    if share[1] <= 1e-12 * share[0]:
        raise ValueError("a PCA plane needs draws that span two directions, got draws on one line: use slice_line")
    reach = MARGIN * coords.abs().amax(0)
    reach = torch.maximum(reach, NARROWEST * reach.max()).tolist()
    extent = (-reach[0], reach[0]), (-reach[1], reach[1])
    return Plane(origin.clone(), axes[:2].to(W.dtype), "distance in weight space", name, tuple(share[:2].tolist()), extent)


def _svd(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Singular values of W - origin, its first two right singular vectors (2, D), coordinates (S, 2); in float64."""
    centred = (W - origin).double()
    _, scale, axes = torch.linalg.svd(centred, full_matrices=False)
    return scale, axes[:2], centred @ axes[:2].T


def _by_gram(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same from the Gram matrix (S, S), whose eigenvalues are the squares; exact enough for the two largest."""
    width = max(1, MOST // len(W))
    blocks = [slice(i, i + width) for i in range(0, W.shape[1], width)]
    gram = sum((part := (W[:, b] - origin[b]).double()) @ part.T for b in blocks)
    squares, U = torch.linalg.eigh(gram)
    scale, U = squares.flip(0).clamp_min(0).sqrt(), U.flip(1)[:, :2]
    axes = torch.cat([U.T @ (W[:, b] - origin[b]).double() for b in blocks], 1)
    return scale, axes / scale[:2, None].clamp_min(1e-300), U * scale[:2]


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
    reach = (ROOM * ((points - origin) @ axes.T).abs().amax(0)).tolist()
    extent = (-reach[0], reach[0]), (-reach[1], reach[1])
    unit, name = "distance in weight space", "plane through three points"
    return Plane(origin.to(a.dtype), axes.to(a.dtype), unit, name, extent=extent)
