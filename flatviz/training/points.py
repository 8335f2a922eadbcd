"""Steps of weight vectors.

Stochastic-gradient chains, SGD with momentum, starts of networks, pre-training on a source task.

    U(w) = N L(w) - log p(w),   target exp(-U(w) / T),   g = grad U(w) / N

with L the mean NLL of N examples and log p that of a Gaussian prior, or of weight decay.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Rate, Seed, Statistics, check_positive
from flatviz.core import Data, Net, saved_rng
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.gaussian import Gaussian
from flatviz.likelihood import as_likelihood
from flatviz.results import Draws, History
from flatviz.training.driver import Algorithm, Record, beside_constant, drive
from flatviz.training.gradient import Ascent, Batch, Noises, TrainingLoss, gradient
from flatviz.training.keywords import Chain, Epochs, Run, Settings, defaults
from flatviz.training.losses import check_covers, training_loss
from flatviz.training.streams import FreshNoise, Noise, cosine, rates, steps_per_epoch


@dataclass(frozen=True, eq=False)
class Energy:
    """U / N of the target, and the noise at its temperature.

    Args:
        n: N, the examples behind the mean loss.
        temperature: T; 1 is Bayes, 0 leaves the noise out.
        weight_decay: wd, which stands for the prior N(0, 1 / (N wd)).
        prior: In place of it.
        ascent: `SAM(radius)` and the like: the gradient of L is that at w + e.
    """

    n: int
    temperature: float = 1.0
    weight_decay: float = 0.0
    prior: Gaussian | None = None
    ascent: Ascent | None = None

    def gradient(
        self, w: Tensor, loss: TrainingLoss, batch: Tensor | None
    ) -> tuple[Tensor, Record]:
        """G at each of w (B, D), and the record of the mean over chains."""
        value, g, gain = gradient(loss, w, batch, self.ascent)
        prior = self.prior  # its -grad log p(w) / N
        pull = (
            self.weight_decay * w if prior is None else prior.precision_mul(w - prior.mean) / self.n
        )
        return g + pull, Record(value.mean(), sharpness=None if gain is None else gain.mean())

    def scale(self, rate: float | Tensor) -> Any:
        """sqrt(rate T / N), by which noise is multiplied."""
        return (rate * self.temperature / self.n) ** 0.5


class PointState(NamedTuple):
    """Weights, (D,) or (B, D), a second quantity of each (a velocity, a guide), steps taken, calls of `collect`, and what it kept."""

    w: Tensor
    v: Tensor
    step: Tensor
    n: Tensor
    kept: tuple[Tensor, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Algorithm):
    """Base of the methods that move weights.

    Where they start, and after which steps the weights are kept.
    """

    keep: Container[int] = ()

    def init(self, w: Tensor) -> PointState:
        """The state at weights `w`, (D,), or (B, D) for members or chains."""
        w, zero = w.detach(), torch.zeros((), dtype=torch.long, device=w.device)
        return PointState(w, torch.zeros_like(w), zero, zero)

    def collect(self, state: Any) -> Any:
        """Take the present weights among those that are kept."""
        return state._replace(n=state.n + 1, kept=(*state.kept, state.w.clone()))


@dataclass(frozen=True, eq=False, kw_only=True)
class Chains(Points):
    """Base of the chains: their noise, and the draws, which are the weights that were kept.

    Args:
        energy: Energy of the posterior that is sampled.
        keep: Steps after which the weights are a draw.
    """

    noises: ClassVar[int] = 1  # of w's shape, a step

    energy: Energy

    def noise(self, state: PointState, seeds: Sequence[int], steps: int) -> Noise:
        """Draw the noise of each chain by its seed; none at temperature 0."""
        return FreshNoise(seeds, state.w, self.noises, self.drawn)

    def drawn(self, step: int) -> bool:
        """Whether a step has noise."""
        return self.energy.temperature > 0

    def result(self, state: PointState, history: History | None = None) -> Draws:
        """The draws, chain by chain."""
        return Draws(torch.stack(state.kept, 1).flatten(0, 1), history, chains=len(state.w))


def run_chains(
    label: str,
    net: Net,
    data: Data,
    seed: int,
    how: Chain,
    w: Tensor,
    steps: int,
    kind: type[Chains],
    **settings: Any,
) -> Draws:
    """Parallel chains of a kind, with its `settings`, from the rows of `w` (B, D).

    The first is that of B = 1.

    Raises:
        ValueError: For a prior that covers other weights, and for validation data.
        Diverged: If the loss or a chain becomes NaN or inf.
    """
    run = Run.of(f"{label}, T = {how['temperature']:g}", seed, how)
    if how["prior"] is not None:
        check_covers(net, how["prior"], "prior")
    energy = Energy(len(data), how["temperature"], how["weight_decay"], how["prior"], how["ascent"])
    chains = kind(energy=energy, **settings)
    loss = training_loss(
        net, data, how["likelihood"], how["batchnorm"], run.training, members=len(w)
    )
    seeds = [seed + 1000 * chain for chain in range(len(w))]
    how_seeded: dict[str, Any] = dict(
        steps=steps, seeds=seeds, shuffle=[seed + 1 for seed in seeds]
    )
    q = chains.result(*drive(chains, chains.init(w), loss, run, **how_seeded))
    return replace(q, buffers=loss.buffers_at(q.W))


def thinned(n_draws: int, chains: int, burn_in: int, thin: int) -> tuple[int, range]:
    """Steps of each chain, and after which of them weights are a draw.

    Every `thin`-th after `burn_in`, n_draws over all chains.
    """
    if n_draws % chains:
        raise ValueError(f"n_draws must be a multiple of the {chains} chains, got {n_draws}")
    steps = burn_in + n_draws // chains * thin
    return steps, range(burn_in + thin - 1, steps, thin)


@dataclass(frozen=True, eq=False)
class SGD(Points):
    """SGD with momentum m and coupled weight decay wd.

        v <- m v + grad L(w) + wd w,   w <- w - lr_t v

    With an `ascent` the gradient is taken at w + e; weight decay acts at w.

    Args:
        rates: lr_t of each step, (T,).
        momentum: m.
        weight_decay: wd.
        ascent: `SAM(radius)` and the like.
        clip: Length to which a longer gradient of L is shortened; None: none is.
        keep: Steps after which `collect` keeps the weights.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> sgd = fv.training.SGD(rates=torch.full((100,), 0.1))
        >>> state = sgd.init(net.w)
        >>> state, record = sgd.update(state, loss, batch=torch.tensor([0, 3, 7]))
        >>> state.w.shape, record.loss.shape
        (torch.Size([9]), torch.Size([]))
    """

    rates: Tensor
    momentum: float = 0.9
    weight_decay: float = 0.0
    ascent: Ascent | None = None
    clip: float | None = None

    def update(
        self, s: PointState, loss: TrainingLoss, batch: Batch, noise: Noises = ()
    ) -> tuple[PointState, Record]:
        """One step."""
        value, g, gain = gradient(loss, s.w, batch, self.ascent)
        if self.clip is not None:
            g = g * (self.clip / g.norm(dim=-1, keepdim=True)).clamp_max(1)
        g = g.add(s.w, alpha=self.weight_decay)
        v = g.add_(
            self.momentum * s.v
        )  # in place, of a tensor that no one else has: a large network's is memory
        w = s.w.addcmul(v, self.rates.take(s.step), value=-1)
        return s._replace(w=w, v=v, step=s.step + 1), Record(value, sharpness=gain)


def descend(
    loss: TrainingLoss,
    w: Tensor,
    run: Run,
    how: Settings,
    *,
    shuffle: int | Sequence[int] | None = None,
    last: float = 0.0,
) -> tuple[Tensor, History]:
    """Run SGD from `w` (D,) or (B, D), its rate falling along half a cosine to the share `last`.

    The weights, and the history.  Gradients are shortened as the likelihood asks.

    Raises:
        Diverged: If the loss or the weights become NaN or inf.
    """
    lr = rates(how["lr"], how["steps"], w, partial(cosine, last=last))
    clip = as_likelihood(how["likelihood"]).longest_gradient
    sgd = SGD(lr, how["momentum"], how["weight_decay"], how["ascent"], clip)
    state, history = drive(sgd, sgd.init(w), loss, run, steps=how["steps"], shuffle=shuffle)
    if clip is not None:
        notes = beside_constant(history.loss, loss.of_constant())
        history = replace(history, notes=(*history.notes, *notes))
    return state.w, history


def starts(net: Net, seeds: list[int], *, head_only: bool) -> Tensor:
    """Draw one start a seed, (B, D).

    Treated weights as their layers draw them at first, all or the head's, the rest as in the net.

    A layer knows how to draw its weights by `reset_parameters`, as all of torch's do.
    """
    chosen = [b for b in net.blocks if not head_only or b.kind == "head"]
    owners = {b.name.rpartition(".")[0] for b in chosen}
    rows = []
    for seed in seeds:
        module = net.to_module().cpu()
        with saved_rng(seed), torch.no_grad():
            for name, part in module.named_modules():
                if name in owners and hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        w = net.w.detach().clone()
        fresh = net.flatten(dict(module.named_parameters())).detach().to(net.w)
        for b in chosen:
            w[b.slice] = fresh[b.slice]
        rows.append(w)
    return torch.stack(rows)


def train_members(
    net: Net, data: Data, seeds: list[int], run: Run, how: Settings, batchnorm: Statistics
) -> Draws:
    """Run SGD from `starts`, of the head alone where not all weights are treated, all members together: (members, D)."""
    loss = training_loss(net, data, how["likelihood"], batchnorm, run.training, members=len(seeds))
    first = starts(net, seeds, head_only=not net.treats_all)
    W, history = descend(loss, first, run, how, shuffle=seeds)
    return Draws(W, history.mapped(lambda record: record.mean(1)), loss.buffers_at(W))


@defaults(dict(lr=0.1, momentum=0.9, weight_decay=5e-4, batch_size=64))
def pretrain(
    net: Net | nn.Module,
    data: Data,
    *,
    seed: Seed,
    epochs: Count = 60,
    last_lr: Rate = 0.05,
    **how: Unpack[Epochs],
) -> Net:
    """Train a network by SGD and return it as a `Net`.

    Weights that a module has frozen (`requires_grad_(False)`) stay.

    Minimises mean NLL + weight_decay/2 |w|^2 with batch statistics.  BatchNorm statistics are those
    of `data` at the end, re-estimated, for the running ones lag behind the weights.

    Args:
        net: The network; a module is copied.
        data: The N training examples.
        seed: Fixes the order of the minibatches.
        epochs: Passes over `data`; 60 bring the digits networks to about 98 % on their source task.
        last_lr: Learning rate at the end.
        **how: How it is trained.

    Raises:
        ValueError: On bad data or divergence.
        MemoryError: With the bytes of a step that finds no memory.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.pretrain(fv.models.mlp(task, hidden=(8,), seed=0), task.source, seed=0, epochs=5)
        >>> float(fv.nll(net, task.source)(net.w)) < 0.5
        True
    """
    run = Run.of("pre-training", seed, how)
    if isinstance(net, nn.Module):
        net = Net.from_module(net)
    net = net.with_example(data.x)
    check_positive(how["lr"], "lr")
    loss = training_loss(net, data, how["likelihood"], "train", run.training)
    steps = epochs * steps_per_epoch(len(data), run.batch_size)
    w, _ = descend(loss, net.w, run, {**how, "steps": steps}, last=last_lr / how["lr"])
    with run.training.autocast(w):  # the statistics of the activations that were trained
        return refresh_batchnorm(loss.training.net(w) if loss.training else net.at(w), w, data)
