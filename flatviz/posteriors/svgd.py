"""SVGD, Stein variational gradient descent: particles that descend together and repel each other.

    phi_i = 1/S sum_j [k(w_j, w_i) (-N g_j / T) + grad_{w_j} k(w_j, w_i)],   g = grad L(w) + wd w
    k(w, w') = exp(-|w - w'|^2 / h),   h = med^2 / log S,   med the median distance of two particles
    v <- m v + (T / N) phi,   w <- w + lr v

The second term is 2 / h (w_i - w_j) k: it keeps particles apart, and T = 0 removes it.  There is no
noise: after the starts all is deterministic but minibatches.  In many dimensions S particles are
far narrower than the posterior (Ba et al. 2022).

Source: Liu & Wang 2016, equation 8.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, Several, Statistics
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.driver import Algorithm, Record
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training
from flatviz.training.losses import training_loss
from flatviz.training.points import (
    Energy,
    PointState,
    draws_of,
    in_one_place,
    run_chains,
    starts,
)
from flatviz.training.settings import Checkpoint, Run


@dataclass(frozen=True, eq=False)
class SVGD(Algorithm[PointState]):
    """The step of SVGD; no noise.

    Args:
        lr: Constant.
        momentum: m.
        energy: Energy of the posterior that is sampled.
    """

    lr: float
    momentum: float = 0.9
    energy: Energy = Energy()

    init = staticmethod(PointState.at)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        g, record = self.energy.gradient(s.w, gradient, batch)
        temperature = self.energy.temperature / self.energy.n
        v = self.momentum * s.v + stein(s.w, g, temperature)
        w = s.w.add(v, alpha=self.lr)
        return PointState(w, v, s.step + 1), record

    result = staticmethod(draws_of)


@public
def fit_svgd(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    lr: Rate = 0.1,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    steps: Count = 300,
    momentum: Momentum = 0.9,
    n_draws: Several = 30,
    temperature: NonNegative = 1.0,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    prior: Gaussian | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Move `n_draws` particles w_i <- w_i + lr v_i from different starts: (n_draws, D).

    A start draws all treated weights, or the head's alone where not all weights are treated.

    Args:
        net: Gives the architecture, and the weights that are not drawn.
        data: The N training examples.
        seed: Fixes starts and minibatches; particle i takes seed + 1000 i.
        lr: The step; a particle far from the others follows the gradient at its place by the
            share 1 / S of it.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all, as the noise of small ones heats a chain.
        steps: Number of minibatches.
        momentum: Share of the previous step that is added to the next.
        n_draws: S, the particles, all of which are draws.
        temperature: T of exp(-U / T); 1 is Bayes, less is colder, 0 removes the noise.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation; without validation data.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of VI: those collected in training) in
            `result.buffers`, which `predict` uses.
        prior: Over the D treated weights, as of `transfer`, in place of weight decay.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: For particles that all start at one place, bad data, or divergence.

    Source: Liu & Wang 2016 (arXiv 1608.04471), algorithm 1, with momentum in place of AdaGrad.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_svgd(net, task.train, seed=0, n_draws=4, steps=20).W.shape
        torch.Size([4, 58])
    """
    seeds = [seed + 1000 * particle for particle in range(n_draws)]
    w = starts(net, seeds, head_only=not net.treats_all)
    if in_one_place(w):
        raise ValueError(
            f"{n_draws} particles must start apart, got one place for all: treat a head or all"
            " weights"
        )
    run = Run("SVGD", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=n_draws)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    keep = range(steps - 1, steps)
    svgd = SVGD(lr, momentum, energy)
    q = run_chains(svgd, loss, run, w, steps, keep)
    return replace(q, chains=1)


def stein(w: Tensor, g: Tensor, temperature: float) -> Tensor:
    """Compute phi of each particle (S, D) times the temperature.

    w is (S, D), with scores -g / temperature.
    """
    wide = w.to(torch.promote_types(w.dtype, torch.float32))
    # The other mode cancels in float32
    d = torch.cdist(wide, wide, compute_mode="donot_use_mm_for_euclid_dist")
    pairs = torch.triu_indices(len(w), len(w), 1, device=w.device)
    median = d[tuple(pairs)].median()
    h = median.square() / math.log(len(w))
    k = (-d.square() / h).exp().to(w)
    apart = k.sum(1, keepdim=True) * w - k @ w  # sum over j of (w_i - w_j) k
    return (2 * temperature / h * apart - k @ g) / len(w)


# Of the rates 0.03 to 1 the default has the lowest validation NLL at SGD's prior: 0.85 on digits
# (seeds 1000 to 1002), 0.92 at 0.3
_PARTICLES = "n_draws steps lr momentum temperature weight_decay batch_size"
METHOD = Method(fit=fit_svgd, plain=Tuned(settings_of(fit_svgd, _PARTICLES)))
