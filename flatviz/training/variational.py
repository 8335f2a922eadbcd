"""Fits of a low-rank Gaussian by natural gradients: the descent that VI and SA-BMA share.

A method gives the gradient of the NLL in theta = (mean, log_std, factor), at draws
w = mean + delta, delta = exp(log_std) z1 + z2 factor (`training/gradient.py`).  B members, one for
each seed, are one Gaussian with a leading dimension: mean (B, D); a single one has none, mean (D,).
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from flatviz.checks import Statistics
from flatviz.gaussian import Gaussian
from flatviz.objectives.network import mean_nll
from flatviz.objectives.problem import Late, Problem
from flatviz.results import History
from flatviz.training.driver import Algorithm, Diverged, Record, check_converged, drive, risen
from flatviz.training.gradient import (
    Batch,
    Expected,
    Gradient,
    Noises,
    TrainingLoss,
    check_noise,
)
from flatviz.training.losses import check_covers, loss_of
from flatviz.training.settings import DRAWS, Run, Vi
from flatviz.training.streams import MirroredNoise, Noise, rate_at, rates

# Rates relative to the mean's, whose steps momentum makes ten times as long
WIDTHS = 0.2
FACTOR = 0.1
MEMORY = 0.9  # decay of the running sizes of steps
REPEATS = 8  # independent gradients behind the share of noise in an ascent


class GaussianState(NamedTuple):
    """Mean, log_std and factor of q; the mean's velocity; running squares; steps taken.

    `squares` are those of s and s_i, (..., 1 + D): see `Descent`.
    """

    mean: Tensor
    log_std: Tensor
    factor: Tensor
    velocity: Tensor
    squares: Tensor
    step: Tensor

    @property
    def q(self) -> Gaussian:
        """The Gaussian of this state, unchecked."""
        return Gaussian.unchecked(self.mean, self.log_std, self.factor)


@dataclass(frozen=True, eq=False)
class Descent:
    """Natural-gradient steps on theta = (mean, log_std, factor), from the gradient of the NLL.

    In nats, with tau = kl_weight / N, P the prior's precision, A that of q, and
    G = g / tau + P (w - prior mean) - A delta:

        mean     <- mean - lr v,                              v <- momentum v + Sigma G / (1 + s)
        log_std  <- log_std - lr WIDTHS / 2 r / (1 + s_i),    r = G exp(log_std) z1
        factor   <- factor - lr FACTOR / 2 (z2 (x) G) Sigma / (1 + s)

    G is the path gradient of the KL (Roeder et al. 2017): its mean is the gradient, and it is 0 at
    every draw where q is the posterior.  The Fisher matrix is A for the mean and about 2 for
    log_std, so widths approach their fixed point, sigma^2 = leverage / (E_q[h] / tau + P_ii), at a
    rate that does not depend on T and N.

    Sigma without the inverse of F A F^T slows the factor where it adds little to the variance; with
    it, noise would grow there.  s is the running size of Sigma^1/2 G, s_i that of r.  Both bound a
    step far from the posterior.  s, a Frobenius norm, exceeds the part of the largest eigenvalue of
    Sigma^1/2 (H / tau + P) Sigma^1/2 beyond 1, so that the mean's step is stable.

    KL and weight decay are taken at q itself, wherever g comes from.  kl_weight 0 leaves out all of
    the KL, with tau = 1 / N.

    Args:
        prior: Prior over the D weights.
        n: N, the examples in the mean NLL.
        rates: lr of each step, (T,), or a constant.
        kl_weight: T, or that of each member, (B,), all > 0.
        momentum: Momentum of the mean.
        weight_decay: Weight decay of the mean.
        draws: S, draws of q in a step.
    """

    prior: Gaussian
    n: int
    rates: Tensor | float
    kl_weight: float | Tensor = 1.0
    momentum: float = 0.9
    weight_decay: float = 0.0
    draws: int = 1

    @classmethod
    def of(cls, vi: Vi, prior: Gaussian, n: int) -> "Descent":
        """Build that of a fit on n examples."""
        return cls(
            prior,
            n,
            rates(vi.lr, vi.steps, prior.mean),
            vi.kl_weight,
            vi.momentum,
            vi.weight_decay,
            vi.mc_samples or DRAWS,
        )

    def init(self, start: Gaussian, members: int = 1) -> GaussianState:
        """Return the state at `start`, of one or several members."""
        theta = [t.detach() for t in (start.mean, start.log_std, start.factor)]
        if members > 1:
            theta = [t.expand(members, *t.shape) for t in theta]
        mean, log_std, factor = theta
        zeros = torch.zeros_like(mean)
        squares = torch.cat((zeros[..., :1], zeros), -1)
        step = torch.zeros((), dtype=torch.long, device=zeros.device)
        return GaussianState(mean, log_std, factor, zeros, squares, step)

    @property
    def unit(self) -> float | Tensor:
        """Tau, the nats of an example's loss in which G is measured."""
        return (self.kl_weight if self.has_kl else 1.0) / self.n

    @property
    def has_kl(self) -> bool:
        """Whether the KL has a weight."""
        return isinstance(self.kl_weight, Tensor) or self.kl_weight != 0

    def total(
        self,
        q: Gaussian,
        grad: Sequence[Tensor],
        noise: Noises,
    ) -> tuple[Tensor | None, list[Tensor]]:
        """Compute KL(q || prior), None where its weight is 0, and G in (mean, log_std, factor)."""
        if self.weight_decay > 0:
            mean, *others = grad
            grad = [mean.add(q.mean, alpha=self.weight_decay), *others]
        scaled = [g / _each(self.unit, g) for g in grad]
        if not self.has_kl:
            return None, scaled
        kl, pulls = q.kl_and_path_grad(self.prior, *noise)
        return kl, [g + pull for g, pull in zip(scaled, pulls)]

    def update(
        self,
        s: GaussianState,
        g: Expected,
        noise: Noises,
    ) -> tuple[GaussianState, Record]:
        """Take a step from `s` along `g`: return the next state, and its entries in the history."""
        q = s.q
        rate = rate_at(self.rates, s.step)
        kl, (mean, r, factor) = self.total(q, g.grad, noise)
        rows = torch.cat((mean.unsqueeze(-2), factor), -2)
        natural = q.cov_mul(rows)  # Sigma G
        along_mean = natural[..., 0, :]
        along_factor = natural[..., 1:, :]
        square = torch.linalg.vecdot(mean, along_mean)
        sizes = torch.cat((square.unsqueeze(-1), r.square()), -1)
        squares = (MEMORY * s.squares).add(sizes, alpha=1 - MEMORY)
        filled = 1 - MEMORY ** (s.step + 1).double()  # bias correction of the running mean
        slow = 1 / (1 + (squares / filled).sqrt())
        slow_mean = slow[..., :1]  # 1 / (1 + s)
        slow_widths = slow[..., 1:]  # 1 / (1 + s_i)
        velocity = (self.momentum * s.velocity).addcmul(along_mean, slow_mean)
        widths = WIDTHS / 2 * rate * r
        factor = FACTOR / 2 * rate * along_factor
        after = GaussianState(
            s.mean.addcmul(velocity, rate, value=-1),
            s.log_std.addcmul(widths, slow_widths, value=-1),
            s.factor.addcmul(factor, slow_mean.unsqueeze(-2), value=-1),
            velocity,
            squares,
            s.step + 1,
        )
        return after, Record(g.loss, kl, g.gain, g.reach)


