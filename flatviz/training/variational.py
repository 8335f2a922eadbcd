"""Fits of a low-rank Gaussian by natural gradients.

The descent that VI, mean-field VI and SA-BMA share, and their members.

    w = mean + delta,  delta = exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,
        g = grad NLL(w)
    grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g)

A method gives the gradient of the NLL in theta = (mean, log_std, factor).  B members, one for each
seed, are one Gaussian with a leading dimension: mean (B, D); a single one has none, mean (D,).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from flatviz.core import Data, Net
from flatviz.gaussian import Buffers, Gaussian
from flatviz.objectives.network import check_data, nll
from flatviz.results import History
from flatviz.training.driver import Algorithm, Diverged, Record, check_converged, drive, risen
from flatviz.training.gradient import Batch, Gradient, Noises, TrainingLoss
from flatviz.training.keywords import Run, Settings
from flatviz.training.losses import check_covers, training_loss
from flatviz.training.streams import MirroredNoise, Noise, rates

# With eight draws a step, 600 steps bring the mean objective to within 1 % of that after 2,400 on
# digits-near, of the MLP and of the conv net (data/gaps.csv).
# The tempered posterior exp(-N L / T) prior that VI and SA-BMA approximate by default: T = 0.03.
# On validation splits of digits-near VI's NLL is lower at T = 0.03 than at 0.1, 0.3 and 1, and does
# not differ significantly from that at 0.01 (`flatviz run tasks`).
TEMPERED: dict[str, Any] = dict(
    kl_weight=0.03,
    start_scale=0.3,
    weight_decay=0.0,
    steps=600,
    lr=2.0,
    momentum=0.9,
    batch_size=None,
    mc_samples=None,
)
# Of T = 0.03, 0.1, 0.3 and 1, T = 0.1 has the least validation NLL of VI with the conv net on the
# digits (seeds 1000 and 1001).
TEMPERED_BATCHNORM: dict[str, Any] = TEMPERED | dict(kl_weight=0.1, start_scale=0.01, lr=1.0)

# mc_samples=None takes DRAWS draws a step, or one draw where a gradient with all of them needs over
# LARGE_STEP multiply-adds.  One draw is noisier, so its rate is ONE_DRAW at most: fits of the
# digits' MLP and conv net then ended within 3 % of the same objective.
DRAWS = 8
LARGE_STEP = 2_000_000_000
ONE_DRAW = 1.0
# rates beside that of the mean, which momentum makes ten times as long
WIDTHS = 0.2
FACTOR = 0.1
MEMORY = 0.9  # of the sizes of steps


class GaussianState(NamedTuple):
    """Mean, log_std and factor of q; the mean's velocity.

    Running squares of s and s_i, (..., 1 + D); steps taken.
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

    In nats, with tau = kl_weight / N, P the prior's precision, A that of q,
        and G = g / tau + P (w - prior mean) - A delta:

        mean     <- mean - lr v,                              v <- momentum v + Sigma G / (1 + s)
        log_std  <- log_std - lr WIDTHS / 2 r / (1 + s_i),    r = G exp(log_std) z1
        factor   <- factor - lr FACTOR / 2 (z2 (x) G) Sigma / (1 + s)

    G is the path gradient of the KL (Roeder et al. 2017): its mean is the gradient, and it is 0 at
    every draw where q is the posterior.  The Fisher matrix is A for the mean and about 2 for
    log_std, so widths approach their fixed point,
    sigma^2 = leverage / (E_q[h] / tau + P_ii),
        at a rate that T and N do not enter.  Sigma without the inverse of F A F^T
    slows the factor where it adds little to the variance; with it, noise would grow there.  s is
    the running size of Sigma^1/2 G, s_i that of r: both bound a step far from the posterior, and s,
    a Frobenius norm, exceeds what Sigma^1/2 (H / tau + P) Sigma^1/2 has as its largest eigenvalue
    beyond 1, so that the mean's step is stable. KL and weight decay are taken at q itself, wherever
    g comes from.  kl_weight 0 leaves all of the KL out, with tau = 1 / N.

    Args:
        prior: Over the D weights.
        n: N, the examples behind the mean NLL.
        rates: lr of each step, (T,).
        kl_weight: T.
        momentum: Momentum of the mean.
        weight_decay: Weight decay of the mean.
    """

    prior: Gaussian
    n: int
    rates: Tensor
    kl_weight: float = 1.0
    momentum: float = 0.9
    weight_decay: float = 0.0

    @property
    def unit(self) -> float:
        """Tau, nats of the loss of an example in which G is measured."""
        return (self.kl_weight or 1.0) / self.n

    def total(
        self, q: Gaussian, grad: Sequence[Tensor], noise: Noises
    ) -> tuple[Tensor | None, list[Tensor]]:
        """Compute KL(q || prior), None where its weight is 0, and G in (mean, log_std, factor)."""
        mean, *others = (g / self.unit for g in grad)
        if self.weight_decay > 0:
            mean = mean.add(q.mean, alpha=self.weight_decay / self.unit)
        if self.kl_weight == 0:
            return None, [mean, *others]
        kl, pulls = q.kl_and_path_grad(self.prior, *noise)
        return kl, [g + pull for g, pull in zip((mean, *others), pulls)]

    def __call__(
        self, s: GaussianState, grad: Sequence[Tensor], noise: Noises
    ) -> tuple[GaussianState, Tensor | None]:
        """Take a step from `s`: the next state, and KL(q || prior) at q."""
        q = s.q
        rate = self.rates.take(s.step)
        kl, (mean, r, factor) = self.total(q, grad, noise)
        natural = q.cov_mul(torch.cat((mean.unsqueeze(-2), factor), -2))  # Sigma G
        sizes = torch.cat(
            (torch.linalg.vecdot(mean, natural[..., 0, :]).unsqueeze(-1), r.square()), -1
        )
        squares = (MEMORY * s.squares).add(sizes, alpha=1 - MEMORY)
        filled = 1 - MEMORY ** (s.step + 1).double()  # of the running mean
        slow = 1 / (1 + (squares / filled).sqrt())  # 1 / (1 + s), then 1 / (1 + s_i)
        velocity = (self.momentum * s.velocity).addcmul(natural[..., 0, :], slow[..., :1])
        after = GaussianState(
            s.mean.addcmul(velocity, rate, value=-1),
            s.log_std.addcmul(WIDTHS / 2 * rate * r, slow[..., 1:], value=-1),
            s.factor.addcmul(
                FACTOR / 2 * rate * natural[..., 1:, :], slow[..., :1].unsqueeze(-2), value=-1
            ),
            velocity,
            squares,
            s.step + 1,
        )
        return after, kl


@dataclass(frozen=True, eq=False)
class GaussianFit(Algorithm):
    """Base of the methods that fit a Gaussian.

    Args:
        descent: How q moves along a gradient.
        draws: S, draws of q in a step.
    """

    descent: Descent
    draws: int = 1

    @classmethod
    def of(cls, prior: Gaussian, n: int, how: Settings, *settings: Any) -> Self:
        """Build it from the keywords of a variational fit on n examples, and its other settings."""
        lr = rates(how["lr"], how["steps"], prior.mean)
        descent = Descent(prior, n, lr, how["kl_weight"], how["momentum"], how["weight_decay"])
        return cls(descent, how["mc_samples"] or DRAWS, *settings)

    def init(self, start: Gaussian, members: int = 1) -> GaussianState:
        """The state at `start`, of one or several members."""
        parts = [t.detach() for t in (start.mean, start.log_std, start.factor)]
        mean, log_std, factor = (
            parts if members == 1 else [t.expand(members, *t.shape) for t in parts]
        )
        still = torch.zeros_like(mean)
        zero = torch.zeros((), dtype=torch.long, device=mean.device)
        return GaussianState(
            mean, log_std, factor, still, torch.cat((still[..., :1], still), -1), zero
        )

    def noise(self, state: GaussianState, seeds: Sequence[int], steps: int) -> Noise:
        """Draw z1 (..., S, D) and z2 (..., S, K) of each step."""
        return MirroredNoise(seeds, self.draws, state.q, steps)

    def gradient(self, q: Gaussian, loss: TrainingLoss, batch: Batch, noise: Noises) -> Gradient:
        """Compute the gradient of one step; a method defines it."""
        raise NotImplementedError

    def update(
        self, s: GaussianState, loss: TrainingLoss, batch: Batch, noise: Noises
    ) -> tuple[GaussianState, Record]:
        """One step."""
        g = self.gradient(s.q, loss, batch, noise)
        after, kl = self.descent(s, g.grad, noise)
        return after, Record(g.loss, kl, g.gain, g.reach)

    def result(
        self, state: GaussianState, history: History | None = None, buffers: Buffers = None
    ) -> Gaussian:
        """The posterior of one member, with the BatchNorm statistics that it trained along."""
        return Gaussian(state.mean, state.log_std, state.factor, history, buffers)


def sized(net: Net, data: Data, how: Settings) -> Settings:
    """Fill in mc_samples=None by the size of the network, with the rate that suits one draw.

    Checks net and data then.
    """
    if how["mc_samples"] is not None:
        return how
    n = min(len(data), how["batch_size"] or len(data))
    _, work = check_data(net, data, how["likelihood"])
    if 3 * DRAWS * n * work.macs <= LARGE_STEP:
        return {**how, "mc_samples": DRAWS}
    return {**how, "mc_samples": 1, "lr": min(how["lr"], ONE_DRAW)}


def fit_gaussians(
    build: Callable[..., GaussianFit],
    net: Net,
    data: Data,
    begin: Gaussian,
    run: Run,
    how: Settings,
    seeds: Sequence[int],
) -> list[Gaussian | Diverged]:
    """Move q by build(**how), one member a seed; a member that diverged is its error.

    q begins at how["start"], or at `begin` where there is none, its standard deviations times
    how["start_scale"].

    Minibatches are shuffled by seed + 1.  Members run in one pass of the network where it allows
    that, else the network goes member by member.

    Raises:
        ValueError: If prior or start do not cover the treated weights, and on bad data.
    """
    start = how.get("start") or begin
    scale = how.get("start_scale", 1.0)
    if scale != 1:
        start = replace(start, log_std=start.log_std + math.log(scale), factor=scale * start.factor)
    chosen = sized(net, data, how)
    algorithm = build(**chosen)
    check_covers(net, algorithm.descent.prior, "prior")
    check_covers(net, start, "start")
    B = len(seeds)
    shuffles = [seed + 1 for seed in seeds]
    S = algorithm.draws
    members = None if B == 1 else B
    loss = training_loss(
        net, data, how["likelihood"], how["batchnorm"], run.training, members=members, draws=S
    )
    each_loss = loss.each[::S]
    if B > 1 and loss.each[0].training is not None:
        run.check_no_validation(
            "statistics of BatchNorm that members train at once are those of the last step"
        )
    streams: dict[str, Any] = dict(
        steps=how["steps"], seeds=seeds, shuffle=shuffles[0] if B == 1 else shuffles
    )
    state, history = drive(algorithm, algorithm.init(start, B), loss, run, **streams, check=False)
    each = [GaussianState(*(t if B == 1 or t.ndim == 0 else t[i] for t in state)) for i in range(B)]
    rows = history.mapped(lambda record: record.reshape(-1, B))
    if chosen["mc_samples"] != how["mc_samples"] and algorithm.draws < DRAWS:
        rows = replace(
            rows,
            notes=(*rows.notes, f"one draw a step, rate {chosen['lr']:g}: {DRAWS} draws take long"),
        )
    before = lambda: nll(net, data, likelihood=how["likelihood"])(start.mean)  # noqa: E731  by the net's statistics
    return [
        _member(algorithm, s, rows.mapped(itemgetter((..., i))), each_loss[i].collected, before)
        for i, s in enumerate(each)
    ]


def fit_gaussian(
    build: Callable[..., GaussianFit],
    net: Net,
    data: Data,
    begin: Gaussian,
    run: Run,
    how: Settings,
) -> Gaussian:
    """Fit the posterior of the run's seed.  Raises Diverged, and as `fit_gaussians`."""
    (fit,) = fit_gaussians(build, net, data, begin, run, how, [run.seed])
    if isinstance(fit, Diverged):
        raise fit
    return fit


def _member(
    algorithm: GaussianFit,
    state: GaussianState,
    history: History,
    buffers: Buffers,
    before: Callable[[], Tensor],
) -> Gaussian | Diverged:
    try:
        check_converged(history.loss, state.mean, state.log_std, state.factor)
    except Diverged as error:
        return error
    notes = (*history.notes, *risen(history.loss, history.validation, before))
    return algorithm.result(state, replace(history, notes=notes), buffers)
