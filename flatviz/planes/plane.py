"""Planes of weight space, along directions or through draws, a path or three points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from flatviz.checks import Seed, Vector, Vectors, check_many_weights, check_weights, shown
from flatviz.core import generator, public
from flatviz.results import Draws, Plane, Spectrum

if TYPE_CHECKING:  # at run time planes use a net's blocks alone
    from flatviz.core.net import Net

Normalize = Literal["filter", "layer", "model", "weight", "none"]
Convention = Literal["flatviz", "li2018", "loss-landscapes", "per-tensor"]
# Others have another reading in each release
READ_FROM = {"loss-landscapes": "loss-landscapes 3.0.6"}
EPS = 1e-10  # of Li et al.'s code
UNIT_SQUARE = ((-1.0, 1.0), (-1.0, 1.0))


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

    The idea is that of Li et al. 2018 (arXiv 1712.09913), the definition that of `normalize`.  A
    step of 1 moves every filter (layer, model, weight) by its norm.

    Args:
        net: Gives the shapes of the D weights.
        w: Origin of the plane, (D,).
        normalize: "filter": each slice d[i] of a tensor with two or more dimensions is scaled to
            |w[i]|, a 1-D tensor as one to |w|.  "layer": each tensor as one.  "model": the
            direction as one to |w|.  "weight": each element to |w_j|, with its sign.  "none": as
            drawn.  The direction is 0 where the weight's norm is 0.
        convention: For "filter", the definition of another tool: "li2018" (the authors' code with
            `--xignore biasbn`: 1-D tensors do not move, 1e-10 added to each norm),
            "loss-landscapes" (3.0.6: uniform directions in [0, 1), 1-D tensors element by element,
            the result rescaled to |w|; an all-zero slice, at which it fails, stays 0), "per-tensor"
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
        >>> bias = net.blocks[1].slice  # a step of 1 moves the bias vector by its length
        >>> torch.allclose(plane.axes[:, bias].norm(dim=1), net.w[bias].norm())
        True
    """
    check_weights(w, net.dim)
    if convention != "flatviz" and normalize != "filter":
        raise ValueError(
            f"convention={shown(convention)} is a reading of normalize='filter', got"
            f" normalize={normalize!r}"
        )
    source = generator(seed)
    draw = torch.rand if convention == "loss-landscapes" else torch.randn
    axes = []
    for _ in range(2):
        drawn = draw(net.dim, generator=source, dtype=w.dtype).to(w)
        axes.append(filter_normalized(net, drawn, w, normalize, convention))
    unit = f"{normalize}-normalised step" if normalize != "none" else "Gaussian step"
    if convention != "flatviz":
        unit += f", {READ_FROM.get(convention, convention)} convention"
    name = f"random plane, seed {seed}"
    return Plane(w.clone(), torch.stack(axes), unit, name, extent=UNIT_SQUARE)


def filter_normalized(
    net: Net,
    direction: Tensor,
    w: Tensor,
    normalize: str = "filter",
    convention: str = "flatviz",
) -> Tensor:
    """Scale `direction` (D,) by `w` (D,), as in `plane_random`."""
    if normalize == "none":
        return direction
    if normalize == "weight":
        return direction.sign() * w.abs()
    if normalize == "model":
        return _scaled(direction[None], w[None])[0]
    out = torch.zeros_like(direction)
    eps = EPS if convention == "li2018" else 0.0
    for block in net.blocks:
        size = block.stop - block.start
        rows = 1
        if len(block.shape) > 1:
            if normalize == "filter" and convention != "per-tensor":
                rows = block.shape[0]
        elif convention == "li2018":
            continue
        elif convention == "loss-landscapes":
            rows = size
        if size:  # a parameter may be empty
            d = direction[block.slice].view(rows, -1)
            weights = w[block.slice].view(rows, -1)
            out[block.slice] = _scaled(d, weights, eps).flatten()
    if convention == "loss-landscapes":
        return _scaled(out[None], w[None])[0]
    return out


