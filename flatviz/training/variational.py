"""Fits of a low-rank Gaussian by natural gradients: the descent that VI and SA-BMA share.

A method gives the gradient of the NLL in theta = (mean, log_std, factor), at draws
w = mean + delta, delta = exp(log_std) z1 + z2 factor (`training/gradient.py`).  B members, one for
each seed, are one Gaussian with a leading dimension: mean (B, D); a single one has none, mean (D,).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from typing import NamedTuple, Self

import torch
from torch import Tensor

from flatviz.checks import Count, Momentum, NonNegative, Positive, Rate
from flatviz.gaussian import Gaussian
from flatviz.objectives.network import mean_nll
from flatviz.objectives.problem import Late, Problem
from flatviz.results import History
from flatviz.training.driver import Diverged, Record, check_converged, drive, risen
from flatviz.training.gradient import (
    Batch,
    Expected,
    Gradient,
    Noises,
    TrainingLoss,
    check_noise,
)
from flatviz.training.losses import check_covers, loss_of
from flatviz.training.method import BY_NET, Usual
from flatviz.training.points import Stepped
from flatviz.training.settings import DRAWS, Run, sized, tempered
from flatviz.training.streams import MirroredNoise, Noise, cosine, rate_of

# Rates relative to the mean's, whose steps momentum makes ten times as long
WIDTHS = 0.2
FACTOR = 0.1
MEMORY = 0.9  # decay of the running sizes of steps
GROWTH = WIDTHS / 2  # largest growth of log_std in a step, over its rate
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
        kl_weight: T, or that of each member, (B,), all > 0.
        momentum: Momentum of the mean.
        weight_decay: Weight decay of the mean.
        draws: S, draws of q in a step.
    """

    prior: Gaussian
    n: int
    kl_weight: float | Tensor = 1.0
    momentum: float = 0.9
    weight_decay: float = 0.0

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
        rate: Tensor,
    ) -> tuple[GaussianState, Record]:
        """Take a step from `s` along `g`: return the next state, and its entries in the history.

        rate: lr in this step, () in float64.
        """
        q = s.q
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


