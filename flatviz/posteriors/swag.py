"""SWAG: the Gaussian that the tail of SGD at a constant rate sketches (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  d_k = last K deviations from the running mean
    Sigma = scale (1/2 diag(v) + 1/2 sum_k d_k d_k^T / (K - 1))

so log_std = 1/2 log(scale v / 2) and factor = d sqrt(scale / (2 (K - 1))): scale and halves are folded in, once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import Count, Momentum, NonNegative, Positive, Rate, Seed, Several, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import History
from flatviz.training.gradient import Ascent
from flatviz.training.run import Checkpoint, Run, Training
from flatviz.training.snapshots import Moments, Tail, collect, collect_members


@public
def fit_swag(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    rank: Count = 5,
    snapshots: Several = 20,
    scale: Positive = 1.0,
    lr: Rate = 0.05,
    momentum: Momentum = 0.9,
    weight_decay: NonNegative = 5e-4,
    batch_size: Count | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch; mean (D,), factor (K, D).

    Args:
        rank: deviations kept, K; 5 as in SA-BMA's experiments.
        snapshots: epochs T >= rank >= 1; 20 as in the paper.
        scale: multiplies the covariance; 1 is the paper.  Released scripts whose scale is without the half mean twice theirs:
            their 0.5 is 1 here, F-SWAG's 0.1 is 0.2.
        lr: the constant rate, 0.05 because `pretrain` ends there: the tail goes on where training stopped.
        momentum, weight_decay, batch_size: of SGD; 64 examples a minibatch leave noise for the tail to show.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that all snapshots are weights of one function; "train" takes
            those of each batch.
        ascent: `SAM(radius)` and the like make it F-SWAG.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag(net, task.train, seed=0, rank=3, snapshots=5).factor.shape
        torch.Size([3, 58])
    """
    run = Run.of(locals(), "SWAG")
    tail = Tail(snapshots, lr, momentum, weight_decay, batch_size, likelihood, batchnorm, ascent)
    moments, history = collect(net, data, tail, run, rank=rank)
    return swag_gaussian(moments, net.w.dtype, history, scale=scale)


def swag_gaussian(
    moments: Moments, dtype: torch.dtype, history: History | None = None, member: int | None = None, scale: float = 1.0
) -> Gaussian:
    """Half the variance on the diagonal, half in the deviations, times `scale`; of row `member` of moments (B, D)."""
    row = () if member is None else member
    deviations = torch.stack([d[row] for d in moments.deviations])
    factor = deviations * math.sqrt(scale) / math.sqrt(2 * max(len(deviations) - 1, 1))  # K = 1: no K - 1 to divide by
    log_std = 0.5 * (scale * moments.variance[row] / 2).log()
    return Gaussian(moments.mean[row].to(dtype), log_std.to(dtype), factor.to(dtype), history)


def fit_swag_members(
    net: Net,
    data: Data,
    W: Tensor,
    *,
    seeds: list[int],
    rank: int = 5,
    snapshots: int = 20,
    scale: float = 1.0,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> list[Gaussian]:
    """`fit_swag` from each row of `W` (B, D) with a seed of its own, trained together; settings as there."""
    run = Run.of({**locals(), "seed": seeds[0]}, "SWAG")
    tail = Tail(snapshots, lr, momentum, weight_decay, batch_size, likelihood, batchnorm, ascent)
    moments, histories = collect_members(net, data, W, seeds, tail, run, rank=rank)
    return [swag_gaussian(moments, W.dtype, history, i, scale) for i, history in enumerate(histories)]


METHOD = Method(
    fit=fit_swag,
    fit_members=fit_swag_members,
    # minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
    plain=Tuned(dict(rank=5, snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)),
    warm_start=True,
)
