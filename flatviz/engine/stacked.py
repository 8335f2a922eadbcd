"""One network at several weight vectors: one after another, or in one pass by torch.func.vmap.

A small network spends its time in Python, not on numbers: B members in one call cost little more
than one.
"""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from flatviz.core import (
    Dispatch,
    Fields,
    Inputs,
    Net,
    Progress,
    differentiable,
    saved_rng,
    threads,
    track,
)
from flatviz.core.inputs import Pixels
from flatviz.engine.cost import work_of
from flatviz.engine.determinism import check_function, same_to_rounding, two_points
from flatviz.engine.trunk import cut_of, fits, kept


def forward(
    net: Net,
    W: Tensor,
    x: Tensor | Inputs,
    *,
    progress: Progress = False,
) -> Tensor:
    """Compute outputs (S, N, C) of weights `W` (S, D) on inputs `x` (N, ...), without gradients.

    The activations before the first treated weight are computed once for several weights.  A batch
    has as many examples as keep its largest activation within `cost.CACHE` bytes
    (CARD on a GPU), at least `cost.MIN_EXAMPLES`.

    Raises:
        ValueError: For several batches of a net whose outputs depend on the rest of a batch.
    """
    work = work_of(net, x)
    chunk = work.chunk(x.device)
    if chunk < len(x):
        check_function(net, x)
    rows = []
    several = len(W) > 1
    cut = cut_of(net, x, work=work, make=several)
    if cut is not None and isinstance(x, (Tensor, Pixels)) and fits(cut, net, len(x)):
        kept_rows = kept(cut, net, x, work, fill=several)
        if kept_rows is not None:
            return forward(cut.tail, W, kept_rows, progress=progress)
    if not several:
        cut = None
    # Inference mode refuses gradients inside a forward pass
    with torch.no_grad(), threads(work.layer * min(chunk, len(x))):
        if cut is not None:
            n = math.ceil(len(x) / chunk)
            for batch in track(x.split(chunk), "predicting", progress, total=n):
                features = cut.rows(batch)
                rows.append(torch.stack([cut.tail(w, features) for w in W]))
            return torch.cat(rows, dim=1)
        if isinstance(x, Tensor):
            parts = x.split(chunk)
            for w in track(W, "predicting", progress):
                rows.append(torch.cat([net(w, part) for part in parts]))
            return torch.stack(rows)
        # each batch is read once, for all weights
        n = math.ceil(len(x) / chunk)
        batches: Iterable[Tensor | Fields] = x.split(chunk)
        for batch in track(batches, "predicting", progress, total=n):
            rows.append(torch.stack([net(w, batch) for w in W]))
        return torch.cat(rows, dim=1)


# On a CPU: multiply-adds of a row beyond which larger arrays cost more than fewer Python calls save
MAX_ROW = 16_000_000
# On a GPU: bytes of the largest activation of all rows; a gradient keeps that of every layer
MAX_BYTES = 2**29


class Vmapped:
    """A network at several weight vectors in one pass; `vmapped` makes one."""

    def __init__(self, net: Net, x: Tensor) -> None:
        self._net = net
        self.inputs = x
        self._work = work_of(net, x)

    def worth_batching(self, rows: int, n: int) -> bool:
        """Tell whether one pass over `rows` weight vectors with `n` inputs each pays.

        On a CPU it must be faster than one by one; on a GPU it must fit in memory.
        """
        work = self._work
        if self._net.device.type == "cpu":
            return n * work.macs <= MAX_ROW
        return rows * n * work.widest <= MAX_BYTES

    def __call__(self, W: Tensor, x: Tensor) -> Tensor:
        """Compute outputs (B, N, C) of the rows of `W` (B, D).

        x: (N, ...) shared, or (B, n, ...) with one minibatch a row.
        """
        shared = x.ndim == self.inputs.ndim
        over_rows = torch.func.vmap(self._one, (0, None if shared else 0))
        return over_rows(W, x)

    def _one(self, w: Tensor, x: Tensor) -> Tensor:
        return self._net(w, x)


def vmapped(net: Net, x: Tensor) -> Vmapped | None:
    """Wrap the network for one pass by vmap.

    Return None where vmap fails, falls back to a loop, or changes outputs or gradients.
    """
    seen = net.look(x)
    if not isinstance(x, Tensor) or seen.writes or seen.draws:
        return None
    network = Vmapped(net, x)
    try:
        return network if agrees(network, net, x) else None
    except (RuntimeError, ValueError, TypeError):
        return None


BATCHED = torch._C.DispatchKey.FuncTorchBatched
RESIZES = torch.ops.aten._prelu_kernel.default  # the rule of PReLU, with a warning


class Rules(Dispatch):
    """Whether vmap has a rule for `all` operations of a pass.

    One without a rule runs row by row, with a warning.
    """

    def __init__(self) -> None:
        super().__init__()
        self.all = True

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run one operation, and look for its rule."""
        leaves = tree_leaves((args, kwargs))
        if any(isinstance(leaf, Tensor) for leaf in leaves):  # a new tensor is that of all rows
            has_rule = operation.has_kernel_for_dispatch_key(BATCHED)
            self.all &= has_rule and operation is not RESIZES
        return operation(*args, **kwargs)


def agrees(network: Vmapped, net: Net, x: Tensor) -> bool:
    """Tell whether one pass gives the net's outputs and gradients on the first examples.

    They are compared at the net's weights and at others.
    """
    for module in net.module.modules():
        if module._backward_hooks or module._backward_pre_hooks:
            return False  # a pass over several does not call them
    few = x[:8]
    W = two_points(net)

    def seen(outputs: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """Return outputs, and the gradient of an arbitrary sum of them that does not cancel."""
        at = W.clone().requires_grad_()
        out = outputs(at)
        if not out.requires_grad:
            return [out]
        one = out[0]
        along = torch.linspace(1, 2, one.numel(), dtype=out.dtype, device=out.device)
        total = (out * along.view_as(one)).sum()
        return [out.detach(), *torch.autograd.grad(total, at)]

    with differentiable(), saved_rng():
        with Rules() as rules:
            net(net.w, few.clone())
        if not rules.all:
            return False
        plain = seen(lambda at: torch.stack([net(w, few) for w in at]))
        got = seen(lambda at: network(at, few))
    if len(got) != len(plain):
        return False
    return all(all(map(same_to_rounding, a, b)) for a, b in zip(got, plain))
