"""SWAG-diagonal: mean and variance of the tail of SGD, no covariance (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  Sigma = diag(v)

The whole v, where SWAG takes half of it and lets the deviations carry the other half.
"""

from __future__ import annotations

from typing import Unpack

from flatviz.checks import Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.keywords import LARGE, Tail, defaults
from flatviz.training.run import Run
from flatviz.training.snapshots import collect

# minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
SETTINGS = dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)


@defaults(SETTINGS | LARGE)
def fit_swag_diag(net: Net, data: Data, *, seed: Seed, **how: Unpack[Tail]) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch; rank 0, mean (D,).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of the order of the minibatches.
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
    run = Run.of(locals(), "SWAG-diagonal")
    moments, history = collect(net, data, run, how["snapshots"])
    log_std = 0.5 * moments.variance.log()
    return Gaussian(moments.mean.to(net.w.dtype), log_std.to(net.w.dtype), history=history)


METHOD = Method(fit=fit_swag_diag, plain=Tuned(SETTINGS), warm_start=True)
