"""SWAG: the Gaussian that the tail of SGD at a constant rate sketches (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  d_k = last K deviations from the running mean
    Sigma = 1/2 diag(v) + 1/2 sum_k d_k d_k^T / (K - 1)

so log_std = 1/2 log(v/2) and factor = d / sqrt(2 (K - 1)): the halves are folded in, once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz._checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.results import Gaussian, History
from flatviz.training._optimize import minibatches, sgd, steps_per_epoch, training_loss

VARIANCE_FLOOR = 1e-12  # a weight that never moved (a pixel that is always blank) still needs a density


class Moments:
    """Running mean, variance and last deviations of weight vectors, in float64 (Welford).

    The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by 1e-4 of their size.
    """

    def __init__(self, rank: int) -> None:
        self.rank, self.n = rank, 0
        self.deviations: list[Tensor] = []

    def add(self, w: Tensor) -> None:
        """Take in one iterate (D,); its deviation is from the mean that includes it."""
        w = w.double()
        if self.n == 0:
            self.mean, self.squares = torch.zeros_like(w), torch.zeros_like(w)
        self.n += 1
        before = w - self.mean
        self.mean = self.mean + before / self.n
        after = w - self.mean
        self.squares = self.squares + before * after
        self.deviations = [*self.deviations, after][-self.rank :]

    def gaussian(self, dtype: torch.dtype, history: History | None = None) -> Gaussian:
        """The SWAG posterior of what was taken in."""
        variance = (self.squares / self.n).clamp_min(VARIANCE_FLOOR)
        rank = len(self.deviations)
        factor = torch.stack(self.deviations) / math.sqrt(2 * max(rank - 1, 1))  # K = 1: no K - 1 to divide by
        log_std = 0.5 * (variance / 2).log()
        return Gaussian(self.mean.to(dtype), log_std.to(dtype), factor.to(dtype), history)


def fit_swag(
    net: Net,
    data: Data,
    *,
    seed: int,
    rank: int = 5,
    snapshots: int = 20,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch.

    rank: deviations kept, K; snapshots: epochs T >= rank >= 1.  BatchNorm statistics stay the net's own by default, so
    that all snapshots are weights of one function.  Raises ValueError on bad data or divergence.
    """
    check_count(rank, "rank")
    check_count(snapshots, "snapshots", least=max(2, rank))
    loss, _ = training_loss(net, data, likelihood, batchnorm)
    moments, epoch = Moments(rank), steps_per_epoch(len(data), batch_size)

    def collect(step: int, w: Tensor) -> None:
        if (step + 1) % epoch == 0:
            moments.add(w)

    _, losses = sgd(
        loss,
        net.w,
        minibatches(len(data), batch_size, seed, net.device),
        steps=snapshots * epoch,
        lr=lambda _: lr,
        momentum=momentum,
        weight_decay=weight_decay,
        progress=progress,
        label="SWAG",
        after=collect,
    )
    return moments.gaussian(net.w.dtype, History(losses))
