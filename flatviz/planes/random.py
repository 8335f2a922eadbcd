"""A plane along two random directions, scaled to the weights they start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from flatviz.checks import Seed, Vector, check_weights
from flatviz.core.boundary import public
from flatviz.core.seeds import generator
from flatviz.results import Plane

if TYPE_CHECKING:  # planes see a network only as an objective and its blocks
    from flatviz.core.net import Net

Normalize = Literal["filter", "layer", "model", "weight", "none"]
Convention = Literal["flatviz", "li2018", "loss-landscapes", "per-tensor"]
READ_FROM = {"loss-landscapes": "loss-landscapes 3.0.6"}  # others have another reading in each release
EPS = 1e-10  # of Li et al.'s code


@public
def plane_random(
    net: Net, w: Vector, *, normalize: Normalize = "filter", convention: Convention = "flatviz", seed: Seed
) -> Plane:
    """Two Gaussian directions from `w` (D,), normalised; not orthogonal, as drawn.

    normalize="filter": each slice d[i] of a tensor with two or more dimensions is scaled to |w[i]|, a 1-D tensor as a
    whole to |w|.  "layer": each tensor as a whole.  "model": the whole direction to |w|.  "weight": each element to
    |w_j|, its sign kept.  "none": as drawn.  Where the weight's norm is 0, so is the direction.  A step of 1 then moves
    every filter (layer, model, weight) by its own length.
    convention: for "filter", how another tool reads it: "li2018" (the authors' code with `--xignore biasbn`: 1-D
    tensors do not move, 1e-10 added to each norm), "loss-landscapes" (3.0.6: uniform directions in [0, 1), 1-D tensors
    element by element, the whole rescaled to |w|; an all-zero slice, at which it fails, stays 0), "per-tensor"
    (Landscaper and others: layers).
    Source of the idea: Li et al. 2018 (arXiv 1712.09913); the definition is this one.

    Raises:
        ValueError: For an unknown word, or a convention of another normalisation.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(4, 3))
        >>> plane = fv.plane_random(net, net.w, seed=0)
        >>> plane.unit, plane.axes.shape
        ('filter-normalised step', torch.Size([2, 15]))
        >>> bias = net.blocks[1].slice  # a step of 1 moves each filter, and each bias vector, by its own length
        >>> torch.allclose(plane.axes[:, bias].norm(dim=1), net.w[bias].norm())
        True
    """
    check_weights(w, net.dim)
    if convention != "flatviz" and normalize != "filter":
        raise ValueError(f"convention={convention!r} is a reading of normalize='filter', got normalize={normalize!r}")
    source = generator(seed)
    draw = torch.rand if convention == "loss-landscapes" else torch.randn
    axes = [draw(net.dim, generator=source, dtype=w.dtype).to(w.device) for _ in range(2)]
    unit = f"{normalize}-normalised step" if normalize != "none" else "Gaussian step"
    if convention != "flatviz":
        unit += f", {READ_FROM.get(convention, convention)} convention"
    axes = torch.stack([normalized(net, d, w, normalize, convention) for d in axes])
    return Plane(w.clone(), axes, unit, name=f"random plane, seed {seed}", extent=((-1.0, 1.0),) * 2)


def normalized(net: Net, direction: Tensor, w: Tensor, normalize: str = "filter", convention: str = "flatviz") -> Tensor:
    """`direction` (D,) scaled to `w` (D,), as `plane_random` says."""
    if normalize == "none":
        return direction
    if normalize == "weight":
        return direction.sign() * w.abs()
    if normalize == "model":
        return _scaled(direction[None], w[None])[0]
    out = torch.zeros_like(direction)
    for block in net.blocks:
        many = len(block.shape) > 1
        rows = block.shape[0] if many and normalize == "filter" and convention != "per-tensor" else 1
        if convention == "li2018" and not many:
            continue
        if convention == "loss-landscapes" and not many:
            rows = block.stop - block.start
        d, weights = direction[block.slice].view(rows, -1), w[block.slice].view(rows, -1)
        out[block.slice] = _scaled(d, weights, EPS if convention == "li2018" else 0.0).reshape(-1)
    return _scaled(out[None], w[None])[0] if convention == "loss-landscapes" else out


def _scaled(d: Tensor, weights: Tensor, eps: float = 0.0) -> Tensor:
    """Rows of d with the norms of the rows of weights."""
    norm = d.norm(dim=1, keepdim=True) + eps
    return d * weights.norm(dim=1, keepdim=True) / norm.clamp_min(torch.finfo(d.dtype).tiny)
