"""Chains that pull at each other: Entropy-MCMC and SVGD.

Entropy-MCMC: a chain tied by a spring to a guide that feels only the smoothed posterior (Li & Zhang
2024)

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

Integrating w out, a follows exp(-U) smoothed over a width sqrt(eta): flat ground weighs more.  One
gradient a step.

SVGD, Stein variational gradient descent: particles that descend together and push each other apart
(Liu & Wang 2016)

    phi_i = 1/S sum_j [k(w_j, w_i) (-N g_j / T) + grad_{w_j} k(w_j, w_i)],   g = grad L(w) + wd w
        (the paper's eq. 8)
    k(w, w') = exp(-|w - w'|^2 / h),   h = med^2 / log S,   med the median distance of two particles
    v <- m v + (T / N) phi,   w <- w + lr v

The second term is 2 / h (w_i - w_j) k: it keeps particles apart, and T = 0 leaves it out.  There is
no noise: after the starts all is deterministic but minibatches.  In many dimensions S particles are
far narrower than the posterior (Ba et al. 2022).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Unpack

import torch
from torch import Tensor

from flatviz.checks import NonNegative, Seed
from flatviz.core import Data, Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Noises, TrainingLoss
from flatviz.training.keywords import Particles, Thinned, defaults
from flatviz.training.points import Chains, PointState, run_chains, starts, thinned

SETTINGS = dict(
    n_draws=30,
    burn_in=300,
    thin=20,
    lr=0.01,
    eta=0.01,
    temperature=1.0,
    weight_decay=5e-4,
    batch_size=None,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class EMCMC(Chains):
    """The step of Entropy-MCMC; the guide a is the state's second quantity.

    Args:
        energy: Energy of the posterior that is sampled.
        keep: Steps after which w and a are draws.
        lr: Constant.
        eta: Variance of the spring.
    """

    noises = 2
    lr: float
    eta: float

    def init(self, w: Tensor) -> PointState:
        """The state of chains and guides at the rows of `w`, (B, D)."""
        return super().init(w)._replace(v=w.detach())

    def update(
        self, s: PointState, loss: TrainingLoss, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """One step."""
        w = s.w
        a = s.v
        lr = self.lr
        scale = self.energy.scale(2 * self.lr)
        g, record = self.energy.gradient(w, loss, batch)
        spring = (w - a) / (self.eta * self.energy.n)
        w = w.add(g + spring, alpha=-lr).add(noise[0], alpha=scale)
        a = a.add(spring, alpha=lr).add(noise[1], alpha=scale)
        return s._replace(w=w, v=a, step=s.step + 1), record

    def collect(self, s: PointState) -> PointState:
        """Take w and a among the draws."""
        return s._replace(n=s.n + 1, kept=(*s.kept, s.w.clone(), s.v.clone()))


@defaults(SETTINGS)
def fit_emcmc(
    net: Net, data: Data, *, seed: Seed, eta: NonNegative, **how: Unpack[Thinned]
) -> Draws:
    """Run one chain from the net's weights.

    Draws (n_draws, D) are of w and of its guide a in turn, half of them each.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        eta: Variance of the spring, in units of w^2; the smaller, the tighter a follows w.  lr /
            (eta N) must stay below 1, which 0.01 does for a hundred examples at lr 0.01.
        **how: How it is run; n_draws is even.

    Raises:
        ValueError: For an odd n_draws, a spring too stiff for lr, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_emcmc(net, task.train, seed=0, eta=0.1, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    n_draws = how["n_draws"]
    lr = how["lr"]
    if n_draws % 2:
        raise ValueError(f"n_draws must be even, half of w and half of its guide, got {n_draws}")
    if eta == 0 or lr / (eta * len(data)) >= 1:
        raise ValueError(
            f"lr / (eta N) must be below 1, got lr={lr:g}, eta={eta:g}, N={len(data)}: raise eta or"
            " lower lr"
        )
    steps, keep = thinned(n_draws // 2, 1, how["burn_in"], how["thin"])
    return run_chains(
        "E-MCMC", net, data, seed, how, net.w[None], steps, EMCMC, keep=keep, lr=lr, eta=eta
    )


METHOD = Method(fit=fit_emcmc, plain=Tuned(SETTINGS), warm_start=True)


# of the rates 0.03 to 1 this one has the least validation NLL at SGD's prior: 0.85 on digits (seeds
# 1000 to 1002), 0.92 at 0.3
PARTICLES = dict(
    n_draws=30, steps=300, lr=0.1, momentum=0.9, temperature=1.0, weight_decay=5e-4, batch_size=None
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SVGD(Chains):
    """The step of SVGD; no noise.

    Args:
        energy: Energy of the posterior that is sampled.
        keep: Steps after which the particles are draws.
        lr: Constant.
        momentum: m.
    """

    noises = 0
    lr: float
    momentum: float = 0.9

    def update(
        self, s: PointState, loss: TrainingLoss, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """One step."""
        g, record = self.energy.gradient(s.w, loss, batch)
        v = self.momentum * s.v + stein(s.w, g, self.energy.temperature / self.energy.n)
        return s._replace(w=s.w.add(v, alpha=self.lr), v=v, step=s.step + 1), record


@defaults(PARTICLES)
def fit_svgd(net: Net, data: Data, *, seed: Seed, **how: Unpack[Particles]) -> Draws:
    """Move `n_draws` particles w_i <- w_i + lr v_i from different starts.

    (n_draws, D), all of them after the last step.

    Each start has all treated weights drawn anew, or the head's alone where not all weights are
    treated.

    Args:
        net: Gives the architecture, and what is not drawn anew.
        data: The N training examples.
        seed: Fixes starts and minibatches; particle i takes seed + 1000 i.
        **how: How they are run.

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
    n = how["n_draws"]
    steps = how["steps"]
    w = starts(net, [seed + 1000 * particle for particle in range(n)], head_only=not net.treats_all)
    if torch.equal(w, w[:1].expand_as(w)):
        raise ValueError(
            f"{n} particles must start apart, got one place for all: treat a head or all weights"
        )
    settings: dict[str, Any] = dict(
        keep=range(steps - 1, steps), lr=how["lr"], momentum=how["momentum"]
    )
    return replace(run_chains("SVGD", net, data, seed, how, w, steps, SVGD, **settings), chains=1)


def stein(w: Tensor, g: Tensor, temperature: float) -> Tensor:
    """Phi of each particle (S, D) times the temperature, for w (S, D) and scores -g / temperature."""
    d = torch.cdist(
        w, w, compute_mode="donot_use_mm_for_euclid_dist"
    )  # the other mode cancels in float32
    pairs = torch.triu_indices(len(w), len(w), 1, device=w.device)
    h = d[pairs[0], pairs[1]].median().square() / math.log(len(w))
    k = (-d.square() / h).exp()
    apart = k.sum(1, keepdim=True) * w - k @ w  # sum over j of (w_i - w_j) k
    return (2 * temperature / h * apart - k @ g) / len(w)


SVGD_METHOD = Method(fit=fit_svgd, plain=Tuned(PARTICLES))
