"""FilterResponseNorm: a normalisation of each image by itself, with nothing that another batch could make stale."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FilterResponseNorm(nn.Module):
    """y = max(weight x / sqrt(mean over the image of x^2 + eps) + bias, threshold), each channel with weights of its own.

    Inputs (N, C, H, W).  The threshold is the activation that belongs to it (TLU): at 0, as at first, a ReLU; `cut=False`
    leaves it out.  Source: Singh & Krishnan 2020 (arXiv 1911.09737).
    """

    def __init__(self, channels: int, *, cut: bool = True, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.threshold = nn.Parameter(torch.zeros(channels)) if cut else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalised, and cut from below."""
        x = x * (x.square().mean((2, 3), keepdim=True) + self.eps).rsqrt()
        y = x * _per_channel(self.weight) + _per_channel(self.bias)
        return y if self.threshold is None else torch.maximum(y, _per_channel(self.threshold))


def _per_channel(weight: Tensor) -> Tensor:
    return weight.view(-1, 1, 1)
