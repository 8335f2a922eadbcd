"""Cyclical SGLD and SGHMC: large steps find a mode, small noisy ones sample it, cycle after cycle (Zhang et al. 2020).

    lr_t = lr / 2 (1 + cos(pi (t mod C) / C)),  C the steps of a cycle
    v <- (1 - alpha) v - lr_t g,   w <- w + v
    and v + sqrt(2 lr_t alpha T / N) xi in the last part of each cycle, whose last weights are kept

alpha is the friction: 1 is cyclical SGLD, below it cyclical SGHMC, whose velocity v goes on from cycle to cycle.

Draws are colder than exp(-U / T): noise starts when the rate is all but 0, and at friction 1 a direction of curvature h
has, at the end of the first cycle, the share 1 - exp(-2 h A) of its variance, A the sum of the noisy rates.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Rate, Seed, Share, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.gradient import Ascent
from flatviz.training.langevin import Energy, Noisy, run_chains, starting_points
from flatviz.training.optimize import cosine
from flatviz.training.run import Checkpoint, Run, Training


@public
def fit_csgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    n_draws: Count = 12,
    cycles: Count = 4,
    cycle_steps: Count = 150,
    noisy_share: Share = 0.2,
    lr: Rate = 0.05,
    friction: Share = 1.0,
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
    """`cycles` cycles from where the net stands; n_draws / (cycles chains) draws a cycle, evenly spaced over its noisy part.

    Args:
        n_draws: over all cycles and chains, a multiple of cycles x chains; (n_draws, D).
        cycles, cycle_steps: 4 modes are looked for, each in as many steps as `fit_sgd` takes.
        noisy_share: the last part of a cycle that gets noise, above 0 and at most 1; 0.2 as in the paper.  At the defaults
            only directions of large curvature reach their width (see above): raise it, cycle_steps or lr, or use
            `fit_sgld`, where widths matter.
        lr: the largest step, that of `fit_sgd`; above 2 / curvature the chain diverges, and a narrow prior is curvature.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9, which multiplies the step by ten: lower lr with it.
        temperature: T of exp(-U / T), printed beside the progress; 1 is Bayes, less is colder, 0 leaves the noise out.
        weight_decay, prior: the prior N(0, 1 / (N weight_decay)), 5e-4 as the usual decay of SGD; or a Gaussian over the D
            treated weights, as `transfer` returns, in its place.
        batch_size: examples a minibatch; None (all) because the noise of small ones heats the chain further.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that U is a function of w; "train" takes those of each batch.
        ascent: `SAM(radius)` and the like make it F-cSGLD or F-cSGHMC.
        training: `Training(...)`: precision, accumulation, several processes.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_csgld(net, task.train, seed=0, n_draws=4, cycles=2, cycle_steps=20).W.shape
        torch.Size([4, 58])
    """
    run = Run.of(locals(), "cyclical SGLD" if friction == 1 else "cyclical SGHMC")
    if friction == 0:
        raise ValueError("friction must be above 0 and at most 1, got 0: 1 is cyclical SGLD")
    tail, kept = _noisy_steps(n_draws, cycles, cycle_steps, noisy_share, chains)
    energy = Energy(net, data, likelihood, batchnorm, prior, weight_decay, temperature, ascent)
    start = starting_points(net, chains)
    v = torch.zeros_like(start)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        lr_t = lr * cosine(t % cycle_steps, cycle_steps)
        v.mul_(1 - friction).add_(g, alpha=-lr_t)
        w.add_(noisy(v, 2 * lr_t * friction) if t % cycle_steps >= cycle_steps - tail else v)

    return run_chains(
        energy,
        step,
        start,
        run,
        steps=cycles * cycle_steps,
        keep=lambda t: t % cycle_steps in kept,
        batch_size=batch_size,
        state={"velocity": v},
    )


def _noisy_steps(n_draws: int, cycles: int, cycle_steps: int, noisy_share: float, chains: int) -> tuple[int, set[int]]:
    """How many of the last steps of a cycle are noisy, and after which of its steps weights are kept."""
    each = n_draws // (cycles * chains)
    if each < 1 or n_draws % (cycles * chains):
        raise ValueError(f"n_draws must be a multiple of cycles x chains = {cycles * chains}, got {n_draws}")
    if noisy_share == 0:
        raise ValueError("noisy_share must be above 0 and at most 1, got 0")
    tail = math.ceil(noisy_share * cycle_steps)
    if each > tail:
        raise ValueError(f"the noisy part of a cycle must hold its {each} draws, got {tail} steps: raise cycle_steps")
    return tail, {cycle_steps - 1 - i * (tail // each) for i in range(each)}


_SETTINGS = dict(n_draws=28, cycles=4, cycle_steps=150, lr=0.05, temperature=1.0, weight_decay=5e-4, batch_size=None)

METHOD = Method(
    fit=fit_csgld,
    plain=Tuned(_SETTINGS),
)
CYCLICAL_SGHMC = replace(
    METHOD,
    plain=Tuned(_SETTINGS | dict(lr=0.01, friction=0.1)),  # the momentum multiplies the step by ten
)
