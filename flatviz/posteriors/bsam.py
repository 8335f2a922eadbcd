"""bSAM: SAM as the optimal relaxation of Bayes, and the diagonal Gaussian it trains (Moellenhoff & Khan 2023).

    q = N(m, diag(1 / (N s)))
    g   = grad L(m + z / sqrt(N s)),   z ~ N(0, I);      h = sqrt(s) |g|
    gp  = grad L(m + radius g / s)                       the mean is perturbed, not the draw, and nothing is normalised
    v  <- b1 v + (1 - b1) (gp + wd m)
    m  <- m - lr v / s                                   with s as it was
    s  <- b2 s + (1 - b2) (h + damping + wd)

L is the mean NLL of N examples, wd = 1 / (N prior variance); s is the size of a minibatch's gradient, not a curvature.

A full batch has s = c sqrt(2 / (pi N)) at curvature c, with the damping left out: the standard deviations of q
are (pi N / 2)^(1/4) times those of the posterior.
"""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Radius, Seed, Share, Statistics
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator, randn_like
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian
from flatviz.training.gradient import value_and_grad
from flatviz.training.keywords import Minibatches, defaults
from flatviz.training.losses import training_loss
from flatviz.training.optimize import cosine, early_stopping, minibatches, recorded
from flatviz.training.run import Run

SETTINGS = dict(steps=300, lr=0.1, weight_decay=5e-4, batch_size=None)


@defaults(SETTINGS)
def fit_bsam(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    radius: Radius = 0.01,
    steps: Count,
    b1: Share = 0.9,
    b2: Share = 0.99,
    damping: NonNegative = 0.1,
    first_precision: Positive = 1.0,
    batchnorm: Statistics = "frozen",
    **how: Unpack[Minibatches],
) -> Gaussian:
    """Fit m and s from where the net stands; the diagonal Gaussian N(m, 1 / (N s)), mean and log_std (D,).

    `result.history.sharpness` is L(m + radius g / s) - L at the draw.

    The rate lr is of the size of w, as v / s is, and falls to 0 along half a cosine.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        radius: Multiplies g / s, so its unit is that of a step, not of a distance; 0.01 as in the paper.
        steps: Minibatches.
        b1: Memory of v.
        b2: Memory of s; 0.999 in the paper, for runs of 1e5 steps.
        damping: Added to h, 0.1 as in the paper.
        first_precision: s at the start.
        batchnorm: "frozen" keeps the net's statistics; "train" takes those of each batch.
        **how: How it is trained.

    Raises:
        ValueError: On bad data, settings out of range, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_bsam(net, task.train, seed=0, steps=20).mean.shape
        torch.Size([58])
    """
    run = Run.of(locals(), "bSAM")
    optim = run.optim
    loss = training_loss(net, data, run)
    n, source = len(data), generator(seed)
    m, v, s = net.w.detach().clone(), torch.zeros_like(net.w), torch.full_like(net.w, float(first_precision))

    def update(step: int, index: Tensor | None) -> tuple[Tensor, Tensor]:
        value, g = value_and_grad(loss, m + randn_like(m, source) / (n * s).sqrt(), index)
        at_worst, gp = value_and_grad(loss, m + radius * g / s, index, again=True)
        h = s.sqrt() * g.abs()
        v.mul_(b1).add_(gp + optim.weight_decay * m, alpha=1 - b1)
        m.sub_(optim.lr * cosine(step, steps) * v / s)
        s.mul_(b2).add_(h + damping + optim.weight_decay, alpha=1 - b2)
        return value, at_worst - value

    batches = minibatches(n, optim.batch_size, seed + 1, net.device)
    stopping = early_stopping(loss, [m, s], lambda: m, run)
    history = recorded(loss, {"m": m, "v": v, "s": s, "noise": source}, update, batches, run, stopping)
    return Gaussian(m, -0.5 * (math.log(n) + s.log()), history=history)


METHOD = Method(fit=fit_bsam, plain=Tuned(SETTINGS, radius=0.01, largest=0.1), gradients=2)
