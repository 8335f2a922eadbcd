"""Train all weights of a network on a source task."""

from __future__ import annotations

from functools import partial

from torch import nn

from flatviz.checks import Count, Momentum, NonNegative, Rate, Seed, check_lr
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.training.gradient import Ascent
from flatviz.training.optimize import cosine, minibatches, sgd, steps_per_epoch, training_loss
from flatviz.training.run import Checkpoint, Optim, Run, Training


@public
def pretrain(
    net: Net | nn.Module,
    data: Data,
    *,
    seed: Seed,
    epochs: Count = 60,
    lr: Rate = 0.1,
    last_lr: Rate = 0.05,
    momentum: Momentum = 0.9,
    weight_decay: NonNegative = 5e-4,
    batch_size: Count = 64,
    likelihood: Likelihood = "categorical",
    ascent: Ascent | None = None,
    training: Training | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Net:
    """Train a network by SGD and return it as a `Net` of its own; a module is read with all weights treated.

    Minimises mean NLL + weight_decay/2 |w|^2 with batch statistics.  BatchNorm statistics are those of `data` at the end,
    re-estimated, for the running ones lag behind the weights.

    Args:
        net: a module, or a `Net` whose treated weights are trained.
        data: inputs and labels.
        seed: of the minibatches.
        epochs: passes over `data`; 60 bring the digits networks to about 98 % on their source task.
        lr: the first learning rate; it falls to `last_lr` along half a cosine.
        last_lr: the last one; high, because SWAG goes on from there at a constant rate.
        momentum: share of the last step that the next one keeps.
        weight_decay: factor of |w|^2 / 2.
        batch_size: examples a minibatch.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        ascent: `SAM(radius)` and the like, for a flat start.
        training: `Training(...)`: precision, gradient accumulation, several processes, and early stopping on
            validation data.
        checkpoint: path to save to and resume from.
        progress: True, None (where a terminal watches) or a function.

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
    check_lr(lr, zero=False)
    loss, trained = training_loss(net, data, likelihood, "train", run.passes)
    optim = Optim(epochs * steps_per_epoch(len(data), batch_size), lr, momentum, weight_decay, batch_size)
    batches = minibatches(len(data), batch_size, seed, net.device)
    w, _ = sgd(loss, net.w, batches, optim, run, schedule=partial(cosine, last=last_lr / lr), ascent=ascent)
    with run.passes.autocast(w):  # the statistics of the activations that were trained
        return refresh_batchnorm(trained(w), w, data)
