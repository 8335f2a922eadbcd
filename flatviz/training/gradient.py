"""The one place where a gradient is taken.

of the loss in w, plainly or at the end of an ascent step, or in a Gaussian's theta.

`Training` says how the minibatch behind it goes through the network, and when a fit stops early.

w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g), averaged over
the draws
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count
from flatviz.core import Data, Fields, threads
from flatviz.engine.batchnorm import TrainingNet
from flatviz.gaussian import Buffers, Gaussian
from flatviz.noun import Noun
from flatviz.storage.files import State

Network = Callable[[Tensor, Tensor | Fields], Tensor]  # (w (D,), x (n, ...)) -> outputs (n, C)
Ascent = Callable[[Tensor, Tensor], Tensor]  # (w, g) -> e, as in core/ascent.py
Batch = Tensor | None  # index of the minibatch, (n,) or (B, n); None, all examples
Noises = tuple[Tensor, ...]  # standard normal


class Gradient(NamedTuple):
    """Loss at q, the gradient in theta along which q moves, the loss gained by an ascent and the length of that, sqrt(2 KL)."""

    loss: Tensor
    grad: tuple[Tensor, ...]
    gain: Tensor | None = None
    reach: Tensor | None = None


class Training(Noun, made_by="make one, fv.Training(accumulate=2)"):
    """Describe how a fit goes through its examples, whatever it minimises.

    `training=fv.Training(...)`.

    `pretrain`, `train_pool` and every `fit_*` that takes gradient steps have it: all but `fit_hmc`;
    `fit_ptl` hands on its `settings=`.

    Methods that collect weights on the way (chains, SWAG) and pools take no `validation`, for they
    have no one best place.  Dropout and a sampled trunk take no `accumulate`, for they draw noise
    for a whole minibatch.

    Args:
        precision: "bfloat16" or "float16" computes the network's products in that type (autocast);
            weights, gradients, posterior and perturbation stay in float32.  In float16 the loss is
            multiplied by 1,024 on the way back, each gradient of a step divided by it.
        accumulate: Parts of a minibatch that pass one after another: the same gradient in less
            memory; BatchNorm then normalises each part by itself.
        validation: The parameters returned are those with the least loss on it (a Gaussian's at its
            mean; of an ensemble that of each member), checked once an epoch and at most 50 times;
            `history.validation` holds it.
        patience: Checks without a lower loss that end the run.

    Raises ValueError for a value out of range.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> how = fv.Training(accumulate=2, validation=task.source, patience=3)
        >>> len(fv.fit_sgd(net, task.train, seed=0, training=how).history.validation) < 50  # it stopped early
        True
    """

    precision: Literal["bfloat16", "float16"] | None = None
    accumulate: Count = 1
    validation: Data | None = None
    patience: Count = 10

    def check_weights(self, w: Tensor) -> None:
        """ValueError where the precision is reduced and the weights are no float32, which autocast leaves as they are."""
        if self.precision is not None and w.dtype != torch.float32:
            raise ValueError(
                f"precision={self.precision!r} needs float32 weights, got {w.dtype}:"
                " net.to(dtype=torch.float32)"
            )

    def outputs(self, network: Network, w: Tensor, x: Tensor | Fields) -> Tensor:
        """network(w, x) in this precision, given back in that of `w`.

        Images in channels-last order where that is faster.
        """
        if isinstance(x, Tensor) and x.ndim == 4 and (w.is_cuda or self.precision is not None):
            x = x.contiguous(memory_format=torch.channels_last)
        with self.autocast(w):
            return network(w, x).to(w.dtype)

    def autocast(self, w: Tensor) -> AbstractContextManager:
        """The block in which the network's products are computed in this precision, on the device of `w`."""
        return (
            nullcontext()
            if self.precision is None
            else torch.autocast(w.device.type, dtype=getattr(torch, self.precision))
        )

    def in_parts(
        self, of: Callable[..., tuple], w: Tensor, index: Tensor | None, n: int
    ) -> tuple[Tensor, Tensor]:
        """Mean loss and gradient of a minibatch, from `of(w, part)` of its parts.

        index: (batch,), (B, batch) for weights (B, D), or None for all n examples.
        """
        if index is None:
            index = torch.arange(n, device=w.device).expand(*w.shape[:-1], n)
        value = w.new_zeros(w.shape[:-1])
        g = torch.zeros_like(w)
        for part in index.tensor_split(min(self.accumulate, index.shape[-1]), -1):
            one, its_g = of(w, part)
            share = part.shape[-1] / index.shape[-1]
            value.add_(one, alpha=share)
            g.add_(its_g, alpha=share)
        return value, g


