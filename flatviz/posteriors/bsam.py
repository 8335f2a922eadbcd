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
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Radius, Rate, Seed, Share, Statistics
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Gaussian, History
from flatviz.training.driver import Algorithm, Record, drive
from flatviz.training.gradient import PLAIN, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import FreshNoise, Noise, rate_at, rates


class BSAMState(NamedTuple):
    """Mean m, velocity v and precision s, (D,) each; steps taken, ()."""

    m: Tensor
    v: Tensor
    s: Tensor
    step: Tensor


@dataclass(frozen=True, eq=False)
class BSAM(Algorithm[BSAMState]):
    """The step of bSAM.

    Args:
        rates: lr of each step, (T,), or a constant.
        n: N, the examples behind the mean loss.
        radius: Multiplies g / s.
        weight_decay: wd.
        b1: Memory of v.
        b2: Memory of s.
        damping: Added to h.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> bsam = fv.posteriors.BSAM(0.1, n=12)
        >>> state, record = bsam.update(bsam.init(net.w), loss, None, noise=(torch.randn(9),))
        >>> bsam.result(state)
        Gaussian(dim=9, rank=0)
    """

    rates: Tensor | float
    n: int
    radius: float = 0.01
    weight_decay: float = 0.0
    b1: float = 0.9
    b2: float = 0.99
    damping: float = 0.1

    def init(self, w: Tensor, precision: float = 1.0) -> BSAMState:
        """Return the state at weights `w` (D,)."""
        m = w.detach()
        v = torch.zeros_like(m)
        s = torch.full_like(m, precision)
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

    def update(
        self, state: BSAMState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[BSAMState, Record]:
        """Take one step."""
        m, v, s, step = state
        check_noise(noise, m.shape)
        std = (self.n * s).sqrt()
        value, g = gradient(m + noise[0] / std, batch)
        worst = m + self.radius * g / s
        value_there, gp = gradient(worst, batch)
        h = s.sqrt() * g.abs()
        pull = gp + self.weight_decay * m
        v = (self.b1 * v).add(pull, alpha=1 - self.b1)
        lr = rate_at(self.rates, step)
        m = m - lr * v / s
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


@public
def fit_bsam(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    radius: Radius = 0.01,
    steps: Count = 300,
    b1: Share = 0.9,
    b2: Share = 0.99,
    damping: NonNegative = 0.1,
    first_precision: Positive = 1.0,
    batchnorm: Statistics = "frozen",
    lr: Rate = 0.1,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Fit the diagonal Gaussian N(m, 1 / (N s)) from the net's weights, mean and log_std (D,).

    `result.history.sharpness` is L(m + radius g / s) - L at the draw.  The rate lr has the scale of
    w, as v / s has, and falls to 0 along half a cosine.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        radius: Multiplies g / s, so its unit is that of a step, not of a distance; 0.01 as in the
            paper.
        steps: Number of minibatches.
        b1: Memory of v.
        b2: Memory of s; 0.999 in the paper, for runs of 1e5 steps.
        damping: Added to h, 0.1 as in the paper.
        first_precision: s at the start.
        batchnorm: "frozen" keeps the net's statistics; "train" takes those of each batch,
            and leaves those it collected in `result.buffers`, which `predict` uses.
        lr: The first learning rate; it falls to 0 along half a cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
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
        >>> fv.fit_bsam(net, task.train, seed=0, steps=20).mean.shape
        torch.Size([58])
    """
    run = Run("bSAM", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, run.training)
    falling = rates(lr, steps, net.w)
    bsam = BSAM(falling, len(data), radius, weight_decay, b1, b2, damping)
    start = bsam.init(net.w, first_precision)
    driven = drive(bsam, start, loss, run, steps=steps, shuffle=seed + 1)
    return replace(bsam.result(*driven), buffers=loss.buffers())


METHOD = Method(
    fit=fit_bsam,
    plain=Tuned(settings_of(fit_bsam, "steps lr weight_decay batch_size"), 0.01, 0.1),
    gradients=2,
)
