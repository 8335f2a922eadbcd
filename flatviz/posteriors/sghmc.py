"""SGHMC: Langevin sampling with momentum (Chen et al. 2014).

    v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v,   g = grad L(w) + wd w

alpha is the friction; 1 is SGLD.  The noise enters after the momentum: put through it, a momentum of 0.9 would multiply
the variance by ten.  No correction for the noise of the minibatches.
"""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Rate, Seed, Share, Statistics, Whole
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.gradient import Ascent
from flatviz.training.langevin import Energy, Noisy, run_chains, starting_points, thinned
from flatviz.training.run import Checkpoint, Run, Training


@public
def fit_sghmc(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    n_draws: Count = 30,
    burn_in: Whole = 300,
    thin: Count = 20,
    lr: Rate = 0.002,
    friction: Share = 0.1,
    temperature: NonNegative = 1.0,
    weight_decay: NonNegative = 5e-4,
    prior: Gaussian | None = None,
    chains: Count = 1,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Chains v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi, w <- w + v, from where the net stands; (n_draws, D).

    Args:
        n_draws: over all chains, a multiple of `chains`; 30 is what the largest ensembles of the studies take.
        burn_in, thin: steps before the first draw, and from one draw to the next.
        lr: the step, a fifth of SGLD's, because the momentum multiplies it by 1 / friction.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.
        temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
        weight_decay, prior: the prior N(0, 1 / (N weight_decay)), 5e-4 as the usual decay of SGD; or a Gaussian over the D
            treated weights, as `transfer` returns, in its place.
        batch_size: examples a minibatch; None (all) because the noise of small ones heats the chain further.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that U is a function of w; "train" takes those of each batch.
        ascent: `SAM(radius)` and the like make it F-SGHMC.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sghmc(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run.of(locals(), "SGHMC")
    if friction == 0:
        raise ValueError("friction must be above 0 and at most 1, got 0: 1 is SGLD")
    steps, keep = thinned(n_draws, chains, burn_in, thin)
    energy = Energy(net, data, likelihood, batchnorm, prior, weight_decay, temperature, ascent)
    start = starting_points(net, chains)
    v = torch.zeros_like(start)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        v.mul_(1 - friction).add_(g, alpha=-lr)
        w.add_(noisy(v, 2 * lr * friction))

    return run_chains(energy, step, start, run, steps=steps, keep=keep, batch_size=batch_size, state={"velocity": v})


METHOD = Method(
    fit=fit_sghmc,
    plain=Tuned(
        dict(n_draws=30, burn_in=300, thin=20, lr=0.002, friction=0.1, temperature=1.0, weight_decay=5e-4, batch_size=None)
    ),
    warm_start=True,
)
