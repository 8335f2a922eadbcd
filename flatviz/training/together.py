"""`fit_gaussian` for several radii and seeds at once: the same step with a row a member, for networks that can be stacked."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import check_lr, check_momentum
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.results import Gaussian, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.batched import BatchedLoss, members_batches, members_loss
from flatviz.training.gradient import Loss, gradient
from flatviz.training.loop import Checkpoint, State, advance
from flatviz.training.optimize import check_converged, cosine
from flatviz.training.perturb import BLOCKS, FACTOR_DAMPING, LEVERAGE_FLOOR, fold
from flatviz.training.run import Run

MODES_TOGETHER = ("none", "kl_exact", "sam_mu")


class Rows(NamedTuple):
    """Several low-rank Gaussians: mean, log_std (B, D), factor (B, K, D)."""

    mean: Tensor
    log_std: Tensor
    factor: Tensor

    def inverse(self) -> tuple[Tensor, Tensor, Tensor]:
        """Diagonal of the precision (B, D), F times the precision (B, K, D), chol M (B, K, K), as in `Gaussian`."""
        precision = (-2 * self.log_std).exp()
        scaled = self.factor * precision[:, None]
        wide = scaled.double()
        eye = torch.eye(self.factor.shape[1], dtype=torch.float64, device=wide.device)
        chol = torch.linalg.cholesky(eye + wide @ self.factor.double().mT)
        solved = torch.cholesky_solve(wide, chol).to(scaled.dtype)
        return precision - (scaled * solved).sum(1), solved, chol

    def cov_mul(self, v: Tensor) -> Tensor:
        """Each covariance times `v` (B, K, D)."""
        return (2 * self.log_std).exp()[:, None] * v + (v @ self.factor.mT) @ self.factor


def rows_loss(net: Net, data: Data, likelihood: Likelihood, batchnorm: str, members: int) -> BatchedLoss | None:
    """The loss of all members in one pass, or None where they have to go one after the other."""
    loss = members_loss(net, data, likelihood, batchnorm, members)
    return loss if isinstance(loss, BatchedLoss) else None


def fit_gaussians(
    loss: BatchedLoss,
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radii: list[float],
    seeds: list[int],
    mode: str,
    blocks: str,
    joint: bool,
    damping: float | None,
    kl_weight: float,
    weight_decay: float,
    steps: int,
    lr: float,
    momentum: float,
    batch_size: int | None,
    checkpoint: Checkpoint,
    progress: Progress,
) -> list[Gaussian]:
    """One Gaussian for each (radius, seed), member by member what `fit_gaussian` finds, to rounding; one draw a step."""
    run = Run(seeds[0], checkpoint, progress, "family", arguments_digest(locals()))
    check_lr(lr)
    check_momentum(momentum)
    B, D, K = len(radii), prior.dim, prior.rank
    radius = torch.tensor(radii, dtype=net.w.dtype, device=net.device)[:, None]
    theta = Rows(*(t.detach().expand(B, *t.shape).clone() for t in (prior.mean, prior.log_std, prior.factor)))
    velocity = [torch.zeros_like(t) for t in theta]
    pull, unfold = (kl_weight / len(data)) * (-2 * prior.log_std).exp(), fold(prior) ** 2
    sources, losses, gains, kls = [generator(seed) for seed in seeds], [], [], []

    def update(step: int, index: Tensor | None) -> None:
        noise = torch.cat([torch.randn(1, D + K, generator=s, dtype=net.w.dtype) for s in sources]).to(net.device)
        z1, z2 = noise[:, :D], noise[:, D:]
        value, grad = _grad(loss, theta, z1, z2, index)
        inverse = theta.inverse() if mode == "kl_exact" or kl_weight > 0 else None
        losses.append(value)
        if mode != "none":
            delta = _delta(theta, grad, inverse, radius, mode, BLOCKS[blocks], joint, damping)
            worst = Rows(*(t if e is None else t + e for t, e in zip(theta, delta)))
            at_worst, grad = _grad(loss, worst, z1, z2, index)
            gains.append(at_worst - value)
        if kl_weight > 0:
            kls.append(_kl(theta, inverse, prior))
            grad = tuple(g + (kl_weight / len(data)) * k for g, k in zip(grad, _kl_grad(theta, inverse, prior)))
        if weight_decay > 0:
            grad = (grad[0] + weight_decay * theta.mean, *grad[1:])
        rate = lr * cosine(step, steps)
        calm = 1 / (1 + rate * pull) if kl_weight > 0 else torch.ones_like(pull)
        for t, v, g in zip(theta, velocity, (grad[0] * calm, grad[1], grad[2] * (calm / unfold))):
            v.mul_(momentum).add_(g)
            t.add_(v, alpha=-rate)

    state: State = dict(zip(("mean", "log_std", "factor", "v_mean", "v_log_std", "v_factor"), (*theta, *velocity)))
    state |= {f"noise {i}": s for i, s in enumerate(sources)} | {"losses": losses, "gains": gains, "kls": kls}
    batches = members_batches(len(data), batch_size, [seed + 1 for seed in seeds], net.device)
    advance(state, update, batches, steps, run)
    history, gained, divergence = (torch.stack(v) if v else None for v in (losses, gains, kls))
    check_converged(history.amax(1), *theta)
    return [
        Gaussian(
            *(t[i].clone() for t in theta),
            History(history[:, i], *(None if v is None else v[:, i] for v in (divergence, gained))),
        )
        for i in range(B)
    ]


def _grad(loss: Loss, q: Rows, z1: Tensor, z2: Tensor, index: Tensor | None) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
    std = q.log_std.exp()
    W = q.mean + std * z1 + (z2[:, None] @ q.factor)[:, 0]
    value, g, _ = gradient(loss, W, index)
    return value, (g, g * z1 * std, z2[:, :, None] * g[:, None])


def _delta(
    q: Rows, grad: tuple, inverse: tuple | None, radius: Tensor, mode: str, n: int, joint: bool, damping: float | None
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The perturbation of each member, as `perturb` computes it; None where a block stays."""
    if mode == "sam_mu":
        return radius * grad[0] / (grad[0].norm(dim=1, keepdim=True) + 1e-12), None, None
    precision_diag, solved, _ = inverse
    leverage = ((2 * q.log_std).exp() * precision_diag).clamp_min(LEVERAGE_FLOOR)
    natural = [q.cov_mul(grad[0][:, None])[:, 0], grad[1] / (2 * leverage.square())][:n]
    if n == 3:
        eye = torch.eye(q.factor.shape[1], dtype=solved.dtype, device=solved.device)
        small = solved @ q.factor.mT + (FACTOR_DAMPING if damping is None else damping) * eye
        natural.append(torch.linalg.solve(small, q.cov_mul(grad[2])) if q.factor.shape[1] else grad[2])
    dots = [(g * v).flatten(1).sum(1) for g, v in zip(grad, natural)]
    total = torch.stack(dots).sum(0)
    steps: list[Tensor | None] = []
    for v, dot in zip(natural, dots):
        norm = (total if joint else dot).clamp_min(0).sqrt().clamp_min(torch.finfo(v.dtype).tiny)
        factor = (radius[:, 0] / norm).view(-1, *[1] * (v.ndim - 1))
        steps.append(factor * v)
    return tuple([*steps, *[None] * (3 - n)])


def _kl_grad(q: Rows, inverse: tuple, prior: Gaussian) -> tuple[Tensor, Tensor, Tensor]:
    precision_diag, solved, _ = inverse
    d = (2 * q.log_std).exp()
    return (
        prior.precision_mul(q.mean - prior.mean),
        d * (prior.precision_diag - precision_diag),
        prior.precision_mul(q.factor) - solved,
    )


def _kl(q: Rows, inverse: tuple, prior: Gaussian) -> Tensor:
    """KL(q || prior) of each member, in nats, (B,)."""
    chol, r = inverse[2], q.mean - prior.mean
    logdet = 2 * q.log_std.sum(1) + 2 * chol.diagonal(dim1=1, dim2=2).log().sum(1).to(q.log_std.dtype)
    trace = (prior.precision_diag * (2 * q.log_std).exp()).sum(1) + (prior.precision_mul(q.factor) * q.factor).sum((1, 2))
    return 0.5 * (trace + (r * prior.precision_mul(r)).sum(1) - prior.dim + prior.logdet - logdet)
