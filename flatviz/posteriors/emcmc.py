"""Entropy-MCMC: a chain tied by a spring to a guide that feels only the smoothed posterior (Li & Zhang 2024).

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

Integrating w out, a follows exp(-U) smoothed over a width sqrt(eta): flat ground weighs more.  One gradient a step.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import check_finite, check_lr, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, randn_like
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, Gaussian, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent, gradient
from flatviz.training.langevin import prior_pull, thinned
from flatviz.training.loop import Checkpoint, advance
from flatviz.training.optimize import check_converged, minibatches, training_loss


def fit_emcmc(
    net: Net,
    data: Data,
    *,
    seed: int,
    eta: float = 0.01,
    n_draws: int = 30,
    burn_in: int = 300,
    thin: int = 20,
    lr: float = 0.01,
    temperature: float = 1.0,
    weight_decay: float = 5e-4,
    prior: Gaussian | None = None,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """One chain from where the net stands; draws are of w and of its guide a in turn, half of `n_draws` each.

    eta: variance of the spring; the smaller, the tighter a follows w.  lr / (eta N) must stay below 1.
    temperature: T of exp(-U / T), printed beside the progress.  prior: a Gaussian over the treated weights; without one,
    weight decay stands for N(0, 1 / (N weight_decay)).  checkpoint: a file from which a stopped run goes on.
    Raises ValueError for an odd n_draws, a spring too stiff for lr, bad data, or divergence.
    """
    run = arguments_digest(locals())
    check_lr(lr)
    n = len(data)
    if n_draws % 2:
        raise ValueError(f"n_draws must be even, half of w and half of its guide, got {n_draws}")
    if check_nonnegative(eta, "eta") == 0 or lr / (eta * n) >= 1:
        raise ValueError(f"lr / (eta N) must be below 1, got lr={lr:g}, eta={eta:g}, N={n}: raise eta or lower lr")
    check_nonnegative(temperature, "temperature")
    steps, keep = thinned(n_draws // 2, 1, burn_in, thin)
    loss, _ = training_loss(net, data, likelihood, batchnorm)
    pull, source = prior_pull(net, n, prior, weight_decay), generator(seed)
    w, guide, kept, losses = net.w.detach().clone(), net.w.detach().clone(), [], []
    spread = math.sqrt(2 * lr * temperature / n)

    def update(step: int, index: Tensor | None) -> None:
        value, g, _ = gradient(loss, w, index, ascent)
        spring = (w - guide) / (eta * n)
        w.add_(g + pull(w) + spring, alpha=-lr).add_(randn_like(w, source), alpha=spread)
        guide.add_(spring, alpha=lr).add_(randn_like(w, source), alpha=spread)
        losses.append(value)
        if keep(step):
            check_finite(w, f"the chain at step {step}")
            kept.extend([w.clone(), guide.clone()])

    advance(
        {"w": w, "guide": guide, "noise": source, "kept": kept, "losses": losses, **getattr(loss, "state", {})},
        update,
        minibatches(n, batch_size, seed + 1, net.device),
        steps,
        run=run,
        checkpoint=checkpoint,
        progress=progress,
        label=f"E-MCMC, T = {temperature:g}",
    )
    history = History(torch.stack(losses))
    check_converged(history.loss, w, guide)
    return Draws(torch.stack(kept), history)


METHOD = Method(
    name="emcmc",
    label="E-MCMC",
    color="#96506b",
    dash="dashdot",
    symbol="diamond-open",
    fit=fit_emcmc,
    plain=Tuned(dict(n_draws=30, burn_in=300, thin=20, lr=0.01, eta=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)),
    takes_ascent=True,
    warm_start=True,
)
