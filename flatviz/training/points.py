"""Steps of weight vectors: stochastic-gradient chains, SGD with momentum, starts, pre-training.

    U(w) = N L(w) - log p(w),   target exp(-U(w) / T),   g = grad U(w) / N

with L the mean NLL of N examples and log p that of a Gaussian prior, or of weight decay.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn

from flatviz.checks import (
    Count,
    Momentum,
    NonNegative,
    Rate,
    Seed,
    check_positive,
)
from flatviz.core import Data, Likelihood, Net, Progress, public, saved_rng
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.gaussian import Gaussian
from flatviz.results import Draws, History
from flatviz.training.driver import Algorithm, Record, S, beside_constant, drive
from flatviz.training.gradient import (
    PLAIN,
    Ascent,
    Batch,
    Gradient,
    Noises,
    Training,
    ascended,
)
from flatviz.training.losses import NetworkLoss, check_covers, training_loss
from flatviz.training.settings import Checkpoint, Optim, Run
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_at, rates, steps_per_epoch

R = TypeVar("R", float, Tensor)


@dataclass(frozen=True, eq=False)
class Energy:
    """U / N of the target exp(-U / T), and its noise: what chains share.

    Args:
        n: N, the examples in the mean loss; 1 where the loss is U itself.
        temperature: T; 1 is Bayes, 0 removes the noise.
        weight_decay: wd, which stands for the prior N(0, 1 / (N wd)).
        prior: Prior in place of it.
        ascent: `SAM(radius)` or similar: takes the gradient of L at w + e.
    """

    n: int = 1
    temperature: float = 1.0
    weight_decay: float = 0.0
    prior: Gaussian | None = None
    ascent: Ascent | None = None

    def gradient(
        self,
        w: Tensor,
        gradient: Gradient,
        batch: Batch,
    ) -> tuple[Tensor, Record]:
        """Compute g at each of w (..., D), and the record of the mean over chains."""
        value, g, gain = ascended(gradient, w, batch, self.ascent)
        if self.prior is None:
            pull = self.weight_decay * w
        else:  # -grad log p(w) / N
            pull = self.prior.precision_mul(w - self.prior.mean) / self.n
        sharpness = None if gain is None else gain.mean()
        return g + pull, Record(value.mean(), sharpness=sharpness)

    def scale(self, rate: R) -> R:
        """Compute sqrt(rate T / N), by which noise is multiplied."""
        return (rate * self.temperature / self.n) ** 0.5


class PointState(NamedTuple):
    """Weights, (D,) or (B, D), a second quantity of each (a velocity, a guide), and steps taken."""

    w: Tensor
    v: Tensor
    step: Tensor

    @classmethod
    def at(cls, w: Tensor) -> "PointState":
        """Return the state at weights `w`, with velocity 0."""
        w = w.detach()
        step = torch.zeros((), dtype=torch.long, device=w.device)
        return cls(w, torch.zeros_like(w), step)


def draws_of(
    state: NamedTuple,
    history: History | None = None,
    kept: Sequence[Tensor] = (),
) -> Draws:
    """The weights that were kept, chain by chain; the last ones, where none were."""
    W = torch.stack(tuple(kept) or (state[0],), -2)
    chains = len(W) if W.ndim > 2 else 1
    return Draws(W.flatten(0, -2), history, chains=chains)


class Chain(Algorithm[S], Protocol[S]):
    """A method that samples exp(-U / T): its noise is one tensor of w's shape a step."""

    @property
    def energy(self) -> Energy:
        """U and T."""

    def noise(self, state: S, seeds: Sequence[int], steps: int) -> Noise:
        """Return the noise of all steps, 0 at temperature 0."""
        return FreshNoise(seeds, state[0], drawn=lambda step: self.energy.temperature > 0)

    def result(
        self,
        state: S,
        history: History | None = None,
        kept: Sequence[Tensor] = (),
    ) -> Draws:
        """Return the draws."""
        return draws_of(state, history, kept)


