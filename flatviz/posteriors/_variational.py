"""The loop that VI and SA-BMA share: a Gaussian moved by reparameterised gradients, taken here or at the worst q near."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_choice, check_count, check_nonnegative, check_radius
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.posteriors._perturb import BLOCKS, MODES, Theta, fold, perturb
from flatviz.results import Gaussian, History
from flatviz.training._optimize import Loss, check_converged, cosine, minibatches, training_loss


def fit_gaussian(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    seed: int,
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
    progress: Progress = False,
    label: str = "VI",
) -> Gaussian:
    """Minimise mean NLL + (kl_weight / N) KL(q || prior) over q, from q = prior, with the perturbation of `mode`.

    One step: noise z; g = gradient of the NLL at theta; Delta = perturb(theta, g); the gradient of the NLL at
    theta + Delta, same z, same minibatch, plus that of the KL at theta, which is outside the maximum; SGD from the
    unperturbed theta.  Radius 0 skips the first half.
    Mean and factor of a weight move at lr / (1 + lr kl_weight / (N d)), d its prior variance: the KL pulls with 1 / d,
    and plain SGD would overshoot wherever the prior is narrow.  The factor's rate is divided by 2 (K - 1), as it is
    for the unfolded C of the paper: at the full rate its K noises multiply the step of every draw.
    """
    check_radius(radius)
    check_choice(mode, MODES, "mode")
    check_choice(blocks, tuple(BLOCKS), "blocks")
    check_count(steps, "steps")
    check_count(mc_samples, "mc_samples")
    for name, value in (("kl_weight", kl_weight), ("weight_decay", weight_decay)):
        check_nonnegative(value, name)
    if not isinstance(prior, Gaussian):
        raise TypeError(f"prior must be a Gaussian, as transfer returns, got {type(prior).__name__}")
    if prior.dim != net.dim:
        raise ValueError(f"prior must cover the net's {net.dim} treated weights, got {prior.dim}: use what transfer returned")
    loss, _ = training_loss(net, data, likelihood, batchnorm)
    theta = [t.detach().clone().requires_grad_(True) for t in (prior.mean, prior.log_std, prior.factor)]
    optimiser = torch.optim.SGD(theta, lr=1.0, momentum=momentum)
    pull = (kl_weight / len(data)) * (-2 * prior.log_std).exp()
    source, batches = generator(seed), minibatches(len(data), batch_size, seed + 1, net.device)
    shift = 1.0 if mode == "authors_code" and "z2_mean_bug" in switches else 0.0
    perturbed = radius > 0 and mode != "none"
    losses, kls, gains = [], [], []
    for step in track(range(steps), label, progress):
        q = Gaussian(*(t.detach() for t in theta))
        noise = torch.randn(mc_samples, q.dim + q.rank, generator=source, dtype=q.mean.dtype).to(q.mean.device)
        z1, z2 = noise[:, : q.dim], noise[:, q.dim :] + shift
        index = next(batches)
        value, grad = _nll_grad(loss, q, z1, z2, index)
        losses.append(value)
        if perturbed:
            delta = perturb(
                q,
                grad,
                radius=radius,
                mode=mode,
                blocks=blocks,
                joint=joint,
                noise=(z1[0], z2[0]),
                damping=damping,
                switches=switches,
            )
            worst = Gaussian(*(t + d for t, d in zip((q.mean, q.log_std, q.factor), delta)))
            at_worst, grad = _nll_grad(loss, worst, z1, z2, index)
            gains.append(at_worst - value)
        if kl_weight > 0:
            kls.append(q.kl(prior))
            grad = tuple(g + (kl_weight / len(data)) * k for g, k in zip(grad, q.kl_grad(prior)))
        if weight_decay > 0:
            grad = (grad[0] + weight_decay * q.mean, *grad[1:])
        rate = lr * cosine(step, steps)
        calm = 1 / (1 + rate * pull) if kl_weight > 0 else 1.0
        theta[0].grad, theta[1].grad, theta[2].grad = grad[0] * calm, grad[1], grad[2] * (calm / fold(prior) ** 2)
        optimiser.param_groups[0]["lr"] = rate
        optimiser.step()
    history = History(torch.stack(losses), *(torch.stack(v) if v else None for v in (kls, gains)))
    mean, log_std, factor = (t.detach() for t in theta)
    check_converged(history.loss, mean, log_std, factor)
    return Gaussian(mean + shift * factor.sum(0), log_std, factor, history)


def _nll_grad(loss: Loss, q: Gaussian, z1: Tensor, z2: Tensor, index: Tensor | None) -> tuple[Tensor, Theta]:
    """Mean NLL over draws, and its gradient in (mean, log_std, factor): g, g exp(log_std) z1, z2 (x) g, averaged."""
    std = q.log_std.exp()
    W = torch.addmm(torch.addcmul(q.mean, std, z1), z2, q.factor)
    values, gradients = [], []
    for w in W.unbind():
        w.requires_grad_(True)
        values.append(loss(w, index))
        gradients.append(torch.autograd.grad(values[-1], w)[0])
    if len(values) == 1:
        g = gradients[0]
        return values[0].detach(), (g, g * z1[0] * std, torch.outer(z2[0], g))
    g, n = torch.stack(gradients), len(values)
    return torch.stack(values).detach().mean(), (g.mean(0), (g * z1).mean(0) * std, z2.T @ g / n)
