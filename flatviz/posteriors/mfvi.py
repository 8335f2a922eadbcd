"""Mean-field variational inference, also Bayes by Backprop: a diagonal Gaussian (Blundell et al. 2015).

    min over mean, std of  E_q[mean NLL] + (kl_weight / N) KL(q || p),   p = N(m0, prior_std^2)
    KL = sum_i log(s0 / s_i) + (s_i^2 + (m_i - m0_i)^2) / (2 s0^2) - 1/2

summed over all weights, never averaged.  With MOPED (Krishnan et al. 2020) q starts at the trained weights, m0 is there
too, and each std starts at a share of its weight: std_i = moped |w_i|.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from flatviz.checks import Count, Momentum, NonNegative, Positive, Rate, Seed, Statistics
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.gradient import Ascent
from flatviz.training.noisy_nll import NoisyNLL, check_local
from flatviz.training.run import Checkpoint, Optim, Run, Training
from flatviz.training.variational import Bound, Descent, converged, fit_gaussians

STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED


@public
def fit_mfvi(
    net: Net,
    data: Data,
    prior: Gaussian | None = None,
    *,
    seed: Seed,
    prior_std: Positive = 0.3,
    first_std: Positive = 0.02,
    moped: Positive | None = None,
    kl_weight: NonNegative = 1.0,
    weight_decay: NonNegative = 0.0,
    mc_samples: Count = 1,
    local: bool = False,
    steps: Count = 600,
    lr: Rate = 1.0,
    momentum: Momentum = 0.9,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit q = N(mean, diag(std^2)) over the D treated weights, from where the net stands.

        min over mean, std of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    prior: a Gaussian, of any rank; without one, N(0, prior_std^2), or N(net.w, prior_std^2) with MOPED.
    first_std: std of every weight at the start; small, so that the first draws are networks that know something.
    moped: std of each weight at the start over its size, 0.05 to 0.5, in place of first_std.
    The rest as in `fit_vi`.

    Raises:
        ValueError: For a width of 0, a prior of other weights, bad data, or divergence.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit_mfvi(net, data, steps=5, seed=0)
        Gaussian(dim=9, rank=0)
    """
    run = Run.of(locals(), "mean-field VI")
    check_local(local, ascent, batchnorm)
    if prior is None:
        center = torch.zeros_like(net.w) if moped is None else net.w.detach().clone()
        prior = Gaussian(center, torch.full_like(center, math.log(prior_std)))
    first = torch.full_like(net.w, first_std) if moped is None else (moped * net.w.abs()).clamp_min(STD_FLOOR)
    (q,) = fit_gaussians(
        net,
        data,
        prior,
        partial(mfvi_step, ascent=ascent),
        seeds=[seed],
        bound=Bound(kl_weight, Gaussian(net.w.detach().clone(), first.log()), 1.0, mc_samples, local),
        likelihood=likelihood,
        batchnorm=batchnorm,
        optim=Optim(steps, lr, momentum, weight_decay, batch_size),
        run=run,
    )
    return converged(q)


def mfvi_step(q: Gaussian, nll: NoisyNLL, descend: Descent, *, ascent: Ascent | None) -> tuple[Tensor, Tensor | None]:
    """G = grad E_q[NLL] in (mean, log_std), then the natural gradient of g + (kl_weight / N) KL: see `Descent`."""
    value, g, gain = nll(q, ascent=ascent)
    descend(q, g)
    return value, gain


_SETTINGS = dict(kl_weight=1.0, weight_decay=0.0, steps=600, lr=1.0, momentum=0.9, batch_size=None)

METHOD = Method(
    fit=fit_mfvi,
    plain=Tuned(dict(first_std=0.02, prior_std=1.0, **_SETTINGS)),  # the gains of the LayerNorms are 1, the prior's mean 0
)
MOPED = replace(
    METHOD,
    plain=Tuned(dict(moped=0.1, prior_std=0.3, **_SETTINGS)),
)
