"""Second derivatives: kernels that compute them correctly, and a test of symmetry."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from flatviz.core.arithmetic import OfProcess
from flatviz.core.seeds import generator, randn_like
from flatviz.private import Functions

Product = Callable[[Tensor], Tensor]  # v (D,) -> M v (D,)
# u.Hv and v.Hu may differ by eps^0.4 of their size, 0.2 % in float32, far above rounding
ASYMMETRY = 0.4


class Unfused(Functions):
    """Avoid fused kernels of attention on this thread, in evaluation mode without gradients.

    torch uses none of them under a mode of functions.  They give zeros at padded positions and have
    no derivative, so that values would belong to another function than derivatives.
    """


class _Composed(Functions):
    """Compute weight norm from its definition.

    The second derivative of PyTorch's kernel is wrong on the CPU.
    """

    def called(
        self,
        function: Callable[..., object],
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run one function, weight norm by its definition."""
        if function is torch._weight_norm:
            v, g, *dim = args
            return v * (g / torch.norm_except_dim(v, 2, *dim))
        return function(*args, **kwargs)


_sdp = torch.backends.cuda  # which the CPU heeds as well
_KERNELS = ("flash", "mem_efficient", "cudnn", "math")
_ATTENTION = OfProcess(
    lambda: tuple(getattr(_sdp, f"{name}_sdp_enabled")() for name in _KERNELS),
    lambda flags: [
        getattr(_sdp, f"enable_{name}_sdp")(flag) for name, flag in zip(_KERNELS, flags)
    ],
    (False, False, False, True),
)


@contextmanager
def differentiable() -> Iterator[None]:
    """Record gradients in the block, in any mode of the caller."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


@contextmanager
def twice() -> Iterator[None]:
    """Use kernels of attention and weight norm with correct second derivatives in the block."""
    with _ATTENTION.block(True), _Composed():
        yield


def symmetric(
    product: Product,
    label: str,
    blocks: Sequence[Any] = (),
    wide: Callable[[], Product | None] = lambda: None,
) -> Product:
    """Check at the first call of `product` that u.Hv = v.Hu for a random u.

    wide: Returns the same product in float64, which decides where the two differ: where the loss is
        nearly 0, a product in float32 may be all rounding.

    Raises:
        ValueError: If the two differ by more than rounding.  It lists the layers of `blocks` whose
            block of H is not symmetric: an operation in them has a wrong second derivative.
    """
    # A seed that users do not choose: with that of v, u would equal v
    seen = False
    tolerance = 0.0
    source = generator(2**31 - 1)

    def differs(
        product: Product,
        v: Tensor,
        out: Tensor,
        mask: Tensor | float = 1.0,
    ) -> bool:
        u = randn_like(v, source) * mask
        back = product(u)
        size = u.norm() * (out * mask).norm() + v.norm() * (back * mask).norm()
        scale = size / math.sqrt(v.numel())
        return bool((u @ out - v @ back).abs() > tolerance * scale)

    def exact(v: Tensor) -> bool:
        other = wide()
        return other is not None and not differs(other, v, other(v))

    def checked(v: Tensor) -> Tensor:
        nonlocal seen, tolerance
        out = product(v)
        tolerance = torch.finfo(v.dtype).eps ** ASYMMETRY
        if not seen and differs(product, v, out) and not exact(v.double()):
            wrong = []
            for name, those in groupby(blocks, lambda b: _layer(b.name)):
                mask = torch.zeros_like(v)
                for block in those:
                    mask[block.slice] = 1
                one = randn_like(v, source) * mask
                wrong += [name] * differs(product, one, product(one), mask)
            where = f" in layer {', '.join(map(repr, wrong))}" if wrong else ""
            raise ValueError(
                f"the Hessian of {label} must be symmetric, got u.Hv and v.Hu that differ{where}:"
                " the second derivative of an operation is wrong there; write it from operations"
                " of torch, or leave its weights out of the treated ones"
            )
        seen = True
        return out

    return checked


def _layer(parameter: str) -> str:
    """Return the name of the module that a parameter belongs to, also where it is parametrised."""
    if ".parametrizations." in parameter:
        return parameter.partition(".parametrizations.")[0]
    return parameter.rpartition(".")[0]
