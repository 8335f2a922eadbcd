"""What SWA, SWAG-diagonal and SWAG share: SGD at a constant rate, and the moments of one snapshot an epoch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.results import Gaussian, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.batched import members_batches, members_loss
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint, State
from flatviz.training.optimize import minibatches, sgd, steps_per_epoch, training_loss

VARIANCE_FLOOR = 1e-12  # a weight that never moved (a pixel that is always blank) still needs a density


class Moments:
    """Running mean, sum of squared deviations and last deviations of weights (D,) or (B, D), in float64 (Welford).

    The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by 1e-4 of their size.
    """

    def __init__(self, rank: int, like: Tensor | None = None) -> None:
        self.rank, self.n, self.deviations = rank, torch.tensor(0), []
        self.mean = self.squares = None
        if like is not None:
            self._start(like)

    def _start(self, like: Tensor) -> None:
        self.mean, self.squares = (torch.zeros_like(like, dtype=torch.float64) for _ in range(2))

    @property
    def state(self) -> State:
        """All of it, changed in place, for a checkpoint."""
        return {"n": self.n, "mean": self.mean, "squares": self.squares, "deviations": self.deviations}

    def add(self, w: Tensor) -> None:
        """Take in one iterate; its deviation is from the mean that includes it."""
        if self.mean is None:
            self._start(w)
        self.n += 1
        before = w.double() - self.mean
        self.mean += before / self.n
        after = w.double() - self.mean
        self.squares += before * after
        self.deviations[:] = [*self.deviations, after][-self.rank :] if self.rank else []

    @property
    def variance(self) -> Tensor:
        """Variance of the iterates, of their shape, never below the floor."""
        return (self.squares / self.n).clamp_min(VARIANCE_FLOOR)

    def gaussian(self, dtype: torch.dtype, history: History | None = None, member: int | None = None) -> Gaussian:
        """The SWAG posterior of what was taken in, of row `member` where that was (B, D): half the variance, half the deviations."""
        row = () if member is None else member
        rank = len(self.deviations)
        factor = torch.stack([d[row] for d in self.deviations]) / math.sqrt(
            2 * max(rank - 1, 1)
        )  # K = 1: no K - 1 to divide by
        log_std = 0.5 * (self.variance[row] / 2).log()
        return Gaussian(self.mean[row].to(dtype), log_std.to(dtype), factor.to(dtype), history)


def collect(
    net: Net,
    data: Data,
    *,
    seed: int | list[int],
    rank: int,
    snapshots: int,
    lr: float,
    momentum: float,
    weight_decay: float,
    batch_size: int | None,
    likelihood: Likelihood,
    batchnorm: str,
    ascent: Ascent | None,
    checkpoint: Checkpoint,
    progress: Progress,
    label: str,
    start: Tensor | None = None,
) -> tuple[Moments, History]:
    """Moments of the weights at the ends of `snapshots` epochs of SGD at the rate `lr`, from where the net stands.

    With several seeds one run for each of the rows of `start` (B, D), trained together.
    With an `ascent` the snapshots are still those of w, never of the perturbed w + e.
    """
    run = arguments_digest(locals())
    check_count(snapshots, "snapshots", least=max(2, rank))
    if isinstance(seed, list):
        loss = members_loss(net, data, likelihood, batchnorm, len(seed))
        batches = members_batches(len(data), batch_size, seed, net.device)
    else:
        loss, _ = training_loss(net, data, likelihood, batchnorm)
        batches = minibatches(len(data), batch_size, seed, net.device)
    w = net.w if start is None else start
    moments, epoch = Moments(rank, w), steps_per_epoch(len(data), batch_size)

    def after(step: int, w: Tensor) -> None:
        if (step + 1) % epoch == 0:
            moments.add(w)

    _, history = sgd(
        loss,
        w,
        batches,
        steps=snapshots * epoch,
        lr=lambda _: lr,
        momentum=momentum,
        weight_decay=weight_decay,
        ascent=ascent,
        progress=progress,
        label=label,
        after=after,
        state=moments.state,
        checkpoint=checkpoint,
        run=run,
    )
    return moments, history
