"""What the stochastic-gradient chains share: the energy they sample, their noise, and the loop over parallel chains.

    U(w) = N L(w) - log p(w),   target exp(-U(w) / T),   g = grad U(w) / N

with L the mean NLL of N examples and log p that of a Gaussian prior, or of weight decay.  A method gives its step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator, randn_like
from flatviz.results import Draws
from flatviz.storage.files import State
from flatviz.training.gradient import gradient
from flatviz.training.keywords import Chain
from flatviz.training.losses import training_loss
from flatviz.training.optimize import check_covers, minibatches, recorded
from flatviz.training.run import Run

Noisy = Callable[[Tensor, float], Tensor]  # (x, rate) -> x + sqrt(rate T / N) xi in place, xi ~ N(0, I) of each chain
Step = Callable[[int, Tensor, Tensor, Noisy], None]  # (step, w (B, D), g (B, D), noisy): moves w in place


def run_chains(
    net: Net,
    data: Data,
    run: Run,
    how: Chain,
    step: Step,
    w: Tensor,
    *,
    steps: int,
    keep: Callable[[int], bool],
    state: State | None = None,
    also_kept: tuple[Tensor, ...] = (),
) -> Draws:
    """Parallel chains from the rows of `w` (B, D), which `step` moves in place; the weights after each step in `keep`.

    how: the prior, a Gaussian, or None where the run's weight decay stands for N(0, 1 / (N weight_decay)), and the temperature.
    With the run's ascent the gradient of L is that at w + e.
    state: tensors of the method's own that `step` changes, as (B, D) momenta; also_kept: those that are draws too.
    The first chain is that of B = 1.

    Raises:
        ValueError: For a prior that covers other weights, or on divergence.
    """
    run.check_no_validation("a chain samples, and has no best place to stop at")
    prior, temperature, n, chains = how["prior"], how["temperature"], len(data), len(w)
    if prior is not None:
        check_covers(net, prior, "prior")
    loss = training_loss(net, data, run, chains)
    seeds = [run.seed + 1000 * chain for chain in range(chains)]
    sources, state = [generator(seed) for seed in seeds], state or {}
    kept: list[Tensor] = []

    def noisy(x: Tensor, rate: float) -> Tensor:
        if temperature == 0:
            return x
        xi = torch.stack([randn_like(row, source) for row, source in zip(x, sources)])
        return x.add_(xi, alpha=math.sqrt(rate * temperature / n))

    def update(at: int, index: Tensor | None) -> tuple[Tensor, Tensor | None]:
        value, g, gain = gradient(loss, w, index, run.ascent)
        pull = run.optim.weight_decay * w if prior is None else prior.precision_mul(w - prior.mean) / n  # -grad log p(w) / N
        step(at, w, g + pull, noisy)
        if keep(at):
            kept.extend(x.clone() for x in (w, *also_kept))
        return value.mean(), None if gain is None else gain.mean()

    batches = minibatches(n, run.optim.batch_size, [seed + 1 for seed in seeds], net.device)
    generators = {f"noise {i}": source for i, source in enumerate(sources)}
    run = replace(run, label=f"{run.label}, T = {temperature:g}", optim=replace(run.optim, steps=steps))
    history = recorded(loss, {"w": w, "kept": kept, **state, **generators}, update, batches, run)
    return Draws(torch.stack(kept, 1).flatten(0, 1), history, chains=chains)


def starting_points(net: Net, chains: int) -> Tensor:
    """Where the net stands, once a chain, (chains, D)."""
    return net.w.detach().expand(chains, -1).clone()


def thinned(n_draws: int, chains: int, burn_in: int, thin: int) -> tuple[int, Callable[[int], bool]]:
    """Steps of each chain, and which of them are kept: every `thin`-th after `burn_in`, n_draws over all chains."""
    if n_draws % chains:
        raise ValueError(f"n_draws must be a multiple of the {chains} chains, got {n_draws}")
    return burn_in + n_draws // chains * thin, lambda step: step >= burn_in and (step - burn_in + 1) % thin == 0
