"""SGD on flat weight vectors: minibatches, rate, losses and the loop, shared by everything that is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.engine.batchnorm import TrainingNet, check_batchnorm
from flatviz.engine.forward import forward
from flatviz.gaussian import Gaussian
from flatviz.objectives.nll import check_data
from flatviz.results import History
from flatviz.storage.checkpoints import State
from flatviz.training.gradient import PLAIN, TrainingLoss, gradient
from flatviz.training.loop import advance
from flatviz.training.passes import Passes
from flatviz.training.random_trunk import random_trunk_losses
from flatviz.training.run import Optim, Run
from flatviz.training.stopping import EarlyStopping


def minibatches(n: int, batch_size: int | None, seed: int, device: torch.device) -> Iterator[Tensor | None]:
    """Indices of minibatches without end, reshuffled every epoch; None (all examples) where one batch holds them."""
    if batch_size is None or check_count(batch_size, "batch_size") >= n:
        while True:
            yield None
    source = generator(seed)
    while True:
        yield from torch.randperm(n, generator=source).to(device).split(batch_size)


def steps_per_epoch(n: int, batch_size: int | None) -> int:
    """Minibatches in one pass over n examples."""
    return 1 if batch_size is None else math.ceil(n / batch_size)


def cosine(step: int, steps: int, last: float = 0.0) -> float:
    """Factor on the learning rate: 1 at step 0, falling to `last` along half a cosine."""
    return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * step / steps))


def constant(step: int, steps: int) -> float:
    """Factor on the learning rate: 1 at every step."""
    return 1.0


class FrozenLoss(TrainingLoss):
    """Mean NLL of a minibatch with the net's own BatchNorm statistics: a function of the weights."""

    def __init__(self, net: Net, data: Data, likelihood: Likelihood, passes: Passes = PLAIN) -> None:
        self.net, self.data, self.likelihood, self.passes = net, data, likelihood, passes

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,), ()."""
        x, y = self.data.batch(index)
        return mean_nll(self.passes.outputs(self.net, w, x), y, self.likelihood)

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,), ()."""
        return mean_loss(self.net, w, data, self.likelihood)


