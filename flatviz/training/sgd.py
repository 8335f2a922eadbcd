"""SGD with momentum, by which most networks are trained; starts of networks; pre-training on a source task."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Unpack

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Rate, Seed, check_positive
from flatviz.core import Data, Net, saved_rng
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.results import History
from flatviz.training.driver import Algorithm, Record, drive
from flatviz.training.gradient import Ascent, Batch, Noises, TrainingLoss, gradient
from flatviz.training.keywords import Epochs, Run, Trained, defaults
from flatviz.training.losses import training_loss
from flatviz.training.streams import cosine, rates, steps_per_epoch


class SGDState(NamedTuple):
    """Weights and velocity, (D,) or (B, D); the number of steps taken, (); weights that were kept on the way."""

    w: Tensor
    velocity: Tensor
    step: Tensor
    kept: tuple[Tensor, ...] = ()


@dataclass(frozen=True, eq=False)
class SGD(Algorithm):
    """SGD with momentum m and coupled weight decay wd.

        v <- m v + grad L(w) + wd w,   w <- w - lr_t v

    With an `ascent` the gradient is taken at w + e; weight decay acts at w.

    Args:
        rates: lr_t of each step, (T,).
        momentum: m.
        weight_decay: wd.
        ascent: `SAM(radius)` and the like.
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
    keep: Container[int] = ()

    def init(self, w: Tensor) -> SGDState:
        """The state at weights `w`, (D,), or (B, D) for members trained at once."""
        w = w.detach()
        return SGDState(w, torch.zeros_like(w), torch.zeros((), dtype=torch.long, device=w.device))

    def update(self, s: SGDState, loss: TrainingLoss, batch: Batch, noise: Noises = ()) -> tuple[SGDState, Record]:
        """One step."""
        value, g, gain = gradient(loss, s.w, batch, self.ascent)
        g = g.add(s.w, alpha=self.weight_decay)
        v = g.add_(self.momentum * s.velocity)  # in place, of a tensor that no one else has: a large network's is memory
        w = s.w.addcmul(v, self.rates.take(s.step), value=-1)
        return SGDState(w, v, s.step + 1, s.kept), Record(value, sharpness=gain)

    def collect(self, s: SGDState) -> SGDState:
        """With the present weights among those that are kept."""
        return s._replace(kept=(*s.kept, s.w.clone()))


def descend(
    loss: TrainingLoss, w: Tensor, run: Run, how: Trained, *, shuffle: int | Sequence[int] | None = None, last: float = 0.0
) -> tuple[Tensor, History]:
    """SGD from `w` (D,) or (B, D), its rate falling along half a cosine to the share `last`: the weights, and the history.

    Raises:
        Diverged: If the loss or the weights become NaN or inf.
    """
    lr = rates(how["lr"], how["steps"], w, partial(cosine, last=last))
    sgd = SGD(lr, how["momentum"], how["weight_decay"], how["ascent"])
    state, history = drive(sgd, sgd.init(w), loss, run, steps=how["steps"], shuffle=shuffle)
    return state.w, history


def starts(net: Net, seeds: list[int], *, head_only: bool) -> Tensor:
    """One start a seed, (B, D): treated weights as their layers draw them at first, all or the head's, the rest as in the net.

    A layer knows how to draw its weights by `reset_parameters`, as all of torch's do.
    """
    chosen = [b for b in net.blocks if not head_only or b.kind == "head"]
    owners, rows = {b.name.rpartition(".")[0] for b in chosen}, []
    for seed in seeds:
        module = net.to_module().cpu()
        with saved_rng(seed), torch.no_grad():
            for name, part in module.named_modules():
                if name in owners and hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        w, fresh = net.w.detach().clone(), net.flatten(dict(module.named_parameters())).detach().to(net.w)
        for b in chosen:
            w[b.slice] = fresh[b.slice]
        rows.append(w)
    return torch.stack(rows)


def train_members(net: Net, data: Data, seeds: list[int], run: Run, how: Trained, batchnorm: str) -> tuple[Tensor, History]:
    """SGD from `starts`, of the head alone where not all weights are treated, all members together: (members, D) and the history."""
    loss = training_loss(net, data, how["likelihood"], batchnorm, run.training, members=len(seeds))
    return descend(loss, starts(net, seeds, head_only=not net.treats_all), run, how, shuffle=seeds)


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