class Variational(Stepped[Gaussian, GaussianState]):
    """Base of the methods that fit a Gaussian q to a tempered posterior by natural gradients.

        min over q of  E_q[mean NLL] + (kl_weight / N) KL(q || prior)

    `fv.training.Descent` is one step.  Every second step has the negative noise of the one before.

    Args:
        prior: Gaussian over the D treated weights, as `transfer` returns.
        kl_weight: T of the tempered likelihood, exp(-N L(w) / T) prior(w), the best q of all: 1 is
            Bayes, below it is colder, 0 removes the prior.  None: 0.03, or 0.1 with BatchNorm
            and batchnorm="train".
        lr: Of natural gradients, falling along half a cosine: 1 to 2; beyond, fits can diverge.
            None: 2, or 1 with BatchNorm and batchnorm="train"; at most 1 where a step has few
            draws.
        start_scale: Factor on the start's standard deviations: from a wide start gradients are
            mostly noise.  None: 0.3, or 0.01 with BatchNorm and batchnorm="train".
        mc_samples: Draws of q a step, each of all its examples.  None: 8; for a large network they
            take an equal part of the examples each, or there is one, at a lower rate
            (`q.history.notes` says so).
        momentum: Share of the mean's previous step that is added to the next.
        weight_decay: Acts on the mean only.
        start: Where q starts, a Gaussian of any rank; None: the prior.
        share: Whether the draws of a step each take an equal part of its examples.
        n: N, the examples in the mean NLL; None: filled by `fit`.
    """

    usual = Usual(steps=600)
    prior: Gaussian = field(default=BY_NET, kw_only=False)
    kl_weight: NonNegative = BY_NET
    lr: Rate = BY_NET
    start_scale: Positive = BY_NET
    mc_samples: Count = BY_NET
    momentum: Momentum = 0.9
    weight_decay: NonNegative = 0.0
    start: Gaussian | None = None
    share: bool = False
    n: Count = BY_NET

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in temperature, rate, width of the start, draws of a step, and N."""
        if self.prior is None:
            raise ValueError(
                f"{type(self).__name__} must have a prior, got None: give the one that fv.transfer"
                " returns, or fv.posteriors.moped_prior(net)"
            )
        net = problem.net
        n = len(problem.data)
        check_covers(net, self.prior, "prior")
        if self.start is not None:
            check_covers(net, self.start, "start")
        usual = tempered(net, run.batchnorm)
        lr = usual.lr if self.lr is None else self.lr
        draws = self.mc_samples
        share = self.share
        if draws is None:
            collects = run.batchnorm == "train" and net.has_batchnorm
            may_share = net.trunk is None and not collects and run.training.accumulate == 1
            examples = min(n, run.batch_size or n)
            work = problem.work
            fixed = net.trunk is None and not collects and run.augment is None
            if fixed and run.steps * examples >= n:
                work = Late(run.training.precision).work(problem)
            draws, share, most = sized(examples, work, net.dim, may_share)
            lr = lr if most is None else min(lr, most)
        return replace(
            self,
            kl_weight=usual.kl_weight if self.kl_weight is None else self.kl_weight,
            start_scale=usual.start_scale if self.start_scale is None else self.start_scale,
            lr=lr,
            mc_samples=draws,
            share=share,
            n=n if self.n is None else self.n,
        )

    def remarks(self, given: Self) -> tuple[str, ...]:
        """Say where a step has fewer draws than usual, or draws that share its examples."""
        fewer = given.mc_samples is None and self.mc_samples < DRAWS
        if not fewer and not self.share:
            return ()
        drawn = "one draw" if self.mc_samples == 1 else f"{self.mc_samples} draws"
        examples_of = " share the examples of" if self.share else ""
        return (
            f"{drawn}{examples_of} a step, rate {self.lr:g}: {DRAWS} draws of all examples take"
            " long",
        )

    def widening(self, steps: int) -> tuple[str, ...]:
        """Note steps that are too few for q to become as wide as it was before `start_scale`."""
        scale = self.start_scale
        if self.lr is None or scale is None or scale >= 1:
            return ()
        reach = GROWTH * self.lr * sum(self.schedule(step, steps) for step in range(steps))
        if reach >= -math.log(scale):
            return ()
        return (
            f"in {steps} steps at rate {self.lr:g} a width grows by a factor of"
            f" {math.exp(reach):.3g} at most, and start_scale={scale:g} is further below 1: take"
            " more steps, or start wider",
        )

    @property
    def draws(self) -> int:
        """Draws of q in a step."""
        return self.mc_samples or DRAWS

    @property
    def descent(self) -> Descent:
        """The step of q along a gradient."""
        n = self.n or 1
        return Descent(self.prior, n, self.kl_weight, self.momentum, self.weight_decay)

    @property
    def started(self) -> Gaussian:
        """`start` or the prior, with standard deviations times `start_scale`."""
        start = self.prior if self.start is None else self.start
        scale = self.start_scale
        if scale is None or scale == 1:
            return start
        log_std = start.log_std + math.log(scale)
        return replace(start, log_std=log_std, factor=scale * start.factor)

    def gradient(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
    ) -> Expected:
        """Compute the gradient in theta of one step."""
        raise NotImplementedError

    def noise_share(
        self,
        q: Gaussian,
        gradient: Gradient,
        batch: Batch,
        noises: Iterable[Noises],
    ) -> Tensor | None:
        """Estimate what part of an ascent's squared length is noise of the draws."""
        return None

    def init(self, start: Gaussian | None = None, members: int = 1) -> GaussianState:
        """Return the state at `start`, the method's own by default, of one or several members."""
        return self.descent.init(self.started if start is None else start, members)

    def schedule(self, step: int, steps: int) -> float:
        """Return the factor on lr, along half a cosine."""
        return cosine(step, steps)

    def noise(
        self,
        state: GaussianState,
        seeds: Sequence[int],
        steps: int,
    ) -> Noise:
        """Draw z1 (..., S, D) and z2 (..., S, K) of each step."""
        return MirroredNoise(seeds, self.draws, state.q, steps)

    def update(
        self,
        s: GaussianState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises,
        rate: Tensor | float = 1.0,
    ) -> tuple[GaussianState, Record]:
        """Take one step at lr times `rate`."""
        self.check_filled("prior", "lr", "kl_weight")
        each = (*s.mean.shape[:-1], "S")
        check_noise(noise, (*each, s.q.dim), (*each, s.q.rank))
        expected = self.gradient(s.q, gradient, batch, noise)
        return self.descent.update(s, expected, noise, rate_of(self.lr, rate, s.mean))

    def result(
        self,
        s: GaussianState,
        history: History | None = None,
        kept: Sequence[Tensor] = (),
    ) -> Gaussian:
        """Return the posterior of one member."""
        return Gaussian(s.mean, s.log_std, s.factor, history)

    def fitted(self, problem: Problem, run: Run) -> Gaussian:
        """Fit the posterior of the run's seed."""
        (fit,) = fit_gaussians(self, problem, run, [run.seed])
        if isinstance(fit, Diverged):
            raise fit
        return fit


