"""Curves between weight vectors: points from control vectors."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mixing(t: Tensor, n: int, kind: str) -> Tensor:
    """Weights (T, n) of n control vectors at `t` (T,): Bernstein polynomials, or the two neighbours of a chain."""
    t = t[:, None]
    i = torch.arange(n, dtype=t.dtype, device=t.device)
    if kind == "bezier":
        binomial = torch.tensor([math.comb(n - 1, k) for k in range(n)], dtype=t.dtype, device=t.device)
        return binomial * t**i * (1 - t) ** (n - 1 - i)
    return (1 - (t * (n - 1) - i).abs()).clamp_min(0)
