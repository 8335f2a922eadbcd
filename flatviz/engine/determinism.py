"""What a network is, seen on a few examples: a function of its weights and of one example each, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from flatviz.core.inputs import Fields, twice
from flatviz.core.net import Net
from flatviz.core.seeds import generator, saved_rng

CACHE = 2**20  # bytes of one batch's largest activation: it and its neighbour stay in a core's second-level cache
CARD = 2**28  # the same on a GPU, which wants large batches
LEAST, MOST = 8, 4096  # examples of a batch, whatever their size
BUDGET = 10**8  # multiply-adds of one look at a network, from which the number of examples follows
EXAMPLES = 64


@dataclass(frozen=True)
class Work:
    """For one example: multiply-adds of linear and convolutional layers, bytes of the largest tensor on the way."""

    macs: int
    widest: int

    def chunk(self, device: torch.device, cache: int = CACHE) -> int:
        """Examples a batch whose largest activation stays within `cache` bytes (CARD on a GPU); LEAST at the least."""
        most = (CARD if device.type == "cuda" else cache) // max(self.widest, 1)
        return 2 ** (max(LEAST, min(MOST, most)).bit_length() - 1)

    def examples(self, n: int) -> int:
        """How many of `n` examples a look may cost."""
        most = min(BUDGET // max(self.macs, 1), CACHE // max(self.widest, 1))
        return min(n, max(LEAST, min(EXAMPLES, most)))


class _Sizes(TorchDispatchMode):
    """Bytes of every operation's largest result."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, with sympy: 1.5 s and 150 MB

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.sizes.append(max((t.numel() * t.element_size() for t in tree_leaves(out) if isinstance(t, Tensor)), default=0))
        return out


def work_of(net: Net, x: Tensor) -> Work:
    """Measured on one and two examples: what grows with their number is an activation, the rest is weights."""
    macs = 0

    def note(module: nn.Module, _: tuple, out: object) -> None:
        nonlocal macs
        if isinstance(out, Tensor) and isinstance(module, nn.Linear):
            macs += out.numel() * module.in_features
        elif isinstance(out, Tensor) and isinstance(module, _ConvNd):
            macs += out.numel() * module.weight[0].numel()

    two = x[:2].clone() if len(x) > 1 else twice(x[:1])
    net.look(two)  # a first look of its own, which is not to be counted
    hooks = [m.register_forward_hook(note) for m in net.module.modules() if isinstance(m, (nn.Linear, _ConvNd))]
    sizes = []
    try:
        with torch.inference_mode(False), torch.no_grad(), saved_rng():
            for part in (two.clone(), two[:1].clone()):
                with _Sizes() as seen:
                    net(net.w, part)
                sizes.append(seen.sizes)
    except (RuntimeError, ValueError):
        if not sizes:
            raise
        sizes.append([])  # one example alone does not pass: batch statistics
    finally:
        for hook in hooks:
            hook.remove()
    both, one = sizes
    grown = [b - a for a, b in zip(one, both)] if len(one) == len(both) else [b // 2 for b in both]
    given = two[0].numel() * two.element_size() if two.is_floating_point() else 0
    return Work(macs // 3 if one else macs // 2, max(given, *grown, 0))


def few_of(x: Tensor, work: Work) -> Tensor:
    """Numbers of a few examples from all over `x`, as many as a look may cost."""
    return torch.linspace(0, len(x) - 1, work.examples(len(x)), dtype=torch.float64).round().long().to(x.device)


def check_function(net: Net, x: Tensor) -> tuple[Net, Work]:
    """The net as a function of its weights and of each example alone, and what an example costs.

    Raises ValueError for inputs
    that do not pass, for random numbers (dropout left on), and for outputs that depend on the rest of the batch.
    """
    with torch.inference_mode(False), torch.no_grad(), saved_rng():
        looked = net.look(x)
        try:
            work = work_of(net, x)
            few = x[few_of(x, work)]
            net(net.w, few.clone())
        except (RuntimeError, ValueError) as error:
            raise ValueError(f"inputs of shape {tuple(x.shape)} do not pass through {net!r}: {error}") from error
        except TypeError as error:
            if not isinstance(x, Fields):
                raise
            raise ValueError(f"inputs {x.describe()} do not pass through {net!r} as keywords: {error}") from error
        if looked.draws or not _agree(net, few, few):
            raise ValueError("the net must be a function of its weights, got two outputs for one input: turn dropout off")
        half = len(few) // 2
        if half and not _agree(net, few, few[:half], few[half:]):
            raise ValueError(
                "the net must treat each example alone, got outputs that depend on the rest of the batch: give its BatchNorm "
                "running statistics (track_running_stats=True), or subtract no statistics of the batch"
            )
    return net, work


def _agree(net: Net, few: Tensor, *parts: Tensor) -> bool:
    """Whether the outputs of `parts` joined are those of `few`.

    Looked at once more at other weights before the answer is no: outputs that cancel to nothing are all rounding.
    """
    noise = torch.randn(net.dim, generator=generator(0)).to(net.w)
    for w in (net.w, net.w + 0.1 * (net.w.square().mean().sqrt() + net.w.abs()) * noise):
        try:
            joined = torch.cat([net(w, part.clone()) for part in parts])
        except (RuntimeError, ValueError):  # a batch of one has no statistics
            return False
        if same_to_rounding(joined, net(w, few.clone())):
            return True
    return False


def same_to_rounding(first: Tensor, second: Tensor) -> bool:
    """Whether two ways to one result agree to some roundings of its largest number, NaN where the other has one."""
    if first.shape != second.shape or not torch.equal(torch.isfinite(first), torch.isfinite(second)):
        return False
    if not first.is_floating_point() or not first.numel():
        return torch.equal(first, second)
    off, scale = ((t.nan_to_num(0, 0, 0).abs().max()) for t in (first - second, second))
    return bool(off <= 2**10 * torch.finfo(first.dtype).eps * scale)
