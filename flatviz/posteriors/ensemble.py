"""Deep ensembles: several networks, each trained alone, whose probabilities are averaged (Lakshminarayanan et al. 2017).

    W = (w_1, ..., w_M),  w_m = SGD from a start of its own, in an order of its own

The members are trained together, a row each, which is faster and changes nothing.
"""

from __future__ import annotations

from typing import Unpack

from flatviz.checks import Count, Seed, Statistics
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, History
from flatviz.training.keywords import Run, Trained, defaults
from flatviz.training.sgd import train_members

SETTINGS = dict(members=5, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_ensemble(
    net: Net, data: Data, *, seed: Seed, members: Count, batchnorm: Statistics = "frozen", **how: Unpack[Trained]
) -> Draws:
    """Train `members` networks over the treated weights, of which each draws all anew, or the head where not all are treated.

    The result is (members, D).

    Args:
        net: Gives the architecture, and what is not drawn anew.
        data: The N training examples.
        seed: Of starts and minibatches; member m takes seed + 1000 m.
        members: M; 5 as in the paper.
        batchnorm: "frozen", or "train": each member then had statistics of its own, which are not kept: predict with
            `batchnorm=data`.
        **how: How each is trained.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_ensemble(net, task.train, seed=0, members=3, steps=20).W.shape
        torch.Size([3, 58])
    """
    run = Run.of("ensemble", seed, how)
    W, history = train_members(net, data, [seed + 1000 * member for member in range(members)], run, how, batchnorm)
    return Draws(
        W,
        History(
            *(None if v is None else v.mean(1) for v in (history.loss, None, history.sharpness, history.validation)),
            notes=history.notes,
        ),
    )


METHOD = Method(fit=fit_ensemble, plain=Tuned(SETTINGS))
