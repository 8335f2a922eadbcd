"""Variational inference by natural gradients.

With a low-rank Gaussian from a prior, and mean-field from where the net stands.

    min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

SA-BMA with radius 0 is `VI`, bit for bit.  Source: Graves 2011; Kingma and Welling 2014; kl_weight
below 1: Wenzel et al. 2020.

Mean-field, also Bayes by Backprop (Blundell et al. 2015): a diagonal q, with the prior N(m0,
prior_std^2),

    KL = sum_i log(s0 / s_i) + (s_i^2 + (m_i - m0_i)^2) / (2 s0^2) - 1/2

summed over all weights, never averaged.  With MOPED (Krishnan et al. 2020) q starts at the trained
weights, m0 is there too, and each std starts at a share of its weight: std_i = moped |w_i|.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import torch

from flatviz.checks import Positive, Seed
from flatviz.core import Data, Net
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned
from flatviz.training.gradient import Ascent, Batch, Gradient, Noises, NoisyNLL, TrainingLoss
from flatviz.training.keywords import FromPrior, Run, Variational, defaults
from flatviz.training.variational import TEMPERED, TEMPERED_BATCHNORM, GaussianFit, fit_gaussian

STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED


# prior_std: the gains of the LayerNorms are 1, the prior's mean 0
MEAN_FIELD: dict[str, Any] = dict(
    first_std=0.02,
    prior_std=1.0,
    kl_weight=1.0,
    weight_decay=0.0,
    steps=600,
    lr=1.0,
    momentum=0.9,
    batch_size=None,
)


@dataclass(frozen=True, eq=False)
class VI(GaussianFit):
    """The step of variational inference on theta = (mean, log_std, factor).

        g = grad_theta E_q[NLL],
            then a step along the natural gradient of g + (kl_weight / N) KL(q || prior): see
            `Descent`

    Args:
        descent: How q moves.
        draws: Draws of q in a step.
        ascent: `SAM(radius)` and the like: each draw's gradient is taken at w + e.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> vi = fv.posteriors.VI(fv.training.Descent(prior, n=12, rates=torch.full((100,), 0.5)))
        >>> state, record = vi.update(vi.init(prior), loss, None, noise=prior.noise(1, seed=0))
        >>> vi.result(state), float(record.kl)
        (Gaussian(dim=9, rank=0), 0.0)
    """

    ascent: Ascent | None = None

    def gradient(self, q: Gaussian, loss: TrainingLoss, batch: Batch, noise: Noises) -> Gradient:
        """Loss, its gradient in theta, and the loss gained by the ascent."""
        return NoisyNLL(loss, batch, noise)(q, ascent=self.ascent)


def vi_of(prior: Gaussian, n: int, *, ascent: Ascent | None = None, **how: Any) -> VI:
    """The algorithm of `fit_vi` with these keywords, on n examples."""
    return VI.of(prior, n, how, ascent)


@defaults(TEMPERED, TEMPERED_BATCHNORM)
def fit_vi(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    seed: Seed,
    ascent: Ascent | None = None,
    **how: Unpack[FromPrior],
) -> Gaussian:
    """Fit q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    One step, in nats, averaged over `mc_samples` draws, with tau = kl_weight / N, P the prior's
    precision, A and Sigma precision and covariance of q:
        noise      z1 (D,), z2 (K,);  delta = exp(log_std) z1 + z2 factor;  w = mean + delta;
            g = grad NLL(w)
        gradient   G = g / tau + P (w - prior mean) - A delta;
            0 at every draw where q is the posterior
        mean       <- mean - lr v,  v <- momentum v + Sigma G / (1 + s),
            s the running size of Sigma^1/2 G
        log_std    <- log_std - 0.1 lr r / (1 + s_i),  r = G exp(log_std) z1,
            s_i the running size of r
        factor     <- factor - 0.05 lr (z2 (x) G) Sigma / (1 + s)
    Every second step has the negative noise of the one before.  If G is 0 on average,
    sigma^2 = leverage / (E_q[diag H] / tau + diag P), H the Hessian:
        the experiment `gaps` says how near a fit is.

    The best q of all is the tempered posterior exp(-N L(w) / T) prior(w), T = kl_weight: 1 is
    Bayes, below it is colder.  The KL is in nats, N = len(data).  With batchnorm="train" running
    statistics are in `result.buffers`, which `predict` uses; for other verbs take
    `net.with_buffers(result.buffers)`.  `result.history` holds `loss` and `kl` of each step,
    (steps,) each.

    Args:
        net: The network over whose D treated weights q is.
        data: The N training examples.
        prior: Gaussian over the D weights, as `transfer` returns.
        seed: Fixes noise and minibatches.
        ascent: `SAM(radius)` and the like make it F-VI: each draw's gradient is taken at w + e, the
            KL's where q is.
        **how: How it is fitted.

    Raises:
        ValueError: If prior or start do not cover the treated weights, on bad data, or on
            divergence.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor=torch.full((1, net.dim), 0.1))
        >>> q = fv.fit_vi(net, data, prior, steps=20, lr=0.1, seed=0)
        >>> q, q.history.loss.shape, q.sample(3, seed=1).shape
        (Gaussian(dim=9, rank=1), torch.Size([20]), torch.Size([3, 9]))
    """
    build = partial(vi_of, prior, len(data), ascent=ascent)
    return fit_gaussian(build, net, data, prior, Run.of("VI", seed, how), how)


@defaults(MEAN_FIELD)
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
        prior: A Gaussian, of any rank; without one, N(0, prior_std^2), or N(net.w, prior_std^2)
            with MOPED.
        seed: Fixes noise and minibatches.
        prior_std: Width of the prior, where none is given.
        first_std: Standard deviation of every weight at the start; small, so that the first draws
            are networks that know something.
        moped: Standard deviation of each weight at the start over its size, 0.05 to 0.5, in place
            of first_std.
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
    if prior is None:
        center = torch.zeros_like(net.w) if moped is None else net.w.detach().clone()
        prior = Gaussian(center, torch.full_like(center, math.log(prior_std)))
    first = (
        torch.full_like(net.w, first_std)
        if moped is None
        else (moped * net.w.abs()).clamp_min(STD_FLOOR)
    )
    build = partial(vi_of, prior, len(data), ascent=ascent)
    start = Gaussian(net.w.detach(), first.log())
    return fit_gaussian(build, net, data, start, Run.of("mean-field VI", seed, how), how)


_POINT: dict[str, Any] = dict(tour=(0.0,), lab=(0.0,))

METHOD = Method(
    fit=fit_vi,
    algorithm=vi_of,
    plain=Tuned(TEMPERED, **_POINT),
    batchnorm=Tuned(TEMPERED_BATCHNORM, **_POINT),
    needs_prior=True,
)

OVER_T = METHOD.over_temperature(tour=(0.003, 0.01, 0.02, 0.05, 0.1), lab=(0.003, 0.01, 0.1))
MEAN_FIELD_METHOD = Method(fit=fit_mfvi, plain=Tuned(MEAN_FIELD))
_MOPED: dict[str, Any] = dict(moped=0.1) | MEAN_FIELD | dict(prior_std=0.3)
MOPED = replace(
    MEAN_FIELD_METHOD,
    plain=Tuned({name: value for name, value in _MOPED.items() if name != "first_std"}),
)