class BatchStatisticsLoss(TrainingLoss):
    """Mean NLL of a minibatch with the batch's BatchNorm statistics; `training` collects running ones on the way."""

    def __init__(self, net: Net, data: Data, likelihood: Likelihood, passes: Passes = PLAIN) -> None:
        self.net, self.data, self.likelihood, self.passes = net, data, likelihood, passes
        self.training = TrainingNet(net)

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,), (); the running statistics move."""
        return self._loss(w, index, update=True)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same, with the running statistics left alone."""
        return self._loss(w, index, update=False)

    @property
    def state(self) -> State:
        """The running statistics."""
        return {f"buffer {name}": value for name, value in self.training.buffers.items()}

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,) with the running statistics collected so far, ()."""
        return mean_loss(self.training.net(w), w, data, self.likelihood)

    def _loss(self, w: Tensor, index: Tensor | None, *, update: bool) -> Tensor:
        x, y = self.data.batch(index)
        outputs = self.passes.outputs(partial(self.training, update=update), w, x)
        return mean_nll(outputs, y, self.likelihood)


def mean_loss(net: Net, w: Tensor, data: Data, likelihood: Likelihood) -> Tensor:
    """Mean NLL of all `data` at `w` (D,), (), without a gradient."""
    return mean_nll(forward(net, w[None], data.x)[0], data.y, likelihood)


def training_loss(
    net: Net, data: Data, likelihood: Likelihood, batchnorm: str, passes: Passes = PLAIN
) -> tuple[FrozenLoss | BatchStatisticsLoss, Callable[[Tensor], Net]]:
    """The minibatch loss, and a function that gives the net once trained.

    batchnorm "frozen" keeps the net's statistics, so that the loss is a function of the weights; "train" uses batch
    statistics on an internal copy, and the net that comes out holds the running statistics collected on the way.
    """
    (loss,) = training_losses(net, data, likelihood, batchnorm, 1, passes)
    return loss, loss.training.net if isinstance(loss, BatchStatisticsLoss) else net.at


def training_losses(
    net: Net, data: Data, likelihood: Likelihood, batchnorm: str, members: int, passes: Passes = PLAIN
) -> list[FrozenLoss | BatchStatisticsLoss]:
    """A loss for each of several members, net and data checked once; frozen ones are one object."""
    spared, _ = check_data(net, data, likelihood)
    passes.check_weights(net.w)
    if net.trunk is not None:
        return random_trunk_losses(spared, data, likelihood, batchnorm, members, passes)
    if batchnorm != "train" or not net.has_batchnorm:
        check_batchnorm(net, "frozen" if batchnorm == "train" else batchnorm)
        return [FrozenLoss(spared, data, likelihood, passes)] * members
    return [BatchStatisticsLoss(net, data, likelihood, passes) for _ in range(members)]


def sgd(
    loss: TrainingLoss,
    w: Tensor,
    batches: Iterator[Tensor | None],
    run: Run,
    *,
    schedule: Callable[[int, int], float] = cosine,
    after: Callable[[int, Tensor], None] | None = None,
    state: State | None = None,
) -> tuple[Tensor, History]:
    """SGD with momentum m and coupled weight decay wd: v <- m v + g + wd w,  w <- w - lr schedule(step, steps) v.

    g is the gradient at w, or with the run's ascent at w + e; weight decay acts at w.  `w` is (D,), or (B, D) for members
    trained at once.  `after(step, w)` sees the new weights, and what it changes is in `state`, so that a checkpoint
    holds it.  Returns the weights and the history.

    Raises:
        ValueError: If the loss diverges.
    """
    w, optim = w.detach().clone(), run.optim
    velocity, losses, gains = torch.zeros_like(w), [], []

    def update(step: int, index: Tensor | None) -> None:
        value, g, gain = gradient(loss, w, index, run.ascent)
        if optim.weight_decay:
            g = g.add(w, alpha=optim.weight_decay)
        velocity.mul_(optim.momentum).add_(g)
        w.add_(velocity, alpha=-optim.lr * schedule(step, optim.steps))
        losses.append(value)
        if gain is not None:
            gains.append(gain)
        if after is not None:
            after(step, w)

    everything = {"w": w, "velocity": velocity, "losses": losses, "gains": gains, **loss.state, **(state or {})}
    stopping = early_stopping(loss, [w], lambda: w, run, members=None if w.ndim == 1 else len(w))
    advance(everything, update, batches, optim.steps, run, stopping, examples=examples_of(loss, optim))
    checks = None if stopping is None else torch.stack(stopping.losses)
    history = History(torch.stack(losses), sharpness=torch.stack(gains) if gains else None, validation=checks)
    check_converged(history.loss, w)
    return w, history


def examples_of(loss: TrainingLoss, optim: Optim) -> int | None:
    """Examples in a step; None of a loss that has no data."""
    return None if loss.data is None else min(optim.batch_size or len(loss.data), len(loss.data))


def early_stopping(
    loss: TrainingLoss,
    held: Sequence[Tensor],
    center: Callable[[], Tensor],
    run: Run,
    *,
    members: int | None = None,
) -> EarlyStopping | None:
    """Stopping by the loss of `run.training.validation` at `center()`; None without one.  held: what the fit moves, beside statistics.

    members: B, where `held` and `center()` have a row for each; statistics of BatchNorm are then those of the last step.
    """
    validation = run.training.validation
    if validation is None:
        return None
    loss.check(validation)
    statistics = [value for value in loss.state.values() if isinstance(value, Tensor)] if members is None else []
    how = dict(
        steps=run.optim.steps, epoch=steps_per_epoch(len(loss.data), run.optim.batch_size), patience=run.training.patience
    )
    return EarlyStopping(partial(_score, loss, center, validation), [*held, *statistics], **how, members=members)


def _score(loss: TrainingLoss, center: Callable[[], Tensor], data: Data) -> Tensor:
    return loss.score(center(), data)


def check_converged(losses: Tensor, *parameters: Tensor) -> None:
    """Raises ValueError for a run whose loss or parameters became NaN or inf."""
    if bool(torch.isfinite(losses).all()) and all(bool(torch.isfinite(p).all()) for p in parameters):
        return
    bad = (~torch.isfinite(losses)).reshape(len(losses), -1).any(1).nonzero()
    at = f"at step {int(bad[0])}" if len(bad) else "at its last step"
    raise ValueError(f"the loss must stay finite, got NaN or inf {at} of {len(losses)}: lower lr or radius")


def check_covers(net: Net, q: Gaussian, name: str) -> None:
    """That `q` is a Gaussian over the net's treated weights."""
    if not isinstance(q, Gaussian):
        raise TypeError(f"{name} must be a Gaussian, as transfer returns, got {type(q).__name__}")
    if q.dim != net.dim:
        raise ValueError(f"{name} must cover the net's {net.dim} treated weights, got {q.dim}: use what transfer returned")
