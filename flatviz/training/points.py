"""Steps of weight vectors: stochastic-gradient chains, SGD with momentum, starts, pre-training.

    U(w) = N L(w) - log p(w),   target exp(-U(w) / T),   g = grad U(w) / N

with L the mean NLL of N examples and log p that of a Gaussian prior, or of weight decay.
"""

import warnings
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import torch
from torch import Tensor, nn

from flatviz.checks import (
    Count,
    Momentum,
    NonNegative,
    Positive,
    Rate,
    Seed,
    Whole,
    check_positive,
)
from flatviz.core import Data, Likelihood, Net, Progress, public, saved_rng
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.gaussian import Buffers, Gaussian
from flatviz.objectives.problem import Problem
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
from flatviz.training.losses import NetworkLoss, check_covers, loss_of, training_loss
from flatviz.training.method import BY_NET, Method, Q, Usual
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.streams import FreshNoise, Noise, cosine, rate_of, steps_per_epoch

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


class Stepped(Method[Q], Algorithm[S], Generic[Q, S]):
    """A method of steps: `init`, `update` and `result`, which the driver repeats.

    Here the whole fit of one that starts at the net's weights, with `draws` weight vectors a step.
    """

    @property
    def draws(self) -> int:
        """Weight vectors at which a step takes gradients."""
        return 1

    def fitted(self, problem: Problem, run: Run) -> Q:
        """Run the steps; minibatches are shuffled by seed + 1."""
        loss = loss_of(problem, run.batchnorm, run.training, draws=self.draws)
        start = self.init(problem.net.w)
        driven = drive(self, start, loss, run, steps=run.steps, shuffle=run.seed + 1)
        q: Any = self.result(*driven)
        return with_buffers(q, loss.buffers())


def with_buffers(q: Q, buffers: Buffers) -> Q:
    """Return a posterior with statistics of BatchNorm."""
    whole: Any = q
    return replace(whole, buffers=buffers)


