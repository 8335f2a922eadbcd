"""The curvature of an objective at one point as a function v -> H v, whole or of a part of the weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_weights
from flatviz.core.hvp import hessian_operator
from flatviz.core.seeds import saved_rng
from flatviz.results import ObjectiveLike

Part = slice | Tensor | None
CURVATURES = ("hessian", "ggn", "fisher")


class Operator:
    """v -> P H P^T v, (P,) -> (P,): H the curvature at `w` (D,), P the rows of a part of the weights."""

    def __init__(self, f: ObjectiveLike, w: Tensor, curvature: str = "hessian", part: Part = None) -> None:
        check_weights(w, w.numel())
        self._product = _product(f, w, check_choice(curvature, CURVATURES, "curvature"))
        self._index = None if part is None else _index(part, w)
        self._w = w
        self.like = w if self._index is None else w[self._index]

    def __call__(self, v: Tensor) -> Tensor:
        """The product with `v` (P,)."""
        if self._index is None:
            return self._product(v)
        return self._product(self.embed(v))[self._index]

    def embed(self, v: Tensor) -> Tensor:
        """Vectors (..., P) of the part in the whole weight space, (..., D)."""
        if self._index is None:
            return v
        whole = v.new_zeros(*v.shape[:-1], self._w.numel())
        whole[..., self._index] = v
        return whole


def _product(f: ObjectiveLike, w: Tensor, curvature: str) -> Callable[[Tensor], Tensor]:
    """One graph for all products; only an f that cannot be differentiated twice is asked for its own `hvp`."""
    operator = getattr(f, "operator", None)
    if operator is not None:
        return operator(w, curvature)
    if curvature != "hessian":
        raise ValueError(f"curvature={curvature!r} needs an objective of a network, as nll makes, got {type(f).__name__}")
    with torch.no_grad(), saved_rng():
        first, second = torch.as_tensor(f(w)), torch.as_tensor(f(w))
    if not torch.equal(first, second) and bool(torch.isfinite(first).all()):
        raise ValueError(
            f"f must be a function of w, got two values for one w, {float(first):g} and {float(second):g}: turn dropout off"
        )
    try:
        return hessian_operator(f, w)
    except RuntimeError:
        own = getattr(f, "hvp", None)
        if own is None:
            raise
        return lambda v: own(w, v)


def _index(part: slice | Tensor, w: Tensor) -> Tensor:
    expected = f"part must be a slice, an index or a mask of the {w.numel()} weights"
    every = torch.arange(w.numel(), device=w.device)
    if not isinstance(part, (slice, Tensor)):
        raise TypeError(f"{expected}, got {type(part).__name__}: a layer's is net.blocks[i].slice")
    try:
        index = every[part]
    except IndexError as error:
        raise ValueError(f"{expected}, got one that does not fit: {error}") from error
    if index.ndim != 1 or index.numel() == 0:
        raise ValueError(f"{expected}, got one that chooses shape {tuple(index.shape)}")
    return index
