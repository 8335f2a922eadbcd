"""Stochastic-gradient Langevin chains: SGLD, SGHMC, and both in cycles of large and small steps.

SGLD: gradient descent with noise, so that its path samples the posterior (Welling & Teh 2011)

    w <- w - lr g + sqrt(2 lr T / N) xi,   g = grad L(w) + wd w,   xi ~ N(0, I)

lr is the rate on the mean loss L of N examples, constant where the paper decreases it.  A finite
step multiplies the variance in a direction of curvature h by 1 / (1 - lr h / 2).

SGHMC: the same with momentum (Chen et al. 2014)

    v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v

alpha is the friction; 1 is SGLD.  The noise enters after the momentum; before it, a momentum of 0.9
would multiply the variance by ten.  The noise of the minibatches is not corrected for.

Cyclical: large steps find a mode, small noisy ones sample it, cycle after cycle (Zhang et al. 2020)

    lr_t = lr / 2 (1 + cos(pi (t mod C) / C)),  C the steps of a cycle

with noise in its last part alone, whose last weights are draws.  Friction 1 is cyclical SGLD, below
it cyclical SGHMC, whose velocity v continues from cycle to cycle.  Draws are colder than
exp(-U / T): noise starts when the rate is almost 0, and at friction 1 a direction of curvature h
has, at the end of the first cycle, the share 1 - exp(-2 h A) of its variance, with A the sum of the
noisy rates.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from flatviz.checks import Count, PositiveShare, Rate
from flatviz.objectives.problem import Problem
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.points import Chain, PointState, Sampling
from flatviz.training.settings import Run
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_of


class SGLD(Chain[PointState]):
    """Langevin chains from the net's weights; draws (n_draws, D).

        w <- w - lr g + sqrt(2 lr T / N) xi,   g = grad L(w) + wd w,   xi ~ N(0, I)

    lr is constant.  Minibatches heat a chain: by default a step takes all examples.

    Source: Welling & Teh 2011.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit(net, data, fv.SGLD(n_draws=4, burn_in=10, thin=5), seed=0).W.shape
        torch.Size([4, 9])
        >>> gradient = fv.training.gradient_of(lambda w: w.square().sum() / 2)  # minus log p(w)
        >>> sgld = fv.SGLD(lr=0.1, weight_decay=0)
        >>> state = sgld.init(torch.zeros(100, 2))  # a hundred chains
        >>> for step in range(50):
        ...     state, record = sgld.update(state, gradient, None, (torch.randn(100, 2),))
        >>> sgld.result(state).W.shape
        torch.Size([100, 2])
    """

    label = "SGLD"

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        check_noise(noise, s.w.shape)
        g, record = self.energy.gradient(s.w, gradient, batch)
        size = self.energy.scale(2 * self.lr)
        move = (-self.lr * g).add(noise[0], alpha=size)
        return PointState(s.w + move, s.v, s.step + 1), record


class SGHMC(Chain[PointState]):
    """Langevin chains with momentum from the net's weights; draws (n_draws, D).

        v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v

    Source: Chen et al. 2014.

    Args:
        lr: Step size, a fifth of SGLD's, because the momentum multiplies the step by 1 / alpha.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9, 1 is SGLD.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.SGHMC(n_draws=4, burn_in=10, thin=5), seed=0).W.shape
        torch.Size([4, 58])
    """

    label = "SGHMC"
    lr: Rate = 0.002
    friction: PositiveShare = 0.1

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        return momentum_step(self, s, gradient, batch, noise, 1.0)


def momentum_step(
    chain: "SGHMC | CSGLD",
    s: PointState,
    gradient: Gradient,
    batch: Batch,
    noise: Noises,
    rate: Tensor | float,
) -> tuple[PointState, Record]:
    """Take a step of SGHMC at lr times `rate`."""
    check_noise(noise, s.w.shape)
    energy = chain.energy
    g, record = energy.gradient(s.w, gradient, batch)
    lr = rate_of(chain.lr, rate, s.w)
    size = energy.scale(2 * lr * chain.friction)
    v = (1 - chain.friction) * s.v
    v = v.addcmul(g, lr, value=-1)
    v = v.addcmul(noise[0], size)
    return PointState(s.w + v, v, s.step + 1), record


class CSGLD(Sampling[PointState]):
    """Cyclical SGLD: in each cycle the step falls from lr to 0, with noise at the end.

        lr_t = lr / 2 (1 + cos(pi (t mod C) / C)),  C the steps of a cycle

    Draws are taken in the noisy part.  Each chain starts at the net's weights.  A cycle gives
    n_draws / (cycles chains) draws, evenly spaced over its noisy part.

    Source: Zhang et al. 2020.

    Args:
        n_draws: Draws over all chains, a multiple of cycles x chains.
        cycles: Each looks for a mode.
        cycle_steps: Steps of a cycle.
        noisy_share: The last part of a cycle that gets noise, above 0 and at most 1; 0.2 as in the
            paper.  At the defaults only directions of large curvature reach their posterior width:
            raise it, cycle_steps or lr, or use `SGLD`, where widths matter.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.  Momentum multiplies the
            step by 1 / alpha: lower lr with it, as `METHODS["csghmc"]` does.
        chains: All run at once.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.CSGLD(n_draws=4, cycles=2, cycle_steps=20), seed=0).W.shape
        torch.Size([4, 58])
    """

    lr: Rate = 0.05
    n_draws: Count = 28
    cycles: Count = 4
    cycle_steps: Count = 150
    noisy_share: PositiveShare = 0.2
    friction: PositiveShare = 1.0
    chains: Count = 1

    @property
    def label(self) -> str:  # type: ignore[override]
        """Its name in texts."""
        return "cyclical SGLD" if self.friction == 1 else "cyclical SGHMC"

    @property
    def tail(self) -> int:
        """Steps with noise at the end of a cycle."""
        return math.ceil(self.noisy_share * self.cycle_steps)

    @property
    def each(self) -> int:
        """Draws of a cycle of one chain."""
        return self.n_draws // (self.cycles * self.chains)

    def _check(self) -> None:
        several = self.cycles * self.chains
        if self.each < 1 or self.n_draws % several:
            raise ValueError(
                f"n_draws must be a multiple of cycles x chains = {several}, got {self.n_draws}"
            )
        if self.each > self.tail:
            raise ValueError(
                f"the noisy part of a cycle must hold its {self.each} draws, got {self.tail} steps:"
                " raise cycle_steps"
            )

    def starts(self, problem: Problem, run: Run) -> Tensor:
        """Return the net's weights for each chain, (B, D)."""
        return problem.net.w.repeat(self.chains, 1)

    def length(self, run: Run) -> tuple[int, frozenset[int]]:
        """Return the number of steps, and the steps after which weights are draws."""
        steps = self.cycles * self.cycle_steps
        last = {self.cycle_steps - 1 - i * (self.tail // self.each) for i in range(self.each)}
        return steps, frozenset(t for t in range(steps) if t % self.cycle_steps in last)

    def schedule(self, step: int, steps: int) -> float:
        """Return the factor on lr, along half a cosine in each cycle."""
        return cosine(step % self.cycle_steps, self.cycle_steps)

    def noise(self, state: PointState, seeds: Sequence[int], steps: int) -> Noise:
        """Return one tensor of w's shape in each noisy step, 0 elsewhere."""
        first = self.cycle_steps - self.tail

        def drawn(step: int) -> bool:
            return self.temperature > 0 and step % self.cycle_steps >= first

        return FreshNoise(seeds, state.w, drawn=drawn)

    def update(
        self,
        s: PointState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
        rate: Tensor | float = 1.0,
    ) -> tuple[PointState, Record]:
        """Take one step, with noise 0 in steps without noise."""
        return momentum_step(self, s, gradient, batch, noise, rate)
