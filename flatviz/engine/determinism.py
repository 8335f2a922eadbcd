"""Checks that a network is a function of its weights and of one example each, and its cost.

All run on a few examples.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from flatviz.core import Dispatch, Fields, Inputs, Net, generator, saved_rng
from flatviz.core.arithmetic import arithmetic
from flatviz.words import brief

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
# Largest difference between two ways to compute a number: in units of the arithmetic's rounding,
ROUNDINGS = 2**10
# and in any arithmetic relative to the largest number, as a larger one would check nothing
LOOSEST = 2**-4
RANDOM = (
    "the net must be a function of its weights, got two outputs for one input: turn dropout off"
)


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
        fitting = (CARD if device.type == "cuda" else cache) // max(self.widest, 1)
        return 2 ** (max(MIN_EXAMPLES, min(MAX_EXAMPLES, fitting)).bit_length() - 1)

    def examples(self, n: int) -> int:
        """Count how many of `n` examples a look at the network may use."""
        affordable = min(BUDGET // max(self.macs, 1), CACHE // max(self.widest, 1))
        return min(n, max(MIN_EXAMPLES, min(EXAMPLES, affordable)))


def multiply_adds(operation: OpOverload, args: tuple, out: Any) -> int:
    """Count the multiply-adds of a product or convolution; 0 for any other operation of torch.

    `args` and `out` have shapes.
    """
    if operation.name() == "aten::convolution":
        return out.shape.numel() * args[1].shape[1:].numel()
    left = PRODUCTS.get(operation.name())
    return 0 if left is None else out.shape.numel() * args[left].shape[-1]


class Sizes(Dispatch):
    """Record each operation's largest result in bytes, the coarsest rounding, the multiply-adds."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.eps = 0.0
        self.macs = 0
        self.products = 0

    def called(self, operation: OpOverload, args: tuple, kwargs: dict) -> object:
        """Run and record one operation."""
        out = operation(*args, **kwargs)
        macs = multiply_adds(operation, args, out)
        self.macs = self.macs + macs
        self.products = self.products + bool(macs)
        tensors = [t for t in tree_leaves(out) if isinstance(t, Tensor)]
        self.sizes.append(max((t.numel() * t.element_size() for t in tensors), default=0))
        self.eps = max(
            self.eps, *(torch.finfo(t.dtype).eps for t in tensors if t.is_floating_point()), 0.0
        )
        return out


