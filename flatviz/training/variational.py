"""Fits of a low-rank Gaussian by reparameterised gradients: the loop that VI, mean-field VI and SA-BMA run.

    w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
    grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g)

A method is one function, its `Step`, from q to the gradient that q moves along.  B members, each with a seed of its own,
are one Gaussian with a leading dimension: mean (B, D); a single one has none, mean (D,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.checks import check_count, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.gaussian import Gaussian
from flatviz.results import History
from flatviz.storage.checkpoints import State
from flatviz.training.batched import SequentialLoss, members_batches, members_loss
from flatviz.training.gradient import TrainingLoss
from flatviz.training.loop import advance
from flatviz.training.noisy_nll import LocalNLL, NoisyNLL
from flatviz.training.optimize import (
    BatchStatisticsLoss,
    check_converged,
    cosine,
    early_stopping,
    examples_of,
    minibatches,
    training_loss,
)
from flatviz.training.passes import Passes
from flatviz.training.perturb import fold
from flatviz.training.run import Optim, Run

STEPS_AHEAD = 64  # whose noise is drawn at once: one by one, between other work, a draw takes four times as long
MOST_AHEAD = 2**22  # numbers drawn at once
LARGE = 2**20  # numbers of a draw beyond which a GPU draws them itself: 11 million take a CPU longer than ResNet-18's gradient


Step = Callable[[Gaussian, NoisyNLL, "Descent"], tuple[Tensor, Tensor | None]]  # moves q; -> its loss, the loss gained


class Descent:
    """SGD with momentum on theta = (mean, log_std, factor), from the gradient of the NLL that a `Step` found.

        v <- momentum v + slow * (grad + kl_weight / N grad KL(q || prior) + weight_decay mean),   theta <- theta - rate v

    KL and weight decay are taken at q itself, wherever the gradient comes from.  `slow` is 1 / (1 + rate pull) on mean and
    factor, pull = kl_weight / (N d), d a weight's prior variance: the KL pulls with 1 / d, and plain SGD would overshoot
    wherever the prior is narrow.  With `anneal` kl_weight rises linearly over that share of the steps.  On the factor `slow`
    is divided by 2 (K - 1), as it is for the unfolded C of the paper: at the full rate its K noises multiply every step.
    """

    def __init__(
        self, start: Gaussian, prior: Gaussian, members: int, kl_weight: float, optim: Optim, anneal: float = 0.0
    ) -> None:
        theta = torch.cat((start.mean[None], start.log_std[None], start.factor)).detach()
        self.theta = theta.expand(members, *theta.shape).clone() if members > 1 else theta  # one tensor: few operations
        self.parts = self.theta[..., 0, :], self.theta[..., 1, :], self.theta[..., 2:, :]
        self.velocity, self.slow, self.pull = torch.zeros_like(self.theta), torch.ones_like(theta), torch.zeros_like(theta)
        self.slow[2:] /= fold(start) ** 2
        self.pull[0] = self.pull[2:] = kl_weight * (-2 * prior.log_std).exp()
        self.prior, self.kl_weight, self.optim, self.rate, self.kls = prior, kl_weight, optim, optim.lr, []
        self.annealed, self.share = anneal * optim.steps, 1.0
        self.momentum = theta.new_tensor(optim.momentum)  # a tensor: torch wraps a number anew at every product

    def at(self, step: int) -> None:
        """Learning rate and share of the KL weight of a step."""
        self.rate = self.optim.lr * cosine(step, self.optim.steps)
        self.share = min(1.0, (step + 1) / self.annealed) if self.annealed > 0 else 1.0

    def __call__(self, q: Gaussian, grad: tuple[Tensor, ...]) -> None:
        """One step from `q`, what stands in theta now."""
        total = torch.cat((grad[0].unsqueeze(-2), grad[1].unsqueeze(-2), grad[2]), -2)
        if self.kl_weight > 0:
            kl, pulls = q.kl_and_grad(self.prior)
            self.kls.append(kl)
            for rows, g in zip((total[..., 0, :], total[..., 1, :], total[..., 2:, :]), pulls):
                rows.add_(g, alpha=self.share * self.kl_weight)
        if self.optim.weight_decay > 0:
            total[..., 0, :].add_(q.mean, alpha=self.optim.weight_decay)
        slow = self.slow if self.kl_weight == 0 else self.slow / (1 + self.rate * self.share * self.pull)
        self.velocity.mul_(self.momentum).addcmul_(total, slow)
        self.theta.add_(self.velocity, alpha=-self.rate)


class Noise:
    """Noise of each step, of each member by its own generator: the numbers that one draw a step would give, drawn ahead."""

    def __init__(self, seeds: Sequence[int], draws: int, q: Gaussian, steps: int) -> None:
        self.like, self.dim, self.draws, self.size = q.mean, q.dim, draws, q.dim + q.rank
        self.device = q.mean.device if self.size > LARGE else torch.device("cpu")
        self.sources = [generator(seed, self.device) for seed in seeds]  # as before the block's first step: this is saved
        self.ahead = [generator(seed, self.device) for seed in seeds]  # as they are after its last
        self.steps = max(1, min(STEPS_AHEAD, steps, MOST_AHEAD // (len(seeds) * draws * self.size)))
        self.block: list[tuple[Tensor, Tensor]] = []

    def at(self, step: int) -> list[tuple[Tensor, Tensor]]:
        """(z1 (..., D), z2 (..., K)) of each draw; steps are asked for in order."""
        if not self.block:
            self.block = self._drawn()
        place = step % self.steps
        rows = self.block[place * self.draws : (place + 1) * self.draws]
        if place == self.steps - 1:
            self.block = []
            for source, ahead in zip(self.sources, self.ahead):
                source.set_state(ahead.get_state())
        return rows

    def _drawn(self) -> list[tuple[Tensor, Tensor]]:
        shape = len(self.sources), self.steps, self.draws, self.size
        z = torch.empty(shape, dtype=self.like.dtype, device=self.device)
        for source, ahead, rows in zip(self.sources, self.ahead, z):
            ahead.set_state(source.get_state())
            for row in rows:
                row.normal_(generator=ahead)
        z = z.to(self.like.device).flatten(1, 2)
        z = z[0] if len(z) == 1 else z.transpose(0, 1)  # (steps * draws, ..., D + K)
        return list(zip(z[..., : self.dim].unbind(), z[..., self.dim :].unbind()))


@dataclass(frozen=True)
class Bound:
    """What a variational fit minimises, beside data and prior, and where q starts.

    kl_weight: a temperature; anneal: share of the steps over which it rises from 0.  start: q at first (default the prior),
    its widths times start_scale.  mc_samples: draws a step.  local: a draw for each example, by `LocalNLL`; for one member.
    """

    kl_weight: float
    anneal: float = 0.0
    start: Gaussian | None = None
    start_scale: float = 1.0
    mc_samples: int = 1
    local: bool = False

    def __post_init__(self) -> None:
        check_count(self.mc_samples, "mc_samples")
        check_nonnegative(self.kl_weight, "kl_weight")


def fit_gaussians(
    net: Net,
    data: Data,
    prior: Gaussian,
    step: Step,
    *,
    seeds: Sequence[int],
    bound: Bound,
    likelihood: Likelihood,
    batchnorm: str,
    optim: Optim,
    run: Run,
) -> list[Gaussian | ValueError]:
    """Move q from `bound.start` (default the prior) by `step`, one member a seed; a member that diverged is its error.

    Minibatches are shuffled by seed + 1.  Members run in one pass of the network where it allows that, else the network
    goes member by member.  Raises ValueError where prior or start do not cover the treated weights, and on bad data.
    """
    check_covers(net, prior, "prior")
    start = prior if bound.start is None else bound.start
    check_covers(net, start, "start")
    start = narrowed(start, bound.start_scale)
    B, shuffles = len(seeds), [seed + 1 for seed in seeds]
    loss, trained = _losses(net, data, likelihood, batchnorm, B, run.passes)
    if B > 1 and any(trained):
        run.check_no_validation("statistics of BatchNorm that members train at once are those of the last step")
    judged, draws, noisy = loss, bound.mc_samples, NoisyNLL
    if bound.local:
        run.check_passes("a draw for each example has one row a pass", precision=False)
        examples = len(data) if optim.batch_size is None else min(optim.batch_size, len(data))
        if len(data) % examples:
            raise ValueError(f"with local=True batch_size must divide the {len(data)} examples, got {optim.batch_size}")
        draws, noisy = bound.mc_samples * examples, LocalNLL
        loss = members_loss(net, data, likelihood, "frozen", draws)
    descent = Descent(start, prior, B, bound.kl_weight / len(data), optim, bound.anneal)
    noise, losses, gains = Noise(seeds, draws, start, optim.steps), [], []

    def update(at: int, index: Tensor | None) -> None:
        descent.at(at)
        value, gain = step(Gaussian.unchecked(*descent.parts), noisy(loss, index, noise.at(at)), descent)
        losses.append(value)
        if gain is not None:
            gains.append(gain)

    state: State = {"theta": descent.theta, "velocity": descent.velocity, **loss.state}
    state |= {f"noise {i}": source for i, source in enumerate(noise.sources)}
    state |= {"losses": losses, "gains": gains, "kls": descent.kls}
    batches = members_batches(len(data), optim.batch_size, shuffles, net.device)
    batches = minibatches(len(data), optim.batch_size, shuffles[0], net.device) if B == 1 else batches
    members = None if B == 1 else B
    stopping = early_stopping(judged, [descent.theta], lambda: descent.theta[..., 0, :], optim, run, members=members)
    advance(state, update, batches, optim.steps, run, stopping, examples=examples_of(loss, optim))
    theta = descent.theta.reshape(B, *descent.theta.shape[-2:])
    checks = [] if stopping is None else stopping.losses
    records = [torch.stack(v).reshape(-1, B) if v else None for v in (losses, descent.kls, gains, checks)]
    return [_member(theta[i], [None if v is None else v[:, i] for v in records], trained[i]) for i in range(B)]


def converged(fit: Gaussian | ValueError) -> Gaussian:
    """The posterior; raises the error of a fit that diverged."""
    if isinstance(fit, ValueError):
        raise fit
    return fit


def check_covers(net: Net, q: Gaussian, name: str) -> None:
    """That `q` is a Gaussian over the net's treated weights."""
    if not isinstance(q, Gaussian):
        raise TypeError(f"{name} must be a Gaussian, as transfer returns, got {type(q).__name__}")
    if q.dim != net.dim:
        raise ValueError(f"{name} must cover the net's {net.dim} treated weights, got {q.dim}: use what transfer returned")


