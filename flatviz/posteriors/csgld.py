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
from typing import Unpack

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Share
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import Chain, defaults
from flatviz.training.langevin import Noisy, run_chains, starting_points
from flatviz.training.optimize import cosine
from flatviz.training.run import Run

SETTINGS = dict(n_draws=28, cycles=4, cycle_steps=150, lr=0.05, temperature=1.0, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_csgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    cycles: Count,
    cycle_steps: Count,
    noisy_share: Share = 0.2,
    friction: Share = 1.0,
    chains: Count = 1,
    **how: Unpack[Chain],
) -> Draws:
    """`cycles` cycles from where the net stands; n_draws / (cycles chains) draws a cycle, evenly spaced over its noisy part.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        cycles: Each looks for a mode; n_draws is a multiple of cycles x chains.
        cycle_steps: Steps of a cycle.
        noisy_share: The last part of a cycle that gets noise, above 0 and at most 1; 0.2 as in the paper.  At the defaults
            only directions of large curvature reach their width (see above): raise it, cycle_steps or lr, or use
            `fit_sgld`, where widths matter.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9, which multiplies the step by ten: lower lr with it.
        chains: All run at once.
        **how: How it is run; lr is the largest step.

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
    tail, kept = _noisy_steps(how["n_draws"], cycles, cycle_steps, noisy_share, chains)
    start = starting_points(net, chains)
    v = torch.zeros_like(start)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        lr_t = run.optim.lr * cosine(t % cycle_steps, cycle_steps)
        v.mul_(1 - friction).add_(g, alpha=-lr_t)
        w.add_(noisy(v, 2 * lr_t * friction) if t % cycle_steps >= cycle_steps - tail else v)

    def keep(t: int) -> bool:
        return t % cycle_steps in kept

    return run_chains(net, data, run, how, step, start, steps=cycles * cycle_steps, keep=keep, state={"velocity": v})


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


METHOD = Method(fit=fit_csgld, plain=Tuned(SETTINGS))
CYCLICAL_SGHMC = replace(METHOD, plain=Tuned(SETTINGS | dict(lr=0.01, friction=0.1)))  # the momentum multiplies the step by ten
