"""The curvature of an objective at one point as a function v -> H v, whole or of a part of the weights."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import check_weights, kind
from flatviz.core.objective import DivergedError, Objective

WHICH = kind((slice, Tensor), "a slice, an index or a mask of the weights", "a layer's is net.blocks[i].slice")
Part = Annotated[slice | Tensor, WHICH] | None


class Operator:
    """v -> P H P^T v, (P,) -> (P,): H the curvature at `w` (D,), P the rows of a part of the weights."""

    def __init__(self, f: Objective, w: Tensor, curvature: str = "hessian", part: Part = None) -> None:
        self._product = f.operator(check_weights(w, f.dim), curvature)
        self._index = None if part is None else _index(part, w)
        self._w = w
        self.like = w if self._index is None else w[self._index]

    def __call__(self, v: Tensor) -> Tensor:
        """The product with `v` (P,)."""
        with torch.inference_mode(False):
            v = v.clone() if v.is_inference() else v  # one that autograd can keep
            out = self._product(v) if self._index is None else self._product(self.embed(v))[self._index]
        if not bool(out.isfinite().all()):
            raise DivergedError(
                "the curvature at w must be finite, got NaN or inf: look at f(w), and move w to where f is small"
            )
        return out

    def embed(self, v: Tensor) -> Tensor:
        """Vectors (..., P) of the part in the whole weight space, (..., D)."""
        if self._index is None:
            return v
        whole = v.new_zeros(*v.shape[:-1], self._w.numel())
        whole[..., self._index] = v
        return whole


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
