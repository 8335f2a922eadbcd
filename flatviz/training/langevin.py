"""Stochastic-gradient chains: the energy they sample, their noise, and the draws of parallel chains.

    U(w) = N L(w) - log p(w),   target exp(-U(w) / T),   g = grad U(w) / N

with L the mean NLL of N examples and log p that of a Gaussian prior, or of weight decay.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from flatviz.core import Data, Net
from flatviz.gaussian import Gaussian
from flatviz.results import Draws, History
from flatviz.training.driver import Algorithm, Record, drive
from flatviz.training.gradient import Ascent, TrainingLoss, gradient
from flatviz.training.keywords import Chain, Run
from flatviz.training.losses import check_covers, training_loss
from flatviz.training.streams import FreshNoise, Noise


@dataclass(frozen=True, eq=False)
class Energy:
    """U / N of the target, and the noise at its temperature.

    Args:
        n: N, the examples behind the mean loss.
        temperature: T; 1 is Bayes, 0 leaves the noise out.
        weight_decay: wd, which stands for the prior N(0, 1 / (N wd)).
        prior: In place of it.
        ascent: `SAM(radius)` and the like: the gradient of L is that at w + e.
    """

    n: int
    temperature: float = 1.0
    weight_decay: float = 0.0
    prior: Gaussian | None = None
    ascent: Ascent | None = None

    def gradient(self, w: Tensor, loss: TrainingLoss, batch: Tensor | None) -> tuple[Tensor, Record]:
        """G at each of w (B, D), and the record of the mean over chains."""
        value, g, gain = gradient(loss, w, batch, self.ascent)
        prior = self.prior  # its -grad log p(w) / N
        pull = self.weight_decay * w if prior is None else prior.precision_mul(w - prior.mean) / self.n
        return g + pull, Record(value.mean(), sharpness=None if gain is None else gain.mean())

    def scale(self, rate: float | Tensor) -> Any:
        """sqrt(rate T / N), by which noise is multiplied."""
        return (rate * self.temperature / self.n) ** 0.5


class ChainState(NamedTuple):
    """Weights of the chains, (B, D), a second quantity of each (a velocity, a guide), steps taken, and draws so far, (B, D) each."""

    w: Tensor
    v: Tensor
    step: Tensor
    draws: tuple[Tensor, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Chains(Algorithm):
    """Base of the chains: where they start, their noise, and which of their states are draws.

    Args:
        energy: What is sampled.
        keep: Steps after which the weights are a draw.
    """

    noises: ClassVar[int] = 1  # of w's shape, a step

    energy: Energy
    keep: Container[int] = ()

    def init(self, w: Tensor) -> ChainState:
        """The state of chains at the rows of `w`, (B, D)."""
        w = w.detach()
        return ChainState(w, torch.zeros_like(w), torch.zeros((), dtype=torch.long, device=w.device))

    def noise(self, state: ChainState, seeds: Sequence[int], steps: int) -> Noise:
        """Of each chain by its seed; none at temperature 0."""
        return FreshNoise(seeds, state.w, self.noises, self.drawn)

    def drawn(self, step: int) -> bool:
        """Whether a step has noise."""
        return self.energy.temperature > 0

    def collect(self, state: Any) -> Any:
        """With the present weights among the draws."""
        return state._replace(draws=(*state.draws, state.w.clone()))

    def result(self, state: ChainState, history: History | None = None) -> Draws:
        """The draws, chain by chain."""
        return Draws(torch.stack(state.draws, 1).flatten(0, 1), history, chains=len(state.w))


def energy_of(net: Net, data: Data, how: Chain) -> Energy:
    """The energy that the keywords of a chain describe.  Raises ValueError for a prior that covers other weights."""
    if how["prior"] is not None:
        check_covers(net, how["prior"], "prior")
    return Energy(len(data), how["temperature"], how["weight_decay"], how["prior"], how["ascent"])


def run_chains(net: Net, data: Data, run: Run, how: Chain, algorithm: Chains, w: Tensor, steps: int) -> Draws:
    """Parallel chains from the rows of `w` (B, D); the first is that of B = 1.

    Raises:
        Diverged: Where the loss or a chain becomes NaN or inf.
    """
    run.check_no_validation("a chain samples, and has no best place to stop at")
    loss = training_loss(net, data, how["likelihood"], how["batchnorm"], run.training, members=len(w))
    seeds = [run.seed + 1000 * chain for chain in range(len(w))]
    run = replace(run, label=f"{run.label}, T = {how['temperature']:g}")
    how_seeded = dict(steps=steps, seeds=seeds, shuffle=[seed + 1 for seed in seeds])
    return algorithm.result(*drive(algorithm, algorithm.init(w), loss, run, **how_seeded))


def thinned(n_draws: int, chains: int, burn_in: int, thin: int) -> tuple[int, range]:
    """Steps of each chain, and after which of them weights are a draw: every `thin`-th after `burn_in`, n_draws over all chains."""
    if n_draws % chains:
        raise ValueError(f"n_draws must be a multiple of the {chains} chains, got {n_draws}")
    steps = burn_in + n_draws // chains * thin
    return steps, range(burn_in + thin - 1, steps, thin)
