"""SGLD: gradient descent with the noise that makes its path a sample of the posterior (Welling & Teh 2011).

    w <- w - lr g + sqrt(2 lr T / N) xi,   g = grad L(w) + wd w,   xi ~ N(0, I)

lr is the rate on the mean loss L of N examples, constant where the paper lets it fall.  The bias of a finite step on a
direction of curvature h is the factor 1 / (1 - lr h / 2) on its variance.
"""

from __future__ import annotations

from typing import Unpack

from torch import Tensor

from flatviz.checks import Count, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.keywords import Thinned, defaults
from flatviz.training.langevin import Noisy, run_chains, starting_points, thinned
from flatviz.training.run import Run

SETTINGS = dict(n_draws=30, burn_in=300, thin=20, lr=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_sgld(net: Net, data: Data, *, seed: Seed, chains: Count = 1, **how: Unpack[Thinned]) -> Draws:
    """Chains w <- w - lr g + sqrt(2 lr T / N) xi from where the net stands; draws (n_draws, D).

    F-SGLD, given an `ascent`, has a drift that is no gradient, so that the sharpness-aware posterior is met approximately only.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        chains: All run at once; `n_draws` is a multiple of them.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sgld(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run.of(locals(), "SGLD")
    steps, keep = thinned(how["n_draws"], chains, how["burn_in"], how["thin"])

    def step(t: int, w: Tensor, g: Tensor, noisy: Noisy) -> None:
        w.add_(noisy(-run.optim.lr * g, 2 * run.optim.lr))

    return run_chains(net, data, run, how, step, starting_points(net, chains), steps=steps, keep=keep)


METHOD = Method(fit=fit_sgld, plain=Tuned(SETTINGS), warm_start=True)
