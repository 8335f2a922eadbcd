"""SGNHT: Langevin chains with a learnt friction, which cools the noise of minibatches.

    v <- (1 - a) v - lr g + sqrt(2 lr friction T / N) xi,   w <- w + v,   g = grad L(w) + wd w
    a <- a + gain ((1 - a / 2) mean_i v_i^2 N / (lr T) - 1),   a begins at friction

This is a Nose-Hoover thermostat: where minibatches heat the chain, v exceeds its size at
temperature T, and the friction a grows until it does not.  SGHMC with a constant a samples wider
than the posterior there.  gain is lr T / N over the thermostat's mass, which the paper sets to 1.
1 - a / 2 is 1 in its limit of small steps, and gives the weights temperature T at any friction.

Source: Ding et al. 2014.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import (
    Count,
    NonNegative,
    Positive,
    PositiveShare,
    Rate,
    Seed,
    Statistics,
    Whole,
)
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.points import Chain, Energy, PointState, run_chains, thinned
from flatviz.training.settings import Checkpoint, Run


class ThermostatState(NamedTuple):
    """Weights and velocities, (D,) or (B, D); friction a, (1,) or (B, 1); steps taken, ()."""

    w: Tensor
    v: Tensor
    a: Tensor
    step: Tensor


@dataclass(frozen=True, eq=False)
class SGNHT(Chain[ThermostatState]):
    """The step of SGNHT.

    Args:
        lr: Constant.
        friction: Of the noise that is added, and a at the start.
        gain: Of the thermostat.
        energy: Energy of the posterior that is sampled; by default the loss is minus its logarithm.
    """

    lr: float
    friction: float = 0.1
    gain: float = 0.01
    energy: Energy = Energy()

    def init(self, w: Tensor) -> ThermostatState:
        """Return the state at weights `w`, (D,), or (B, D) of chains."""
        start = PointState.at(w)
        a = torch.full_like(start.w[..., :1], self.friction)
        return ThermostatState(start.w, start.v, a, start.step)

    def update(
        self, s: ThermostatState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[ThermostatState, Record]:
        """Take one step."""
        check_noise(noise, s.w.shape)
        g, record = self.energy.gradient(s.w, gradient, batch)
        scale = self.energy.scale(2 * self.lr * self.friction)
        v = (1 - s.a) * s.v - self.lr * g + scale * noise[0]
        heat = v.square().mean(-1, keepdim=True) / self.energy.scale(self.lr) ** 2
        a = s.a + self.gain * ((1 - s.a / 2) * heat - 1)
        return ThermostatState(s.w + v, v, a, s.step + 1), record


@public
def fit_sgnht(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    lr: Rate = 0.002,
    friction: PositiveShare = 0.1,
    gain: NonNegative = 0.01,
    n_draws: Count = 30,
    chains: Count = 1,
    burn_in: Whole = 300,
    thin: Count = 20,
    temperature: Positive = 1.0,
    weight_decay: NonNegative = 5e-4,
    prior: Gaussian | None = None,
    ascent: Ascent | None = None,
    batch_size: Count | None = None,
    batchnorm: Statistics = "frozen",
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run chains with a Nose-Hoover thermostat from the net's weights; draws (n_draws, D).

    Source: Ding et al. 2014, Bayesian sampling using stochastic gradient thermostats.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        lr: The step; a tenth of what descent takes, because the momentum multiplies it.
        friction: Of the noise that is added, and of the chain at the start.
        gain: Of the thermostat: its time is about 1 / gain steps; 0 is SGHMC.
        n_draws: Draws over all chains, (n_draws, D).
        chains: All run at once; `n_draws` is a multiple of them.
        burn_in: Steps before the first draw.
        thin: Steps from one draw to the next.
        temperature: T of exp(-U / T); 1 is Bayes, less is colder.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        prior: Over the D treated weights, as of `transfer`, in place of weight decay.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        batch_size: Examples a minibatch; None, all.  The thermostat cools the heat of small ones,
            and too far where a few examples, shuffled without replacement, cancel over an epoch:
            draws are then narrower than the posterior.
        batchnorm: "frozen": BatchNorm statistics of the net; "train": of each batch;
            `result.buffers`, which `predict` uses, then has those of the data at each draw.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sgnht(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run("SGNHT", seed, checkpoint, progress, batch_size, training)
    schedule = thinned(n_draws, chains, burn_in, thin)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=chains)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    chain = SGNHT(lr, friction, gain, energy)
    w = net.w.repeat(chains, 1)
    return run_chains(chain, loss, run, w, *schedule)


_NAMES = "n_draws burn_in thin lr friction temperature weight_decay batch_size"
METHOD = Method(
    fit=fit_sgnht,
    plain=Tuned(settings_of(fit_sgnht, _NAMES)),
    warm_start=True,
)
