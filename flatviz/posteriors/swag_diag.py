"""SWAG-diagonal: mean and variance of the tail of SGD, no covariance (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  Sigma = diag(v)

The whole v, where SWAG takes half of it and lets the deviations carry the other half.
"""

from __future__ import annotations

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Several, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.gradient import Ascent
from flatviz.training.run import Checkpoint, Run, Training
from flatviz.training.snapshots import Tail, collect


@public
def fit_swag_diag(
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
) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch; rank 0, mean (D,).

    Args:
        snapshots: epochs T >= 2; 20 as in SWAG.
        lr: the constant rate, 0.05 because `pretrain` ends there: the tail goes on where training stopped.
        momentum, weight_decay, batch_size: of SGD; 64 examples a minibatch leave noise for the tail to show.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that all snapshots are weights of one function; "train" takes
            those of each batch.
        ascent: `SAM(radius)` and the like make it F-SWAG-diagonal.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_swag_diag(net, task.train, seed=0, snapshots=5).rank
        0
    """
    run = Run.of(locals(), "SWAG-diagonal")
    tail = Tail(snapshots, lr, momentum, weight_decay, batch_size, likelihood, batchnorm, ascent)
    moments, history = collect(net, data, tail, run)
    log_std = 0.5 * moments.variance.log()
    return Gaussian(moments.mean.to(net.w.dtype), log_std.to(net.w.dtype), history=history)


METHOD = Method(
    fit=fit_swag_diag,
    # minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
    plain=Tuned(dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)),
    warm_start=True,
)
