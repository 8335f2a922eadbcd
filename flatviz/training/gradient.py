"""Gradients of a step: any function `gradient(w, batch) -> (loss, grad)`.

At weights (..., D) it returns the mean loss (...) and its gradient (..., D).  `gradient_of` makes
one of a user's density, `training_loss` that of a network on minibatches.  `Training` says how a
minibatch passes through the network, and when a fit stops early.

    w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
    grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g)

is averaged over the draws.  No other file takes gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, shown
from flatviz.core import Data, Fields, public
from flatviz.gaussian import Gaussian
from flatviz.noun import Noun
from flatviz.storage.files import State
from flatviz.training.augment import Augment, name_of

Network = Callable[[Tensor, Tensor | Fields], Tensor]  # (w (D,), x (n, ...)) -> outputs (n, C)
Ascent = Callable[[Tensor, Tensor], Tensor]  # (w, g) -> e, as in core/ascent.py
Batch = Tensor | None  # index of the minibatch, (n,) or (B, n); None, all examples
Noises = tuple[Tensor, ...]  # standard normal tensors
# (w (..., D), batch) -> mean loss (...), its gradient (..., D)
Gradient = Callable[[Tensor, Batch], tuple[Tensor, Tensor]]


class Expected(NamedTuple):
    """Loss at q, gradient in theta for q's step, loss gained by an ascent, and its sqrt(2 KL)."""

    loss: Tensor
    grad: tuple[Tensor, ...]
    gain: Tensor | None = None
    reach: Tensor | None = None


