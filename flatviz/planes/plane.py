"""Planes of weight space.

Along random directions, and those that given directions, draws, a path or three weight vectors
span.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from flatviz.checks import Seed, Vector, Vectors, check_many_weights, check_weights
from flatviz.core import generator, public
from flatviz.results import Draws, Plane, Spectrum

if TYPE_CHECKING:  # planes see a network only as an objective and its blocks
    from flatviz.core.net import Net

Normalize = Literal["filter", "layer", "model", "weight", "none"]
Convention = Literal["flatviz", "li2018", "loss-landscapes", "per-tensor"]
READ_FROM = {
    "loss-landscapes": "loss-landscapes 3.0.6"
}  # others have another reading in each release
EPS = 1e-10  # of Li et al.'s code


@public
def plane_random(
    net: Net,
    w: Vector,
    *,
    normalize: Normalize = "filter",
    convention: Convention = "flatviz",
    seed: Seed,
) -> Plane:
    """Draw two Gaussian directions from `w` (D,) and normalise them; they are not orthogonal.

    The idea is that of Li et al. 2018 (arXiv 1712.09913); the definition is this one.  A step of 1
    moves every filter (layer, model, weight) by its norm.

    Args:
        net: Gives the shapes of the D weights.
        w: Origin of the plane, (D,).
        normalize: "filter": each slice d[i] of a tensor with two or more dimensions is scaled to
            |w[i]|, a 1-D tensor as a whole to |w|.  "layer": each tensor as a whole.  "model": the
            whole direction to |w|.  "weight": each element to |w_j|, its sign kept.  "none": as
            drawn.  The direction is 0 if the weight's norm is 0.
        convention: For "filter", the definition of another tool: "li2018" (the authors' code with
            `--xignore biasbn`: 1-D tensors do not move, 1e-10 added to each norm),
            "loss-landscapes" (3.0.6: uniform directions in [0, 1), 1-D tensors element by element,
            the whole rescaled to |w|; an all-zero slice, at which it fails, stays 0), "per-tensor"
            (Landscaper and others: layers).
        seed: Fixes the directions.

    Raises:
        ValueError: For an unknown word, or a convention of another normalisation.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(4, 3))
        >>> plane = fv.plane_random(net, net.w, seed=0)
        >>> plane.unit, plane.axes.shape
        ('filter-normalised step', torch.Size([2, 15]))
        >>> bias = net.blocks[1].slice  # a step of 1 moves each filter, and each bias vector, by its length
        >>> torch.allclose(plane.axes[:, bias].norm(dim=1), net.w[bias].norm())
        True
    """
    check_weights(w, net.dim)
    if convention != "flatviz" and normalize != "filter":
        raise ValueError(
            f"convention={convention!r} is a reading of normalize='filter', got"
            f" normalize={normalize!r}"
        )
    source = generator(seed)
    draw = torch.rand if convention == "loss-landscapes" else torch.randn
    drawn = [draw(net.dim, generator=source, dtype=w.dtype).to(w.device) for _ in range(2)]
    unit = f"{normalize}-normalised step" if normalize != "none" else "Gaussian step"
    if convention != "flatviz":
        unit += f", {READ_FROM.get(convention, convention)} convention"
    axes = torch.stack([normalized(net, d, w, normalize, convention) for d in drawn])
    return Plane(
        w.clone(), axes, unit, name=f"random plane, seed {seed}", extent=((-1.0, 1.0),) * 2
    )


def normalized(
    net: Net, direction: Tensor, w: Tensor, normalize: str = "filter", convention: str = "flatviz"
) -> Tensor:
    """Scale `direction` (D,) to `w` (D,), as `plane_random` says."""
    if normalize == "none":
        return direction
    if normalize == "weight":
        return direction.sign() * w.abs()
    if normalize == "model":
        return _scaled(direction[None], w[None])[0]
    out = torch.zeros_like(direction)
    for block in net.blocks:
        many = len(block.shape) > 1
        rows = (
            block.shape[0] if many and normalize == "filter" and convention != "per-tensor" else 1
        )
        if convention == "li2018" and not many:
            continue
        if convention == "loss-landscapes" and not many:
            rows = block.stop - block.start
        d, weights = (
            t[block.slice].view(rows or 1, -1) for t in (direction, w)
        )  # a parameter may be empty
        out[block.slice] = _scaled(d, weights, EPS if convention == "li2018" else 0.0).reshape(-1)
    return _scaled(out[None], w[None])[0] if convention == "loss-landscapes" else out


def _scaled(d: Tensor, weights: Tensor, eps: float = 0.0) -> Tensor:
    """Rows of d with the norms of the rows of weights."""
    norm = d.norm(dim=1, keepdim=True) + eps
    return d * weights.norm(dim=1, keepdim=True) / norm.clamp_min(torch.finfo(d.dtype).tiny)


RISE = 1.0  # the default extent of `plane_eigen`: where the quadratic model has risen by this much


@public
def plane_along(
    w: Vector,
    u: Vector,
    v: Vector,
    *,
    orthonormal: bool = False,
    name: str = "plane of given directions",
) -> Plane:
    """Build the plane from `w` along given directions u, v (D,).

    Args:
        w: Origin, (D,).
        u: First direction, (D,).
        v: Second direction, (D,).
        orthonormal: Orthonormalise them by Gram-Schmidt, which keeps the direction of the first;
            the unit is then distance.
        name: The plane's name in titles.

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
    axes = torch.stack([check_weights(d, w.numel(), f"direction {i}") for i, d in ((1, u), (2, v))])
    if not orthonormal:
        return Plane(w.clone(), axes, "one given direction", name=name, extent=((-1.0, 1.0),) * 2)
    Q, R = torch.linalg.qr(axes.double().T)
    size = R.diagonal().abs()
    if bool((size <= 1e-6 * axes.double().norm(dim=1)).any()):
        raise ValueError("directions must not be parallel, got such ones: a plane needs two")
    reach = float(size.max())
    axes = (Q * R.diagonal().sign()).T.to(w.dtype)
    return _orthonormal(w.clone(), axes, [reach, reach], name)


