"""Fits of a low-rank Gaussian by natural gradients: the loop that VI, mean-field VI and SA-BMA run.

    w = mean + delta,  delta = exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
    grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g)

A method is one function, its `Step`, from q to the gradient that q moves along.  B members, each with a seed of its own,
are one Gaussian with a leading dimension: mean (B, D); a single one has none, mean (D,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.engine.batchnorm import TrainingNet
from flatviz.gaussian import Gaussian
from flatviz.results import History
from flatviz.storage.files import State
from flatviz.training.gradient import Ascent
from flatviz.training.keywords import FromPrior
from flatviz.training.losses import training_loss
from flatviz.training.noisy_nll import Noise, NoisyNLL
from flatviz.training.optimize import (
    Diverged,
    check_converged,
    check_covers,
    cosine,
    early_stopping,
    minibatches,
    recorded,
    risen,
)
from flatviz.training.run import Optim, Run

# With eight draws a step, 600 steps bring the mean objective to within 1 % of that after 2,400 on digits-near, of the MLP and of
# the conv net (data/gaps.csv).
# The tempered posterior exp(-N L / T) prior that VI and SA-BMA approximate by default: T = 0.03.  On validation splits of digits-near
# VI's NLL is lower at T = 0.03 than at 0.1, 0.3 and 1, and does not differ significantly from that at 0.01 (`flatviz run tasks`).
TEMPERED = dict(
    kl_weight=0.03, start_scale=0.3, weight_decay=0.0, steps=600, lr=2.0, momentum=0.9, batch_size=None, mc_samples=8
)
# Of T = 0.03, 0.1, 0.3 and 1, T = 0.1 has the least validation NLL of VI with the conv net on the digits (seeds 1000 and 1001).
TEMPERED_BATCHNORM = TEMPERED | dict(kl_weight=0.1, start_scale=0.01, lr=1.0)

STEPS_AHEAD = 64  # whose noise is drawn at once: one by one, between other work, a draw takes four times as long
MOST_AHEAD = 2**22  # numbers drawn at once
LARGE = 2**20  # numbers of a draw beyond which a GPU draws them itself: 11 million take a CPU longer than ResNet-18's gradient
WIDTHS, FACTOR = 0.2, 0.1  # rates beside that of the mean, which momentum makes ten times as long
MEMORY = 0.9  # of the sizes of steps

Step = Callable[[Gaussian, NoisyNLL, "Descent"], tuple[Tensor, Tensor | None]]  # moves q; -> its loss, the loss gained


class Descent:
    """Natural-gradient steps on theta = (mean, log_std, factor), from the gradient of the NLL that a `Step` found.

    In nats, with tau = kl_weight / N, P the prior's precision, A that of q, and G = g / tau + P (w - prior mean) - A delta:

        mean     <- mean - lr v,                              v <- momentum v + Sigma G / (1 + s)
        log_std  <- log_std - lr WIDTHS / 2 r / (1 + s_i),    r = G exp(log_std) z1
        factor   <- factor - lr FACTOR / 2 (z2 (x) G) Sigma / (1 + s)

    G is the path gradient of the KL (Roeder et al. 2017): its mean is the gradient, and it is 0 at every draw where q is the
    posterior.  The Fisher matrix is A for the mean and about 2 for log_std, so widths approach their fixed point,
    sigma^2 = leverage / (E_q[h] / tau + P_ii), at a rate that T and N do not enter.  Sigma without the inverse of F A F^T
    slows the factor where it adds little to the variance; with it, noise would grow there.  s is the running size of
    Sigma^1/2 G, s_i that of r: both bound a step far from the posterior, and s, a Frobenius norm, exceeds what Sigma^1/2
    (H / tau + P) Sigma^1/2 has as its largest eigenvalue beyond 1, so that the mean's step is stable.
    KL and weight decay are taken at q itself, wherever g comes from.  kl_weight 0 leaves all of the KL out, with tau = 1 / N.
    """

    def __init__(self, start: Gaussian, prior: Gaussian, members: int, kl_weight: float, n: int, optim: Optim) -> None:
        theta = torch.cat((start.mean[None], start.log_std[None], start.factor)).detach()
        self.theta = theta.expand(members, *theta.shape).clone() if members > 1 else theta  # one tensor: few operations
        self.parts = self.theta[..., 0, :], self.theta[..., 1, :], self.theta[..., 2:, :]
        self.velocity = torch.zeros_like(self.parts[0])
        self.squares = torch.zeros_like(torch.cat((self.velocity[..., :1], self.velocity), -1))  # of s, then of s_i
        self.pull = torch.zeros_like(self.velocity)  # sum of r
        self.prior, self.kl_weight, self.unit, self.optim = prior, kl_weight, (kl_weight or 1.0) / n, optim
        self.kls: list[Tensor] = []

    def at(self, step: int, noise: Noise) -> None:
        """What belongs to a step: its learning rate, the memory of its sizes, its noise."""
        self.rate = self.optim.lr * cosine(step, self.optim.steps)
        self.filled = 1 - MEMORY ** (step + 1)
        self.noise = noise

    def __call__(self, q: Gaussian, grad: tuple[Tensor, ...]) -> None:
        """One step from `q`, what stands in theta now."""
        mean, r, factor = (g / self.unit for g in grad)
        if self.optim.weight_decay > 0:
            mean = mean.add(q.mean, alpha=self.optim.weight_decay / self.unit)
        if self.kl_weight > 0:
            kl, pulls = q.kl_and_path_grad(self.prior, *self.noise)
            self.kls.append(kl)
            mean, r, factor = (g.add_(pull) for g, pull in zip((mean, r, factor), pulls))
        natural = q.cov_mul(torch.cat((mean.unsqueeze(-2), factor), -2))
        sizes = torch.cat((torch.linalg.vecdot(mean, natural[..., 0, :]).unsqueeze(-1), r.square()), -1)
        self.squares.mul_(MEMORY).add_(sizes, alpha=1 - MEMORY)
        slow = 1 / (1 + (self.squares / self.filled).sqrt())
        self.velocity.mul_(self.optim.momentum).addcmul_(natural[..., 0, :], slow[..., :1])
        self.pull.add_(r)
        self.parts[0].add_(self.velocity, alpha=-self.rate)
        self.parts[1].addcmul_(r, slow[..., 1:], value=-0.5 * WIDTHS * self.rate)
        self.parts[2].addcmul_(natural[..., 1:, :], slow[..., :1].unsqueeze(-2), value=-0.5 * FACTOR * self.rate)


class NoiseSource:
    """Noise of each step, of each member by its own generator, drawn ahead: an odd step has the negative of that before it.

    What is odd in the noise then cancels over two steps: the noise of the draw in the mean's gradient, and the gradient's
    mean in that of the widths.
    """

    def __init__(self, seeds: Sequence[int], draws: int, q: Gaussian, steps: int) -> None:
        self.like, self.dim, self.draws, self.size = q.mean, q.dim, draws, q.dim + q.rank
        self.device = q.mean.device if self.size > LARGE else torch.device("cpu")
        self.sources = [generator(seed, self.device) for seed in seeds]  # as before the block's first step: this is saved
        self.ahead = [generator(seed, self.device) for seed in seeds]  # as they are after its last
        most = MOST_AHEAD // (len(seeds) * draws * self.size)
        self.pairs = max(1, min(STEPS_AHEAD, steps + 1, most) // 2)
        self.block: list[Noise] = []

    def at(self, step: int) -> Noise:
        """z1 (..., S, D) and z2 (..., S, K) of the step's S draws; steps are asked for in order."""
        if not self.block:
            self.block = self._drawn()
        place = step % (2 * self.pairs)
        noise = self.block[place]
        if place == 2 * self.pairs - 1:
            self.block = []
            for source, ahead in zip(self.sources, self.ahead):
                source.set_state(ahead.get_state())
        return noise

    def _drawn(self) -> list[Noise]:
        shape = len(self.sources), self.pairs, self.draws, self.size
        z = torch.empty(shape, dtype=self.like.dtype, device=self.device)
        for source, ahead, rows in zip(self.sources, self.ahead, z):
            ahead.set_state(source.get_state())
            for row in rows:
                row.normal_(generator=ahead)
        z = z.to(self.like.device)
        z = torch.stack((z, -z), 2).flatten(1, 2)
        z = z[0] if len(z) == 1 else z.transpose(0, 1)  # (steps, ..., S, D + K)
        return list(zip(z[..., : self.dim].unbind(), z[..., self.dim :].unbind()))


