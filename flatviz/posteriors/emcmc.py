"""Entropy-MCMC: a chain tied by a spring to a guide that feels only the smoothed posterior (Li & Zhang 2024).

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

Integrating w out, a follows exp(-U) smoothed over a width sqrt(eta): flat ground weighs more.  One gradient a step.
"""

from __future__ import annotations

from typing import Unpack

from torch import Tensor

from flatviz.checks import NonNegative, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import Thinned, defaults
from flatviz.training.langevin import Noisy, run_chains, starting_points, thinned
from flatviz.training.run import Run

SETTINGS = dict(n_draws=30, burn_in=300, thin=20, lr=0.01, eta=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_emcmc(net: Net, data: Data, *, seed: Seed, eta: NonNegative, **how: Unpack[Thinned]) -> Draws:
    """One chain from where the net stands; draws (n_draws, D) are of w and of its guide a in turn, half of them each.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        eta: Variance of the spring, in units of w^2; the smaller, the tighter a follows w.  lr / (eta N) must stay below
            1, which 0.01 does for a hundred examples at lr 0.01.
        **how: How it is run; n_draws is even.

    Raises:
        ValueError: For an odd n_draws, a spring too stiff for lr, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_emcmc(net, task.train, seed=0, eta=0.1, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run.of(locals(), "E-MCMC")
    n, n_draws, lr = len(data), how["n_draws"], run.optim.lr
    if n_draws % 2:
        raise ValueError(f"n_draws must be even, half of w and half of its guide, got {n_draws}")
    if eta == 0 or lr / (eta * n) >= 1:
        raise ValueError(f"lr / (eta N) must be below 1, got lr={lr:g}, eta={eta:g}, N={n}: raise eta or lower lr")
    steps, keep = thinned(n_draws // 2, 1, how["burn_in"], how["thin"])
    start, a = starting_points(net, 1), starting_points(net, 1)

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        spring = (w - a) / (eta * n)
        noisy(w.add_(g + spring, alpha=-lr), 2 * lr)
        noisy(a.add_(spring, alpha=lr), 2 * lr)

    return run_chains(net, data, run, how, step, start, steps=steps, keep=keep, state={"guide": a}, also_kept=(a,))


METHOD = Method(fit=fit_emcmc, plain=Tuned(SETTINGS), warm_start=True)
