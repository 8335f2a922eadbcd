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
from typing import Unpack

import torch

from flatviz.checks import Positive, Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.gradient import Ascent
from flatviz.training.keywords import Variational, defaults
from flatviz.training.run import Run
from flatviz.training.variational import converged, fit_gaussians, vi_step

STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED


# prior_std: the gains of the LayerNorms are 1, the prior's mean 0
SETTINGS = dict(
    first_std=0.02, prior_std=1.0, kl_weight=1.0, weight_decay=0.0, steps=600, lr=1.0, momentum=0.9, batch_size=None
)


@defaults(SETTINGS)
def fit_mfvi(
    net: Net,
    data: Data,
    prior: Gaussian | None = None,
    *,
    seed: Seed,
    prior_std: Positive,
    first_std: Positive,
    moped: Positive | None = None,
    ascent: Ascent | None = None,
    **how: Unpack[Variational],
) -> Gaussian:
    """Fit q = N(mean, diag(std^2)) over the D treated weights, from where the net stands.

        min over mean, std of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    Args:
        net: Its D treated weights are q's mean at the start.
        data: The N training examples.
        prior: A Gaussian, of any rank; without one, N(0, prior_std^2), or N(net.w, prior_std^2) with MOPED.
        seed: Of noise and minibatches.
        prior_std: Width of the prior, where none is given.
        first_std: Standard deviation of every weight at the start; small, so that the first draws are networks that know
            something.
        moped: Standard deviation of each weight at the start over its size, 0.05 to 0.5, in place of first_std.
        ascent: As in `fit_vi`.
        **how: How it is fitted.

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
    if prior is None:
        center = torch.zeros_like(net.w) if moped is None else net.w.detach().clone()
        prior = Gaussian(center, torch.full_like(center, math.log(prior_std)))
    first = torch.full_like(net.w, first_std) if moped is None else (moped * net.w.abs()).clamp_min(STD_FLOOR)
    how = how | dict(start=Gaussian(net.w.detach().clone(), first.log()), start_scale=1.0)
    return converged(*fit_gaussians(net, data, prior, partial(vi_step, ascent=ascent), run, how, [seed]))


METHOD = Method(fit=fit_mfvi, plain=Tuned(SETTINGS))
_MOPED = dict(moped=0.1) | SETTINGS | dict(prior_std=0.3)
MOPED = replace(METHOD, plain=Tuned({name: value for name, value in _MOPED.items() if name != "first_std"}))