class Sampling(Stepped[Draws, S], Generic[S]):
    """Base of the methods that sample exp(-U / T), U = N L(w) - log p(w).

    Args:
        lr: Step size on the mean loss; chains diverge above 2 / curvature, and a narrow prior adds
            curvature.
        n_draws: Draws over all chains, (n_draws, D).
        temperature: T of exp(-U / T), of the whole posterior: 1 is Bayes, less is colder, 0
            removes the noise.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).  A density of your own, stepped
            by hand, has its prior inside: give 0.
        prior: Gaussian over the D treated weights, as of `transfer`, in place of weight decay.
        ascent: `SAM(radius)` or similar makes it flat-seeking: gradients at w + e, two a step.  The
            drift is then no gradient: draws are of a sharpness-aware posterior only about.
        n: N, the examples in the mean loss; None: filled by `fit`, and 1 in a step by hand.
    """

    takes: ClassVar[tuple[str, ...]] = ("batch_size", "batchnorm", "training", "augment")
    lr: Rate = 0.01
    n_draws: Count = 30
    temperature: NonNegative = 1.0
    weight_decay: NonNegative = 0.0005
    prior: Gaussian | None = None
    ascent: Ascent | None = None
    n: Count | None = None

    @property
    def energy(self) -> Energy:
        """U and T."""
        return Energy(self.n or 1, self.temperature, self.weight_decay, self.prior, self.ascent)

    def init(self, w: Tensor) -> S:
        """Return the state at weights `w`, (D,), or (B, D) of chains."""
        return PointState.at(w)  # type: ignore[return-value]

    def noise(self, state: S, seeds: Sequence[int], steps: int) -> Noise:
        """Return one tensor of w's shape a step, 0 at temperature 0."""
        return FreshNoise(seeds, state[0], drawn=lambda step: self.temperature > 0)

    def result(
        self, state: S, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Draws:
        """Return the draws."""
        return draws_of(state, history, kept)

    def length(self, run: Run) -> tuple[int, Container[int]]:
        """Return the number of steps, and the steps after which weights are draws."""
        raise NotImplementedError

    def starts(self, problem: Problem, run: Run) -> Tensor:
        """Return the weights at which the chains start, (B, D)."""
        return problem.net.w[None]

    def fitted(self, problem: Problem, run: Run) -> Draws:
        """Run the chains, all at once; the first is that of a single one.

        Raises:
            ValueError: For a prior that covers other weights, and for validation data.
            Diverged: If the loss or a chain becomes NaN or inf.
        """
        run = replace(run, label=f"{run.label}, T = {self.temperature:g}")
        if self.prior is not None:
            check_covers(problem.net, self.prior, "prior")
        w = self.starts(problem, run)
        loss = loss_of(problem, run.batchnorm, run.training, members=len(w))
        seeds = [run.seed + 1000 * i for i in range(len(w))]
        steps, keep = self.length(run)
        driven = drive(
            self,
            self.init(w),
            loss,
            run,
            steps=steps,
            seeds=seeds,
            shuffle=[seed + 1 for seed in seeds],
            keep=keep,
        )
        q = draws_of(*driven)
        return replace(q, buffers=loss.buffers_at(q.W))


class Chain(Sampling[S], Generic[S]):
    """Base of the chains that take every `thin`-th weights after `burn_in` steps as draws.

    Args:
        chains: All run at once from the net's weights; `n_draws` is a multiple of them.
        burn_in: Steps before the first draw.
        thin: Steps from one draw to the next.
    """

    chains: Count = 1
    burn_in: Whole = 300
    thin: Count = 20

    def _check(self) -> None:
        thinned(self.n_draws, self.chains, self.burn_in, self.thin)

    def length(self, run: Run) -> tuple[int, range]:
        """Return the number of steps, and the steps after which weights are draws."""
        return thinned(self.n_draws, self.chains, self.burn_in, self.thin)

    def starts(self, problem: Problem, run: Run) -> Tensor:
        """Return the net's weights for each chain, (B, D)."""
        return problem.net.w.repeat(self.chains, 1)


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


class Descending(Method[Q], Generic[Q]):
    """Base of the methods that train weights by SGD with momentum.

        v <- m v + grad L(w) + wd w,   w <- w - lr_t v

    Args:
        lr: The first learning rate.
        momentum: m, the share of the previous step that is added to the next.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)), and acts at w.
        ascent: `SAM(radius)` or similar makes it flat-seeking: gradients at w + e, two a step.
        clip: Length to which a longer gradient of L is shortened; None: 1 where the network
            computes the noise of its targets, and for several labels an example (tokens).
    """

    rates: ClassVar[tuple[float, float]] = (0.05, 0.05)  # of nets without and with BatchNorm
    lr: Rate = BY_NET
    momentum: Momentum = 0.9
    weight_decay: NonNegative = 0.0005
    ascent: Ascent | None = None
    clip: Positive | None = None

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in the rate and the longest gradient."""
        lr = self.lr
        if lr is None:
            lr = self.rates[problem.net.has_batchnorm]
        clip = self.clip
        if clip is None:
            clip = problem.likelihood.longest_gradient(problem.data.y)
        return replace(self, lr=lr, clip=clip).with_examples(len(problem.data))

    @property
    def sgd(self) -> "SGD":
        """The steps of the weights."""
        return SGD(
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            ascent=self.ascent,
            clip=self.clip,
        )


class SGD(Descending[Draws], Stepped[Draws, PointState]):
    """SGD with momentum m and coupled weight decay wd, one point: the maximum a posteriori (MAP).

        v <- m v + grad L(w) + wd w,   w <- w - lr_t v,   lr_t = lr / 2 (1 + cos(pi t / steps))

    `fit` trains from the net's weights, and returns a single draw, (1, D).  The seed fixes the
    order of minibatches alone: with full batches every seed gives the same solution.  Where all
    weights are treated, statistics of BatchNorm are trained too: `q.buffers`, which `predict` uses.

    Args:
        lr: The first learning rate; it falls to 0 along half a cosine.  None: 0.05, of a net with
            BatchNorm 0.01, as at 0.05 some seeds diverge.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> fv.fit(net, data, fv.SGD(lr=0.1), seed=0).W.shape
        torch.Size([1, 9])
        >>> sgd, loss = fv.SGD(lr=0.1), fv.training.training_loss(net, data)
        >>> state = sgd.init(net.w)
        >>> state, record = sgd.update(state, loss, batch=torch.tensor([0, 3, 7]))
        >>> state.w.shape, record.loss.shape
        (torch.Size([9]), torch.Size([]))
    """

    label = "SGD"
    rates = (0.05, 0.01)

    def usual_for(self, net: Net) -> Usual:
        """Train the statistics of BatchNorm where all weights are treated."""
        return Usual(batchnorm="train" if net.treats_all else "frozen")

    def init(self, w: Tensor) -> PointState:
        """Return the state at weights `w`, (D,), or (B, D) of members."""
        return PointState.at(w)

    def schedule(self, step: int, steps: int) -> float:
        """Return the factor on lr, along half a cosine."""
        return cosine(step, steps)

    def update(
        self,
        s: PointState,
        gradient: Gradient,
        batch: Batch,
        noise: Noises = (),
        rate: Tensor | float = 1.0,
    ) -> tuple[PointState, Record]:
        """Take one step at lr times `rate`."""
        self.check_filled("lr")
        value, g, gain = ascended(gradient, s.w, batch, self.ascent)
        if self.clip is not None:
            length = g.norm(dim=-1, keepdim=True)
            g = g * (self.clip / length).clamp_max(1)
        g = g.add(s.w, alpha=self.weight_decay)
        # in place, on a tensor without other users, as a large network's takes much memory
        v = g.add_(self.momentum * s.v)
        w = s.w.addcmul(v, rate_of(self.lr, rate, s.w), value=-1)
        return PointState(w, v, s.step + 1), Record(value, sharpness=gain)

    def result(
        self, state: PointState, history: History | None = None, kept: Sequence[Tensor] = ()
    ) -> Draws:
        """Return the weights as draws."""
        return draws_of(state, history, kept)

    def fitted(self, problem: Problem, run: Run) -> Draws:
        """Train from the net's weights."""
        loss = loss_of(problem, run.batchnorm, run.training)
        w, history = descend(loss, problem.net.w, run, self)
        return Draws(w[None], history, loss.buffers())


def descend(
    loss: NetworkLoss,
    w: Tensor,
    run: Run,
    sgd: SGD,
    *,
    shuffle: int | Sequence[int] | None = None,
    last: float = 0.0,
) -> tuple[Tensor, History]:
    """Run SGD from `w` (D,) or (B, D), with a rate along half a cosine to the share `last`.

    Returns the weights, and the history.

    Raises:
        Diverged: If the loss or the weights become NaN or inf.
    """
    falling = partial(cosine, last=last)
    start = sgd.init(w)
    state, history, _ = drive(
        sgd, start, loss, run, steps=run.steps, shuffle=shuffle, schedule=falling
    )
    if sgd.clip is not None:
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
    sgd: SGD,
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
    W, history = descend(loss, first, run, sgd, shuffle=seeds)
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
    if isinstance(net, nn.Module):
        net = Net.from_module(net)
    net = net.with_example(data.x)
    check_positive(lr, "lr")
    steps = epochs * steps_per_epoch(len(data), batch_size)
    run = Run("pre-training", seed, checkpoint, progress, batch_size, training, steps)
    loss = training_loss(net, data, likelihood, "train", run.training)
    sgd = SGD(lr=lr, momentum=momentum, weight_decay=weight_decay, ascent=ascent)
    sgd = sgd.completed(loss.problem, run)
    w, _ = descend(loss, net.w, run, sgd, last=min(last_lr / lr, 1.0))
    with run.training.autocast(w):  # statistics of the same activations as in training
        return refresh_batchnorm(loss.net_at(w), w, data)
