"""SGD: one point, the maximum a posteriori (MAP).

    w <- w - lr v,   v <- m v + grad L(w) + wd w

L is the mean NLL; weight decay wd is a prior N(0, 1 / (N wd)).  Every Bayesian method is compared with it.
"""

from __future__ import annotations

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.optimize import cosine, minibatches, sgd, training_loss


def fit_sgd(
    net: Net,
    data: Data,
    *,
    seed: int,
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str | None = None,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Train the treated weights from where the net stands; the result is a single draw.

    lr falls to 0 along half a cosine over `steps` minibatches.  batchnorm: "frozen" (default where only some weights
    are treated) or "train" (default where all are); `result.net` is the net at the solution with its statistics.
    ascent: `SAM(radius)`, `ASAM(radius)`, `FisherSAM(radius)` for a flat solution, at two gradients a step.
    checkpoint: a file from which a stopped run goes on.
    Raises ValueError on bad data or divergence.
    """
    run = arguments_digest(locals())
    batchnorm = batchnorm or ("train" if net.treats_all else "frozen")
    loss, trained = training_loss(net, data, likelihood, batchnorm)
    batches = minibatches(len(data), batch_size, seed, net.device)
    w, history = sgd(
        loss,
        net.w,
        batches,
        steps=steps,
        lr=lambda t: lr * cosine(t, steps),
        momentum=momentum,
        weight_decay=weight_decay,
        ascent=ascent,
        checkpoint=checkpoint,
        run=run,
        progress=progress,
    )
    return Draws(w[None], history, trained(w))


_SETTINGS = dict(steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None, batchnorm="frozen")
_POINT = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    name="sgd",
    label="SGD (MAP)",
    color="#1f2933",
    dash="dot",
    symbol="x",
    fit=fit_sgd,
    plain=Tuned(_SETTINGS, **_POINT),
    batchnorm=Tuned(_SETTINGS | {"lr": 0.01}, **_POINT),  # at 0.05 some seeds diverge
    takes_ascent=True,
)
