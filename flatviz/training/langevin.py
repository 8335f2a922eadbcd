"""The chain that SGLD, SGHMC, cyclical SGLD and E-MCMC share.

    v <- (1 - alpha) v - eta (grad L(w) + wd w + grad U_prior(w) / N) + sqrt(2 eta alpha T / N) xi,   w <- w + v

with xi ~ N(0, I) and L the mean NLL of N examples.  At T = 1 it leaves exp(-N L(w) - N wd |w|^2 / 2) p(w) invariant as
eta -> 0.  alpha = 1 is SGLD.  The noise enters after the momentum: put through it, a momentum of 0.9 would multiply the
variance by ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.checks import check_count, check_finite, check_lr, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator, randn_like
from flatviz.results import Draws, Gaussian, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.batched import members_batches, members_loss
from flatviz.training.gradient import Ascent, gradient
from flatviz.training.loop import Checkpoint, advance
from flatviz.training.optimize import check_converged

Pull = Callable[[Tensor], Tensor]  # w -> what the prior adds to the gradient of the mean loss


def prior_pull(net: Net, n: int, prior: Gaussian | None, weight_decay: float) -> Pull:
    """Gradient of -log p(w) / N: wd w, or P (w - m) / N of a Gaussian prior with mean m and precision P.

    Raises TypeError or ValueError for a prior that is none, covers other weights, or comes beside a weight decay.
    """
    check_nonnegative(weight_decay, "weight_decay")
    if prior is None:
        return lambda w: weight_decay * w
    if not isinstance(prior, Gaussian):
        raise TypeError(f"prior must be a Gaussian, as transfer returns, got {type(prior).__name__}")
    if prior.dim != net.dim:
        raise ValueError(f"prior must cover the net's {net.dim} treated weights, got {prior.dim}: use what transfer returned")
    return lambda w: prior.precision_mul(w - prior.mean) / n


def run_chains(
    net: Net,
    data: Data,
    *,
    seed: int,
    steps: int,
    keep: Callable[[int], bool],
    lr: Callable[[int], float],
    noisy: Callable[[int], bool] = lambda step: True,
    friction: float = 1.0,
    temperature: float = 1.0,
    weight_decay: float = 0.0,
    prior: Gaussian | None = None,
    chains: int = 1,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    label: str = "SGLD",
) -> Draws:
    """`chains` chains of `steps` steps from where the net stands; the weights after each step that `keep` names."""
    run = arguments_digest(locals())
    check_count(chains, "chains")
    check_lr(lr(0))
    if not 0 < check_nonnegative(friction, "friction") <= 1:
        raise ValueError(f"friction must be above 0 and at most 1, got {friction:g}: 1 is SGLD")
    check_nonnegative(temperature, "temperature")
    loss = members_loss(net, data, likelihood, batchnorm, chains)
    pull, n = prior_pull(net, len(data), prior, weight_decay), len(data)
    seeds = [seed + 1000 * chain for chain in range(chains)]  # the first chain is that of chains=1
    sources = [generator(s) for s in seeds]
    w = net.w.detach().expand(chains, -1).clone()
    velocity, kept, losses, gains = torch.zeros_like(w), [], [], []

    def update(step: int, index: Tensor | None) -> None:
        value, g, gain = gradient(loss, w, index, ascent)
        eta = lr(step)
        velocity.mul_(1 - friction).add_(g + pull(w), alpha=-eta)
        if noisy(step) and temperature > 0:
            xi = torch.stack([randn_like(row, source) for row, source in zip(w, sources)])
            velocity.add_(xi, alpha=math.sqrt(2 * eta * friction * temperature / n))
        w.add_(velocity)
        losses.append(value)
        if gain is not None:
            gains.append(gain)
        if keep(step):
            check_finite(w, f"the chain at step {step}")
            kept.append(w.clone())

    state = {"w": w, "velocity": velocity, "kept": kept, "losses": losses, "gains": gains, **loss.state}
    advance(
        state | {f"noise {i}": source for i, source in enumerate(sources)},
        update,
        members_batches(n, batch_size, [s + 1 for s in seeds], net.device),
        steps,
        run=run,
        checkpoint=checkpoint,
        progress=progress,
        label=f"{label}, T = {temperature:g}",
    )
    history = History(torch.stack(losses).mean(1), sharpness=torch.stack(gains).mean(1) if gains else None)
    check_converged(history.loss, w)
    return Draws(torch.stack(kept, 1).flatten(0, 1), history, chains=chains)


def thinned(n_draws: int, chains: int, burn_in: int, thin: int) -> tuple[int, Callable[[int], bool]]:
    """Steps of each chain, and which of them are kept: every `thin`-th after `burn_in`, n_draws over all chains."""
    check_count(n_draws, "n_draws", least=check_count(chains, "chains"))
    check_count(thin, "thin")
    check_count(burn_in, "burn_in", least=0)
    if n_draws % chains:
        raise ValueError(f"n_draws must be a multiple of the {chains} chains, got {n_draws}")
    return burn_in + n_draws // chains * thin, lambda step: step >= burn_in and (step - burn_in + 1) % thin == 0
