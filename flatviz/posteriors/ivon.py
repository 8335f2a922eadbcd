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
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Rate, Seed, Share, Statistics
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Gaussian, History
from flatviz.training.driver import Algorithm, Record, drive
from flatviz.training.gradient import PLAIN, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import FreshNoise, Noise, rate_at, rates


class IVONState(NamedTuple):
    """Mean m, running gradient g and Hessian h, (D,) each; steps taken, ()."""

    m: Tensor
    g: Tensor
    h: Tensor
    step: Tensor


@dataclass(frozen=True, eq=False)
class IVON(Algorithm[IVONState]):
    """The step of IVON.

    Args:
        rates: lr of each step, (T,), or a constant.
        n: N, the examples behind the mean loss.
        weight_decay: wd, above 0.
        temperature: T.
        b1: Memory of g.
        b2: Memory of h.
        draws: Draws of q in a step.
    """

    rates: Tensor | float
    n: int
    weight_decay: float
    temperature: float = 1.0
    b1: float = 0.9
    b2: float = 0.999
    draws: int = 1

    def init(self, w: Tensor, hessian: float = 0.1) -> IVONState:
        """Return the state at weights `w` (D,)."""
        m = w.detach()
        g = torch.zeros_like(m)
        h = torch.full_like(m, hessian)
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

    def std(self, h: Tensor) -> Tensor:
        """Compute the standard deviation of q, of h's shape."""
        precision = self.n * (h + self.weight_decay)
        return (self.temperature / precision).sqrt()

    def update(
        self, state: IVONState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[IVONState, Record]:
        """Take one step."""
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
        lr = rate_at(self.rates, step)
        m = m - lr * pull / (h + self.weight_decay)
        return IVONState(m, g, h, step + 1), Record(value.mean())

    def result(
        self, state: IVONState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Gaussian:
        """Return N(m, s^2)."""
        return Gaussian(state.m, self.std(state.h).log(), history=history)


@public
def fit_ivon(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    steps: Count = 600,
    lr: Rate = 0.1,
    weight_decay: Positive = 5e-4,
    temperature: Positive = 1.0,
    b1: Share = 0.9,
    b2: Share = 0.995,
    first_hessian: NonNegative = 0.1,
    mc_samples: Count = 1,
    batch_size: Count | None = None,
    batchnorm: Statistics = "frozen",
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit the diagonal Gaussian N(m, T / (N (h + wd))) from the net's weights, mean (D,).

    A step takes one gradient a draw, as SGD's, and needs no other tuning than SGD.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        steps: Number of minibatches.
        lr: The first rate, of a step in units of g / (h + wd); it falls to 0 along half a cosine.
        weight_decay: wd, above 0; it stands for the prior N(0, T / (N wd)).
        temperature: T; 1 is Bayes, less is colder.
        b1: Memory of g.
        b2: Memory of h; 0.99999 in the paper, for runs of 1e5 steps.
        first_hessian: h at the start; smaller is a wider start.
        mc_samples: Draws of q a step.
        batch_size: Examples a minibatch; None, all of them.
        batchnorm: "frozen" keeps the net's statistics; "train" takes those of each batch, and
            leaves those it collected in `result.buffers`, which `predict` uses.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data, settings out of range, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_ivon(net, task.train, seed=0, steps=20)
        Gaussian(dim=58, rank=0)
    """
    run = Run("IVON", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training, draws=mc_samples)
    falling = rates(lr, steps, net.w)
    ivon = IVON(falling, len(data), weight_decay, temperature, b1, b2, mc_samples)
    start = ivon.init(net.w, first_hessian)
    driven = drive(ivon, start, loss, run, steps=steps, shuffle=seed + 1)
    return replace(ivon.result(*driven), buffers=loss.buffers())


METHOD = Method(
    fit=fit_ivon,
    plain=Tuned(settings_of(fit_ivon, "steps lr weight_decay temperature batch_size")),
)
