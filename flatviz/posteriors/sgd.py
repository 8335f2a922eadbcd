"""SGD: one point, the maximum a posteriori (MAP); and deep ensembles.

    v <- m v + grad L(w) + wd w,   w <- w - lr_t v,   lr_t = lr / 2 (1 + cos(pi t / steps))

L is the mean NLL; weight decay wd is a prior N(0, 1 / (N wd)).  Every Bayesian method is compared
with SGD.

Deep ensembles average the probabilities of several networks (Lakshminarayanan et al. 2017):

    W = (w_1, ..., w_M),  w_m = SGD from start m

The members are trained at once, a row each, which is faster and changes nothing.
"""

from functools import partial

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Statistics
from flatviz.core import Data, FisherSAM, Likelihood, Net, Progress, public
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.augment import Augment
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.losses import training_loss
from flatviz.training.points import descend, train_members
from flatviz.training.settings import Checkpoint, Optim, Run

RATE = 0.05
RATE_BATCHNORM = 0.01  # at 0.05 some seeds diverge


@public
def fit_sgd(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    batchnorm: Statistics | None = None,
    lr: Rate | None = None,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    steps: Count = 300,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    augment: Augment | None = None,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Train the treated weights from the net's weights; the result is a single draw, (1, D).

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the order of the minibatches alone: with full batches every seed gives the same
            solution.
        batchnorm: "frozen" (default where only some weights are treated) or "train" (default where
            all are); `result.buffers` are then its statistics, which `predict` uses.
        lr: The first learning rate; it falls to 0 along half a cosine. None: 0.05, of a net
            with BatchNorm 0.01.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise. A gradient longer
            than 1 is shortened to 1 where the network computes the noise, and for several labels an
            example (tokens).
        training: `Training(...)`: precision, accumulation, early stopping.
        augment: Varies the inputs of a minibatch once a step, for both gradients and all draws: a
            transform of one example, as of torchvision.transforms.v2, or f(x, generator) of all
            (n, ...), on their device. Images stored as bytes come from 0 to 1. None: data as it is.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

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
    usual = RATE_BATCHNORM if net.has_batchnorm else RATE
    optim = Optim(steps, usual if lr is None else lr, momentum, weight_decay, ascent)
    run = Run("SGD", seed, checkpoint, progress, batch_size, training, augment)
    batchnorm = batchnorm or ("train" if net.treats_all else "frozen")
    loss = training_loss(net, data, likelihood, batchnorm, run.training)
    w, history = descend(loss, net.w, run, optim)
    return Draws(w[None], history, loss.buffers())


@public
def fit_ensemble(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    members: Count = 5,
    batchnorm: Statistics = "frozen",
    lr: Rate = 0.05,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    steps: Count = 300,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Train `members` networks over the treated weights: (members, D).

    Each starts at new draws of all of them, or of the head where not all are treated.

    Args:
        net: Gives the architecture, and the weights that are not drawn.
        data: The N training examples.
        seed: Fixes starts and minibatches; member m takes seed + 1000 m.
        members: M; 5 as in the paper.
        batchnorm: "frozen", or "train", by the statistics of each batch; `result.buffers`, which
            `predict` uses, then has those of the data at each member.
        lr: The first learning rate; it falls to 0 along half a cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise. A gradient longer
            than 1 is shortened to 1 where the network computes the noise, and for several labels an
            example (tokens).
        training: `Training(...)`: precision, accumulation, early stopping.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_ensemble(net, task.train, seed=0, members=3, steps=20).W.shape
        torch.Size([3, 58])
    """
    run = Run("ensemble", seed, checkpoint, progress, batch_size, training)
    optim = Optim(steps, lr, momentum, weight_decay, ascent)
    loss = training_loss(net, data, likelihood, batchnorm, run.training, members=members)
    seeds = [seed + 1000 * member for member in range(members)]
    return train_members(loss, seeds, run, optim)


_TRAINED = "steps lr momentum weight_decay batch_size"


def _tuned(lr: float) -> Tuned:
    settings = settings_of(fit_sgd, _TRAINED, lr=lr, batchnorm="frozen")
    return Tuned(settings, tour=(0.0,), lab=(0.0,))


METHOD = Method(
    fit=fit_sgd,
    plain=_tuned(RATE),
    batchnorm=_tuned(RATE_BATCHNORM),
)
# eta: in the first steps on the digits |g|^2 is about 0.5 and its largest entry 0.05, so that
# f = 1 + eta g^2 reaches 50
FISHER_SAM = METHOD.flat(partial(FisherSAM, eta=1000.0), at_zero="sgd")
ENSEMBLE_METHOD = Method(
    fit=fit_ensemble, plain=Tuned(settings_of(fit_ensemble, f"members {_TRAINED}"))
)
