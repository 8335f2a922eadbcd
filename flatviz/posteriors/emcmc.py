"""Entropy-MCMC: a chain tied by a spring to a guide, which follows the smoothed posterior.

    p(w, a) ~ exp(-U(w) - |w - a|^2 / (2 eta)),   U(w) = N (L(w) + wd |w|^2 / 2)
    w <- w - lr (grad L(w) + wd w + (w - a) / (eta N)) + sqrt(2 lr T / N) xi
    a <- a - lr (a - w) / (eta N)                      + sqrt(2 lr T / N) xi'

With w integrated out, a follows exp(-U) smoothed over a width sqrt(eta), so that flat regions weigh
more.  A step takes one gradient.

Source: Li & Zhang 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from flatviz.checks import Count, NonNegative, Rate, Seed, Statistics, Whole
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.points import (
    Chain,
    Energy,
    PointState,
    run_chains,
    thinned,
)
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import FreshNoise, Noise


@dataclass(frozen=True, eq=False)
class EMCMC(Chain[PointState]):
    """The step of Entropy-MCMC; the guide a is the state's second quantity.

    Args:
        lr: Constant.
        eta: Variance of the spring.
        energy: Energy of the posterior that is sampled.
    """

    lr: float
    eta: float
    energy: Energy = Energy()

    def init(self, w: Tensor) -> PointState:
        """Return the state of chains and guides at the rows of `w`, (B, D)."""
        return PointState.at(w)._replace(v=w.detach())

    def noise(
        self,
        state: PointState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Return two tensors of w's shape a step; none at temperature 0."""
        return FreshNoise(seeds, state.w, 2, lambda step: self.energy.temperature > 0)

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


@public
def fit_emcmc(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    eta: NonNegative = 0.01,
    lr: Rate = 0.01,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    n_draws: Count = 30,
    temperature: NonNegative = 1.0,
    burn_in: Whole = 300,
    thin: Count = 20,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    prior: Gaussian | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run one chain from the net's weights: draws (n_draws, D).

    They are of w and of its guide a in turn, half of them each.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        eta: Variance of the spring, in units of w^2; the smaller, the tighter a follows w.  lr /
            (eta N) must stay below 1, which 0.01 does for a hundred examples at lr 0.01.
        lr: Step size; chains diverge above 2 / curvature, and a narrow prior adds curvature.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all, as the noise of small ones heats a chain.
        n_draws: Draws over all chains, (n_draws, D).
        temperature: T of exp(-U / T); 1 is Bayes, less is colder, 0 removes the noise.
        burn_in: Steps before the first draw.
        thin: Steps from one draw to the next.
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
        ValueError: For an odd n_draws, a spring too stiff for lr, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_emcmc(net, task.train, seed=0, eta=0.1, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    if n_draws % 2:
        raise ValueError(f"n_draws must be even, half of w and half of its guide, got {n_draws}")
    if eta == 0 or lr / (eta * len(data)) >= 1:
        raise ValueError(
            f"lr / (eta N) must be below 1, got lr={lr:g}, eta={eta:g}, N={len(data)}: raise eta or"
            " lower lr"
        )
    schedule = thinned(n_draws // 2, 1, burn_in, thin)
    run = Run("E-MCMC", seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=1)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    chain = EMCMC(lr, eta, energy)
    return run_chains(chain, loss, run, net.w[None], *schedule)


_CHAIN = "n_draws burn_in thin lr eta temperature weight_decay batch_size"
METHOD = Method(
    fit=fit_emcmc,
    plain=Tuned(settings_of(fit_emcmc, _CHAIN)),
    warm_start=True,
)
