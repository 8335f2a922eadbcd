"""What SWA, SWAG-diagonal and SWAG share: SGD at a constant rate, and the moments of one snapshot an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.results import History
from flatviz.storage.files import State
from flatviz.training.losses import training_loss
from flatviz.training.optimize import constant, minibatches, sgd, steps_per_epoch
from flatviz.training.run import Run

VARIANCE_FLOOR = 1e-12  # a weight that never moved (a pixel that is always blank) still needs a density


class Moments:
    """Running mean, sum of squared deviations and last deviations of weights (D,) or (B, D), in float64 (Welford).

        n <- n + 1,   mean <- mean + (w - mean) / n,   squares <- squares + (w - old mean) (w - new mean)

    The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by 1e-4 of their size.
    """

    def __init__(self, rank: int, like: Tensor) -> None:
        self.rank, self.n, self.deviations = rank, torch.tensor(0), []
        self.mean, self.squares = (torch.zeros_like(like, dtype=torch.float64) for _ in range(2))

    @property
    def state(self) -> State:
        """All of it, changed in place, for a checkpoint."""
        return {"n": self.n, "mean": self.mean, "squares": self.squares, "deviations": self.deviations}

    def add(self, w: Tensor) -> None:
        """Take in one iterate; its deviation is from the mean that includes it."""
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


def collect(
    net: Net, data: Data, run: Run, snapshots: int, *, rank: int = 0, W: Tensor | None = None, seeds: Sequence[int] = ()
) -> tuple[Moments, History]:
    """Moments of the weights at the ends of the epochs, from where the net stands.

    From `W` (B, D) of members trained together, each with minibatches by a seed of its own.
    With an ascent the snapshots are still those of w, never of the perturbed w + e.
    """
    run.check_no_validation("each of its snapshots counts")
    check_count(snapshots, "snapshots", least=max(2, rank))
    w, loss = net.w if W is None else W, training_loss(net, data, run, len(seeds) or None)
    batches = minibatches(len(data), run.optim.batch_size, seeds or run.seed, net.device)
    moments, epoch = Moments(rank, w), steps_per_epoch(len(data), run.optim.batch_size)
    run = replace(run, optim=replace(run.optim, steps=snapshots * epoch))

    def after(step: int, w: Tensor) -> None:
        if (step + 1) % epoch == 0:
            moments.add(w)

    _, history = sgd(loss, w, batches, run, schedule=constant, after=after, state=moments.state)
    return moments, history