def vi_step(q: Gaussian, nll: NoisyNLL, descend: Descent, *, ascent: Ascent | None) -> tuple[Tensor, Tensor | None]:
    """One step from q, theta = (mean, log_std, factor).

    g = grad_theta E_q[NLL], then the natural gradient of g + (kl_weight / N) KL(q || prior): see `Descent`
    """
    value, g, gain = nll(q, ascent=ascent)
    descend(q, g)
    return value, gain


def fit_gaussians(
    net: Net, data: Data, prior: Gaussian, step: Step, run: Run, how: FromPrior, seeds: Sequence[int]
) -> list[Gaussian | Diverged]:
    """Move q by `step`, one member a seed; a member that diverged is its error.

    q starts at how["start"] (None: the prior), its widths times how["start_scale"].
    Minibatches are shuffled by seed + 1.  Members run in one pass of the network where it allows that, else the network
    goes member by member.

    Raises:
        ValueError: Where prior or start do not cover the treated weights, and on bad data.
    """
    check_covers(net, prior, "prior")
    start = prior if how["start"] is None else how["start"]
    check_covers(net, start, "start")
    start = narrowed(start, how["start_scale"])
    B, shuffles, optim = len(seeds), [seed + 1 for seed in seeds], run.optim
    loss = training_loss(net, data, run, None if B == 1 else B, how["mc_samples"])
    trained = [one.training for one in loss.each[:: how["mc_samples"]]]
    if B > 1 and any(trained):
        run.check_no_validation("statistics of BatchNorm that members train at once are those of the last step")
    descent = Descent(start, prior, B, how["kl_weight"], len(data), optim)
    noise = NoiseSource(seeds, how["mc_samples"], start, optim.steps)

    def update(at: int, index: Tensor | None) -> tuple[Tensor, Tensor | None]:
        descent.at(at, noise.at(at))
        return step(Gaussian.unchecked(*descent.parts), NoisyNLL(loss, index, descent.noise), descent)

    state: State = {
        "theta": descent.theta,
        "velocity": descent.velocity,
        "squares": descent.squares,
        "pull": descent.pull,
        "kls": descent.kls,
        **{f"noise {i}": source for i, source in enumerate(noise.sources)},
    }
    batches = minibatches(len(data), optim.batch_size, shuffles[0] if B == 1 else shuffles, net.device)
    members = None if B == 1 else B
    stopping = early_stopping(
        loss.each[0] if B == 1 else loss, [descent.theta], lambda: descent.theta[..., 0, :], run, members=members
    )
    history = recorded(loss, state, update, batches, run, stopping, check=False)
    theta = descent.theta.reshape(B, *descent.theta.shape[-2:])
    kls = torch.stack(descent.kls) if descent.kls else None
    records = [None if v is None else v.reshape(-1, B) for v in (history.loss, kls, history.sharpness, history.validation)]
    pulls = descent.pull.reshape(B, -1) / len(history.loss)
    return [_member(theta[i], [None if v is None else v[:, i] for v in records], pulls[i], trained[i]) for i in range(B)]


def converged(fit: Gaussian | Diverged) -> Gaussian:
    """The posterior; raises the error of a fit that diverged."""
    if isinstance(fit, Diverged):
        raise fit
    return fit


def narrowed(q: Gaussian, scale: float) -> Gaussian:
    """Q with all its standard deviations times `scale`."""
    return q if scale == 1 else replace(q, log_std=q.log_std + math.log(scale), factor=scale * q.factor)


def _member(theta: Tensor, records: list[Tensor | None], pull: Tensor, trained: TrainingNet | None) -> Gaussian | Diverged:
    loss, *_, validation = records
    try:
        check_converged(loss, theta)
    except Diverged as error:
        return error
    history = History(*records, pull, risen(loss, validation))
    buffers = None if trained is None else {name: b.clone() for name, b in trained.buffers.items()}
    return Gaussian(theta[0].clone(), theta[1].clone(), theta[2:].clone(), history, buffers)
