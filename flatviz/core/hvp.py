"""The second hot primitive: the Hessian of an objective times a vector."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.checks import check_weights


def hvp(f: Callable[[Tensor], Tensor], w: Tensor, v: Tensor) -> Tensor:
    """H v with H = grad^2 f(w) (D, D), by a double backward; `w`, `v` and the result are (D,).

    An `f` with an `hvp` of its own is asked for it.  Raises ValueError if shapes differ.
    """
    check_weights(w, w.numel())
    check_weights(v, w.numel(), "v")
    own = getattr(f, "hvp", None)
    return own(w, v) if own is not None else hessian_operator(f, w)(v)


def hessian_operator(f: Callable[[Tensor], Tensor], w: Tensor) -> Callable[[Tensor], Tensor]:
    """v -> H v at one `w`.  The graph of the gradient is kept, so each product costs one backward pass through it."""
    with torch.enable_grad():
        point = w.detach().clone().requires_grad_(True)
        value = f(point)
        if value.ndim != 0:
            raise ValueError(f"an objective must return one number, got shape {tuple(value.shape)}: take its mean")
        if not value.requires_grad:  # constant in w
            return lambda v: torch.zeros_like(v)
        (gradient,) = torch.autograd.grad(value, point, create_graph=True)
    if not gradient.requires_grad:  # linear in w
        return lambda v: torch.zeros_like(v)

    def product(v: Tensor) -> Tensor:
        with torch.enable_grad():
            slope = gradient @ v  # a number: for a vector with weights v autograd would import sympy first, for seconds
        (out,) = torch.autograd.grad(slope, point, retain_graph=True, allow_unused=True)
        return torch.zeros_like(v) if out is None else out

    return product
