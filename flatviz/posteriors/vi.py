"""Variational inference with a low-rank Gaussian.

    min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

by natural gradients: see `vi_step`.  SA-BMA with radius 0 is this, bit for bit, and runs the same loop.
Source: Graves 2011; Kingma and Welling 2014; kl_weight below 1: Wenzel et al. 2020.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from flatviz.checks import Seed
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.gradient import Ascent
from flatviz.training.keywords import FromPrior, defaults
from flatviz.training.run import Run
from flatviz.training.variational import TEMPERED, TEMPERED_BATCHNORM, converged, fit_gaussians, vi_step


@defaults(TEMPERED, TEMPERED_BATCHNORM)
def fit_vi(
    net: Net, data: Data, prior: Gaussian, *, seed: Seed, ascent: Ascent | None = None, **how: Unpack[FromPrior]
) -> Gaussian:
    """Fit q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    One step, in nats, averaged over `mc_samples` draws, with tau = kl_weight / N, P the prior's precision, A and Sigma precision
    and covariance of q:
        noise      z1 (D,), z2 (K,);  delta = exp(log_std) z1 + z2 factor;  w = mean + delta;  g = grad NLL(w)
        gradient   G = g / tau + P (w - prior mean) - A delta;  0 at every draw where q is the posterior
        mean       <- mean - lr v,  v <- momentum v + Sigma G / (1 + s),  s the running size of Sigma^1/2 G
        log_std    <- log_std - 0.1 lr r / (1 + s_i),  r = G exp(log_std) z1,  s_i the running size of r
        factor     <- factor - 0.05 lr (z2 (x) G) Sigma / (1 + s)
    Every second step has the negative noise of the one before.  Where G is 0 on average
    sigma^2 = leverage / (E_q[diag H] / tau + diag P), H the Hessian: the experiment `gaps` says how near a fit is.

    The best q of all is the tempered posterior exp(-N L(w) / T) prior(w), T = kl_weight: 1 is Bayes, below it is colder.  The
    KL is in nats, N = len(data).  With batchnorm="train" running statistics are in `result.buffers`, which `predict` uses; for
    other verbs take `net.with_buffers(result.buffers)`.  `result.history` holds `loss` and `kl` of each step, (steps,) each.

    Args:
        net: The network over whose D treated weights q is.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        seed: Of noise and minibatches.
        ascent: `SAM(radius)` and the like make it F-VI: each draw's gradient is taken at w + e, the KL's where q is.
        **how: How it is fitted.

    Raises:
        ValueError: Where prior or start do not cover the treated weights, on bad data, or on divergence.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor=torch.full((1, net.dim), 0.1))
        >>> q = fv.fit_vi(net, data, prior, steps=20, lr=0.1, seed=0)
        >>> q, q.history.loss.shape, q.sample(3, seed=1).shape
        (Gaussian(dim=9, rank=1), torch.Size([20]), torch.Size([3, 9]))
    """
    run = Run.of(locals(), "VI")
    return converged(*fit_gaussians(net, data, prior, partial(vi_step, ascent=ascent), run, how, [seed]))


def fit_vi_at(net: Net, data: Data, prior: Gaussian, *, radius: float = TEMPERED["kl_weight"], **how: Any) -> Gaussian:
    """VI with `radius` as its kl_weight: page and lab then have a slider for the temperature."""
    return fit_vi(net, data, prior, **how | {"kl_weight": radius})


_POINT = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    fit=fit_vi,
    plain=Tuned(TEMPERED, **_POINT),
    batchnorm=Tuned(TEMPERED_BATCHNORM, **_POINT),
    evidence=(0.0,),
    needs_prior=True,
)

_OVER_T = dict(largest=1.0, tour=(0.003, 0.01, 0.02, 0.05, 0.1), lab=(0.003, 0.01, 0.1))
OVER_T = replace(
    METHOD,
    fit=fit_vi_at,
    plain=Tuned(TEMPERED, radius=TEMPERED["kl_weight"], **_OVER_T),
    batchnorm=Tuned(TEMPERED_BATCHNORM, radius=TEMPERED_BATCHNORM["kl_weight"], **_OVER_T),
)