def work_of(net: Net, x: Tensor | Inputs) -> Work:
    """Measure the work of an example, from passes of one and two, whose activations differ."""
    two = x[:2].clone() if len(x) > 1 else x[[0, 0]]
    net.look(two)  # the first look also runs the net, which must not be counted
    sizes = []
    eps = 0.0
    macs = 0
    products = 1
    try:
        with torch.inference_mode(False), torch.no_grad(), saved_rng():
            for part in (two.clone(), two[:1].clone()):
                with Sizes() as seen:
                    net(net.w, part)
                sizes.append(seen.sizes)
                eps = seen.eps
                macs = macs + seen.macs
                products = seen.products
    except (RuntimeError, ValueError):
        if not sizes:
            raise
        sizes.append([])  # one example alone does not pass: batch statistics
    both, one = sizes
    # What a second example adds to each operation's result
    grown = [b - a for a, b in zip(one, both)] if len(one) == len(both) else [b // 2 for b in both]
    input_bytes = two[0].numel() * two.element_size() if two.is_floating_point() else 0
    examples = 3 if one else 2  # in all passes
    return Work(macs // examples, max(input_bytes, *grown, 0), eps, products)


def few_of(x: Tensor | Inputs, work: Work) -> Tensor:
    """Choose indices of a few examples from all over `x`, as many as a look may use."""
    return (
        torch.linspace(0, len(x) - 1, work.examples(len(x)), dtype=torch.float64)
        .round()
        .long()
        .to(x.device)
    )


@arithmetic()
def check_function(net: Net, x: Tensor | Inputs) -> tuple[Net, Work]:
    """Check that the net is a function of its weights and of each example alone.

    Returns the net and the cost of an example.

    Raises:
        TypeError: For inputs of several parts that the network does not take so.
        ValueError: For inputs that do not pass, for random numbers (active dropout), and for
            outputs that depend on the rest of the batch.
    """
    with torch.inference_mode(False), torch.no_grad(), saved_rng():
        looked = net.look(x)
        try:
            work = work_of(net, x)
            few = x[few_of(x, work)]
            net(net.w, few.clone())
        except (RuntimeError, ValueError, IndexError) as error:
            raise ValueError(
                f"inputs of shape {tuple(x.shape)} do not pass through {net!r}: {brief(error)}"
            ) from error
        except TypeError as error:
            if not isinstance(x, Fields):
                raise
            raise ValueError(
                f"inputs {x.describe()} do not pass through {net!r} as keywords: {brief(error)}"
            ) from error
        if looked.draws or not _agree(net, work.eps, few, few):
            raise ValueError(RANDOM)
        half = len(few) // 2
        if half and not _agree(net, work.eps, few, few[:half], few[half:]):
            raise ValueError(
                "the net must treat each example alone, got outputs that depend on the rest of the"
                " batch: give its BatchNorm running statistics (track_running_stats=True), or"
                " subtract no statistics of the batch"
            )
    return net, work


def check_logits(net: Net, x: Tensor | Fields) -> None:
    """Raise ValueError for a net that ends in probabilities, which would be read as logits."""
    if ends := net.look(x).ends:
        way = "torch.log of its outputs (LogSoftmax)" if ends == "Softmax" else "one logit a class"
        raise ValueError(
            f"the net must return logits, got probabilities from {ends}, of which a second softmax"
            f" would be taken: leave the last layer out of the module, or return {way}"
        )


def _agree(net: Net, eps: float, few: Tensor | Fields, *parts: Tensor | Fields) -> bool:
    """Tell whether the outputs of a batch in parts are those of all at once.

    Before the answer is no, other weights are tried: outputs that cancel are all rounding.
    """
    for w in two_points(net):
        try:
            joined = torch.cat([net(w, part.clone()) for part in parts])
        except (RuntimeError, ValueError):  # a batch of one has no statistics
            return False
        if same_to_rounding(joined, net(w, few.clone()), eps):
            return True
    return False


def two_points(net: Net) -> Tensor:
    """Return the net's weights and others near them, (2, D), to compare two ways to its outputs."""
    noise = torch.randn(net.dim, generator=generator(0)).to(net.w)
    return torch.stack([net.w, net.w + 0.1 * (net.w.square().mean().sqrt() + net.w.abs()) * noise])


def same_to_rounding(first: Tensor, second: Tensor, eps: float = 0.0) -> bool:
    """Tell whether two results agree to some roundings of their largest number, NaN included.

    eps: rounding of an arithmetic on the way that is coarser than the results' dtype.
    """
    return difference(first, second) <= tolerance(second.dtype, eps)


def tolerance(dtype: torch.dtype, eps: float = 0.0) -> float:
    """Return the largest `difference` of results of this dtype that rounding explains."""
    return (
        min(ROUNDINGS * max(torch.finfo(dtype).eps, eps), LOOSEST)
        if dtype.is_floating_point
        else 0.0
    )


def difference(first: Tensor, second: Tensor) -> float:
    """Return the largest difference, relative to the largest number of `second`.

    It is inf for another shape, or NaN at other places.
    """
    if first.shape != second.shape or not torch.equal(
        torch.isfinite(first), torch.isfinite(second)
    ):
        return math.inf
    if not first.is_floating_point() or not first.numel() or torch.equal(first, second):
        return 0.0 if torch.equal(first, second) else math.inf
    varying = (second != second[:1]).any(0) if second.ndim > 1 else None
    # Not that of a class masked with -1e9
    columns = second[:, varying] if varying is not None and bool(varying.any()) else second
    off, scale = (float(t.nan_to_num(0, 0, 0).abs().max()) for t in (first - second, columns))
    return off / scale if scale else math.inf if off else 0.0
