"""SWAG: the Gaussian that the tail of SGD at a constant rate sketches (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  d_k = last K deviations from the running mean
    Sigma = 1/2 diag(v) + 1/2 sum_k d_k d_k^T / (K - 1)

so log_std = 1/2 log(v/2) and factor = d / sqrt(2 (K - 1)): the halves are folded in, once.
"""

from __future__ import annotations

from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian, History
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.snapshots import VARIANCE_FLOOR, Moments, collect

__all__ = ["VARIANCE_FLOOR", "Moments", "fit_swag"]


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
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch.

    rank: deviations kept, K; snapshots: epochs T >= rank >= 1.  BatchNorm statistics stay the net's own by default, so
    that all snapshots are weights of one function.
    ascent: `SAM(radius)` and the like make it F-SWAG; checkpoint: a file from which a stopped run goes on.
    Raises ValueError on bad data or divergence.
    """
    check_count(rank, "rank")
    moments, history = collect(
        net,
        data,
        seed=seed,
        rank=rank,
        snapshots=snapshots,
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        batch_size=batch_size,
        likelihood=likelihood,
        batchnorm=batchnorm,
        ascent=ascent,
        checkpoint=checkpoint,
        progress=progress,
        label="SWAG",
    )
    return moments.gaussian(net.w.dtype, history)


def fit_swag_members(
    net: Net,
    data: Data,
    W: Tensor,
    *,
    seeds: list[int],
    rank: int = 5,
    snapshots: int = 20,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> list[Gaussian]:
    """`fit_swag` from each row of `W` (B, D) with a seed of its own, trained together; settings as there."""
    check_count(rank, "rank")
    moments, history = collect(
        net,
        data,
        seed=seeds,
        start=W,
        rank=rank,
        snapshots=snapshots,
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        batch_size=batch_size,
        likelihood=likelihood,
        batchnorm=batchnorm,
        ascent=ascent,
        checkpoint=checkpoint,
        progress=progress,
        label="SWAG",
    )
    gained = history.sharpness
    return [
        moments.gaussian(W.dtype, History(history.loss[:, i], sharpness=None if gained is None else gained[:, i]), i)
        for i in range(len(W))
    ]


METHOD = Method(
    name="swag",
    label="SWAG",
    color="#8a6d00",
    dash="longdashdot",
    symbol="star",
    fit=fit_swag,
    fit_members=fit_swag_members,
    # minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
    plain=Tuned(dict(rank=5, snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)),
    takes_ascent=True,
    warm_start=True,
)
