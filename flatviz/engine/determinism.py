"""Checks that a network is a function of its weights and of one example each.

All run on a few examples.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from flatviz.core import Fields, Inputs, Net, generator, looked_at, randn_like, saved_rng
from flatviz.core.arithmetic import arithmetic
from flatviz.engine.cost import Work, few_of, work_of
from flatviz.words import brief

# Largest difference between two ways to compute a number: in units of the arithmetic's rounding,
ROUNDINGS = 2**10
# and in any arithmetic relative to the largest number, as a larger one would check nothing
LOOSEST = 2**-4
RANDOM = (
    "the net must be a function of its weights, got two outputs for one input: turn dropout off"
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
        x = looked_at(x)
        looked = net.look(x)
        with passing(net, x):
            work = work_of(net, x)
            few = x[few_of(x, work)]
            net(net.w, few.clone())
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


@contextmanager
def passing(net: Net, x: Tensor | Inputs) -> Iterator[None]:
    """Explain errors of a network that runs on `x` in the block."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        takes = ""
        if net.example is not None:
            takes = f", which takes (N, {', '.join(map(str, net.example.shape[1:]))})"
        raise ValueError(
            f"inputs of shape {tuple(x.shape)} do not pass through {net!r}{takes}: {brief(error)}"
        ) from error
    except TypeError as error:
        if not isinstance(x, Fields):
            raise
        how = "as keywords"
        if all(isinstance(key, int) for key in x.named):
            how = "in order (labels stand apart, fv.Data(x, y))"
        raise ValueError(
            f"inputs {x.describe()} do not pass through {net!r} {how}: {brief(error)}"
        ) from error


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
    w = net.w
    noise = randn_like(w, generator(0))
    size = w.square().mean().sqrt() + w.abs()
    return torch.stack([w, w + 0.1 * size * noise])


def same_to_rounding(first: Tensor, second: Tensor, eps: float = 0.0) -> bool:
    """Tell whether two results agree to some roundings of their largest number, NaN included.

    eps: rounding of an arithmetic on the way that is coarser than the results' dtype.
    """
    return difference(first, second) <= tolerance(second.dtype, eps)


def tolerance(dtype: torch.dtype, eps: float = 0.0) -> float:
    """Return the largest `difference` of results of this dtype that rounding explains."""
    if not dtype.is_floating_point:
        return 0.0
    coarsest = max(torch.finfo(dtype).eps, eps)
    return min(ROUNDINGS * coarsest, LOOSEST)


def difference(first: Tensor, second: Tensor) -> float:
    """Return the largest difference, relative to the largest number of `second`.

    It is inf for another shape, or NaN at other places.
    """
    if first.shape != second.shape:
        return math.inf
    if not torch.equal(first.isfinite(), second.isfinite()):
        return math.inf
    if torch.equal(first, second) or not first.numel():
        return 0.0
    if not first.is_floating_point():
        return math.inf
    columns = second
    if second.ndim > 1:
        varying = (second != second[:1]).any(0)
        if bool(varying.any()):
            columns = second[:, varying]  # not that of a class masked with -1e9
    off = _largest(first - second)
    scale = _largest(columns)
    if scale:
        return off / scale
    return math.inf if off else 0.0


def _largest(t: Tensor) -> float:
    """Return the largest absolute value of the finite numbers."""
    finite = t.nan_to_num(0, 0, 0)
    return float(finite.abs().max())
