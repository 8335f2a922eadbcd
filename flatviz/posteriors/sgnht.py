"""SGNHT: Langevin chains with a learnt friction, which cools the noise of minibatches.

    v <- (1 - a) v - lr g + sqrt(2 lr friction T / N) xi,   w <- w + v,   g = grad L(w) + wd w
    a <- a + gain ((1 - a / 2) mean_i v_i^2 N / (lr T) - 1),   a begins at friction

This is a Nose-Hoover thermostat: where minibatches heat the chain, v exceeds its size at
temperature T, and the friction a grows until it does not.  SGHMC with a constant a samples wider
than the posterior there.  gain is lr T / N over the thermostat's mass, which the paper sets to 1.
1 - a / 2 is 1 in its limit of small steps, and gives the weights temperature T at any friction.

Source: Ding et al. 2014.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import NonNegative, Positive, PositiveShare, Rate
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.points import Chain, PointState


class ThermostatState(NamedTuple):
    """Weights and velocities, (D,) or (B, D); friction a, (1,) or (B, 1); steps taken, ()."""

    w: Tensor
    v: Tensor
    a: Tensor
    step: Tensor


class SGNHT(Chain[ThermostatState]):
    """Chains with a Nose-Hoover thermostat from the net's weights; draws (n_draws, D).

        v <- (1 - a) v - lr g + sqrt(2 lr friction T / N) xi,   w <- w + v
        a <- a + gain ((1 - a / 2) mean_i v_i^2 N / (lr T) - 1),   a begins at friction

    The thermostat cools the heat of small minibatches, and too far where a few examples, shuffled
    without replacement, cancel over an epoch: draws are then narrower than the posterior.

    Source: Ding et al. 2014, Bayesian sampling using stochastic gradient thermostats.

    Args:
        lr: The step; a tenth of what descent takes, because the momentum multiplies it.
        temperature: T of exp(-U / T), above 0; 1 is Bayes, less is colder.
        friction: Of the noise that is added, and of the chain at the start.
        gain: Of the thermostat: its time is about 1 / gain steps; 0 is SGHMC.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> sgnht = fv.SGNHT(n_draws=4, burn_in=10, thin=5)
        >>> fv.fit(net, task.train, sgnht, seed=0).W.shape
        torch.Size([4, 58])
    """

    label = "SGNHT"
    lr: Rate = 0.002
    temperature: Positive = 1.0
    friction: PositiveShare = 0.1
    gain: NonNegative = 0.01

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
