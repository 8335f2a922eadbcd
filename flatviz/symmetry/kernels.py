"""The kernels by which two sets of weight vectors are compared, and their bandwidths."""

from __future__ import annotations

import torch
from torch import Tensor

N_BANDWIDTHS = 10
MOST_FOR_GRID = 500  # vectors of each half of the target from which bandwidths are read


def bandwidths(target: Tensor) -> Tensor:
    """Ten bandwidths of the Laplace and ten of the Gaussian kernel, (2, 10), from distances inside `target` (m, d) alone.

    h_i = (lo / 2) (2 hi / (lo / 2))^(i/9), lo and hi the least and largest distance between its first and second half
    (in the 1-norm, and the 2-norm); where lo < 0.1 the 5 % quantile, at least 0.1; hi at least 0.3.
    Source: released code of Laurent et al. 2024, there with distances between the two sets compared.
    """
    half = min(len(target) // 2, MOST_FOR_GRID)
    grids = []
    for p in (1.0, 2.0):
        d = torch.cdist(target[:half].double(), target[half : 2 * half].double(), p=p).flatten()
        lo = d.min()
        if lo < 0.1:
            lo = d.kthvalue(max(1, round(0.05 * len(d)))).values.clamp_min(0.1)
        hi = d.max().clamp_min(0.3)
        grids.append(lo / 2 * (4 * hi / lo) ** (torch.arange(N_BANDWIDTHS, device=d.device) / (N_BANDWIDTHS - 1)))
    return torch.stack(grids)


def mean_kernel(X: Tensor, Y: Tensor, grid: Tensor) -> Tensor:
    """Mean of the Laplace kernels exp(-|x - y|_1 / h) and Gaussian ones exp(-|x - y|_2^2 / h^2) of a grid (2, H): (n, m)."""
    total = 0.0
    for p, hs in zip((1.0, 2.0), grid):
        d = torch.cdist(X, Y, p=p)
        for h in hs:
            z = d / h
            total = total + (-(z if p == 1.0 else z.square())).exp()
    return total / grid.numel()
