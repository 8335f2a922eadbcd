"""SGHMC: Langevin sampling with momentum (Chen et al. 2014).

    v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v,   g = grad L(w) + wd w

alpha is the friction; 1 is SGLD.  The noise enters after the momentum: put through it, a momentum of 0.9 would multiply
the variance by ten.  No correction for the noise of the minibatches.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Share
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import Thinned, defaults
from flatviz.training.langevin import Noisy, run_chains, starting_points, thinned
from flatviz.training.run import Run

SETTINGS = dict(n_draws=30, burn_in=300, thin=20, lr=0.002, friction=0.1, temperature=1.0, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_sghmc(net: Net, data: Data, *, seed: Seed, friction: Share, chains: Count = 1, **how: Unpack[Thinned]) -> Draws:
    """Chains v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi, w <- w + v, from where the net stands; (n_draws, D).

    The rate is a fifth of SGLD's, because the momentum multiplies the step by 1 / friction.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.
        chains: All run at once; `n_draws` is a multiple of them.
        **how: How it is run.

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
    steps, keep = thinned(how["n_draws"], chains, how["burn_in"], how["thin"])
    start, lr = starting_points(net, chains), run.optim.lr
    v = torch.zeros_like(start)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        v.mul_(1 - friction).add_(g, alpha=-lr)
        w.add_(noisy(v, 2 * lr * friction))

    return run_chains(net, data, run, how, step, start, steps=steps, keep=keep, state={"velocity": v})


METHOD = Method(fit=fit_sghmc, plain=Tuned(SETTINGS), warm_start=True)