PLAIN = Training()
LOSS_SCALE = 1024.0  # below 6e-8 float16 is 0; above 65,504 it is inf


class TrainingLoss:
    """Base of the losses that fits minimise.

    (w (D,), index of the minibatch, None for all examples) -> mean loss, ().

    For B members trained at once: (W (B, D), index (B, n) or None) -> losses (B,).  A subclass
    gives `__call__`, and more only where calls draw noise or change something.  `passes` says how a
    minibatch goes through; only a loss of `data`, each of whose calls is a function of w and index,
    may go in parts.  `training` is the network whose BatchNorm statistics calls collect, or None.
    `layer`: multiply-adds of a layer for one example, from which the threads follow.
    """

    passes: Training = PLAIN
    data: Data | None = None
    training: TrainingNet | None = None
    layer: float = 0.0

    @property
    def examples(self) -> int:
        """Count the examples of its data; 0 where it has none."""
        return 0 if self.data is None else len(self.data)

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Compute the mean loss, differentiable in w."""
        raise NotImplementedError

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Compute the loss for a second pass of one step.

        The noise of the last call again, statistics left alone.
        """
        return self(w, index)

    def of_constant(self) -> float:
        """Compute the least loss of one output for all examples; NaN where the data do not lie in memory."""
        return math.nan

    def check(self, data: Data) -> None:
        """Raise ValueError for data that `score` cannot take."""

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Compute the mean loss of other data at `w` (D,), without gradients or noise, for early stopping."""
        raise NotImplementedError

    @property
    def collected(self) -> Buffers:
        """Copy the BatchNorm statistics that calls collected; None where they collect none."""
        training = self.training
        return None if training is None else {n: b.clone() for n, b in training.buffers.items()}

    @property
    def each(self) -> Sequence[TrainingLoss]:
        """The loss of each row by itself; of a loss of one weight vector, that loss."""
        return [self]

    def in_one_pass(self, rows: int, index: Tensor | None) -> bool:
        """Say whether one call gives the losses of all rows.

        Else gradients are taken by the losses in `each`, one row at a time.
        """
        return True

    @property
    def state(self) -> State:
        """List the tensors that calls change in place, for a checkpoint."""
        return {}

    @property
    def about(self) -> dict[str, Any]:
        """Give, by name, everything on which the values depend.

        a checkpoint of a run about something else is refused.
        """
        return {"loss": self}


def gradient(
    loss: TrainingLoss, w: Tensor, index: Tensor | None, ascent: Ascent | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Compute loss and gradient at w (the gradient at w + e with an `ascent`), and the loss gained by the ascent, or None.

    `w` is (D,), or (B, D) with a loss that gives (B,), one value a row.  Weight decay and priors
    are no part of either pass: they act at w.

    Raises:
        TypeError: For an ascent that returns something else than a perturbation of w's shape.
    """
    value, g = value_and_grad(loss, w, index)
    if ascent is None:
        return value, g, None
    e = ascent(w.detach(), g)
    if not isinstance(e, Tensor) or e.shape != w.shape:  # a function of the user's
        shape = tuple(e.shape) if isinstance(e, Tensor) else type(e).__name__
        raise TypeError(
            f"ascent(w, g) must return a perturbation of shape {tuple(w.shape)}, got {shape}:"
            " fv.SAM(radius) does"
        )
    at_worst, g = value_and_grad(loss, w.detach() + e, index, again=True)
    return value, g, at_worst - value


