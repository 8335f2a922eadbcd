"""Entropy-MCMC: a chain tied by a spring to a guide, which follows the smoothed posterior.

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

With w integrated out, a follows exp(-U) smoothed over a width sqrt(eta), so that flat regions weigh
more.  A step takes one gradient.

Source: Li & Zhang 2024.
"""

from collections.abc import Sequence
from typing import Self

from torch import Tensor

from flatviz.checks import Count, NonNegative, Whole
from flatviz.objectives.problem import Problem
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Gradient, Noises, check_noise
from flatviz.training.points import PointState, Sampling, thinned
from flatviz.training.settings import Run
from flatviz.training.streams import FreshNoise, Noise


class EMCMC(Sampling[PointState]):
    """Entropy-MCMC: one chain from the net's weights; draws (n_draws, D).

        w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
        a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

    Draws are of w and of its guide a in turn, half of them each; a is the state's second quantity.

    Source: Li & Zhang 2024.

    Args:
        n_draws: Draws, an even number: half of w, half of a.
        eta: Variance of the spring, in units of w^2; the smaller, the tighter a follows w.  lr /
            (eta N) must stay below 1, which 0.01 does for a hundred examples at lr 0.01.
        burn_in: Steps before the first draw.
        thin: Steps from one draw to the next.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> emcmc = fv.EMCMC(eta=0.1, n_draws=4, burn_in=10, thin=5)
        >>> fv.fit(net, task.train, emcmc, seed=0).W.shape
        torch.Size([4, 58])
    """

    label = "E-MCMC"
    eta: NonNegative = 0.01
    burn_in: Whole = 300
    thin: Count = 20

    def _check(self) -> None:
        if self.n_draws % 2:
            raise ValueError(
                f"n_draws must be even, half of w and half of its guide, got {self.n_draws}"
            )

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in N, and check that the spring is not too stiff for lr."""
        ready = super().completed(problem, run)
        n = ready.energy.n
        if self.eta == 0 or self.lr / (self.eta * n) >= 1:
            raise ValueError(
                f"lr / (eta N) must be below 1, got lr={self.lr:g}, eta={self.eta:g}, N={n}: raise"
                " eta or lower lr"
            )
        return ready

    def length(self, run: Run) -> tuple[int, range]:
        """Return the number of steps, and the steps after which weights are draws."""
        return thinned(self.n_draws // 2, 1, self.burn_in, self.thin)

    def init(self, w: Tensor) -> PointState:
        """Return the state of chains and guides at the rows of `w`, (B, D)."""
        return PointState.at(w)._replace(v=w.detach())

    def noise(self, state: PointState, seeds: Sequence[int], steps: int) -> Noise:
        """Return two tensors of w's shape a step; none at temperature 0."""
        return FreshNoise(seeds, state.w, 2, lambda step: self.temperature > 0)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        check_noise(noise, s.w.shape, s.w.shape)
        w = s.w
        a = s.v
        size = self.energy.scale(2 * self.lr)
        g, record = self.energy.gradient(w, gradient, batch)
        spring = (w - a) / (self.eta * self.energy.n)
        w = w.add(g + spring, alpha=-self.lr)
        a = a.add(spring, alpha=self.lr)
        w = w.add(noise[0], alpha=size)
        a = a.add(noise[1], alpha=size)
        return PointState(w, a, s.step + 1), record

    def collect(self, kept: Sequence[Tensor], s: PointState) -> Sequence[Tensor]:
        """Add w and a to the draws."""
        return (*kept, s.w.clone(), s.v.clone())