def _each(value: float | Tensor, like: Tensor) -> float | Tensor:
    """Shape the values of members (B,) to act on tensors (B, ...)."""
    if not isinstance(value, Tensor):
        return value
    return value.view(-1, *[1] * (like.ndim - 1))


def fit_gaussians(
    method: Variational,
    problem: Problem,
    run: Run,
    seeds: Sequence[int],
) -> list[Gaussian | Diverged]:
    """Fit q by a completed method, one member a seed; a member that diverged is its error.

    Fields of `together` may be tensors, (B,) of the members.  Minibatches are shuffled by seed + 1.
    Members run in one pass of the network where it allows that, otherwise one by one.

    Raises:
        ValueError: If prior or start do not cover the treated weights, and on bad data.
    """
    net = problem.net
    start = method.started
    check_covers(net, method.prior, "prior")
    check_covers(net, start, "start")
    B = len(seeds)
    shuffles = [seed + 1 for seed in seeds]
    loss = loss_of(
        problem,
        run.batchnorm,
        run.training,
        B,
        draws=method.draws,
        shared=method.share,
    )
    if B > 1 and loss.buffers() is not None:
        run.check_no_validation(
            "statistics of BatchNorm that members train at once are those of the last step"
        )
    state, history, _ = drive(
        method,
        method.init(start, B),
        loss,
        run,
        steps=run.steps,
        seeds=seeds,
        shuffle=shuffles[0] if B == 1 else shuffles,
        check=False,
    )
    rows = history.mapped(lambda record: record.reshape(-1, B))
    rows = replace(rows, notes=(*rows.notes, *method.widening(run.steps)))
    drawn = "one draw" if method.draws == 1 else f"{method.draws} draws"
    shares = None
    if not loss.streams and loss.buffers() is None:
        shares = noise_shares(method, state.q, loss, run, seeds)

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
        q = method.result(s, replace(record, notes=notes))
        return replace(q, buffers=loss.buffers(i))

    return [member(i) for i in range(B)]


def noise_shares(
    method: Variational,
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
    noise = MirroredNoise(other_seeds, method.draws, q, steps=1)
    batch = None
    if run.batch_size is not None and run.batch_size < loss.examples:
        batch = torch.arange(run.batch_size, device=q.mean.device)
    steps = (noise.at(step) for step in range(2 * REPEATS))
    noises = islice(steps, 0, None, 2)  # odd steps are mirrored
    return method.noise_share(q, loss, batch, noises)
