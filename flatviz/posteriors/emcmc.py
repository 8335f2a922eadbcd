"""Entropy-MCMC: a chain tied by a spring to a guide that feels only the smoothed posterior (Li & Zhang 2024).

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

Integrating w out, a follows exp(-U) smoothed over a width sqrt(eta): flat ground weighs more.  One gradient a step.
"""

from dataclasses import dataclass
from typing import Unpack

from torch import Tensor

from flatviz.checks import NonNegative, Seed
from flatviz.core import Data, Net
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import Batch, Noises, TrainingLoss
from flatviz.training.keywords import Run, Thinned, defaults
from flatviz.training.langevin import Chains, ChainState, energy_of, run_chains, thinned

SETTINGS = dict(n_draws=30, burn_in=300, thin=20, lr=0.01, eta=0.01, temperature=1.0, weight_decay=5e-4, batch_size=None)


@dataclass(frozen=True, eq=False, kw_only=True)
class EMCMC(Chains):
    """The step of Entropy-MCMC; the guide a is the state's second quantity.

    Args:
        energy: What is sampled.
        keep: Steps after which w and a are draws.
        lr: Constant.
        eta: Variance of the spring.
    """

    noises = 2
    lr: float
    eta: float

    def init(self, w: Tensor) -> ChainState:
        """The state of chains and guides at the rows of `w`, (B, D)."""
        return super().init(w)._replace(v=w.detach())

    def update(self, s: ChainState, loss: TrainingLoss, batch: Batch, noise: Noises) -> tuple[ChainState, Record]:
        """One step."""
        (w, a), lr, scale = (s.w, s.v), self.lr, self.energy.scale(2 * self.lr)
        g, record = self.energy.gradient(w, loss, batch)
        spring = (w - a) / (self.eta * self.energy.n)
        w = w.add(g + spring, alpha=-lr).add(noise[0], alpha=scale)
        a = a.add(spring, alpha=lr).add(noise[1], alpha=scale)
        return s._replace(w=w, v=a, step=s.step + 1), record

    def collect(self, s: ChainState) -> ChainState:
        """With w and a among the draws."""
        return s._replace(draws=(*s.draws, s.w.clone(), s.v.clone()))


@defaults(SETTINGS)
def fit_emcmc(net: Net, data: Data, *, seed: Seed, eta: NonNegative, **how: Unpack[Thinned]) -> Draws:
    """One chain from where the net stands; draws (n_draws, D) are of w and of its guide a in turn, half of them each.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of noise and minibatches.
        eta: Variance of the spring, in units of w^2; the smaller, the tighter a follows w.  lr / (eta N) must stay below
            1, which 0.01 does for a hundred examples at lr 0.01.
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
    run, n_draws, lr = Run.of("E-MCMC", seed, how), how["n_draws"], how["lr"]
    if n_draws % 2:
        raise ValueError(f"n_draws must be even, half of w and half of its guide, got {n_draws}")
    if eta == 0 or lr / (eta * len(data)) >= 1:
        raise ValueError(f"lr / (eta N) must be below 1, got lr={lr:g}, eta={eta:g}, N={len(data)}: raise eta or lower lr")
    steps, keep = thinned(n_draws // 2, 1, how["burn_in"], how["thin"])
    emcmc = EMCMC(energy=energy_of(net, data, how), keep=keep, lr=lr, eta=eta)
    return run_chains(net, data, run, how, emcmc, net.w.repeat(1, 1), steps)


METHOD = Method(fit=fit_emcmc, plain=Tuned(SETTINGS), warm_start=True)