class Training(Noun, made_by="make one, fv.Training(accumulate=2)"):
    """Describe how a fit goes through its examples, whatever it minimises.

    Pass it as `training=fv.Training(...)` to `pretrain`, `train_pool` and every `fit_*` that takes
    gradient steps: all but `HMC`; `PTL` passes on its `settings=`.  Methods that collect
    weights on the way (chains, SWAG) and pools take no `validation`, as they have no single best
    state.  Dropout and a sampled trunk take no `accumulate`, as they draw noise for a complete
    minibatch.

    Args:
        precision: "bfloat16" or "float16" computes the network's products in that dtype (autocast);
            weights, gradients, posterior and perturbation stay in float32.  In float16 the loss is
            multiplied by 1,024 in the backward pass, and its gradient divided by it.  A
            `torch.autocast` around a verb has no effect.
        accumulate: Number of parts of a minibatch that pass one after another: the same gradient in
            less memory; BatchNorm then normalises each part by itself.
        validation: Data on which the returned parameters have the lowest loss (a Gaussian's at its
            mean; an ensemble's for each member), checked once an epoch, at most 50 times, and after
            the last step; `history.validation` holds it.
        patience: Checks without a lower loss that end the run.

    Raises ValueError for a value out of range.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> how = fv.Training(accumulate=2, validation=task.source, patience=3)
        >>> fit = fv.fit(net, task.train, fv.SGD(), seed=0, training=how)
        >>> len(fit.history.validation) < 50  # it stopped early
        True
    """

    precision: Literal["bfloat16", "float16"] | None = None
    accumulate: Count = 1
    validation: Data | None = None
    patience: Count = 10

    def check_weights(self, w: Tensor) -> None:
        """Refuse weights other than float32 in a reduced precision."""
        if self.precision is not None and w.dtype != torch.float32:
            raise ValueError(
                f"precision={self.precision!r} needs float32 weights, got {w.dtype}:"
                " net.to(dtype=torch.float32)"
            )

    def outputs(
        self,
        network: Network,
        w: Tensor,
        x: Tensor | Fields,
    ) -> Tensor:
        """Compute network(w, x) in this precision, returned in that of `w`.

        Images are in channels-last order where that is faster.
        """
        faster = w.is_cuda or self.precision is not None
        if faster and isinstance(x, Tensor) and x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        with self.autocast(w):
            return network(w, x).to(w.dtype)

    def autocast(self, w: Tensor) -> AbstractContextManager:
        """Compute the network's products in this precision, on `w`'s device, in the block."""
        if self.precision is None:
            return nullcontext()
        return torch.autocast(w.device.type, dtype=getattr(torch, self.precision))

    @property
    def loss_scale(self) -> float:
        """Factor on the loss in the backward pass."""
        return LOSS_SCALE if self.precision == "float16" else 1.0

    def in_parts(
        self,
        gradient: Callable[..., tuple],
        w: Tensor,
        index: Tensor | None,
        n: int,
        count: Callable[[Tensor], Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Compute mean loss and gradient of a minibatch from `gradient(w, part)` of its parts.

        index: (batch,), (B, batch) for weights (B, D), or None for all n examples.
        count: the divisor of a part's mean, () or (B,), which differs where labels do not count.
        """
        if self.accumulate == 1:
            return gradient(w, index)
        if index is None:
            index = torch.arange(n, device=w.device)
            index = index.expand(*w.shape[:-1], n)
        value = w.new_zeros(w.shape[:-1])
        g = torch.zeros_like(w)
        total = count(index).clamp_min(torch.finfo(w.dtype).tiny)
        parts = min(self.accumulate, index.shape[-1])
        for part in index.tensor_split(parts, -1):
            one, its_g = gradient(w, part)
            share = (count(part) / total).to(w)
            value.add_(share * one)
            g.addcmul_(share[..., None], its_g)
        return value, g


PLAIN = Training()
LOSS_SCALE = 1024.0  # below 6e-8 float16 is 0; above 65,504 it is inf


class TrainingLoss:
    """A gradient, with what the driver asks of it beside values; defaults are a plain function's.

    Within a step all calls have the same noise (masks, a sampled trunk) and the same inputs, and
    only the first moves statistics of BatchNorm: `begin` starts the next step.
    """

    examples: int = 0  # of its data
    streams: bool = False  # whether its examples are no tensor in memory
    reads: bool = False  # whether they are read from a data set, ahead of their steps

    def __init__(self, gradient: Gradient | None = None) -> None:
        self.gradient = gradient

    def __call__(self, w: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute mean loss (...) and its gradient (..., D) at w (..., D)."""
        if self.gradient is None:
            raise NotImplementedError
        return self.gradient(w, batch)

    def prepare(
        self,
        augment: Augment | None,
        batch_size: int | None,
        seeds: Sequence[int],
    ) -> None:
        """Prepare for the steps of a run: what varies inputs, and the seed of each member's."""
        if augment is not None:
            raise ValueError(
                f"augment needs the loss of a network, got {name_of(augment)} for a function of w:"
                " leave it out"
            )

    def keep(self, examples: int) -> None:
        """Keep what no step changes, for a run in which so many examples pass."""

    def begin(self, step: int | None = None, batch: Batch = None) -> None:
        """Begin step number `step`, of a minibatch, with new noise; None: one without a number."""

    def ahead(self, batches: Iterator[Batch]) -> AbstractContextManager[Iterator[Batch]]:
        """Read the minibatches of a run before their steps, in the block."""
        return nullcontext(batches)

    def finish(self) -> str:
        """End the run: from now on calls see the data as they are; return what went wrong in it."""
        return ""

    def check(self, data: Data) -> None:
        """Refuse data that `score` cannot take."""
        raise ValueError("validation data needs the loss of a network, got a function of w")

    def of_constant(self) -> float:
        """Compute the least loss of one output for all examples; NaN where there are no outputs."""
        return math.nan

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Compute the mean loss (...) of other data at `w` (..., D), for early stopping.

        It takes no gradients and no noise.
        """
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the history: how it reads its examples, and what it keeps of them."""
        return ()

    @property
    def recordable(self) -> bool:
        """Whether a recorded step would see the inputs of each step."""
        return True

    @property
    def state(self) -> State:
        """List the tensors that calls change in place, for a checkpoint."""
        return {}

    @property
    def about(self) -> Mapping[str, object]:
        """Return by name everything on which the values depend.

        A checkpoint of a run about something else is refused.
        """
        return {"loss": self.gradient}


def check_noise(noise: Noises, *shapes: tuple[int | str, ...]) -> None:
    """Raise ValueError unless a step's noise has these shapes; "S" is any number of draws."""
    tensors = isinstance(noise, (tuple, list)) and all(isinstance(z, Tensor) for z in noise)
    came = [tuple(z.shape) for z in noise] if tensors else []
    S = came[0][-2] if came and len(came[0]) > 1 else 1
    exact = [tuple(S if n == "S" else n for n in wanted) for wanted in shapes]
    if not tensors or came != exact:
        raise ValueError(
            f"noise must be standard normal tensors of shapes {[*map(tuple, shapes)]}, got"
            f" {came if tensors else shown(noise)}: the method's"
            " noise(state, seeds, steps).at(step) gives them"
        )


@public
def gradient_of(f: Callable[[Tensor], Tensor]) -> Gradient:
    """Build the gradient for a method's steps, (w, batch) -> (loss, grad), of any function.

    Shapes: w (..., D), loss (...), grad (..., D).  The minibatch is ignored.

    Args:
        f: Differentiable, (D,) -> (), for instance minus the logarithm of a posterior.

    Example:
        >>> import torch, flatviz as fv
        >>> banana = lambda w: (1 - w[0]) ** 2 + 5 * (w[1] - w[0] ** 2) ** 2
        >>> gradient = fv.training.gradient_of(banana)
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
    gradient: Gradient,
    w: Tensor,
    batch: Batch,
    ascent: Ascent | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Compute the loss at w, the gradient at w + e with an `ascent`, and the loss gained by it.

    The gain is None without an ascent, and the gradient is then that at w.  Weight decay and priors
    are no part of either pass: they act at w.

    Raises:
        TypeError: For an ascent that returns something else than a perturbation of w's shape.
    """
    value, g = gradient(w, batch)
    if ascent is None:
        return value, g, None
    e = ascent(w.detach(), g)
    if not isinstance(e, Tensor) or e.shape != w.shape:  # a user's function
        came = tuple(e.shape) if isinstance(e, Tensor) else type(e).__name__
        raise TypeError(
            f"ascent(w, g) must return a perturbation of shape {tuple(w.shape)}, got {came}:"
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
    """Compute the mean loss over draws of q, its gradient in theta, and an ascent's gain.

    The gradient is in the first `blocks` of theta = (mean, log_std, factor).

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
    if gain is not None:
        gain = gain.mean(-1)
    return Expected(value.mean(-1), tuple(parts), gain)
