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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.checks import (
    Count,
    Momentum,
    NonNegative,
    Positive,
    Rate,
    Seed,
    Several,
    Statistics,
    check_count,
)
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws, History, Posterior
from flatviz.training.driver import Algorithm, Record, drive
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training
from flatviz.training.losses import NetworkLoss, training_loss
from flatviz.training.points import SGD, PointState
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import steps_per_epoch

VARIANCE_FLOOR = 1e-12  # so that a weight that never moves (of a blank pixel) has a density
RATE = 0.05
RATE_BATCHNORM = 0.02  # at 0.05 some convolutional networks diverge, their statistics frozen


@dataclass(frozen=True, eq=False)
class SWAG(Algorithm[PointState]):
    """Steps of SGD, and the moments of its weights at the end of epochs (Welford).

        n <- n + 1,   mean <- mean + (w - mean) / n,
        squares <- squares + (w - old mean) (w - new mean)

    Kept, in float64 and of w's shape, are n, the mean of the snapshots, the sum of squares and the
    last deviations. The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by
    1e-4 of their size.

    Args:
        sgd: The steps; with an ascent the snapshots are those of w, never of the perturbed w + e.
        rank: K, deviations kept.
        scale: Factor on the covariance.
    """

    sgd: SGD
    rank: int = 5
    scale: float = 1.0

    def init(self, w: Tensor) -> PointState:
        """Return the state at weights `w`, (D,), or (B, D) for members trained at once."""
        return self.sgd.init(w)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises = ()
    ) -> tuple[PointState, Record]:
        """Take one step."""
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
        deviations = [*deviations, after][-self.rank :] if self.rank else []
        return n.expand_as(w), mean, squares + before * after, *deviations

    def result(
        self, s: PointState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Build the Gaussian, with half the variance on the diagonal, times `scale`.

        The other half is in the deviations.  With rank 0 all of it is on the diagonal.
        """
        count, mean, squares, *deviations = kept
        mean = mean.to(s.w.dtype)
        variance = (squares / count.flatten()[0]).clamp_min(VARIANCE_FLOOR)
        if not self.rank:
            return Gaussian(mean, (0.5 * variance.log()).to(mean), history=history)
        d = torch.stack(deviations)
        root = math.sqrt(2 * max(len(d) - 1, 1))  # K = 1: no K - 1 to divide by
        factor = d * math.sqrt(self.scale) / root
        log_std = 0.5 * (self.scale * variance / 2).log()
        return Gaussian(mean, log_std.to(mean), factor.to(mean), history)


@public
def fit_swa(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = 64,
    snapshots: Several = 20,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run SGD at a constant rate and average one snapshot an epoch: a single draw, (1, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        lr: The constant rate, 0.05 because `pretrain` ends there: the tail goes on where it
            stopped. None: 0.05, of a net with BatchNorm 0.02.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch, few enough for noise: 10 of a few-shot task's hundred.
        snapshots: Epochs T, two and the rank at least; 20 as in SWAG's paper.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation; without validation data.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swa(net, task.train, seed=0, snapshots=5).W.shape
        torch.Size([1, 58])
    """
    run = Run("SWA", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training)
    sgd = _constant(loss, lr, momentum, weight_decay, ascent)
    q = _tail(loss, run, SWAG(sgd, rank=0), snapshots)
    return Draws(q.mean[None], q.history, q.buffers)


@public
def fit_swag_diag(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = 64,
    snapshots: Several = 20,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate and fit a diagonal Gaussian to one snapshot an epoch.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        lr: The constant rate, 0.05 because `pretrain` ends there: the tail goes on where it
            stopped. None: 0.05, of a net with BatchNorm 0.02.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch, few enough for noise: 10 of a few-shot task's hundred.
        snapshots: Epochs T, two and the rank at least; 20 as in SWAG's paper.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation; without validation data.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag_diag(net, task.train, seed=0, snapshots=5).rank
        0
    """
    run = Run("SWAG-diagonal", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training)
    sgd = _constant(loss, lr, momentum, weight_decay, ascent)
    return _tail(loss, run, SWAG(sgd, rank=0), snapshots)


@public
def fit_swag(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    rank: Count = 5,
    scale: Positive = 1.0,
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = 64,
    snapshots: Several = 20,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate and fit a Gaussian to one snapshot an epoch: factor (K, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        rank: Deviations kept, K; 5 as in SA-BMA's experiments.
        scale: Multiplies the covariance; 1 is the paper.  Released scripts whose scale is without
            the half mean twice theirs: their 0.5 is 1 here, F-SWAG's 0.1 is 0.2.
        lr: The constant rate, 0.05 because `pretrain` ends there: the tail goes on where it
            stopped. None: 0.05, of a net with BatchNorm 0.02.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch, few enough for noise: 10 of a few-shot task's hundred.
        snapshots: Epochs T, two and the rank at least; 20 as in SWAG's paper.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation; without validation data.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag(net, task.train, seed=0, rank=3, snapshots=5).factor.shape
        torch.Size([3, 58])
    """
    check_count(snapshots, "snapshots", least=max(2, rank))
    run = Run("SWAG", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training)
    sgd = _constant(loss, lr, momentum, weight_decay, ascent)
    return _tail(loss, run, SWAG(sgd, rank, scale), snapshots)


def _constant(
    loss: NetworkLoss,
    lr: float | None,
    momentum: float,
    weight_decay: float,
    ascent: Ascent | None,
) -> SGD:
    """Build SGD at the given constant rate, or the one tuned for this kind of network."""
    if lr is None:
        lr = RATE_BATCHNORM if loss.problem.net.has_batchnorm else RATE
    return SGD(lr, momentum, weight_decay, ascent, clip=loss.longest_gradient)


def _tail(loss: NetworkLoss, run: Run, swag: SWAG, snapshots: int) -> Gaussian:
    """Run SGD from the net's weights, and return the Gaussian of its snapshots."""
    start = swag.init(loss.problem.net.w)
    epoch = steps_per_epoch(len(loss.problem.data), run.batch_size)
    steps = snapshots * epoch
    keep = range(epoch - 1, steps, epoch)
    q = swag.result(*drive(swag, start, loss, run, steps=steps, keep=keep))
    return replace(q, buffers=loss.buffers_at(q.mean))  # the collected ones belong to other weights


def _settings(fit: Callable[..., Posterior], names: str) -> Tuned:
    # Minibatches of 10, as SGD on all hundred examples of the task has no noise
    names = f"{names} lr momentum weight_decay batch_size"
    return Tuned(settings_of(fit, names, lr=RATE, batch_size=10))


SWA_METHOD = Method(
    fit=fit_swa,
    plain=_settings(fit_swa, "snapshots"),
    warm_start=True,
)
DIAGONAL = Method(
    fit=fit_swag_diag,
    plain=_settings(fit_swag_diag, "snapshots"),
    warm_start=True,
)
METHOD = Method(
    fit=fit_swag,
    plain=_settings(fit_swag, "rank snapshots"),
    warm_start=True,
)
