"""Cyclical SGLD: large steps find a mode, small noisy ones sample it, again and again (Zhang et al. 2020).

    lr_k = lr / 2 (1 + cos(pi (k mod L) / L)),  L the steps of a cycle

SGLD with that rate; noise only in the last part of each cycle, whose last weights are kept.

Its draws are colder than exp(-U / T): noise starts when the rate is all but 0, and a direction of curvature h has, at the
end of the first cycle, the share 1 - exp(-2 h A) of its variance, A the sum of the noisy rates.
"""

from __future__ import annotations

import math

from flatviz.checks import check_count, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, Gaussian
from flatviz.training.gradient import Ascent
from flatviz.training.langevin import run_chains
from flatviz.training.loop import Checkpoint
from flatviz.training.optimize import cosine


def fit_csgld(
    net: Net,
    data: Data,
    *,
    seed: int,
    n_draws: int = 12,
    cycles: int = 4,
    cycle_steps: int = 150,
    noisy_share: float = 0.2,
    lr: float = 0.05,
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
    """`cycles` cycles from where the net stands; n_draws / (cycles chains) draws, evenly spaced over each noisy part.

    noisy_share: the last part of a cycle that gets noise, above 0 and at most 1.  At the defaults only directions of
    large curvature reach their width (see above): raise it, cycle_steps or lr, or use `fit_sgld`, where widths matter.
    temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
    prior: a Gaussian over the treated weights; without one, weight decay stands for N(0, 1 / (N weight_decay)).
    The noise of small minibatches heats the chain further; batch_size=None has none.
    ascent: `SAM(radius)` and the like make it F-cSGLD.
    checkpoint: a file from which a stopped run goes on.
    Raises ValueError on bad data or divergence: a step above 2 / curvature diverges, and a narrow prior is curvature.
    """
    check_count(cycle_steps, "cycle_steps")
    each = check_count(n_draws, "n_draws") // (check_count(cycles, "cycles") * check_count(chains, "chains"))
    if each < 1 or n_draws % (cycles * chains):
        raise ValueError(f"n_draws must be a multiple of cycles x chains = {cycles * chains}, got {n_draws}")
    if not 0 < check_nonnegative(noisy_share, "noisy_share") <= 1:
        raise ValueError(f"noisy_share must be above 0 and at most 1, got {noisy_share:g}")
    tail = math.ceil(noisy_share * cycle_steps)
    if each > tail:
        raise ValueError(f"the noisy part of a cycle must hold its {each} draws, got {tail} steps: raise cycle_steps")
    kept = {cycle_steps - 1 - i * (tail // each) for i in range(each)}
    return run_chains(
        net,
        data,
        seed=seed,
        steps=cycles * cycle_steps,
        keep=lambda step: step % cycle_steps in kept,
        lr=lambda step: lr * cosine(step % cycle_steps, cycle_steps),
        noisy=lambda step: step % cycle_steps >= cycle_steps - tail,
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
        label="cyclical SGLD",
    )


METHOD = Method(
    name="csgld",
    label="cyclical SGLD",
    color="#7d0f38",
    dash="dot",
    symbol="x-open",
    fit=fit_csgld,
    plain=Tuned(dict(n_draws=28, cycles=4, cycle_steps=150, lr=0.05, temperature=1.0, weight_decay=5e-4, batch_size=None)),
    takes_ascent=True,
)