def _scaled(d: Tensor, weights: Tensor, eps: float = 0.0) -> Tensor:
    """Scale the rows of d to the norms of the rows of weights."""
    norm = d.norm(dim=1, keepdim=True) + eps
    norm = norm.clamp_min(torch.finfo(d.dtype).tiny)
    return d * weights.norm(dim=1, keepdim=True) / norm


RISE = 1.0  # rise of the quadratic model at the default extent of `plane_eigen`


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
        >>> u = torch.tensor([2.0, 0, 0])
        >>> plane = fv.plane_along(torch.zeros(3), u, torch.tensor([1.0, 1, 0]))
        >>> [round(length, 2) for length in plane.lengths], round(plane.angle)
        ([2.0, 1.41], 45)
        >>> fv.plane_along(torch.zeros(3), *plane.axes, orthonormal=True).orthonormal
        True
    """
    check_weights(u, w.numel(), "direction 1")
    check_weights(v, w.numel(), "direction 2")
    axes = torch.stack([u, v])
    if not orthonormal:
        return Plane(w.clone(), axes, "one given direction", name, extent=UNIT_SQUARE)
    error = "directions must not be parallel, got such ones: a plane needs two"
    axes, size = _orthonormalised(axes.double(), error)
    reach = [float(size.max())] * 2
    return _orthonormal(w.clone(), axes.to(w.dtype), reach, name)


def _orthonormalised(axes: Tensor, error: str) -> tuple[Tensor, Tensor]:
    """Return axes (2, D) by Gram-Schmidt, and their lengths before; `error` for parallel ones."""
    Q, R = torch.linalg.qr(axes.T)
    size = R.diagonal().abs()
    if (size <= 1e-6 * axes.norm(dim=1)).any():
        raise ValueError(error)
    return (Q * R.diagonal().sign()).T, size


@public
def plane_eigen(w: Vector, spectrum: Spectrum) -> Plane:
    """Build the orthonormal plane of the first two Hessian eigenvectors at `w` (D,).

    Its unit is distance.  Each axis ends where the quadratic model lambda a^2 / 2 has risen by 1,
    but is at most ten times as long as the other.

    Args:
        w: Origin, (D,).
        spectrum: Eigenpairs at `w`, two or more, as `top_eigenpairs` returns.

    Raises:
        ValueError: For a spectrum of one eigenvector.

    Example:
        >>> import torch, flatviz as fv
        >>> w, h = torch.ones(5), torch.tensor([50.0, 2.0, 0.1, 0.1, 0.1])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (h * w * w).sum(), w, k=2)
        >>> [round(hi, 2) for _, hi in fv.plane_eigen(w, spectrum).extent]  # steep is short
        [0.2, 1.0]
    """
    check_weights(w, spectrum.vectors.shape[1])
    if len(spectrum.values) < 2:
        raise ValueError(
            "spectrum must hold two eigenvectors, got one: ask top_eigenpairs for more"
        )
    values = spectrum.values[:2].abs().double()
    least = float(values.max()) / 100 or 1.0
    reach = (2 * RISE / values.clamp_min(least)).sqrt().tolist()
    return _orthonormal(
        w.clone(), spectrum.vectors[:2], reach, "plane of Hessian eigenvectors 1 and 2"
    )


def _orthonormal(
    origin: Tensor,
    axes: Tensor,
    reach: list[float],
    name: str,
) -> Plane:
    """Build a plane whose unit is distance, out to `reach` on either side along each axis."""
    extent = tuple((-end, end) for end in reach)
    return Plane(origin, axes, "distance in weight space", name, extent=extent)


MARGIN = 1.15  # how far beyond the outermost draw the default extent reaches
MARGIN_THROUGH = 1.3  # the same beyond three points
# Elements of W up to which it is decomposed at once, in float64; above, by blocks of columns
MAX_AT_ONCE = 2**24
NARROWEST = 0.8  # its shorter side over its longer one: a strip is hard to read


@public
def plane_pca(draws: Vectors | Draws, *, name: str | None = None) -> Plane:
    """Build the plane of the first two principal axes of weight vectors (S, D), through their mean.

    It is orthonormal and its unit is distance.  `explained` is each axis's share of the draws'
    variance; the figure does not show the rest.

    Args:
        draws: Weight vectors (S, D), three or more.
        name: The plane's name in titles; default "PCA of S draws".

    Raises:
        ValueError: For fewer than three draws, or draws on one line.

    Example:
        >>> import torch, flatviz as fv
        >>> noise = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
        >>> plane = fv.plane_pca(noise * torch.tensor([5.0, 2.0, 0.1, 0.1]))
        >>> plane.name, plane.orthonormal, sum(plane.explained) > 0.99
        ('PCA of 20 draws', True, True)
    """
    W = check_many_weights(draws.W if isinstance(draws, Draws) else draws)
    return _plane(W, W.mean(0), name or f"PCA of {len(W)} draws", "use plane_random", "variance")


@public
def plane_path(W: Vectors, *, name: str | None = None) -> Plane:
    """Build the plane of the first two principal axes of a training path W (S, D), from its end.

    The axes are those of W[i] - W[-1], orthonormal.  `explained` is their share of the summed
    squared distance from the end, not of a variance about a mean.

    Args:
        W: Points of the path in order, (S, D).
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
    name = name or f"PCA of a path of {len(W)} points"
    return _plane(W, W[-1], name, "record more steps", "squared distance")


