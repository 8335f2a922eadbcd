"""Stochastic-gradient Langevin chains: SGLD, SGHMC, and both in cycles of large and small steps.

SGLD: gradient descent with the noise that makes its path a sample of the posterior (Welling & Teh
2011)

    w <- w - lr g + sqrt(2 lr T / N) xi,   g = grad L(w) + wd w,   xi ~ N(0, I)

lr is the rate on the mean loss L of N examples, constant where the paper lets it fall.  The bias of
a finite step on a direction of curvature h is the factor 1 / (1 - lr h / 2) on its variance.

SGHMC: the same with momentum (Chen et al. 2014)

    v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v

alpha is the friction; 1 is SGLD.  The noise enters after the momentum: put through it, a momentum
of 0.9 would multiply the variance by ten.  No correction for the noise of the minibatches.

Cyclical: large steps find a mode, small noisy ones sample it, cycle after cycle (Zhang et al. 2020)

    lr_t = lr / 2 (1 + cos(pi (t mod C) / C)),  C the steps of a cycle;
        noise in its last part alone, whose last weights are draws

Friction 1 is cyclical SGLD, below it cyclical SGHMC, whose velocity v goes on from cycle to cycle.
Draws are colder than exp(-U / T): noise starts when the rate is all but 0, and at friction 1 a
direction of curvature h has, at the end of the first cycle, the share 1 - exp(-2 h A) of its
variance, A the sum of the noisy rates.
"""

import math
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, Unpack

from torch import Tensor

from flatviz.checks import Count, PositiveShare, Seed
from flatviz.core import Data, Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Noises, TrainingLoss
from flatviz.training.keywords import Chain, Thinned, defaults
from flatviz.training.points import Chains, PointState, run_chains, thinned
from flatviz.training.streams import cosine, rates

SETTINGS = dict(
    n_draws=30, burn_in=300, thin=20, lr=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None
)

