"""Every check at the boundary, in one form: what was expected, what came, what to do."""

from __future__ import annotations

import math
from numbers import Integral, Real

import torch
from torch import Tensor


def check_is(value: object, kind: type | tuple[type, ...], name: str, do: str) -> None:
    """A value of this kind; `do` says how to get one."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or a ".join(k.__name__ for k in kinds)
        raise TypeError(f"{name} must be a {wanted}, got {type(value).__name__}: {do}")


def check_weights(w: Tensor, dim: int, name: str = "w") -> Tensor:
    """One weight vector: a floating tensor of shape (dim,) without NaN."""
    _check_tensor(w, name)
    if tuple(w.shape) != (dim,):
        raise ValueError(f"{name} must have shape ({dim},), got {tuple(w.shape)}")
    check_finite(w, name)
    return w


def check_many_weights(W: Tensor, dim: int | None = None, name: str = "W") -> Tensor:
    """Several weight vectors: a floating tensor of shape (S, dim) with S >= 1 and without NaN."""
    _check_tensor(W, name)
    wanted = f"(S, {dim if dim is not None else 'D'})"
    if W.ndim != 2 or (dim is not None and W.shape[1] != dim):
        hint = f": one vector is {name}[None]" if W.ndim == 1 else ""
        raise ValueError(f"{name} must have shape {wanted}, got {tuple(W.shape)}{hint}")
    if W.shape[0] == 0:
        raise ValueError(f"{name} must hold at least one weight vector, got shape {tuple(W.shape)}")
    check_finite(W, name)
    return W


def check_finite(w: Tensor, name: str) -> None:
    """Weights with NaN come from a run that diverged; nothing computed from them means anything."""
    if w.numel() and not bool(torch.isfinite(w).all()):
        bad = int((~torch.isfinite(w)).sum())
        raise ValueError(
            f"{name} must be finite, got {bad} NaN or inf of {w.numel()} values: "
            "the run that made it diverged, lower its lr or radius"
        )


def check_radius(radius: float) -> float:
    """A perturbation radius: a finite number >= 0."""
    if not isinstance(radius, Real) or not math.isfinite(radius):
        raise ValueError(f"radius must be a finite number >= 0, got {radius!r}")
    if radius < 0:
        raise ValueError(f"radius must be >= 0, got {radius:g}: 0 is plain VI")
    return float(radius)


def check_count(n: int, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {n!r}")
    return int(n)


def check_choice(value: str, choices: tuple[str, ...], name: str) -> str:
    """One of the given words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_nonnegative(value: float, name: str) -> float:
    """A finite number >= 0."""
    if not isinstance(value, Real) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return float(value)


def _check_tensor(w: Tensor, name: str) -> None:
    if not isinstance(w, Tensor) or not w.is_floating_point():
        got = f"{w.dtype} tensor" if isinstance(w, Tensor) else type(w).__name__
        raise TypeError(f"{name} must be a floating-point torch.Tensor, got {got}")
