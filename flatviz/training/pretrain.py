"""Train all weights of a network on a source task."""

from __future__ import annotations

from torch import nn

from flatviz.checks import check_count, check_is, check_lr, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.optimize import cosine, minibatches, sgd, steps_per_epoch, training_loss


def pretrain(
    net: Net | nn.Module,
    data: Data,
    *,
    seed: int,
    epochs: int = 60,
    lr: float = 0.1,
    last_lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int = 64,
    likelihood: Likelihood = "categorical",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Net:
    """Train a network by SGD and return it as a `Net` of its own; a module is read with all weights treated.

    Minimises mean NLL + weight_decay/2 |w|^2 with batch statistics, along half a cosine from `lr` to `last_lr`; the
    default ends high, where SWAG's constant rate takes over.  BatchNorm statistics are those of `data` at the end,
    re-estimated, for the running ones lag behind the weights.  ascent: `SAM(radius)` and the like, for a flat start;
    checkpoint: a file from which a stopped run goes on.  Raises ValueError on bad data or divergence.
    """
    run = arguments_digest(locals())
    if isinstance(net, nn.Module):
        net = Net.from_module(net)
    check_is(data, Data, "data", "make one, fv.Data(x, y), or take that of a task, task.source")
    net = net.with_example(data.x)
    check_count(epochs, "epochs")
    check_lr(lr, zero=False)
    check_nonnegative(last_lr, "last_lr")
    loss, trained = training_loss(net, data, likelihood, "train")
    steps = epochs * steps_per_epoch(len(data), batch_size)
    w, _ = sgd(
        loss,
        net.w,
        minibatches(len(data), batch_size, seed, net.device),
        steps=steps,
        lr=lambda t: lr * cosine(t, steps, last_lr / lr),
        momentum=momentum,
        weight_decay=weight_decay,
        progress=progress,
        label="pre-training",
        ascent=ascent,
        checkpoint=checkpoint,
        run=run,
    )
    return refresh_batchnorm(trained(w), w, data)
