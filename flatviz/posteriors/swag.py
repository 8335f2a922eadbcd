"""Averages of the tail of SGD at a constant rate, one snapshot an epoch: SWA and SWAG.

    mean = average of T iterates,  v = their variance
    d_k = last K deviations from the running mean

    SWA, one point (Izmailov et al. 2018)    w = mean
    SWAG-diagonal (Maddox et al. 2019)       Sigma = diag(v)
    SWAG, the Gaussian of that paper         Sigma = scale (1/2 diag(v) + 1/2 D)
        with D = sum_k d_k d_k^T / (K - 1)

So SWAG's log_std = 1/2 log(scale v / 2) and factor = d sqrt(scale / (2 (K - 1))): scale and halves
are folded in once.  SWAG-diagonal has all of v, while SWAG has half of it and the other half in the
deviations.
"""

import math
from collections.abc import Sequence
from typing import Any, Generic

import torch
from torch import Tensor

from flatviz.checks import Count, Positive, Several, check_count
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import Problem
from flatviz.results import Draws, History
from flatviz.training.driver import Record, drive
from flatviz.training.gradient import Batch, Gradient, Noises
from flatviz.training.losses import loss_of
from flatviz.training.method import Q, Usual
from flatviz.training.points import Descending, PointState, Stepped, with_buffers
from flatviz.training.settings import Run
from flatviz.training.streams import steps_per_epoch

VARIANCE_FLOOR = 1e-12  # so that a weight that never moves (of a blank pixel) has a density


class Tail(Descending[Q], Stepped[Q, PointState], Generic[Q]):
    """Base of the methods that average SGD at a constant rate, one snapshot an epoch (Welford).

        n <- n + 1,   mean <- mean + (w - mean) / n,
        squares <- squares + (w - old mean) (w - new mean)

    Kept, in float64 and of w's shape, are n, the mean of the snapshots, the sum of squares and the
    last deviations. The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by
    1e-4 of their size.  With an ascent the snapshots are those of w, never of the perturbed w + e.

    Args:
        lr: The constant rate.  None: 0.05, because `pretrain` ends there: the tail goes on where
            it stopped; of a net with BatchNorm 0.02, as at 0.05 some convolutional networks
            diverge, their statistics frozen.
        snapshots: Epochs T, two and the rank at least; 20 as in SWAG's paper.
    """

    usual = Usual(batch_size=64)
    takes = ("batch_size", "batchnorm", "training", "augment")
    rates = (0.05, 0.02)
    snapshots: Several = 20

    @property
    def kept_rank(self) -> int:
        """Deviations kept, K."""
        return 0

    @property
    def factor_scale(self) -> float:
        """Factor on the covariance."""
        return 1.0

    def init(self, w: Tensor) -> PointState:
        """Return the state at weights `w`, (D,), or (B, D) for members trained at once."""
        return PointState.at(w)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises = ()
    ) -> tuple[PointState, Record]:
        """Take one step of SGD at the constant rate."""
        return self.sgd.update(s, gradient, batch)

    def collect(self, kept: Sequence[Tensor], s: PointState) -> Sequence[Tensor]:
        """Add the present weights to the snapshots; the mean of deviations includes them."""
        w = s.w.double()
        zero = torch.zeros_like(w)
        count, old, squares, *deviations = kept or (zero, zero, zero)
        n = count.flatten()[0] + 1
        before = w - old
        mean = old + before / n
        after = w - mean
        deviations = [*deviations, after][-self.kept_rank :] if self.kept_rank else []
        return n.expand_as(w), mean, squares + before * after, *deviations

    def gaussian(self, s: PointState, history: History | None, kept: Sequence[Tensor]) -> Gaussian:
        """Build the Gaussian, with half the variance on the diagonal, times `scale`.

        The other half is in the deviations.  With rank 0 all of it is on the diagonal.
        """
        count, mean, squares, *deviations = kept
        mean = mean.to(s.w.dtype)
        variance = (squares / count.flatten()[0]).clamp_min(VARIANCE_FLOOR)
        if not self.kept_rank:
            return Gaussian(mean, (0.5 * variance.log()).to(mean), history=history)
        d = torch.stack(deviations)
        root = math.sqrt(2 * max(len(d) - 1, 1))  # K = 1: no K - 1 to divide by
        factor = d * math.sqrt(self.factor_scale) / root
        log_std = 0.5 * (self.factor_scale * variance / 2).log()
        return Gaussian(mean, log_std.to(mean), factor.to(mean), history)

    def fitted(self, problem: Problem, run: Run) -> Q:
        """Run SGD from the net's weights; statistics of BatchNorm are the data's at the mean."""
        loss = loss_of(problem, run.batchnorm, run.training)
        epoch = steps_per_epoch(len(problem.data), run.batch_size)
        steps = self.snapshots * epoch
        keep = range(epoch - 1, steps, epoch)
        driven = drive(self, self.init(problem.net.w), loss, run, steps=steps, keep=keep)
        q: Any = self.result(*driven)
        return with_buffers(q, loss.buffers_at(q.center))


class SWA(Tail[Draws]):
    """Run SGD at a constant rate and average one snapshot an epoch: a single draw, (1, D).

    Source: Izmailov et al. 2018.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.SWA(snapshots=5), seed=0).W.shape
        torch.Size([1, 58])
    """

    label = "SWA"

    def result(
        self, state: PointState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Draws:
        """Return the average."""
        q = self.gaussian(state, history, kept)
        return Draws(q.mean[None], q.history)


class SWAGDiagonal(Tail[Gaussian]):
    """Run SGD at a constant rate and fit a diagonal Gaussian to one snapshot an epoch.

    Source: Maddox et al. 2019.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.SWAGDiagonal(snapshots=5), seed=0).rank
        0
    """

    label = "SWAG-diagonal"

    def result(
        self, state: PointState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return the Gaussian with all of the variance on the diagonal."""
        return self.gaussian(state, history, kept)


class SWAG(Tail[Gaussian]):
    """Run SGD at a constant rate and fit a Gaussian to one snapshot an epoch: factor (K, D).

        Sigma = scale (1/2 diag(v) + 1/2 D),   D = sum_k d_k d_k^T / (K - 1)

    Source: Maddox et al. 2019.

    Args:
        rank: Deviations kept, K; 5 as in SA-BMA's experiments.
        scale: Multiplies the covariance; 1 is the paper.  Released scripts whose scale is without
            the half mean twice theirs: their 0.5 is 1 here, F-SWAG's 0.1 is 0.2.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.SWAG(rank=3, snapshots=5), seed=0).factor.shape
        torch.Size([3, 58])
    """

    label = "SWAG"
    rank: Count = 5
    scale: Positive = 1.0

    def _check(self) -> None:
        check_count(self.snapshots, "snapshots", least=max(2, self.rank))

    @property
    def kept_rank(self) -> int:
        """Deviations kept, K."""
        return self.rank

    @property
    def factor_scale(self) -> float:
        """Factor on the covariance."""
        return self.scale

    def result(
        self, state: PointState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return the Gaussian, with half the variance on the diagonal, times `scale`.

        The other half is in the deviations.
        """
        return self.gaussian(state, history, kept)
