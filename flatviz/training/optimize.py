"""One SGD loop on flat vectors, shared by everything that is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from flatviz.checks import check_count, check_lr, check_momentum
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.engine.batchnorm import TrainingNet, check_batchnorm
from flatviz.objectives.nll import nll
from flatviz.results import History
from flatviz.training.gradient import Ascent, Loss, gradient
from flatviz.training.loop import Checkpoint, State, advance


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


class TrainedLoss:
    """The minibatch loss with batch statistics; `again` repeats a minibatch and leaves the running ones alone."""

    def __init__(self, net: Net, data: Data, likelihood: Likelihood) -> None:
        self.training, self.data, self.likelihood = TrainingNet(net), data, likelihood
        self.state = {f"buffer {name}": value for name, value in self.training.buffers.items()}

    def __call__(self, w: Tensor, index: Tensor | None, *, update: bool = True) -> Tensor:
        """Mean loss at `w` (D,), ()."""
        x, y = (self.data.x, self.data.y) if index is None else (self.data.x[index], self.data.y[index])
        return mean_nll(self.training(w, x, update=update), y, self.likelihood)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same loss for the second pass of a step."""
        return self(w, index, update=False)


def training_loss(net: Net, data: Data, likelihood: Likelihood, batchnorm: str) -> tuple[Loss, Callable[[Tensor], Net]]:
    """The minibatch loss, and a function that gives the net once trained.

    batchnorm "frozen" keeps the net's statistics, so that the loss is a function of the weights; "train" uses batch
    statistics on an internal copy, and the net that comes out holds the running statistics collected on the way.
    """
    objective = nll(net, data, likelihood=likelihood)  # checks net and data
    if batchnorm != "train" or not net.has_batchnorm:
        check_batchnorm(net, "frozen" if batchnorm == "train" else batchnorm)
        return objective, net.at
    loss = TrainedLoss(net, data, likelihood)
    return loss, loss.training.net


def sgd(
    loss: Loss,
    w: Tensor,
    batches: Iterator[Tensor | None],
    *,
    steps: int,
    lr: Callable[[int], float],
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    ascent: Ascent | None = None,
    progress: Progress = False,
    label: str = "SGD",
    after: Callable[[int, Tensor], None] | None = None,
    state: State | None = None,
    checkpoint: Checkpoint = None,
    run: str = "",
) -> tuple[Tensor, History]:
    """SGD with momentum and coupled weight decay: v = m v + g + wd w, w = w - lr v.

    g is the gradient at w, or with an `ascent` at w + e; weight decay acts at w.  `w` is (D,), or (B, D) for members
    trained together.  `lr(step)` is the rate of each step; `after(step, w)` sees the new weights, and what it changes
    is in `state`, so that a `checkpoint` holds it; `run`, `arguments_digest` of the
    fit, says whose it is.  Returns the weights and the history.
    Raises ValueError if the loss diverges.
    """
    check_count(steps, "steps")
    check_lr(lr(0))
    check_momentum(momentum)
    w = w.detach().clone()
    velocity, losses, gains = torch.zeros_like(w), [], []

    def update(step: int, index: Tensor | None) -> None:
        value, g, gain = gradient(loss, w, index, ascent)
        if weight_decay:
            g = g.add(w, alpha=weight_decay)
        velocity.mul_(momentum).add_(g)
        w.add_(velocity, alpha=-lr(step))
        losses.append(value)
        if gain is not None:
            gains.append(gain)
        if after is not None:
            after(step, w)

    own = {"w": w, "velocity": velocity, "losses": losses, "gains": gains, **getattr(loss, "state", {}), **(state or {})}
    advance(own, update, batches, steps, run=run, checkpoint=checkpoint, progress=progress, label=label)
    history = History(torch.stack(losses), sharpness=torch.stack(gains) if gains else None)
    check_converged(history.loss, w)
    return w, history


def check_converged(losses: Tensor, *parameters: Tensor) -> None:
    """Raises ValueError for a run whose loss or parameters became NaN or inf."""
    if bool(torch.isfinite(losses).all()) and all(bool(torch.isfinite(p).all()) for p in parameters):
        return
    bad = (~torch.isfinite(losses)).reshape(len(losses), -1).any(1).nonzero()
    at = f"at step {int(bad[0])}" if len(bad) else "at its last step"
    raise ValueError(f"the loss must stay finite, got NaN or inf {at} of {len(losses)}: lower lr or radius")
