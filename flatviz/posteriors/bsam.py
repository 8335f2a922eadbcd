"""bSAM: SAM as the optimal relaxation of Bayes, with a diagonal Gaussian.

    q = N(m, diag(1 / (N s)))
    g   = grad L(m + z / sqrt(N s)),   z ~ N(0, I);      h = sqrt(s) |g|
    gp  = grad L(m + radius g / s)                       a perturbation of the mean, not normalised
    v  <- b1 v + (1 - b1) (gp + wd m)
    m  <- m - lr v / s                                   with the old s
    s  <- b2 s + (1 - b2) (h + damping + wd)

L is the mean NLL of N examples, wd = 1 / (N prior variance).  s is the size of a minibatch's
gradient, not a curvature: a full batch has s = c sqrt(2 / (pi N)) at curvature c without damping,
so that the standard deviations of q are (pi N / 2)^(1/4) times those of the posterior.

Source: Moellenhoff & Khan 2023.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Radius, Rate, Share
from flatviz.results import Gaussian, History
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.method import BY_NET
from flatviz.training.points import Stepped
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_of


class BSAMState(NamedTuple):
    """Mean m, velocity v and precision s, (D,) each; steps taken, ()."""

    m: Tensor
    v: Tensor
    s: Tensor
    step: Tensor


class BSAM(Stepped[Gaussian, BSAMState]):
    """Fit the diagonal Gaussian N(m, 1 / (N s)) from the net's weights, mean and log_std (D,).

        g   = grad L(m + z / sqrt(N s)),   gp = grad L(m + radius g / s)
        v  <- b1 v + (1 - b1) (gp + wd m),   m <- m - lr v / s
        s  <- b2 s + (1 - b2) (sqrt(s) |g| + damping + wd)

    `q.history.sharpness` is L(m + radius g / s) - L at the draw.

    Source: Moellenhoff & Khan 2023.

    Args:
        radius: Multiplies g / s, so its unit is that of a step, not of a distance; 0.01 as in the
            paper.
        lr: The first learning rate, of the scale of w, as v / s has; it falls to 0 along half a
            cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        b1: Memory of v.
        b2: Memory of s; 0.999 in the paper, for runs of 1e5 steps.
        damping: Added to sqrt(s) |g|, 0.1 as in the paper.
        first_precision: s at the start.
        n: N, the examples in the mean NLL; None: filled by `fit`.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit(net, data, fv.BSAM(), steps=20, seed=0).mean.shape
        torch.Size([9])
        >>> bsam, loss = fv.BSAM(n=12), fv.training.training_loss(net, data)  # a step by hand
        >>> state, record = bsam.update(bsam.init(net.w), loss, None, noise=(torch.randn(9),))
        >>> bsam.result(state).dim
        9
    """

    label = "bSAM"
    radius: Radius = 0.01
    lr: Rate = 0.1
    weight_decay: NonNegative = 0.0005
    b1: Share = 0.9
    b2: Share = 0.99
    damping: NonNegative = 0.1
    first_precision: Positive = 1.0
    n: Count = BY_NET

    def init(self, w: Tensor) -> BSAMState:
        """Return the state at weights `w` (D,)."""
        m = w.detach()
        v = torch.zeros_like(m)
        s = torch.full_like(m, self.first_precision)
        step = torch.zeros((), dtype=torch.long, device=m.device)
        return BSAMState(m, v, s, step)

    def noise(
        self,
        state: BSAMState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Draw the noise of all steps, one draw a step."""
        return FreshNoise(seeds, state.m)

    def schedule(self, step: int, steps: int) -> float:
        """Return the factor on lr, along half a cosine."""
        return cosine(step, steps)

    def update(
        self,
        state: BSAMState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
        rate: Tensor | float = 1.0,
    ) -> tuple[BSAMState, Record]:
        """Take one step at lr times `rate`."""
        self.check_filled("n")
        m, v, s, step = state
        check_noise(noise, m.shape)
        std = (self.n * s).sqrt()
        value, g = gradient(m + noise[0] / std, batch)
        worst = m + self.radius * g / s
        value_there, gp = gradient(worst, batch)
        h = s.sqrt() * g.abs()
        pull = gp + self.weight_decay * m
        v = (self.b1 * v).add(pull, alpha=1 - self.b1)
        m = m - rate_of(self.lr, rate, m) * v / s
        curvature = h + self.damping + self.weight_decay
        s = (self.b2 * s).add(curvature, alpha=1 - self.b2)
        record = Record(value, sharpness=value_there - value)
        return BSAMState(m, v, s, step + 1), record

    def result(
        self, state: BSAMState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return N(m, 1 / (N s))."""
        log_precision = math.log(self.n) + state.s.log()
        return Gaussian(state.m, -0.5 * log_precision, history=history)