class GaussianMethod(Algorithm[GaussianState], Protocol):
    """A method that fits a Gaussian by `descent`; it defines the gradient, and the result."""

    descent: Descent

    def gradient(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> Expected:
        """Compute the gradient in theta of one step."""

    def noise_share(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noises: Iterable[Noises],
    ) -> Tensor | None:
        """Estimate what part of an ascent's squared length is noise of the draws."""
        return None

    def init(self, start: Gaussian, members: int = 1) -> GaussianState:
        """Return the state at `start`, of one or several members."""
        return self.descent.init(start, members)

    def noise(
        self,
        state: GaussianState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Draw z1 (..., S, D) and z2 (..., S, K) of each step."""
        return MirroredNoise(seeds, self.descent.draws, state.q, steps)

    def update(
        self,
        s: GaussianState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> tuple[GaussianState, Record]:
        """Take one step."""
        each = (*s.mean.shape[:-1], "S")
        check_noise(noise, (*each, s.q.dim), (*each, s.q.rank))
        expected = self.gradient(s.q, gradient, batch, noise)
        return self.descent.update(s, expected, noise)

    def result(
        self,
        s: GaussianState,
        history: History | None = None,
        kept: Sequence[Tensor] = (),
    ) -> Gaussian:
        """Return the posterior of one member."""
        return Gaussian(s.mean, s.log_std, s.factor, history)


def _each(value: float | Tensor, like: Tensor) -> float | Tensor:
    """Shape the values of members (B,) to act on tensors (B, ...)."""
    if not isinstance(value, Tensor):
        return value
    return value.view(-1, *[1] * (like.ndim - 1))


def fit_gaussians(
    build: Callable[[Descent], GaussianMethod],
    problem: Problem,
    prior: Gaussian,
    vi: Vi,
    batchnorm: Statistics,
    run: Run,
    seeds: Sequence[int],
) -> list[Gaussian | Diverged]:
    """Fit q by build(descent), one member a seed; a member that diverged is its error.

    Minibatches are shuffled by seed + 1.  Members run in one pass of the network where it allows
    that, otherwise one by one.

    Raises:
        ValueError: If prior or start do not cover the treated weights, and on bad data.
    """
    net = problem.net
    n = len(problem.data)
    start = vi.started(prior)
    check_covers(net, prior, "prior")
    check_covers(net, start, "start")
    collects = batchnorm == "train" and net.has_batchnorm
    may_share = net.trunk is None and not collects and run.training.accumulate == 1
    examples = min(n, run.batch_size or n)
    work = problem.work
    if not collects and net.trunk is None and vi.steps * examples >= n:
        work = Late(run.training.precision).work(problem)
    sized = vi.sized(examples, work, net.dim, may_share)
    descent = Descent.of(sized, prior, n)
    algorithm = build(descent)
    B = len(seeds)
    shuffles = [seed + 1 for seed in seeds]
    loss = loss_of(
        problem,
        batchnorm,
        run.training,
        B,
        draws=descent.draws,
        shared=sized.shared,
    )
    if B > 1 and loss.buffers() is not None:
        run.check_no_validation(
            "statistics of BatchNorm that members train at once are those of the last step"
        )
    state, history, _ = drive(
        algorithm,
        algorithm.init(start, B),
        loss,
        run,
        steps=vi.steps,
        seeds=seeds,
        shuffle=shuffles[0] if B == 1 else shuffles,
        check=False,
    )
    rows = history.mapped(lambda record: record.reshape(-1, B))
    drawn = "one draw" if descent.draws == 1 else f"{descent.draws} draws"
    if vi.mc_samples is None and descent.draws < DRAWS or sized.shared:
        examples_of = " share the examples of" if sized.shared else ""
        note = (
            f"{drawn}{examples_of} a step, rate {sized.lr:g}: {DRAWS} draws of all examples take"
            " long"
        )
        rows = replace(rows, notes=(*rows.notes, note))
    rows = replace(rows, notes=(*rows.notes, *sized.widening_notes()))
    shares = None
    if not loss.streams and loss.buffers() is None:
        shares = noise_shares(algorithm, state.q, loss, run, seeds)

    def before() -> Tensor:
        """Compute the loss at the start, by the net's statistics."""
        return mean_nll(problem)(start.mean)

    def member(i: int) -> Gaussian | Diverged:
        s = state
        if B > 1:
            s = GaussianState(*(t[i] if t.ndim else t for t in state))
        record = rows.mapped(itemgetter((..., i)))
        try:
            check_converged(record.loss, s.mean, s.log_std, s.factor)
        except Diverged as error:
            return error
        notes = (*record.notes, *risen(record.loss, record.validation, before))
        share = math.nan if shares is None else float(shares.reshape(-1)[i])
        if not math.isnan(share):
            notes = (*notes, f"{share:.0%} of the ascent's squared length is noise of {drawn}")
        q = algorithm.result(s, replace(record, notes=notes))
        return replace(q, buffers=loss.buffers(i))

    return [member(i) for i in range(B)]


def noise_shares(
    algorithm: GaussianMethod,
    q: Gaussian,
    loss: TrainingLoss,
    run: Run,
    seeds: Sequence[int],
) -> Tensor | None:
    """Estimate what part of the last ascent's squared length is noise of the draws, (B,) or ().

    It takes one gradient for each of `REPEATS` noises, on the first minibatch's number of examples.
    None of a method without an ascent.
    """
    other_seeds = [seed + 1 for seed in seeds]
    # One step's noise at a time, as it may take more memory than the fit
    noise = MirroredNoise(other_seeds, algorithm.descent.draws, q, steps=1)
    batch = None
    if run.batch_size is not None and run.batch_size < loss.examples:
        batch = torch.arange(run.batch_size, device=q.mean.device)
    steps = (noise.at(step) for step in range(2 * REPEATS))
    noises = islice(steps, 0, None, 2)  # odd steps are mirrored
    return algorithm.noise_share(q, loss, batch, noises)


def fit_members(
    build: Callable[[Descent], GaussianMethod],
    problem: Problem,
    prior: Gaussian,
    vi: Vi,
    batchnorm: Statistics,
    run: Run,
    members: Sequence[tuple[float, int]],
) -> dict[tuple[float, int], Gaussian]:
    """Fit members (radius, seed) at once, without those that diverge, which a warning names.

    Raises:
        ValueError: As `fit_gaussians`.
        Diverged: If each member diverges.
    """
    seeds = [seed for _, seed in members]
    fits = fit_gaussians(build, problem, prior, vi, batchnorm, run, seeds)
    finite = {m: fit for m, fit in zip(members, fits) if isinstance(fit, Gaussian)}
    diverged = [f"radius {r:g} with seed {s}" for r, s in members if (r, s) not in finite]
    names = ", ".join(diverged)
    if not finite:
        raise Diverged(f"all {len(members)} members diverged, {names}: {fits[0]}")
    if diverged:
        warnings.warn(
            f"{len(diverged)} of {len(members)} members diverged and are left out: {names}",
            stacklevel=3,
        )
    return finite


def fit_gaussian(
    build: Callable[[Descent], GaussianMethod],
    problem: Problem,
    prior: Gaussian,
    vi: Vi,
    batchnorm: Statistics,
    run: Run,
) -> Gaussian:
    """Fit the posterior of the run's seed.

    Raises Diverged, and as `fit_gaussians`.
    """
    (fit,) = fit_gaussians(build, problem, prior, vi, batchnorm, run, [run.seed])
    if isinstance(fit, Diverged):
        raise fit
    return fit
