"""IVON: variational inference at the cost of Adam, by a running estimate of the Hessian.

    q = N(m, diag(s^2)),   s^2 = T / (N (h + wd))
    ghat = mean over draws of grad L(m + s z),   hhat = mean of grad L(m + s z) z / s,   z ~ N(0, I)
    g <- b1 g + (1 - b1) ghat
    h <- b2 h + (1 - b2) hhat + (1 - b2)^2 (h - hhat)^2 / (2 (h + wd))
    m <- m - lr (g / (1 - b1^t) + wd m) / (h + wd)

L is the mean NLL of N examples, wd = T / (N prior variance).  E[hhat] is the diagonal of the
Hessian, and the last term of h keeps it above -wd.  At the optimum q is that of mean-field VI.

Source: Shen et al. 2024 (arXiv 2402.17641).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Rate, Share
from flatviz.results import Gaussian, History
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.method import BY_NET, Usual
from flatviz.training.points import Stepped
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_of


class IVONState(NamedTuple):
    """Mean m, running gradient g and Hessian h, (D,) each; steps taken, ()."""

    m: Tensor
    g: Tensor
    h: Tensor
    step: Tensor


class IVON(Stepped[Gaussian, IVONState]):
    """Fit the diagonal Gaussian N(m, T / (N (h + wd))) from the net's weights, mean (D,).

        ghat = mean over draws of grad L(m + s z),   hhat = mean of grad L(m + s z) z / s
        g <- b1 g + (1 - b1) ghat,   h <- b2 h + (1 - b2) hhat + a term that keeps h + wd > 0
        m <- m - lr (g / (1 - b1^t) + wd m) / (h + wd)

    A step takes one gradient a draw, as SGD's, and needs no other tuning than SGD.

    Source: Shen et al. 2024 (arXiv 2402.17641).

    Args:
        lr: The first rate, of a step in units of g / (h + wd); it falls to 0 along half a cosine.
        weight_decay: wd, above 0; it stands for the prior N(0, T / (N wd)).
        temperature: T of the tempered likelihood; 1 is Bayes, less is colder.
        b1: Memory of g.
        b2: Memory of h; 0.99999 in the paper, for runs of 1e5 steps.
        first_hessian: h at the start; smaller is a wider start.
        mc_samples: Draws of q a step.
        n: N, the examples in the mean NLL; None: filled by `fit`.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.IVON(), seed=0, steps=20).dim
        58
    """

    label = "IVON"
    usual = Usual(steps=600)
    lr: Rate = 0.1
    weight_decay: Positive = 5e-4
    temperature: Positive = 1.0
    b1: Share = 0.9
    b2: Share = 0.995
    first_hessian: NonNegative = 0.1
    mc_samples: Count = 1
    n: Count = BY_NET

    @property
    def draws(self) -> int:
        """Draws of q in a step."""
        return self.mc_samples

    def init(self, w: Tensor) -> IVONState:
        """Return the state at weights `w` (D,)."""
        m = w.detach()
        g = torch.zeros_like(m)
        h = torch.full_like(m, self.first_hessian)
        step = torch.zeros((), dtype=torch.long, device=m.device)
        return IVONState(m, g, h, step)

    def noise(
        self,
        state: IVONState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Draw z (S, D) of each step."""
        return FreshNoise(seeds, state.m.expand(self.draws, -1))

    def schedule(self, step: int, steps: int) -> float:
        """Return the factor on lr, along half a cosine."""
        return cosine(step, steps)

    def std(self, h: Tensor) -> Tensor:
        """Compute the standard deviation of q, of h's shape."""
        precision = self.n * (h + self.weight_decay)
        return (self.temperature / precision).sqrt()

    def update(
        self,
        state: IVONState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
        rate: Tensor | float = 1.0,
    ) -> tuple[IVONState, Record]:
        """Take one step at lr times `rate`."""
        self.check_filled("n")
        m, g, h, step = state
        check_noise(noise, ("S", *m.shape))
        (z,) = noise
        std = self.std(h)
        value, slopes = gradient(m + std * z, batch)
        hessian = (slopes * z).mean(0) / std
        g = (self.b1 * g).add(slopes.mean(0), alpha=1 - self.b1)
        off = (1 - self.b2) * (hessian - h)
        h = h + off + off.square() / (2 * (h + self.weight_decay))
        filled = 1 - self.b1 ** (step + 1).double()  # bias correction
        pull = g / filled + self.weight_decay * m
        m = m - rate_of(self.lr, rate, m) * pull / (h + self.weight_decay)
        return IVONState(m, g, h, step + 1), Record(value.mean())

    def result(
        self, state: IVONState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return N(m, s^2)."""
        return Gaussian(state.m, self.std(state.h).log(), history=history)
