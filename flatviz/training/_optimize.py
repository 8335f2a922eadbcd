"""One SGD loop on flat vectors, shared by everything that is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from flatviz._checks import check_count
from flatviz.core.batchnorm import TrainingNet, check_batchnorm
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.nll import nll
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator

Loss = Callable[[Tensor, Tensor | None], Tensor]  # (w, index of the minibatch) -> mean loss


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


def training_loss(net: Net, data: Data, likelihood: Likelihood, batchnorm: str) -> tuple[Loss, Callable[[Tensor], Net]]:
    """The minibatch loss, and a function that gives the net once trained.

    batchnorm "frozen" keeps the net's statistics, so that the loss is a function of the weights; "train" uses batch
    statistics on an internal copy, and the net that comes out holds the running statistics collected on the way.
    """
    objective = nll(net, data, likelihood=likelihood)  # checks net and data
    if batchnorm != "train" or not net.has_batchnorm:
        check_batchnorm(net, "frozen" if batchnorm == "train" else batchnorm)
        return objective, net.at
    training = TrainingNet(net)

    def loss(w: Tensor, index: Tensor | None) -> Tensor:
        x, y = (data.x, data.y) if index is None else (data.x[index], data.y[index])
        return mean_nll(training(w, x), y, likelihood)

    return loss, training.net


def sgd(
    loss: Loss,
    w: Tensor,
    batches: Iterator[Tensor | None],
    *,
    steps: int,
    lr: Callable[[int], float],
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    progress: Progress = False,
    label: str = "SGD",
    after: Callable[[int, Tensor], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """SGD with momentum and coupled weight decay: v = m v + g + wd w, w = w - lr v.

    `lr(step)` is the rate of each step; `after(step, w)` sees the new weights.  Returns the weights (D,) and the loss
    of each step (T,).  Raises ValueError if the loss diverges.
    """
    check_count(steps, "steps")
    w = w.detach().clone().requires_grad_(True)
    optimiser = torch.optim.SGD([w], lr=1.0, momentum=momentum, weight_decay=weight_decay)
    losses = []
    for step in track(range(steps), label, progress):
        value = loss(w, next(batches))
        (w.grad,) = torch.autograd.grad(value, w)
        optimiser.param_groups[0]["lr"] = lr(step)
        optimiser.step()
        losses.append(value.detach())
        if after is not None:
            after(step, w.detach())
    history = torch.stack(losses)
    check_converged(history, w)
    return w.detach(), history


def check_converged(losses: Tensor, *parameters: Tensor) -> None:
    """Raises ValueError for a run whose loss or parameters became NaN or inf."""
    if bool(torch.isfinite(losses).all()) and all(bool(torch.isfinite(p).all()) for p in parameters):
        return
    bad = (~torch.isfinite(losses)).nonzero()
    at = f"at step {int(bad[0])}" if len(bad) else "at its last step"
    raise ValueError(f"the loss must stay finite, got NaN or inf {at} of {len(losses)}: lower lr or radius")
