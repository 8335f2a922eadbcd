"""Two modes of equal depth, one wider than the other, in one dimension: in which of them does SA-BMA end?

    l(w) = -log( 1/2 exp(-(w - a)^2 / (2 t^2)) + 1/2 exp(-(w - b)^2 / (2 (ratio t)^2)) ),   a = -2, b = 2

q = N(mean, std^2) starts where its expected gradient is zero, so that VI favours neither side and its noise decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from flatviz.checks import check_nonnegative
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.sabma import fit_sabma_grid

NARROW_AT, WIDE_AT, NARROW = -2.0, 2.0, 0.3
START_STD, PRIOR_STD = 0.5, 2.0
SETTINGS = dict(kl_weight=0.1, steps=150, lr=0.02, momentum=0.9)


def loss(w: Tensor, ratio: float) -> Tensor:
    """l(w), elementwise."""
    narrow, wide = (w - NARROW_AT) / NARROW, (w - WIDE_AT) / (ratio * NARROW)
    return -torch.logaddexp(-0.5 * narrow.square(), -0.5 * wide.square()) + torch.log(torch.tensor(2.0).to(w))


class TwoModes(nn.Module):
    """The loss as a network of one weight: half of its output squared is l(w) + 1, a regression of 0 with noise 1."""

    def __init__(self, ratio: float, start: float = 0.0) -> None:
        super().__init__()
        self.ratio = ratio
        self.w = nn.Parameter(torch.tensor([start], dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (N, 1), whatever the inputs."""
        return (2 * (loss(self.w, self.ratio) + 1)).sqrt().expand(len(x), -1)


def expected_gradient(mean: Tensor, std: Tensor, ratio: float, points: int = 4001) -> tuple[Tensor, Tensor]:
    """Gradient of E_q[l] in (mean, log_std) of q = N(mean, std^2), by quadrature over 8 standard deviations to each side."""
    z = torch.linspace(-8, 8, points, dtype=torch.float64)
    weight = torch.softmax(-0.5 * z.square(), 0)
    w = (mean + std * z).requires_grad_()
    (slope,) = torch.autograd.grad(loss(w, ratio).sum(), w)
    return (weight * slope).sum(), (weight * slope * std * z).sum()


def balance(ratio: float, std: float = START_STD) -> float:
    """The mean between the modes at which the expected gradient is zero, by bisection."""
    low, high, width = NARROW_AT, WIDE_AT, torch.tensor(std, dtype=torch.float64)
    for _ in range(60):
        middle = (low + high) / 2
        uphill = float(expected_gradient(torch.tensor(middle, dtype=torch.float64), width, ratio)[0]) > 0
        low, high = (middle, high) if uphill else (low, middle)
    return low


def end_in_wide(radii: Sequence[float], *, ratio: float, seeds: Sequence[int], start: float | None = None) -> Tensor:
    """Whether SA-BMA of each radius and seed ends in the wide mode, (radii, seeds); start: its first mean, None the balance."""
    if check_nonnegative(ratio, "ratio") < 1:
        raise ValueError(f"ratio must be at least 1, got {ratio:g}: it is the width of the wide mode over that of the narrow")
    start = balance(ratio) if start is None else start
    net = Net.from_module(TwoModes(ratio, start))
    data = Data(torch.zeros(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64))
    first, prior = (Gaussian(net.w, torch.full_like(net.w, std).log()) for std in (START_STD, PRIOR_STD))
    posteriors = fit_sabma_grid(net, data, prior, start=first, radii=radii, seeds=list(seeds), likelihood=1.0, **SETTINGS)
    ridge = (NARROW_AT * ratio + WIDE_AT) / (1 + ratio)  # where both modes are as many of their widths away
    return torch.stack([torch.stack([posteriors[float(r), s].mean[0] > ridge for s in seeds]) for r in radii])
