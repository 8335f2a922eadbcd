"""Variational inference by natural gradients, with a low-rank Gaussian or mean-field.

`VI` states the objective.  SA-BMA with radius 0 is `VI`, bit for bit.

Mean-field, also Bayes by Backprop (Blundell et al. 2015), has a diagonal q and the prior
N(m0, prior_std^2),

    KL = sum_i log(s0 / s_i) + (s_i^2 + (m_i - m0_i)^2) / (2 s0^2) - 1/2

summed over all weights, never averaged.  With MOPED (Krishnan et al. 2020) q starts at the trained
weights, which are m0 too, and each std at a share of its weight: std_i = moped |w_i|.

Source: Graves 2011; Kingma and Welling 2014; kl_weight below 1: Wenzel et al. 2020.
"""

import math
from dataclasses import replace
from typing import Any, Self

import torch

from flatviz.checks import Count, NonNegative, Positive, Rate
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import Problem
from flatviz.training.gradient import Ascent, Batch, Expected, Gradient, Noises, expected
from flatviz.training.settings import Run
from flatviz.training.variational import Variational

STD_FLOOR = 1e-4  # a weight that is 0 would have std 0 under MOPED


class VI(Variational):
    """Fit q = N(mean, diag(exp(2 log_std)) + factor^T factor) over the net's D treated weights.

        min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    At the optimum sigma^2 = leverage / (E_q[diag H] / tau + diag P), with H the Hessian, P the
    prior's precision and tau = kl_weight / N; the experiment `gaps` measures how near fits are.
    The best q of all is the tempered posterior exp(-N L(w) / T) prior(w), T = kl_weight.  The KL is
    in nats, N = len(data).

    With batchnorm="train" running statistics are in `q.buffers`, which `predict` uses; for other
    verbs take `net.with_buffers(q.buffers)`.  `q.history` holds `loss` and `kl` of each step,
    (steps,) each.

    Args:
        ascent: `SAM(radius)` and the like make it F-VI: each draw's gradient is taken at w + e, the
            KL's where q is.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full((9,), -1.0), factor=torch.full((1, 9), 0.1))
        >>> q = fv.fit(net, data, fv.VI(prior, lr=0.1), steps=20, seed=0)
        >>> q.rank, q.history.loss.shape, q.sample(3, seed=1).shape
        (1, torch.Size([20]), torch.Size([3, 9]))
        >>> loss = fv.training.training_loss(net, data)  # a step by hand
        >>> vi = fv.VI(prior, lr=0.5, kl_weight=1, n=12)
        >>> state, record = vi.update(vi.init(), loss, None, noise=prior.noise(1, seed=0))
        >>> float(record.kl)
        0.0
    """

    together = ("kl_weight",)
    label = "VI"
    ascent: Ascent | None = None

    def gradient(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> Expected:
        """Compute the loss, its gradient in theta, and the gain of the ascent."""
        return expected(gradient, q, batch, noise, ascent=self.ascent)


class MeanFieldVI(VI):
    """Fit q = N(mean, diag(std^2)) over the D treated weights, from the net's weights.

        min over mean, std of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    Args:
        prior: A Gaussian, of any rank; None: N(0, prior_std^2), or N(net.w, prior_std^2) with
            MOPED.
        kl_weight: T of exp(-N L(w) / T) prior(w); 1 is Bayes, 0 removes the prior.
        lr: Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge.
        start_scale: Factor on the start's standard deviations.
        mc_samples: Draws of q a step, each of all its examples; None: as in `VI`.
        start: Where q starts; None: the net's weights, with `first_std` or `moped`.
        prior_std: Width of the prior, where none is given; 1, for the gains of LayerNorms are 1,
            and its mean 0.
        first_std: Standard deviation of every weight at the start; small, so that the first draws
            predict better than chance.
        moped: Standard deviation of each weight at the start over its size, 0.05 to 0.5, in place
            of first_std.

    Source: Blundell et al. 2015; MOPED: Krishnan et al. 2020.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit(net, data, fv.MeanFieldVI(), steps=5, seed=0).rank
        0
    """

    label = "mean-field VI"
    kl_weight: NonNegative = 1.0
    lr: Rate = 1.0
    start_scale: Positive = 1.0
    mc_samples: Count | None = 1  # type: ignore[assignment]
    prior_std: Positive = 1.0
    first_std: Positive = 0.02
    moped: Positive | None = None

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in prior and start by the widths, and N."""
        w = problem.net.w.detach()
        filled = dict[str, Any]()
        if self.prior is None:
            center = torch.zeros_like(w) if self.moped is None else w.clone()
            log_std = torch.full_like(center, math.log(self.prior_std))
            filled["prior"] = Gaussian(center, log_std)
        if self.start is None:
            if self.moped is None:
                first = torch.full_like(w, self.first_std)
            else:
                first = (self.moped * w.abs()).clamp_min(STD_FLOOR)
            filled["start"] = Gaussian(w, first.log())
        return super(MeanFieldVI, replace(self, **filled)).completed(problem, run)