WITH_MOMENTUM = SETTINGS | dict(lr=0.002, friction=0.1)
CYCLICAL = dict(
    n_draws=28,
    cycles=4,
    cycle_steps=150,
    lr=0.05,
    temperature=1.0,
    weight_decay=5e-4,
    batch_size=None,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SGLD(Chains):
    """The step of SGLD.

    Args:
        energy: Energy of the posterior that is sampled.
        keep: Steps after which the weights are a draw.
        lr: Constant.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3), members=1)
        >>> sgld = fv.posteriors.SGLD(energy=fv.training.Energy(n=12, weight_decay=0.01), keep=range(50, 100), lr=0.1)
        >>> state = sgld.init(net.w[None])  # one chain
        >>> for step in range(100):
        ...     state, record = sgld.update(state, loss, None, noise=(torch.randn(1, 9),))
        ...     state = sgld.collect(state) if step in sgld.keep else state
        >>> sgld.result(state).W.shape
        torch.Size([50, 9])
    """

    lr: float

    def update(
        self, s: PointState, loss: TrainingLoss, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """One step."""
        g, record = self.energy.gradient(s.w, loss, batch)
        w = s.w + (-self.lr * g).add(noise[0], alpha=self.energy.scale(2 * self.lr))
        return s._replace(w=w, step=s.step + 1), record


@dataclass(frozen=True, eq=False, kw_only=True)
class SGHMC(Chains):
    """The step of SGHMC.

    With rates and noise that change from step to step, that of the cyclical chains.

    Args:
        energy: Energy of the posterior that is sampled.
        keep: Steps after which the weights are a draw.
        rates: lr_t of each step, (T,).
        friction: alpha.
        noisy: Steps that have noise; None, all.
    """

    rates: Tensor
    friction: float
    noisy: Container[int] | None = None

    def drawn(self, step: int) -> bool:
        """Whether a step has noise."""
        return super().drawn(step) and (self.noisy is None or step in self.noisy)

    def update(
        self, s: PointState, loss: TrainingLoss, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """One step; the noise is 0 where there is none."""
        g, record = self.energy.gradient(s.w, loss, batch)
        lr = self.rates.take(s.step)
        v = (
            ((1 - self.friction) * s.v)
            .addcmul(g, lr, value=-1)
            .addcmul(noise[0], self.energy.scale(2 * lr * self.friction))
        )
        return s._replace(w=s.w + v, v=v, step=s.step + 1), record


@defaults(SETTINGS)
def fit_sgld(
    net: Net, data: Data, *, seed: Seed, chains: Count = 1, **how: Unpack[Thinned]
) -> Draws:
    """Run chains w <- w - lr g + sqrt(2 lr T / N) xi from the net's weights; draws (n_draws, D).

    F-SGLD, given an `ascent`, has a drift that is no gradient, so that the sharpness-aware
    posterior is met approximately only.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        chains: All run at once; `n_draws` is a multiple of them.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sgld(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    steps, keep = thinned(how["n_draws"], chains, how["burn_in"], how["thin"])
    w = net.w.repeat(chains, 1)
    return run_chains("SGLD", net, data, seed, how, w, steps, SGLD, keep=keep, lr=how["lr"])


@defaults(WITH_MOMENTUM)
def fit_sghmc(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    friction: PositiveShare,
    chains: Count = 1,
    **how: Unpack[Thinned],
) -> Draws:
    """Run chains v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi, w <- w + v, from the net's weights; draws (n_draws, D).

    The rate is a fifth of SGLD's, because the momentum multiplies the step by 1 / friction.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.
        chains: All run at once; `n_draws` is a multiple of them.
        **how: How it is run.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sghmc(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    steps, keep = thinned(how["n_draws"], chains, how["burn_in"], how["thin"])
    w = net.w.repeat(chains, 1)
    still = rates(how["lr"], steps, net.w, lambda *_: 1.0)
    return run_chains(
        "SGHMC", net, data, seed, how, w, steps, SGHMC, keep=keep, rates=still, friction=friction
    )


@defaults(CYCLICAL)
def fit_csgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    cycles: Count,
    cycle_steps: Count,
    noisy_share: PositiveShare = 0.2,
    friction: PositiveShare = 1.0,
    chains: Count = 1,
    **how: Unpack[Chain],
) -> Draws:
    """Run cyclical SGLD.

    in each cycle the step falls from lr to 0, first as plain descent, then with noise, and draws
    are taken.

    Each of the chains starts at the net's weights.  A cycle gives n_draws / (cycles chains) draws,
    evenly spaced over its noisy part.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        cycles: Each looks for a mode; n_draws is a multiple of cycles x chains.
        cycle_steps: Steps of a cycle.
        noisy_share: The last part of a cycle that gets noise, above 0 and at most 1; 0.2 as in the
            paper.  At the defaults only directions of large curvature reach their posterior width:
            raise it, cycle_steps or lr, or use `fit_sgld`, where widths matter.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.  Momentum multiplies the
            step by 1 / alpha: lower lr with it, as `METHODS["csghmc"]` does.
        chains: All run at once.
        **how: How it is run; lr is the largest step.

    Raises:
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_csgld(net, task.train, seed=0, n_draws=4, cycles=2, cycle_steps=20).W.shape
        torch.Size([4, 58])
    """
    label = "cyclical SGLD" if friction == 1 else "cyclical SGHMC"
    w = net.w.repeat(chains, 1)
    n_draws = how["n_draws"]
    steps = cycles * cycle_steps
    tail = math.ceil(noisy_share * cycle_steps)
    each = n_draws // (cycles * chains)
    if each < 1 or n_draws % (cycles * chains):
        raise ValueError(
            f"n_draws must be a multiple of cycles x chains = {cycles * chains}, got {n_draws}"
        )
    if each > tail:
        raise ValueError(
            f"the noisy part of a cycle must hold its {each} draws, got {tail} steps: raise"
            " cycle_steps"
        )
    kept = {cycle_steps - 1 - i * (tail // each) for i in range(each)}  # steps of a cycle
    falling = rates(
        how["lr"], steps, net.w, lambda step, _: cosine(step % cycle_steps, cycle_steps)
    )
    noisy = frozenset(step for step in range(steps) if step % cycle_steps >= cycle_steps - tail)
    keep = frozenset(step for step in range(steps) if step % cycle_steps in kept)
    settings: dict[str, Any] = dict(keep=keep, rates=falling, friction=friction, noisy=noisy)
    return run_chains(label, net, data, seed, how, w, steps, SGHMC, **settings)


METHOD = Method(fit=fit_sgld, plain=Tuned(SETTINGS), warm_start=True)
SGHMC_METHOD = Method(fit=fit_sghmc, plain=Tuned(WITH_MOMENTUM), warm_start=True)
CYCLICAL_SGLD = Method(fit=fit_csgld, plain=Tuned(CYCLICAL))
# the momentum multiplies the step by ten
CYCLICAL_SGHMC = replace(CYCLICAL_SGLD, plain=Tuned(CYCLICAL | dict(lr=0.01, friction=0.1)))
