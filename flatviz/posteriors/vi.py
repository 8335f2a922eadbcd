"""Variational inference with a low-rank Gaussian.

    min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

by reparameterised gradients, one draw a step.  It is SA-BMA with radius 0, bit for bit, and runs the same loop.
"""

from __future__ import annotations

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.variational import fit_gaussian


def fit_vi(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    seed: int,
    kl_weight: float = 1.0,
    weight_decay: float = 0.0,
    mc_samples: int = 1,
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit q over the net's treated weights, starting at the prior.

    kl_weight: 1 is Bayes, less is colder, 0 leaves the prior out; weight_decay acts on the mean only; mc_samples:
    draws a step; lr falls to 0 along half a cosine.  `result.history` holds loss and KL of each step.
    ascent: `SAM(radius)` and the like make it F-VI: each draw's gradient is taken at w + e, the KL's where q is.
    checkpoint: a file from which a stopped run goes on.
    Raises ValueError where the prior does not cover the treated weights, on bad data, or on divergence.
    """
    return fit_gaussian(
        net,
        data,
        prior,
        seed=seed,
        kl_weight=kl_weight,
        weight_decay=weight_decay,
        mc_samples=mc_samples,
        steps=steps,
        lr=lr,
        momentum=momentum,
        batch_size=batch_size,
        likelihood=likelihood,
        batchnorm=batchnorm,
        ascent=ascent,
        checkpoint=checkpoint,
        progress=progress,
    )


# The published scripts have no KL term and weight decay 5e-4; so have the studies, but on the mean only.
_SETTINGS = dict(kl_weight=0.0, weight_decay=5e-4, steps=300, lr=0.05, momentum=0.9, batch_size=None)
_POINT = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    name="vi",
    label="VI",
    color="#0072B2",
    dash="dash",
    symbol="square",
    fit=fit_vi,
    plain=Tuned(_SETTINGS, **_POINT),
    batchnorm=Tuned(_SETTINGS | {"lr": 0.01}, **_POINT),  # at 0.05 some seeds diverge
    evidence=(0.0,),
    needs_prior=True,
    takes_ascent=True,
)
