"""SGD: one point, the maximum a posteriori (MAP).

    v <- m v + grad L(w) + wd w,   w <- w - lr_t v,   lr_t = lr / 2 (1 + cos(pi t / steps))

L is the mean NLL; weight decay wd is a prior N(0, 1 / (N wd)).  Every Bayesian method is compared with it.
"""

from __future__ import annotations

from functools import partial

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Statistics
from flatviz.core.ascent import FisherSAM
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.gradient import Ascent
from flatviz.training.optimize import minibatches, sgd, training_loss
from flatviz.training.run import Checkpoint, Optim, Run, Training


@public
def fit_sgd(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    steps: Count = 150,
    lr: Rate = 0.05,
    momentum: Momentum = 0.9,
    weight_decay: NonNegative = 5e-4,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics | None = None,
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Train the treated weights from where the net stands; the result is a single draw, (1, D).

    Args:
        seed: of the order of the minibatches, and of nothing else: with full batches every seed gives the same solution.
        steps: minibatches; 150 bring the loss of the digits task to rest.
        lr: the first rate; it falls to 0 along half a cosine.  0.05 is the largest at which most fits are stable.
        momentum, weight_decay: 0.9 and 5e-4 as usual; weight decay is the prior N(0, 1 / (N weight_decay)).
        batch_size: examples a minibatch; None, all of them, because few-shot training sets are small.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" (default where only some weights are treated) or "train" (default where all are); `result.buffers`
            are then its statistics, which `predict` uses.
        ascent: `SAM(radius)`, `ASAM(radius)`, `FisherSAM(radius)` for a flat solution, at two gradients a step.
        training: `Training(...)`: precision, accumulation, several processes, early stopping.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.
        MemoryError: With the bytes of a step that finds no memory.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> solution = fv.fit_sgd(net, task.train, seed=0)
        >>> float(solution.history.loss[-1]) < float(solution.history.loss[0])
        True
    """
    run, optim = Run.of(locals(), "SGD"), Optim(steps, lr, momentum, weight_decay, batch_size)
    batchnorm = batchnorm or ("train" if net.treats_all else "frozen")
    loss, trained = training_loss(net, data, likelihood, batchnorm, run.passes)
    w, history = sgd(loss, net.w, minibatches(len(data), batch_size, seed, net.device), optim, run, ascent=ascent)
    return Draws(w[None], history, trained(w).buffers() if batchnorm == "train" and net.has_batchnorm else None)


_SETTINGS = dict(steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None, batchnorm="frozen")
_POINT = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    fit=fit_sgd,
    plain=Tuned(_SETTINGS, **_POINT),
    batchnorm=Tuned(_SETTINGS | {"lr": 0.01}, **_POINT),  # at 0.05 some seeds diverge
)
# eta: at the first steps on the digits |g|^2 is about 0.5 and its largest entry 0.05, so that f = 1 + eta g^2 goes up to 50
FISHER_SAM = METHOD.flat(partial(FisherSAM, eta=1000.0), at_zero="sgd")
