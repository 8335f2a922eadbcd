"""A plane along two random directions, scaled to the weights they start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from flatviz._checks import check_choice, check_weights
from flatviz.core.seeds import generator
from flatviz.results import Plane

if TYPE_CHECKING:  # planes see a network only as an objective and its blocks
    from flatviz.core.net import Net


def plane_random(net: Net, w: Tensor, *, normalize: str = "filter", seed: int) -> Plane:
    """Two Gaussian directions from `w` (D,), normalised; not orthogonal, as drawn.

    normalize="filter": each slice d[i] of a tensor with two or more dimensions is scaled to |w[i]|, a 1-D tensor as a
    whole to |w|; where the weight's norm is 0, so is the direction.  A step of 1 then moves every filter by its own
    length.  "none": as drawn.  Source of the idea: Li et al. 2018 (arXiv 1712.09913); the definition is this one.
    """
    check_weights(w, net.dim)
    check_choice(normalize, ("filter", "none"), "normalize")
    source = generator(seed)
    axes = torch.stack([torch.randn(net.dim, generator=source, dtype=w.dtype) for _ in range(2)]).to(w.device)
    if normalize == "filter":
        axes = torch.stack([filter_normalized(net, d, w) for d in axes])
    unit = "filter-normalised step" if normalize == "filter" else "Gaussian step"
    return Plane(w.clone(), axes, unit, name=f"random plane, seed {seed}", extent=((-1.0, 1.0), (-1.0, 1.0)))


def filter_normalized(net: Net, direction: Tensor, w: Tensor) -> Tensor:
    """`direction` (D,) with each filter scaled to the norm of the same filter of `w` (D,)."""
    out = torch.zeros_like(direction)
    for block in net.blocks:
        rows = block.shape[0] if len(block.shape) > 1 else 1
        d, own = direction[block.slice].view(rows, -1), w[block.slice].view(rows, -1)
        norm = d.norm(dim=1, keepdim=True)
        scaled = d * own.norm(dim=1, keepdim=True) / norm.clamp_min(torch.finfo(d.dtype).tiny)
        out[block.slice] = scaled.reshape(-1)
    return out
