"""SGLD: gradient descent with the noise that makes its path a sample of the posterior (Welling & Teh 2011).

    w <- w - lr (grad L(w) + wd w) + sqrt(2 lr T / N) xi,   xi ~ N(0, I)

lr is the rate on the mean loss L of N examples.  The bias of a finite step on a direction of curvature h is the factor
1 / (1 - lr h / 2) on its variance.
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


def fit_sgld(
    net: Net,
    data: Data,
    *,
    seed: int,
    n_draws: int = 30,
    burn_in: int = 300,
    thin: int = 20,
    lr: float = 0.01,
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

    temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
    prior: a Gaussian over the treated weights; without one, weight decay stands for N(0, 1 / (N weight_decay)).
    The noise of small minibatches heats the chain further; batch_size=None has none.
    ascent: `SAM(radius)` and the like make it F-SGLD; with one ascent step its drift is no gradient, so that the
        sharpness-aware posterior is met approximately only.
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
        label="SGLD",
    )


METHOD = Method(
    name="sgld",
    label="SGLD",
    color="#b3124f",
    dash="solid",
    symbol="cross",
    fit=fit_sgld,
    plain=Tuned(dict(n_draws=30, burn_in=300, thin=20, lr=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)),
    takes_ascent=True,
    warm_start=True,
)