def narrowed(q: Gaussian, scale: float) -> Gaussian:
    """q with all its standard deviations times `scale`."""
    return q if scale == 1 else replace(q, log_std=q.log_std + math.log(scale), factor=scale * q.factor)


def _losses(
    net: Net, data: Data, likelihood: Likelihood, batchnorm: str, members: int, passes: Passes
) -> tuple[TrainingLoss, list[BatchStatisticsLoss | None]]:
    """The loss of all members, and for each the one that trains BatchNorm statistics of its own, or None."""
    if members == 1:
        loss, _ = training_loss(net, data, likelihood, batchnorm, passes)
        each: Sequence[TrainingLoss] = [loss]
    else:
        loss = members_loss(net, data, likelihood, batchnorm, members, passes)
        each = loss.losses if isinstance(loss, SequentialLoss) else [loss] * members
    return loss, [one if isinstance(one, BatchStatisticsLoss) else None for one in each]


def _member(theta: Tensor, records: list[Tensor | None], trained: BatchStatisticsLoss | None) -> Gaussian | ValueError:
    history = History(*records)
    try:
        check_converged(history.loss, theta)
    except ValueError as error:
        return error
    buffers = None if trained is None else {name: b.clone() for name, b in trained.training.buffers.items()}
    return Gaussian(theta[0].clone(), theta[1].clone(), theta[2:].clone(), history, buffers)
