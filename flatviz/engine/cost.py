"""The cost of an example in a network: multiply-adds, memory, rounding; batches follow from it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from flatviz.core import Dispatch, Inputs, Net, looked_at, saved_rng

# Bytes of one batch's largest activation: it and its neighbour stay in a core's second-level cache
CACHE = 2**20
CARD = 2**28  # the same on a GPU, which wants large batches
# Examples of a batch, of any size
MIN_EXAMPLES = 8
MAX_EXAMPLES = 4096
BUDGET = 10**8  # multiply-adds of one look at a network, from which the number of examples follows
EXAMPLES = 64
# Operation -> its left factor
PRODUCTS = {
    "aten::mm": 0,
    "aten::bmm": 0,
    "aten::addmm": 1,
    "aten::baddbmm": 1,
}


@dataclass(frozen=True)
class Work:
    """Cost of one example: multiply-adds of products and convolutions, bytes of the largest tensor.

    Args:
        eps: Rounding of the coarsest dtype of any result on the way, as a module may cast inside
            (autocast).
        products: Number of products and convolutions.
    """

    macs: int
    widest: int
    eps: float = 0.0
    products: int = 1

    @property
    def layer(self) -> float:
        """Mean multiply-adds of a product or convolution."""
        return self.macs / max(self.products, 1)

    def chunk(self, device: torch.device, cache: int = CACHE) -> int:
        """Return the batch size whose largest activation fits in `cache` bytes (CARD on a GPU).

        It is at least MIN_EXAMPLES.
        """
        memory = CARD if device.type == "cuda" else cache
        fitting = memory // max(self.widest, 1)
        n = max(MIN_EXAMPLES, min(MAX_EXAMPLES, fitting))
        return 2 ** (n.bit_length() - 1)

    def examples(self, n: int) -> int:
        """Count how many of `n` examples a look at the network may use."""
        in_time = BUDGET // max(self.macs, 1)
        in_memory = CACHE // max(self.widest, 1)
        few = min(EXAMPLES, in_time, in_memory)
        return min(n, max(MIN_EXAMPLES, few))


def multiply_adds(operation: OpOverload, args: tuple, out: Any) -> int:
    """Count the multiply-adds of a product or convolution; 0 for any other operation of torch.

    `args` and `out` have shapes.
    """
    if operation.name() == "aten::convolution":
        weight = args[1]
        return out.shape.numel() * weight.shape[1:].numel()
    left = PRODUCTS.get(operation.name())
    if left is None:
        return 0
    return out.shape.numel() * args[left].shape[-1]


class Sizes(Dispatch):
    """Record each operation's largest result in bytes, the coarsest rounding, the multiply-adds."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.eps = 0.0
        self.macs = 0
        self.products = 0

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run and record one operation."""
        out = operation(*args, **kwargs)
        macs = multiply_adds(operation, args, out)
        self.macs += macs
        self.products += bool(macs)
        largest = 0
        for t in tree_leaves(out):
            if isinstance(t, Tensor):
                largest = max(largest, t.numel() * t.element_size())
                if t.is_floating_point():
                    self.eps = max(self.eps, torch.finfo(t.dtype).eps)
        self.sizes.append(largest)
        return out


def work_of(net: Net, x: Tensor | Inputs) -> Work:
    """Measure the work of an example, from passes of one and two, whose activations differ."""
    x = looked_at(x)
    two = x[:2].clone() if len(x) > 1 else x[[0, 0]]
    net.look(two)  # the first look also runs the net, which must not be counted
    passes = []
    try:
        with torch.inference_mode(False), torch.no_grad(), saved_rng():
            for part in (two.clone(), two[:1].clone()):
                with Sizes() as seen:
                    net(net.w, part)
                passes.append(seen)
    except (RuntimeError, ValueError):
        if not passes:
            raise  # else one example alone does not pass: batch statistics
    both = passes[0].sizes
    one = passes[1].sizes if len(passes) > 1 else []
    # What a second example adds to each operation's result
    if len(one) == len(both):
        grown = [b - a for a, b in zip(one, both)]
    else:
        grown = [b // 2 for b in both]
    if two.is_floating_point():
        grown.append(two[0].numel() * two.element_size())
    examples = 3 if one else 2  # in all passes
    macs = sum(seen.macs for seen in passes)
    last = passes[-1]
    return Work(macs // examples, max(0, *grown), last.eps, last.products)


def few_of(x: Tensor | Inputs, work: Work) -> Tensor:
    """Choose indices of a few examples from all over `x`, as many as a look may use."""
    n = len(x)
    places = torch.linspace(0, n - 1, work.examples(n), dtype=torch.float64)
    return places.round().long().to(x.device)
