"""SWAG: the Gaussian that the tail of SGD at a constant rate sketches (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  d_k = last K deviations from the running mean
    Sigma = scale (1/2 diag(v) + 1/2 sum_k d_k d_k^T / (K - 1))

so log_std = 1/2 log(scale v / 2) and factor = d sqrt(scale / (2 (K - 1))): scale and halves are folded in, once.
"""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from flatviz.checks import Count, Positive, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import History
from flatviz.training.keywords import LARGE, Tail, defaults
from flatviz.training.run import Run
from flatviz.training.snapshots import Moments, collect

# minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
SETTINGS = dict(rank=5, snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)


@defaults(SETTINGS | LARGE)
def fit_swag(net: Net, data: Data, *, seed: Seed, rank: Count, scale: Positive = 1.0, **how: Unpack[Tail]) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch; mean (D,), factor (K, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of the order of the minibatches.
        rank: Deviations kept, K; 5 as in SA-BMA's experiments.
        scale: Multiplies the covariance; 1 is the paper.  Released scripts whose scale is without the half mean twice theirs:
            their 0.5 is 1 here, F-SWAG's 0.1 is 0.2.
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
    run = Run.of(locals(), "SWAG")
    moments, history = collect(net, data, run, how["snapshots"], rank=rank)
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


@defaults(SETTINGS | LARGE)
def fit_swag_members(
    net: Net, data: Data, W: Tensor, *, seeds: list[int], rank: int, scale: float = 1.0, **how: Unpack[Tail]
) -> list[Gaussian]:
    """`fit_swag` from each row of `W` (B, D) with a seed of its own, trained together; settings as there.

    Args:
        net: Gives the architecture.
        data: The N training examples.
        W: Where each starts.
        seeds: One a row.
        rank: As in `fit_swag`.
        scale: As in `fit_swag`.
        **how: How it is run.
    """
    run = Run.of({**locals(), "seed": seeds[0]}, "SWAG")
    moments, history = collect(net, data, run, how["snapshots"], rank=rank, W=W, seeds=seeds)
    gains = history.sharpness
    histories = [History(loss, sharpness=None if gains is None else gains[:, i]) for i, loss in enumerate(history.loss.T)]
    return [swag_gaussian(moments, W.dtype, history, i, scale) for i, history in enumerate(histories)]


METHOD = Method(fit=fit_swag, fit_members=fit_swag_members, plain=Tuned(SETTINGS), warm_start=True)
