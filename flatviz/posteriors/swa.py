"""Stochastic weight averaging: one point, the average of the tail of SGD (Izmailov et al. 2018).

w_SWA = 1/T sum_t w_t,  w_t the weights at the ends of T epochs at a constant rate
"""

from __future__ import annotations

from typing import Unpack

from flatviz.checks import Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import LARGE, Tail, defaults
from flatviz.training.run import Run
from flatviz.training.snapshots import collect

# minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
SETTINGS = dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)


@defaults(SETTINGS | LARGE)
def fit_swa(net: Net, data: Data, *, seed: Seed, **how: Unpack[Tail]) -> Draws:
    """Run SGD at a constant rate from where the net stands and average one snapshot an epoch; a single draw, (1, D).

    With batchnorm="train" `result.buffers` holds statistics recomputed on `data` at the average, for those collected on the
    way belong to other weights.

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
        >>> fv.fit_swa(net, task.train, seed=0, snapshots=5).W.shape
        torch.Size([1, 58])
    """
    run = Run.of(locals(), "SWA")
    moments, history = collect(net, data, run, how["snapshots"])
    w = moments.mean.to(net.w.dtype)
    trains = run.batchnorm == "train" and net.has_batchnorm
    return Draws(w[None], history, refresh_batchnorm(net, w, data).buffers() if trains else None)


METHOD = Method(fit=fit_swa, plain=Tuned(SETTINGS), warm_start=True)
