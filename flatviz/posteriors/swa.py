"""Stochastic weight averaging: one point, the average of the tail of SGD (Izmailov et al. 2018).

w_SWA = 1/T sum_t w_t,  w_t the weights at the ends of T epochs at a constant rate
"""

from __future__ import annotations

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Several, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.gradient import Ascent
from flatviz.training.run import Checkpoint, Run, Training
from flatviz.training.snapshots import Tail, collect


@public
def fit_swa(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    snapshots: Several = 20,
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
) -> Draws:
    """Run SGD at a constant rate from where the net stands and average one snapshot an epoch; a single draw, (1, D).

    Args:
        snapshots: epochs T >= 2; 20 as in SWAG.
        lr: the constant rate, 0.05 because `pretrain` ends there: the tail goes on where training stopped.
        momentum, weight_decay, batch_size: of SGD; 64 examples a minibatch leave noise for the tail to show.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen", or "train": then `result.buffers` holds statistics recomputed on `data` at the average, for those
            collected on the way belong to other weights.
        ascent: `SAM(radius)` and the like make it F-SWA.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swa(net, task.train, seed=0, snapshots=5).W.shape
        torch.Size([1, 58])
    """
    run = Run.of(locals(), "SWA")
    tail = Tail(snapshots, lr, momentum, weight_decay, batch_size, likelihood, batchnorm, ascent)
    moments, history = collect(net, data, tail, run)
    w = moments.mean.to(net.w.dtype)
    trains = batchnorm == "train" and net.has_batchnorm
    return Draws(w[None], history, refresh_batchnorm(net, w, data).buffers() if trains else None)


METHOD = Method(
    fit=fit_swa,
    # minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
    plain=Tuned(dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)),
    warm_start=True,
)