def run_chains(
    chain: Chain[S],
    loss: NetworkLoss,
    run: Run,
    w: Tensor,
    steps: int,
    keep: Sequence[int] | frozenset[int],
) -> Draws:
    """Run parallel chains from the rows of `w` (B, D), the first that of B = 1.

    loss: the batched loss of B members.

    Raises:
        ValueError: For a prior that covers other weights, and for validation data.
        Diverged: If the loss or a chain becomes NaN or inf.
    """
    run = replace(run, label=f"{run.label}, T = {chain.energy.temperature:g}")
    prior = chain.energy.prior
    if prior is not None:
        check_covers(loss.problem.net, prior, "prior")
    seeds = [run.seed + 1000 * i for i in range(len(w))]
    shuffle = [seed + 1 for seed in seeds]
    start = chain.init(w)
    driven = drive(
        chain,
        start,
        loss,
        run,
        steps=steps,
        seeds=seeds,
        shuffle=shuffle,
        keep=keep,
    )
    q = draws_of(*driven)
    return replace(q, buffers=loss.buffers_at(q.W))


def thinned(
    n_draws: int,
    chains: int,
    burn_in: int,
    thin: int,
) -> tuple[int, range]:
    """Return steps of each chain, and those after which weights are a draw.

    Draws are every `thin`-th step after `burn_in`, n_draws over all chains.

    Raises:
        ValueError: For draws that are no multiple of the chains.
    """
    if n_draws % chains:
        raise ValueError(f"n_draws must be a multiple of the {chains} chains, got {n_draws}")
    steps = burn_in + n_draws // chains * thin
    return steps, range(burn_in + thin - 1, steps, thin)


@dataclass(frozen=True, eq=False)
class SGD(Algorithm[PointState]):
    """SGD with momentum m and coupled weight decay wd.

        v <- m v + grad L(w) + wd w,   w <- w - lr_t v

    With an `ascent` the gradient is taken at w + e; weight decay acts at w.

    Args:
        rates: lr_t of each step, (T,), or a constant.
        momentum: m.
        weight_decay: wd.
        ascent: `SAM(radius)` or similar.
        clip: Length to which a longer gradient of L is shortened; None: no limit.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> sgd = fv.training.SGD(0.1)
        >>> state = sgd.init(net.w)
        >>> state, record = sgd.update(state, loss, batch=torch.tensor([0, 3, 7]))
        >>> state.w.shape, record.loss.shape
        (torch.Size([9]), torch.Size([]))
    """

    rates: Tensor | float
    momentum: float = 0.9
    weight_decay: float = 0.0
    ascent: Ascent | None = None
    clip: float | None = None

    init = staticmethod(PointState.at)

    def update(
        self,
        s: PointState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises = (),
    ) -> tuple[PointState, Record]:
        """Take one step."""
        value, g, gain = ascended(gradient, s.w, batch, self.ascent)
        if self.clip is not None:
            length = g.norm(dim=-1, keepdim=True)
            g = g * (self.clip / length).clamp_max(1)
        g = g.add(s.w, alpha=self.weight_decay)
        # in place, on a tensor without other users, as a large network's takes much memory
        v = g.add_(self.momentum * s.v)
        w = s.w.addcmul(v, rate_at(self.rates, s.step), value=-1)
        return PointState(w, v, s.step + 1), Record(value, sharpness=gain)

    result = staticmethod(draws_of)


def descend(
    loss: NetworkLoss,
    w: Tensor,
    run: Run,
    optim: Optim,
    *,
    shuffle: int | Sequence[int] | None = None,
    last: float = 0.0,
) -> tuple[Tensor, History]:
    """Run SGD from `w` (D,) or (B, D), with a rate along half a cosine to the share `last`.

    Returns the weights, and the history.  The likelihood says how long a gradient may be.

    Raises:
        Diverged: If the loss or the weights become NaN or inf.
    """
    schedule = partial(cosine, last=last)
    lr = rates(optim.lr, optim.steps, w, schedule)
    clip = loss.longest_gradient
    sgd = SGD(lr, optim.momentum, optim.weight_decay, optim.ascent, clip)
    start = sgd.init(w)
    state, history, _ = drive(sgd, start, loss, run, steps=optim.steps, shuffle=shuffle)
    if clip is not None:
        notes = beside_constant(history.loss, loss.of_constant())
        history = replace(history, notes=(*history.notes, *notes))
    return state.w, history


