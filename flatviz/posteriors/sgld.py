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
from collections.abc import Container, Sequence
from dataclasses import dataclass

from torch import Tensor

from flatviz.checks import Count, NonNegative, PositiveShare, Rate, Seed, Statistics, Whole
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws
from flatviz.training.driver import Record
from flatviz.training.gradient import PLAIN, Ascent, Batch, Gradient, Noises, Training, check_noise
from flatviz.training.losses import training_loss
from flatviz.training.points import Chain, Energy, PointState, run_chains, thinned
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_at, rates


@dataclass(frozen=True, eq=False)
class SGLD(Chain[PointState]):
    """The step of SGLD.

    Args:
        lr: Constant.
        energy: Energy of the posterior that is sampled; by default the loss is minus its logarithm.

    Example:
        >>> import torch, flatviz as fv
        >>> gradient = fv.training.gradient_of(lambda w: w.square().sum() / 2)  # minus log p(w)
        >>> sgld = fv.posteriors.SGLD(lr=0.1)
        >>> state = sgld.init(torch.zeros(100, 2))  # a hundred chains
        >>> for step in range(50):
        ...     state, record = sgld.update(state, gradient, None, (torch.randn(100, 2),))
        >>> sgld.result(state).W.shape
        torch.Size([100, 2])
    """

    lr: float
    energy: Energy = Energy()

    init = staticmethod(PointState.at)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step."""
        check_noise(noise, s.w.shape)
        g, record = self.energy.gradient(s.w, gradient, batch)
        size = self.energy.scale(2 * self.lr)
        move = (-self.lr * g).add(noise[0], alpha=size)
        return PointState(s.w + move, s.v, s.step + 1), record


@dataclass(frozen=True, eq=False)
class SGHMC(Chain[PointState]):
    """The step of SGHMC; with rates and noise that change, that of the cyclical chains.

    Args:
        rates: lr_t of each step, (T,), or a constant.
        friction: alpha.
        energy: Energy of the posterior that is sampled.
        noisy: Steps that have noise; None, all.
    """

    rates: Tensor | float
    friction: float
    energy: Energy = Energy()
    noisy: Container[int] | None = None

    init = staticmethod(PointState.at)

    def noise(
        self,
        state: PointState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Return one tensor of w's shape in each noisy step; none at temperature 0."""

        def drawn(step: int) -> bool:
            return self.energy.temperature > 0 and (self.noisy is None or step in self.noisy)

        return FreshNoise(seeds, state.w, drawn=drawn)

    def update(
        self, s: PointState, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[PointState, Record]:
        """Take one step, with noise 0 in steps without noise."""
        check_noise(noise, s.w.shape)
        g, record = self.energy.gradient(s.w, gradient, batch)
        lr = rate_at(self.rates, s.step)
        size = self.energy.scale(2 * lr * self.friction)
        v = (1 - self.friction) * s.v
        v = v.addcmul(g, lr, value=-1)
        v = v.addcmul(noise[0], size)
        return PointState(s.w + v, v, s.step + 1), record


@public
def fit_sgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    chains: Count = 1,
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
    """Run chains w <- w - lr g + sqrt(2 lr T / N) xi from the net's weights; draws (n_draws, D).

    F-SGLD, with an `ascent`, has a drift that is no gradient, and so approximates the
    sharpness-aware posterior only.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        chains: All run at once; `n_draws` is a multiple of them.
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
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sgld(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run("SGLD", seed, checkpoint, progress, batch_size, training)
    schedule = thinned(n_draws, chains, burn_in, thin)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=chains)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    w = net.w.repeat(chains, 1)
    return run_chains(SGLD(lr, energy), loss, run, w, *schedule)


@public
def fit_sghmc(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    friction: PositiveShare = 0.1,
    chains: Count = 1,
    lr: Rate = 0.002,
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
    """Run SGHMC chains from the net's weights; draws (n_draws, D).

        v <- (1 - alpha) v - lr g + sqrt(2 lr alpha T / N) xi,   w <- w + v

    The rate is a fifth of SGLD's, because the momentum multiplies the step by 1 / friction.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes noise and minibatches.
        friction: alpha, above 0 and at most 1; 0.1 is a momentum of 0.9.
        chains: All run at once; `n_draws` is a multiple of them.
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
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_sghmc(net, task.train, seed=0, n_draws=4, burn_in=10, thin=5).W.shape
        torch.Size([4, 58])
    """
    run = Run("SGHMC", seed, checkpoint, progress, batch_size, training)
    schedule = thinned(n_draws, chains, burn_in, thin)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=chains)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    w = net.w.repeat(chains, 1)
    return run_chains(SGHMC(lr, friction, energy), loss, run, w, *schedule)


@public
def fit_csgld(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    cycles: Count = 4,
    cycle_steps: Count = 150,
    noisy_share: PositiveShare = 0.2,
    friction: PositiveShare = 1.0,
    chains: Count = 1,
    lr: Rate = 0.05,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    n_draws: Count = 28,
    temperature: NonNegative = 1.0,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    batchnorm: Statistics = "frozen",
    prior: Gaussian | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run cyclical SGLD: in each cycle the step falls from lr to 0, with noise at the end.

    Draws are taken in the noisy part.  Each of the chains starts at the net's weights.  A cycle
    gives n_draws / (cycles chains) draws, evenly spaced over its noisy part.

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
        lr: Step size; chains diverge above 2 / curvature, and a narrow prior adds curvature.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all, as the noise of small ones heats a chain.
        n_draws: Draws over all chains, (n_draws, D).
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
        ValueError: On bad data or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_csgld(net, task.train, seed=0, n_draws=4, cycles=2, cycle_steps=20).W.shape
        torch.Size([4, 58])
    """
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
    # Steps of a cycle
    last = {cycle_steps - 1 - i * (tail // each) for i in range(each)}
    falling = rates(lr, steps, net.w, lambda step, _: cosine(step % cycle_steps, cycle_steps))
    noisy = frozenset(step for step in range(steps) if step % cycle_steps >= cycle_steps - tail)
    keep = frozenset(step for step in range(steps) if step % cycle_steps in last)
    label = "cyclical SGLD" if friction == 1 else "cyclical SGHMC"
    run = Run(label, seed, checkpoint, progress, batch_size, training)
    loss = training_loss(net, data, likelihood, batchnorm, training, members=chains)
    energy = Energy(len(data), temperature, weight_decay, prior, ascent)
    chain = SGHMC(falling, friction, energy, noisy)
    w = net.w.repeat(chains, 1)
    return run_chains(chain, loss, run, w, steps, keep)


_CHAIN = "n_draws burn_in thin lr temperature weight_decay batch_size"
METHOD = Method(
    fit=fit_sgld,
    plain=Tuned(settings_of(fit_sgld, _CHAIN)),
    warm_start=True,
)
SGHMC_METHOD = Method(
    fit=fit_sghmc, plain=Tuned(settings_of(fit_sghmc, f"{_CHAIN} friction")), warm_start=True
)
_CYCLES = "n_draws cycles cycle_steps lr temperature weight_decay batch_size"
CYCLICAL_SGLD = Method(fit=fit_csgld, plain=Tuned(settings_of(fit_csgld, _CYCLES)))
# the momentum multiplies the step by ten
CYCLICAL_SGHMC = Method(
    fit=fit_csgld, plain=Tuned(settings_of(fit_csgld, _CYCLES, lr=0.01, friction=0.1))
)
