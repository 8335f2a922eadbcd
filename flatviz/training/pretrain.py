"""Train all weights of a network on a source task."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Unpack

from torch import nn

from flatviz.checks import Count, Rate, Seed, check_positive
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.training.keywords import Epochs, defaults
from flatviz.training.losses import training_loss
from flatviz.training.optimize import cosine, minibatches, sgd, steps_per_epoch
from flatviz.training.run import Run


@defaults(dict(lr=0.1, momentum=0.9, weight_decay=5e-4, batch_size=64))
def pretrain(
    net: Net | nn.Module, data: Data, *, seed: Seed, epochs: Count = 60, last_lr: Rate = 0.05, **how: Unpack[Epochs]
) -> Net:
    """Train a network by SGD and return it as a `Net`; of a module what is not frozen (`requires_grad_(False)`) is trained.

    Minimises mean NLL + weight_decay/2 |w|^2 with batch statistics.  BatchNorm statistics are those of `data` at the end,
    re-estimated, for the running ones lag behind the weights.

    Args:
        net: The network; a module is copied.
        data: The N training examples.
        seed: Of the order of the minibatches.
        epochs: Passes over `data`; 60 bring the digits networks to about 98 % on their source task.
        last_lr: Where the rate ends.
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
    run = Run.of(locals(), "pre-training")
    if isinstance(net, nn.Module):
        net = Net.from_module(net)
    net = net.with_example(data.x)
    check_positive(run.optim.lr, "lr")
    steps = epochs * steps_per_epoch(len(data), run.optim.batch_size)
    run = replace(run, batchnorm="train", optim=replace(run.optim, steps=steps))
    loss = training_loss(net, data, run)
    batches = minibatches(len(data), run.optim.batch_size, seed, net.device)
    w, _ = sgd(loss, net.w, batches, run, schedule=partial(cosine, last=last_lr / run.optim.lr))
    with run.training.autocast(w):  # the statistics of the activations that were trained
        return refresh_batchnorm(loss.training.net(w) if loss.training else net.at(w), w, data)
