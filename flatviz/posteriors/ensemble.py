"""Deep ensembles: several networks, each trained alone, whose probabilities are averaged (Lakshminarayanan et al. 2017).

    W = (w_1, ..., w_M),  w_m = SGD from a start of its own, in an order of its own

The members are trained together, a row each, which is faster and changes nothing.
"""

from __future__ import annotations

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, History
from flatviz.training.gradient import Ascent
from flatviz.training.run import Checkpoint, Optim, Run, Training
from flatviz.training.starts import train_members


@public
def fit_ensemble(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    members: Count = 5,
    start: str = "auto",
    steps: Count = 150,
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
    """Train `members` networks over the treated weights; (members, D).

    Args:
        members: M; 5 as in the paper.
        start: "fresh" draws all treated weights anew for each member, "head" the head alone, "here" none; "auto" is fresh
            where all weights are treated, else head.
        steps: minibatches of each member.
        lr: the first rate; it falls to 0 along half a cosine.  0.05 is the largest at which most fits are stable.
        momentum, weight_decay: 0.9 and 5e-4 as usual; weight decay is the prior N(0, 1 / (N weight_decay)).
        batch_size: examples a minibatch; 64, whose order is each member's own.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen", or "train": each member then had statistics of its own, which are not kept: predict with
            `batchnorm=data`.
        ascent: `SAM(radius)` and the like make it a flat-seeking ensemble, whose members differ less: look at
            `disagreement`.
        training: `Training(...)`: precision, accumulation, several processes, early stopping.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_ensemble(net, task.train, seed=0, members=3, steps=20).W.shape
        torch.Size([3, 58])
    """
    run, optim = Run.of(locals(), "ensemble"), Optim(steps, lr, momentum, weight_decay, batch_size)
    seeds = [seed + 1000 * member for member in range(members)]
    W, history = train_members(net, data, seeds, start, optim, run, likelihood=likelihood, batchnorm=batchnorm, ascent=ascent)
    sharpness = None if history.sharpness is None else history.sharpness.mean(1)
    validation = None if history.validation is None else history.validation.mean(1)
    return Draws(W, History(history.loss.mean(1), sharpness=sharpness, validation=validation))


METHOD = Method(
    fit=fit_ensemble,
    plain=Tuned(dict(members=5, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)),
)
