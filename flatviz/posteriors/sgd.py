"""SGD: one point, the maximum a posteriori (MAP).

    v <- m v + grad L(w) + wd w,   w <- w - lr_t v,   lr_t = lr / 2 (1 + cos(pi t / steps))

L is the mean NLL; weight decay wd is a prior N(0, 1 / (N wd)).  Every Bayesian method is compared
with it.

Deep ensembles: several networks, each trained alone, whose probabilities are averaged
(Lakshminarayanan et al. 2017).

    W = (w_1, ..., w_M),  w_m = SGD from start m, in order m

The members are trained together, a row each, which is faster and changes nothing.
"""

from functools import partial
from typing import Any, Unpack

from flatviz.checks import Count, Seed, Statistics
from flatviz.core import Data, FisherSAM, Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import Run, Trained, defaults
from flatviz.training.losses import training_loss
from flatviz.training.points import descend, train_members

SETTINGS: dict[str, Any] = dict(
    steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None
)
ENSEMBLE: dict[str, Any] = dict(members=5) | SETTINGS
BATCHNORM = SETTINGS | dict(lr=0.01)  # at 0.05 some seeds diverge


@defaults(SETTINGS, BATCHNORM)
def fit_sgd(
    net: Net, data: Data, *, seed: Seed, batchnorm: Statistics | None = None, **how: Unpack[Trained]
) -> Draws:
    """Train the treated weights from the net's weights; the result is a single draw, (1, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches, and of nothing else: with full batches every seed
            gives the same solution.
        batchnorm: "frozen" (default where only some weights are treated) or "train" (default where
            all are).
        **how: How it is trained.

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
    batchnorm = batchnorm or ("train" if net.treats_all else "frozen")
    run = Run.of("SGD", seed, how)
    loss = training_loss(net, data, how["likelihood"], batchnorm, run.training)
    w, history = descend(loss, net.w, run, how)
    return Draws(w[None], history, loss.collected)


@defaults(ENSEMBLE)
def fit_ensemble(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    members: Count,
    batchnorm: Statistics = "frozen",
    **how: Unpack[Trained],
) -> Draws:
    """Train `members` networks over the treated weights.

    Each draws all of them anew, or the head where not all are treated.

    The result is (members, D).

    Args:
        net: Gives the architecture, and what is not drawn anew.
        data: The N training examples.
        seed: Fixes starts and minibatches; member m takes seed + 1000 m.
        members: M; 5 as in the paper.
        batchnorm: "frozen", or "train", by the statistics of each batch.
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
    seeds = [seed + 1000 * member for member in range(members)]
    return train_members(net, data, seeds, run, how, batchnorm)


_POINT: dict[str, Any] = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    fit=fit_sgd,
    plain=Tuned(SETTINGS | dict(batchnorm="frozen"), **_POINT),
    batchnorm=Tuned(BATCHNORM | dict(batchnorm="frozen"), **_POINT),
)
# eta: at the first steps on the digits |g|^2 is about 0.5 and its largest entry 0.05, so that f = 1
# + eta g^2 goes up to 50
FISHER_SAM = METHOD.flat(partial(FisherSAM, eta=1000.0), at_zero="sgd")
ENSEMBLE_METHOD = Method(fit=fit_ensemble, plain=Tuned(ENSEMBLE))
