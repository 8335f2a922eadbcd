"""SGHMC: Langevin sampling with momentum (Chen et al. 2014).

    v <- (1 - alpha) v - lr (grad L(w) + wd w) + sqrt(2 lr alpha T / N) xi,   w <- w + v

alpha is the friction; 1 is SGLD.  No correction for the noise of the minibatches.
"""

from __future__ import annotations

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, Gaussian
from flatviz.training.gradient import Ascent
from flatviz.training.langevin import run_chains, thinned
from flatviz.training.loop import Checkpoint


def fit_sghmc(
    net: Net,
    data: Data,
    *,
    seed: int,
    n_draws: int = 30,
    burn_in: int = 300,
    thin: int = 20,
    lr: float = 0.002,
    friction: float = 0.1,
    temperature: float = 1.0,
    weight_decay: float = 5e-4,
    prior: Gaussian | None = None,
    chains: int = 1,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Chains from where the net stands; every `thin`-th step after `burn_in` is a draw, `n_draws` over all chains.

    friction: alpha, above 0 and at most 1.
    temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
    prior: a Gaussian over the treated weights; without one, weight decay stands for N(0, 1 / (N weight_decay)).
    The noise of small minibatches heats the chain further; batch_size=None has none.
    ascent: `SAM(radius)` and the like make it F-SGHMC.
    checkpoint: a file from which a stopped run goes on.
    Raises ValueError on bad data or divergence: a step above 2 / curvature diverges, and a narrow prior is curvature.
    """
    steps, keep = thinned(n_draws, chains, burn_in, thin)
    return run_chains(
        net,
        data,
        seed=seed,
        steps=steps,
        keep=keep,
        lr=lambda step: lr,
        friction=friction,
        temperature=temperature,
        weight_decay=weight_decay,
        prior=prior,
        chains=chains,
        batch_size=batch_size,
        likelihood=likelihood,
        batchnorm=batchnorm,
        ascent=ascent,
        checkpoint=checkpoint,
        progress=progress,
        label="SGHMC",
    )


METHOD = Method(
    name="sghmc",
    label="SGHMC",
    color="#d6336c",
    dash="dash",
    symbol="cross-open",
    fit=fit_sghmc,
    plain=Tuned(
        dict(n_draws=30, burn_in=300, thin=20, lr=0.002, friction=0.1, temperature=1.0, weight_decay=5e-4, batch_size=None)
    ),
    takes_ascent=True,
    warm_start=True,
)