def starts(net: Net, seeds: list[int], *, head_only: bool) -> Tensor:
    """Draw one start a seed, (B, D), as the layers initialise their weights.

    All treated weights are drawn, or the head's alone; the rest are the net's.  A layer's
    initialiser is `reset_parameters`, in attention `_reset_parameters`.
    """
    chosen = [b for b in net.blocks if not head_only or b.kind == "head"]
    owners = {b.layer for b in chosen}
    rows = []
    for seed in seeds:
        module = net.to_module().cpu()
        with saved_rng(seed), torch.no_grad():
            for name, part in module.named_modules():
                if name not in owners:
                    continue
                for initialiser in ("reset_parameters", "_reset_parameters"):
                    if hasattr(part, initialiser):
                        getattr(part, initialiser)()
        w = net.w.detach().clone()
        fresh = net.flatten(dict(module.named_parameters()))
        fresh = fresh.detach().to(net.w)
        for b in chosen:
            w[b.slice] = fresh[b.slice]
        rows.append(w)
    return torch.stack(rows)


def in_one_place(W: Tensor) -> bool:
    """Tell whether all of several rows are the same."""
    return len(W) > 1 and torch.equal(W, W[:1].expand_as(W))


def train_members(
    loss: NetworkLoss,
    seeds: list[int],
    run: Run,
    optim: Optim,
) -> Draws:
    """Run SGD from `starts` of all members at once: (members, D).

    Only the head is drawn where not all weights are treated.
    """
    net = loss.problem.net
    first = starts(net, seeds, head_only=not net.treats_all)
    if in_one_place(first):
        warnings.warn(
            f"{len(seeds)} members must start apart, got one place for all, so that they differ by"
            " the order of minibatches alone: treat a head or all weights",
            stacklevel=3,
        )
    W, history = descend(loss, first, run, optim, shuffle=seeds)
    means = history.mapped(lambda record: record.mean(1))
    return Draws(W, means, loss.buffers_at(W))


@public
def pretrain(
    net: Net | nn.Module,
    data: Data,
    *,
    seed: Seed,
    epochs: Count = 60,
    last_lr: Rate = 0.05,
    lr: Rate = 0.1,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = 64,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Net:
    """Train a network by SGD and return it as a `Net`.

    It minimises mean NLL + weight_decay/2 |w|^2 with batch statistics.  Weights that a module has
    frozen (`requires_grad_(False)`) stay.  BatchNorm statistics are re-estimated on `data` at the
    end, as the running ones lag behind the weights.

    Args:
        net: The network; a module is copied.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        epochs: Passes over `data`; 60 bring the digits networks to about 98 % on their source task.
        last_lr: Learning rate at the end, at most lr.
        lr: The first learning rate; it falls along half a cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise. A gradient longer
            than 1 is shortened to 1 where the network computes the noise, and for several labels an
            example (tokens).
        training: `Training(...)`: precision, accumulation, early stopping.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: On bad data or divergence.
        MemoryError: With the bytes of a step that finds no memory.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> module = fv.models.mlp(task, hidden=(8,), seed=0)
        >>> net = fv.pretrain(module, task.source, seed=0, epochs=5)
        >>> float(fv.nll(net, task.source)(net.w)) < 0.5
        True
    """
    run = Run("pre-training", seed, checkpoint, progress, batch_size, training)
    if isinstance(net, nn.Module):
        net = Net.from_module(net)
    net = net.with_example(data.x)
    check_positive(lr, "lr")
    loss = training_loss(net, data, likelihood, "train", run.training)
    steps = epochs * steps_per_epoch(len(data), batch_size)
    optim = Optim(steps, lr, momentum, weight_decay, ascent)
    w, _ = descend(loss, net.w, run, optim, last=min(last_lr / lr, 1.0))
    with run.training.autocast(w):  # statistics of the same activations as in training
        return refresh_batchnorm(loss.net_at(w), w, data)
