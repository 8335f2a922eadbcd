"""What planes share: principal axes of vectors, and signs that do not flip."""

from __future__ import annotations

import torch
from torch import Tensor


def principal_axes(centred: Tensor) -> tuple[Tensor, Tensor]:
    """Orthonormal axes (R, D) of the rows of `centred` (S, D) in float64, most variance first; each one's share (R,)."""
    _, scale, axes = torch.linalg.svd(centred.double(), full_matrices=False)
    signs = axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()  # a sign is free: fix it, or pictures flip
    return axes * signs, scale.square() / scale.square().sum().clamp_min(1e-300)


def symmetric(reach: Tensor) -> tuple[tuple[float, float], tuple[float, float]]:
    """An extent of -reach..reach along each axis."""
    first, second = reach.tolist()
    return (-first, first), (-second, second)
