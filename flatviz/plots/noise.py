"""The sampling noise of a share: Wilson's interval."""

from __future__ import annotations

import torch
from torch import Tensor

Z = 1.959964  # of a two-sided 95 % interval


def wilson(share: Tensor, n: int | Tensor) -> tuple[Tensor, Tensor]:
    """Ends of the 95 % interval of a probability of which `share` was seen in `n` trials, both (...); of none, 0 and 1.

        (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    p = share.double()
    n = torch.as_tensor(n, dtype=torch.float64, device=p.device).expand_as(p)
    trials = n.clamp_min(1)
    middle = (p + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z * (p * (1 - p) / trials + Z**2 / (4 * trials**2)).sqrt() / (1 + Z**2 / trials)
    lo, hi = (middle - half).clamp(0, 1), (middle + half).clamp(0, 1)
    return torch.where(n > 0, lo, 0.0).to(share.dtype), torch.where(n > 0, hi, 1.0).to(share.dtype)