def value_and_grad(
    loss: TrainingLoss, w: Tensor, index: Tensor | None, *, again: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute the loss and its gradient at w, of w's shape.

    `again`: with the noise of the last call, statistics left alone.
    """
    rows = len(w) if w.ndim == 2 and loss.in_one_pass(len(w), index) else 1
    with threads(loss.layer * rows * (loss.examples if index is None else index.shape[-1])):
        if loss.passes.accumulate == 1:
            return _value_and_grad(loss, w, index, again)
        return loss.passes.in_parts(
            lambda w, part: _value_and_grad(loss, w, part, again), w, index, loss.examples
        )


def _value_and_grad(
    loss: TrainingLoss, w: Tensor, index: Tensor | None, again: bool
) -> tuple[Tensor, Tensor]:
    if w.ndim == 2 and not loss.in_one_pass(len(w), index):
        indices = [None] * len(w) if index is None else index.unbind()
        values, gradients = zip(
            *(_value_and_grad(*row, again) for row in zip(loss.each, w.unbind(), indices))
        )
        return torch.stack(values), torch.stack(gradients)
    with torch.inference_mode(False), torch.enable_grad():  # whatever mode the caller is in
        w = (w.clone() if w.is_inference() else w).detach().requires_grad_(True)
        value = (loss.again if again else loss)(w, index)
        total = value if value.ndim == 0 else value.sum()
        if loss.passes.precision == "float16":
            (g,) = torch.autograd.grad(LOSS_SCALE * total, w)
            return value.detach(), g / LOSS_SCALE
        (g,) = torch.autograd.grad(total, w)
    return value.detach(), g


class NoisyNLL:
    """Mean NLL over S draws of a Gaussian, with fixed noise and minibatch.

    `nll(q)`, and `nll(q', again=True)` for a second pass.

    loss: of one weight vector where one member has one draw, else of rows (B S, D), the draws of a
    member side by side. index: (n,), (B, n) for B members, or None.
    """

    def __init__(self, loss: TrainingLoss, index: Tensor | None, noise: tuple[Tensor, ...]) -> None:
        self.loss = loss
        self.noise = noise
        draws = noise[0].shape[:-1]
        self.rows = draws.numel()
        if index is not None and self.rows > 1:
            index = index.unsqueeze(-2).expand(*draws, -1).reshape(self.rows, -1)
        self.index = index

    @property
    def first(self) -> tuple[Tensor, Tensor]:
        """The noise z1 (..., D), z2 (..., K) of the first draw."""
        return self.noise[0][..., 0, :], self.noise[1][..., 0, :]

    def __call__(
        self, q: Gaussian, *, blocks: int = 3, ascent: Ascent | None = None, again: bool = False
    ) -> Gradient:
        """Compute the value (...), its gradient in the first `blocks` of (mean, log_std, factor), and the loss gained by an `ascent`.

        With an `ascent` the gradient of each draw w is taken at w + e and flows to theta through
        the same noise. `again`: a second pass, without ascent; what the loss trains along stays as
        it is.
        """
        z1, z2 = self.noise
        wide = q.std.unsqueeze(-2) * z1
        w = q.mean.unsqueeze(-2) + wide + z2 @ q.factor
        w = w.flatten() if self.rows == 1 else w.flatten(0, -2)
        if again:
            value, g, gain = *value_and_grad(self.loss, w, self.index, again=True), None
        else:
            value, g, gain = gradient(self.loss, w, self.index, ascent)
        g = g.view_as(wide)
        draws = wide.shape[:-1]
        parts = [g.mean(-2)]
        if blocks > 1:
            parts.append((g * wide).mean(-2))
        if blocks > 2:
            parts.append(z2.mT @ g / draws[-1])
        return Gradient(
            value.view(draws).mean(-1),
            tuple(parts),
            None if gain is None else gain.view(draws).mean(-1),
        )
