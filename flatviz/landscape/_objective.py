"""What any objective can be asked: its values at many points, and what it is."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.results import ObjectiveLike


def evaluate(f: ObjectiveLike, W: Tensor) -> Tensor:
    """f at each row of `W` (S, D), by its own fast path where it has one; (S,)."""
    many = getattr(f, "many", None)
    if many is not None:
        return many(W)
    with torch.no_grad():
        return torch.stack([torch.as_tensor(f(w), dtype=W.dtype, device=W.device) for w in W])


def described(f: ObjectiveLike) -> dict:
    """What an objective says of itself: label, n, batchnorm."""
    return {
        "label": getattr(f, "label", "f(w)"),
        "n": getattr(f, "n", None),
        "batchnorm": getattr(f, "batchnorm", None),
    }