def _plane(W: Tensor, origin: Tensor, name: str, instead: str, share_of: str) -> Plane:
    if len(W) < 3:
        raise ValueError(
            f"a PCA plane needs at least 3 draws, got {len(W)}: draw more, or {instead}"
        )
    decomposed = _svd if W.numel() <= MAX_AT_ONCE else _by_gram
    scale, axes, coords = decomposed(W, origin)
    # Fix the sign, which is free, so that figures do not flip
    largest = axes.abs().argmax(1, keepdim=True)
    axes *= axes.gather(1, largest).sign()
    squares = scale.square()
    share = squares / squares.sum().clamp_min(1e-300)
    if share[1] <= 1e-12 * share[0]:
        raise ValueError(
            "a PCA plane needs draws that span two directions, got draws on one line: use"
            " slice_line"
        )
    reach = MARGIN * coords.abs().amax(0)
    sides = torch.maximum(reach, NARROWEST * reach.max()).tolist()
    plane = _orthonormal(origin.clone(), axes.to(W.dtype), sides, name)
    return replace(plane, explained=tuple(share[:2].tolist()), share_of=share_of)


def _svd(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute singular values of W - origin, two right singular vectors, coordinates, in float64.

    Shapes: (min(S, D),), (2, D), (S, 2).
    """
    centred = (W - origin).double()
    _, scale, axes = torch.linalg.svd(centred, full_matrices=False)
    return scale, axes[:2], centred @ axes[:2].T


def _by_gram(W: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the same from the Gram matrix (S, S), whose eigenvalues are the squares.

    It is exact enough for the two largest.
    """

    def centred() -> Iterator[Tensor]:
        """Iterate over blocks of columns of W - origin."""
        width = max(1, MAX_AT_ONCE // len(W))
        for part, middle in zip(W.split(width, 1), origin.split(width)):
            yield (part - middle).double()

    gram = sum(part @ part.T for part in centred())
    squares, U = torch.linalg.eigh(gram)
    scale = squares.flip(0).clamp_min(0).sqrt()
    U = U.flip(1)[:, :2]
    axes = torch.cat([U.T @ part for part in centred()], 1)
    axes = axes / scale[:2, None].clamp_min(1e-300)
    return scale, axes, U * scale[:2]


@public
def plane_through(a: Vector, b: Vector, c: Vector) -> Plane:
    """Build the orthonormal plane through `a`, `b` and `c` (D,).

    Its origin is their average, its first axis points from a to b, its unit is distance.

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
    check_weights(b, a.numel(), "b")
    check_weights(c, a.numel(), "c")
    points = torch.stack([a, b, c]).double()
    center = points.mean(0)
    error = "a plane needs three points that are not on one line, got such points: use slice_line"
    axes, _ = _orthonormalised(points[1:] - points[0], error)
    coords = (points - center) @ axes.T
    reach = MARGIN_THROUGH * coords.abs().amax(0)
    origin = center.to(a.dtype)
    return _orthonormal(origin, axes.to(a.dtype), reach.tolist(), "plane through three points")
