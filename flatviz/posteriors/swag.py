"""Averages of the tail of SGD at a constant rate, one snapshot an epoch.

SWA, SWAG-diagonal and SWAG.

    mean = average of T iterates,  v = their variance,
        d_k = last K deviations from the running mean

SWA, one point (Izmailov et al. 2018)     w = mean
SWAG-diagonal (Maddox et al. 2019)        Sigma = diag(v)
SWAG, the Gaussian of that paper
    Sigma = scale (1/2 diag(v) + 1/2 sum_k d_k d_k^T / (K - 1))

SWAG's log_std = 1/2 log(scale v / 2) and factor = d sqrt(scale / (2 (K - 1))):
    scale and halves are folded in, once.  SWAG-diagonal
has the whole v, where SWAG takes half of it and lets the deviations carry the other half.
"""

import math
from dataclasses import dataclass, replace
from typing import Unpack

import torch
from torch import Tensor

from flatviz.checks import Count, Positive, Seed, check_count
from flatviz.core import Data, Net
from flatviz.gaussian import Gaussian
from flatviz.likelihood import as_likelihood
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, History
from flatviz.training.driver import drive
from flatviz.training.keywords import LARGE, Run, Tail, defaults
from flatviz.training.losses import training_loss
from flatviz.training.points import SGD, PointState
from flatviz.training.streams import rates, steps_per_epoch

VARIANCE_FLOOR = (
    1e-12  # a weight that never moved (a pixel that is always blank) still needs a density
)
# minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to
# show
SETTINGS = dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)
RANKED = dict(rank=5) | SETTINGS
BATCHNORM = dict(
    lr=0.02
)  # at 0.05 some convolutional networks diverge with their statistics frozen


@dataclass(frozen=True, eq=False)
class SWAG(SGD):
    """SGD, and the moments of its weights after the steps `keep`, the last ones of epochs (Welford).

        n <- n + 1,   mean <- mean + (w - mean) / n,
            squares <- squares + (w - old mean) (w - new mean)

    The state keeps, in float64, the mean of the snapshots, the sum of squares and the last
    deviations. The naive E[w^2] - E[w]^2 loses all digits in float32 where weights move by 1e-4 of
    their size.

    Args:
        rates: As in `SGD`.
        momentum: As in `SGD`.
        weight_decay: As in `SGD`.
        clip: As in `SGD`.
        ascent: As in `SGD`; the snapshots are those of w, never of the perturbed w + e.
        keep: Steps after which there is a snapshot.
        rank: K, deviations kept.
        scale: Factor on the covariance.
    """

    rank: int = 5
    scale: float = 1.0

    def init(self, w: Tensor) -> PointState:
        """The state at weights `w`, (D,), or (B, D) for members trained at once."""
        zero = torch.zeros_like(w, dtype=torch.float64)
        return super().init(w)._replace(kept=(zero, zero))

    def collect(self, s: PointState) -> PointState:
        """Take the present weights among the snapshots.

        a deviation is from the mean that includes it.
        """
        old, squares, *deviations = s.kept
        before = s.w.double() - old
        n = s.n + 1
        mean = old + before / n
        after = s.w.double() - mean
        deviations = [*deviations, after][-self.rank :] if self.rank else []
        return s._replace(n=n, kept=(mean, squares + before * after, *deviations))

    def result(self, s: PointState, history: History | None = None) -> Gaussian:
        """Half the variance on the diagonal and half in the deviations, times `scale`.

        With rank 0 all of it on the diagonal.
        """
        mean, squares, *deviations = s.kept
        mean = mean.to(s.w.dtype)
        variance = (squares / s.n).clamp_min(VARIANCE_FLOOR)
        if not self.rank:
            return Gaussian(mean, (0.5 * variance.log()).to(mean), history=history)
        d = torch.stack(deviations)
        factor = (
            d * math.sqrt(self.scale) / math.sqrt(2 * max(len(d) - 1, 1))
        )  # K = 1: no K - 1 to divide by
        log_std = 0.5 * (self.scale * variance / 2).log()
        return Gaussian(mean, log_std.to(mean), factor.to(mean), history)


@defaults(SETTINGS | LARGE, SETTINGS | LARGE | BATCHNORM)
def fit_swa(net: Net, data: Data, *, seed: Seed, **how: Unpack[Tail]) -> Draws:
    """Run SGD at a constant rate from the net's weights and average one snapshot an epoch.

    a single draw, (1, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swa(net, task.train, seed=0, snapshots=5).W.shape
        torch.Size([1, 58])
    """
    q = _tail("SWA", net, data, seed, how)
    return Draws(q.mean[None], q.history, q.buffers)


@defaults(SETTINGS | LARGE, SETTINGS | LARGE | BATCHNORM)
def fit_swag_diag(net: Net, data: Data, *, seed: Seed, **how: Unpack[Tail]) -> Gaussian:
    """Run SGD at a constant rate from the net's weights, collecting one snapshot an epoch.

    Rank 0, mean (D,).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag_diag(net, task.train, seed=0, snapshots=5).rank
        0
    """
    return _tail("SWAG-diagonal", net, data, seed, how)


@defaults(RANKED | LARGE, RANKED | LARGE | BATCHNORM)
def fit_swag(
    net: Net, data: Data, *, seed: Seed, rank: Count, scale: Positive = 1.0, **how: Unpack[Tail]
) -> Gaussian:
    """Run SGD at a constant rate from the net's weights, collecting one snapshot an epoch.

    Mean (D,), factor (K, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        rank: Deviations kept, K; 5 as in SA-BMA's experiments.
        scale: Multiplies the covariance; 1 is the paper.  Released scripts whose scale is without
            the half mean twice theirs: their 0.5 is 1 here, F-SWAG's 0.1 is 0.2.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag(net, task.train, seed=0, rank=3, snapshots=5).factor.shape
        torch.Size([3, 58])
    """
    return _tail("SWAG", net, data, seed, how, rank, scale)


def _tail(
    label: str, net: Net, data: Data, seed: int, how: Tail, rank: int = 0, scale: float = 1.0
) -> Gaussian:
    """SGD from where the net stands, and the Gaussian of its snapshots."""
    run = Run.of(label, seed, how)
    snapshots = how["snapshots"]
    check_count(snapshots, "snapshots", least=max(2, rank))
    loss = training_loss(net, data, how["likelihood"], how["batchnorm"], run.training)
    epoch = steps_per_epoch(len(data), run.batch_size)
    steps = snapshots * epoch
    sgd = (
        rates(how["lr"], steps, net.w, lambda *_: 1.0),
        how["momentum"],
        how["weight_decay"],
        how["ascent"],
        as_likelihood(how["likelihood"]).longest_gradient,
    )
    swag = SWAG(*sgd, rank, scale, keep=range(epoch - 1, steps, epoch))
    q = swag.result(*drive(swag, swag.init(net.w), loss, run, steps=steps))
    return replace(q, buffers=loss.buffers_at(q.mean))  # those collected are of other weights


SWA_METHOD = Method(fit=fit_swa, plain=Tuned(SETTINGS), warm_start=True)
DIAGONAL = Method(fit=fit_swag_diag, plain=Tuned(SETTINGS), warm_start=True)
METHOD = Method(fit=fit_swag, plain=Tuned(RANKED), warm_start=True)
