"""The plane in which draws vary most, or along which a training path ran."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import Vectors, check_many_weights
from flatviz.core.boundary import public
from flatviz.results import Draws, Plane

MARGIN = 1.15  # how far beyond the outermost draw the default extent reaches
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
