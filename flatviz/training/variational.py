"""The loop that VI and SA-BMA share: a Gaussian moved by reparameterised gradients, taken here or at the worst q near."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_count, check_lr, check_momentum, check_nonnegative, check_radius
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.results import Gaussian, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent, Loss, gradient
from flatviz.training.loop import Checkpoint, State, advance
from flatviz.training.optimize import check_converged, cosine, minibatches, told_as_divergence, training_loss
from flatviz.training.perturb import BLOCKS, MODES, ascent_step, blocks_moved, fold
from flatviz.training.run import Run


def fit_gaussian(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    seed: int,
    start: Gaussian | None = None,
    radius: float = 0.0,
    mode: str = "none",
    blocks: str = "mean+std",
    joint: bool = True,
    damping: float | None = None,
    switches: tuple[str, ...] = ("v_as_std", "total_derivative"),
    kl_weight: float = 1.0,
    weight_decay: float = 0.0,
    mc_samples: int = 1,
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    label: str = "VI",
) -> Gaussian:
    """Minimise mean NLL + (kl_weight / N) KL(q || prior) over q, from q = `start` (default the prior), with the perturbation of `mode`.

    One step: noise z; g = gradient of the NLL at theta; Delta = perturb(theta, g); the gradient of the NLL at
    theta + Delta, same z, same minibatch, plus that of the KL at theta, which is outside the maximum; SGD from the
    unperturbed theta.  Radius 0 skips the first half.
    Mean and factor of a weight move at lr / (1 + lr kl_weight / (N d)), d its prior variance: the KL pulls with 1 / d,
    and plain SGD would overshoot wherever the prior is narrow.  The factor's rate is divided by 2 (K - 1), as it is
    for the unfolded C of the paper: at the full rate its K noises multiply the step of every draw.
    With an `ascent` the gradient of each draw w is taken at w + e and flows to theta through the same noise z.
    """
    run = Run(seed, checkpoint, progress, label, arguments_digest(locals()))
    check_radius(radius)
    check_lr(lr)
    check_momentum(momentum)
    check_choice(mode, MODES, "mode")
    check_choice(blocks, tuple(BLOCKS), "blocks")
    check_count(steps, "steps")
    check_count(mc_samples, "mc_samples")
    for name, value in (("kl_weight", kl_weight), ("weight_decay", weight_decay)):
        check_nonnegative(value, name)
    check_prior(net, prior)
    start = prior if start is None else start
    loss, _ = training_loss(net, data, likelihood, batchnorm)
    again = loss.again
    theta = torch.cat((start.mean[None], start.log_std[None], start.factor)).detach()  # one matrix, for few operations a step
    mean, log_std, factor = parts = theta[0], theta[1], theta[2:]
    velocity, slow = torch.zeros_like(theta), torch.ones_like(theta)
    slow[2:] /= fold(start) ** 2
    pull = torch.zeros_like(theta)
    pull[0] = pull[2:] = (kl_weight / len(data)) * (-2 * prior.log_std).exp()
    source, batches = generator(seed), minibatches(len(data), batch_size, seed + 1, net.device)
    shift = 1.0 if mode == "authors_code" and "z2_mean_bug" in switches else 0.0
    perturbed, moved = radius > 0 and mode != "none", blocks_moved(mode, blocks)
    losses, kls, gains = [], [], []

    def update(step: int, index: Tensor | None) -> None:
        q = Gaussian.unchecked(*parts)
        noise = torch.randn(mc_samples, q.dim + q.rank, generator=source, dtype=mean.dtype).to(mean.device)
        z1, z2 = noise[:, : q.dim], noise[:, q.dim :]
        z2 = z2 + shift if shift else z2
        value, grad, gain = _nll_grad(loss, q, z1, z2, index, ascent, moved if perturbed else 3)
        losses.append(value)
        if perturbed:
            delta = ascent_step(
                q,
                grad,
                radius=radius,
                mode=mode,
                joint=joint,
                noise=(z1[0], z2[0]),
                damping=damping,
                switches=switches,
            )
            worst = Gaussian.unchecked(*(t + d for t, d in zip(parts, delta)), *parts[len(delta) :])
            at_worst, grad, _ = _nll_grad(again, worst, z1, z2, index)
            gain = at_worst - value
        if gain is not None:
            gains.append(gain)
        total = torch.cat((grad[0][None], grad[1][None], grad[2]))
        if kl_weight > 0:
            kl, pulls = q.kl_and_grad(prior)
            kls.append(kl)
            for rows, g in zip((total[0], total[1], total[2:]), pulls):
                rows.add_(g, alpha=kl_weight / len(data))
        if weight_decay > 0:
            total[0].add_(mean, alpha=weight_decay)
        rate = lr * cosine(step, steps)
        velocity.mul_(momentum).addcmul_(total, slow if kl_weight == 0 else slow / (1 + rate * pull))
        theta.add_(velocity, alpha=-rate)

    state: State = {
        "theta": theta,
        "velocity": velocity,
        "noise": source,
        "losses": losses,
        "kls": kls,
        "gains": gains,
        **loss.state,
    }
    with told_as_divergence():
        advance(state, update, batches, steps, run)
    history = History(torch.stack(losses), *(torch.stack(v) if v else None for v in (kls, gains)))
    check_converged(history.loss, theta)
    return Gaussian(mean + shift * factor.sum(0), log_std.clone(), factor.clone(), history)


def check_prior(net: Net, prior: Gaussian) -> None:
    """That `prior` is a Gaussian over the net's treated weights."""
    if not isinstance(prior, Gaussian):
        raise TypeError(f"prior must be a Gaussian, as transfer returns, got {type(prior).__name__}")
    if prior.dim != net.dim:
        raise ValueError(f"prior must cover the net's {net.dim} treated weights, got {prior.dim}: use what transfer returned")


def _nll_grad(
    loss: Loss, q: Gaussian, z1: Tensor, z2: Tensor, index: Tensor | None, ascent: Ascent | None = None, blocks: int = 3
) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
    """Mean NLL over draws, its gradient in (mean, log_std, factor): g, g exp(log_std) z1, z2 (x) g, averaged; the gain.

    blocks: how many of the three are wanted.
    """
    if len(z1) == 1:
        own, shared = q.std * z1[0], z2[0]
        value, g, gain = gradient(loss, torch.addmv(q.mean + own, q.factor.T, shared), index, ascent)
        made = (g, g * own) if blocks > 1 else (g,)
        return value, (*made, torch.outer(shared, g)) if blocks > 2 else made, gain
    found = [gradient(loss, w, index, ascent) for w in q.at(z1, z2)]
    gain = None if ascent is None else torch.stack([f[2] for f in found]).mean()
    g, n = torch.stack([f[1] for f in found]), len(found)
    value = torch.stack([f[0] for f in found]).mean()
    return value, (g.mean(0), (g * z1).mean(0) * q.std, z2.T @ g / n)[:blocks], gain