@public
def plane_eigen(w: Vector, spectrum: Spectrum) -> Plane:
    """Build the plane of the first two Hessian eigenvectors at `w` (D,).

    Orthonormal, unit: distance.

    Extent: each axis ends where the quadratic model lambda a^2 / 2 has risen by 1, but is at most
    ten times as long as the other.

    Args:
        w: Origin, (D,).
        spectrum: Eigenpairs at `w`, two or more, as `top_eigenpairs` returns.

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
        raise ValueError(
            "spectrum must hold two eigenvectors, got one: ask top_eigenpairs for more"
        )
    values = spectrum.values[:2].abs()
    least = float(values.max()) / 100 or 1.0
    reach = [math.sqrt(2 * RISE / max(float(v), least)) for v in values]
    return _orthonormal(
        w.clone(), spectrum.vectors[:2], reach, "plane of Hessian eigenvectors 1 and 2"
    )


def _orthonormal(
    origin: Tensor,
    axes: Tensor,
    reach: list[float],
    name: str,
    explained: tuple[float, ...] | None = None,
) -> Plane:
    """A plane whose unit is distance, out to `reach` on either side along each axis."""
    a, b = reach
    return Plane(origin, axes, "distance in weight space", name, explained, ((-a, a), (-b, b)))


MARGIN = 1.15  # how far beyond the outermost draw the default extent reaches
ROOM = 1.3  # the same beyond three points
MOST = (
    2**24
)  # numbers up to which W is copied to float64 and decomposed whole; above, by blocks of columns
NARROWEST = 0.8  # its shorter side over its longer one: a strip is hard to read


@public
def plane_pca(draws: Vectors | Draws, *, name: str | None = None) -> Plane:
    """Compute the first two principal axes of weight vectors (S, D), through their mean.

    Orthonormal, unit: distance.

    `explained` is their share of the draws' variance; the picture does not show the rest.

    Args:
        draws: Weight vectors (S, D), three or more.
        name: The plane's name in titles; default "PCA of S draws".

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
    """Compute the first two principal axes of a training path W (S, D) seen from its end, those of W[i] - W[-1]; orthonormal.

    `explained` is their share of the summed squared distance from the end, not of a variance about
    a mean.

    Args:
        W: Points of the path in their order, (S, D).
        name: The plane's name in titles.

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
        raise ValueError(
            f"a PCA plane needs at least 3 draws, got {len(W)}: draw more, or {instead}"
        )
    scale, axes, coords = (_svd if W.numel() <= MOST else _by_gram)(W, origin)
    axes *= axes.gather(
        1, axes.abs().argmax(1, keepdim=True)
    ).sign()  # a sign is free: fix it, or pictures flip
    share = scale.square() / scale.square().sum().clamp_min(1e-300)
    if share[1] <= 1e-12 * share[0]:
        raise ValueError(
            "a PCA plane needs draws that span two directions, got draws on one line: use"
            " slice_line"
        )
    reach = MARGIN * coords.abs().amax(0)
    sides = torch.maximum(reach, NARROWEST * reach.max()).tolist()
    return _orthonormal(
        origin.clone(), axes[:2].to(W.dtype), sides, name, tuple(share[:2].tolist())
    )


def _svd(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Singular values of W - origin, its first two right singular vectors (2, D), coordinates (S, 2); in float64."""
    centred = (W - origin).double()
    _, scale, axes = torch.linalg.svd(centred, full_matrices=False)
    return scale, axes[:2], centred @ axes[:2].T


def _by_gram(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same from the Gram matrix (S, S), whose eigenvalues are the squares.

    Exact enough for the two largest.
    """
    width = max(1, MOST // len(W))
    blocks = [slice(i, i + width) for i in range(0, W.shape[1], width)]
    gram = sum((part := (W[:, b] - origin[b]).double()) @ part.T for b in blocks)
    squares, U = torch.linalg.eigh(gram)
    scale = squares.flip(0).clamp_min(0).sqrt()
    U = U.flip(1)[:, :2]
    axes = torch.cat([U.T @ (W[:, b] - origin[b]).double() for b in blocks], 1)
    return scale, axes / scale[:2, None].clamp_min(1e-300), U * scale[:2]


@public
def plane_through(a: Vector, b: Vector, c: Vector) -> Plane:
    """Build the plane that holds `a`, `b`, `c` (D,) each.

    Its origin is their average, its first axis points from a to b.

    Orthonormal, unit: distance.

    Args:
        a: Weights (D,).
        b: Weights (D,).
        c: Weights (D,).

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
    points = torch.stack(
        [check_weights(v, a.numel(), name) for v, name in ((a, "a"), (b, "b"), (c, "c"))]
    ).double()
    origin = points.mean(0)
    first = points[1] - points[0]
    second = points[2] - points[0]
    second = second - first * (first @ second) / (first @ first).clamp_min(1e-300)
    if first.norm() == 0 or second.norm() <= 1e-6 * first.norm():
        raise ValueError(
            "a plane needs three points that are not on one line, got such points: use slice_line"
        )
    axes = torch.stack([first / first.norm(), second / second.norm()])
    reach = (ROOM * ((points - origin) @ axes.T).abs().amax(0)).tolist()
    return _orthonormal(origin.to(a.dtype), axes.to(a.dtype), reach, "plane through three points")
