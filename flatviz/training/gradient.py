"""The one place where a gradient is taken.

A step asks for `gradient(w, batch) -> (loss, grad)`, any function: of weights (..., D) the mean loss
(...) and its gradient (..., D).  `gradient_of` makes one of a density of the user's, `training_loss`
that of a network on minibatches.

`Training` says how the minibatch behind it goes through the network, and when a fit stops early.

    w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
    grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g), averaged
    over the draws
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count
from flatviz.core import Data, Fields
from flatviz.gaussian import Gaussian
from flatviz.noun import Noun
from flatviz.storage.files import State

Network = Callable[[Tensor, Tensor | Fields], Tensor]  # (w (D,), x (n, ...)) -> outputs (n, C)
Ascent = Callable[[Tensor, Tensor], Tensor]  # (w, g) -> e, as in core/ascent.py
Batch = Tensor | None  # index of the minibatch, (n,) or (B, n); None, all examples
Noises = tuple[Tensor, ...]  # standard normal
# (w (..., D), batch) -> mean loss (...), its gradient (..., D)
Gradient = Callable[[Tensor, Batch], tuple[Tensor, Tensor]]


class Expected(NamedTuple):
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
        precision: "bfloat16" computes the network's products in that type (autocast); weights,
            gradients, posterior and perturbation stay in float32.
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

    precision: Literal["bfloat16"] | None = None
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
            else torch.autocast(w.device.type, dtype=torch.bfloat16)
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


class TrainingLoss:
    """A gradient, and what the driver asks of it beside the values; each answer here is that of a plain function.

    Within a step all calls have the same noise (masks, a sampled trunk), and the first alone moves
    statistics of BatchNorm: `begin` starts the next step.
    """

    examples: int = 0  # of its data
    streams: bool = False  # whether its examples are read from a stream

    def __init__(self, gradient: Gradient | None = None) -> None:
        self.gradient = gradient

    def __call__(self, w: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Mean loss (...) and its gradient (..., D) at w (..., D)."""
        if self.gradient is None:
            raise NotImplementedError
        return self.gradient(w, batch)

    def begin(self) -> None:
        """Begin a step: new noise."""

    def check(self, data: Data) -> None:
        """Raise ValueError for data that `score` cannot take."""
        raise ValueError("validation data needs the loss of a network, got a function of w")

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Compute the mean loss of other data at `w` (..., D), (...), without gradients or noise, for early stopping."""
        raise NotImplementedError

    @property
    def state(self) -> State:
        """List the tensors that calls change in place, for a checkpoint."""
        return {}

    @property
    def about(self) -> Mapping[str, object]:
        """Give, by name, everything on which the values depend.

        A checkpoint of a run about something else is refused.
        """
        return {"loss": self.gradient}


def gradient_of(f: Callable[[Tensor], Tensor]) -> Gradient:
    """The gradient that a method steps along, of any differentiable f: (D,) -> (), as minus a log posterior.

    It ignores the minibatch.

    Example:
        >>> import torch, flatviz as fv
        >>> gradient = fv.training.gradient_of(lambda w: (1 - w[0]) ** 2 + 5 * (w[1] - w[0] ** 2) ** 2)
        >>> sgld = fv.posteriors.SGLD(lr=0.01)
        >>> state = sgld.init(torch.zeros(100, 2))  # a hundred chains
        >>> for step in range(50):
        ...     state, record = sgld.update(state, gradient, None, (torch.randn(100, 2),))
        >>> state.w.shape
        torch.Size([100, 2])
    """
    each = torch.func.vmap(torch.func.grad_and_value(f))

    def gradient(w: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        g, value = each(w.reshape(-1, w.shape[-1]))
        return value.view(w.shape[:-1]), g.view_as(w)

    return gradient


def ascended(
    gradient: Gradient, w: Tensor, batch: Batch, ascent: Ascent | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Compute loss and gradient at w (the gradient at w + e with an `ascent`), and the loss gained by the ascent, or None.

    Weight decay and priors are no part of either pass: they act at w.

    Raises:
        TypeError: For an ascent that returns something else than a perturbation of w's shape.
    """
    value, g = gradient(w, batch)
    if ascent is None:
        return value, g, None
    e = ascent(w.detach(), g)
    if not isinstance(e, Tensor) or e.shape != w.shape:  # a function of the user's
        shape = tuple(e.shape) if isinstance(e, Tensor) else type(e).__name__
        raise TypeError(
            f"ascent(w, g) must return a perturbation of shape {tuple(w.shape)}, got {shape}:"
            " fv.SAM(radius) does"
        )
    at_worst, g = gradient(w.detach() + e, batch)
    return value, g, at_worst - value


def expected(
    gradient: Gradient,
    q: Gaussian,
    batch: Batch,
    noise: Noises,
    *,
    blocks: int = 3,
    ascent: Ascent | None = None,
) -> Expected:
    """Mean loss (...) over draws of q, its gradient in the first `blocks` of (mean, log_std, factor), and the loss gained by an `ascent`.

    noise: z1 (..., S, D) and z2 (..., S, K) of S draws.  With an `ascent` the gradient of each draw
    w is taken at w + e and flows to theta through the same noise.
    """
    z1, z2 = noise
    wide = q.std.unsqueeze(-2) * z1
    w = q.mean.unsqueeze(-2) + wide + z2 @ q.factor
    value, g, gain = ascended(gradient, w, batch, ascent)
    parts = [g.mean(-2)]
    if blocks > 1:
        parts.append((g * wide).mean(-2))
    if blocks > 2:
        parts.append(z2.mT @ g / g.shape[-2])
    return Expected(value.mean(-1), tuple(parts), None if gain is None else gain.mean(-1))
