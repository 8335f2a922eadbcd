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


def check_weights(w: Tensor, dim: int | None = None, name: str = "w") -> Tensor:
    """One weight vector: a floating tensor of shape (dim,), or of any length where dim is None, without NaN."""
    _check_tensor(w, name)
    if w.ndim != 1 and dim in (None, w.numel()):  # callers that know no D give that of w itself
        hint = f": one of its vectors is {name}[0]" if w.ndim == 2 else ""
        raise ValueError(f"{name} must be one weight vector, (D,), got shape {tuple(w.shape)}{hint}")
    dim = w.numel() if dim is None else dim
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


def usable(t: Tensor) -> Tensor:
    """`t`, or a copy that autograd takes of a tensor made under `torch.inference_mode`, which it refuses, also long after."""
    if not t.is_inference():
        return t
    with torch.inference_mode(False):
        return t.clone()


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


def check_lr(lr: float, *, zero: bool = True) -> float:
    """A learning rate: a finite number >= 0; a fit at 0 stays where it is, so `zero` says whether that is of use."""
    if not isinstance(lr, Real) or not math.isfinite(lr) or lr < 0 or (lr == 0 and not zero):
        raise ValueError(f"lr must be a finite number {'>=' if zero else '>'} 0, got {lr!r}: 0.05 is where most fits begin")
    return float(lr)


def check_momentum(momentum: float) -> float:
    """The share of the last step that goes into the next: from 0 to below 1."""
    if not isinstance(momentum, Real) or not 0 <= momentum < 1:
        raise ValueError(f"momentum must be from 0 to below 1, got {momentum!r}: 0 is none, 0.9 is usual")
    return float(momentum)


def check_device(device: object, way_out: str = "'cpu'") -> None:
    """A device that torch can compute on here, or None."""
    if device is None:
        return
    if not isinstance(device, (str, torch.device)):
        raise TypeError(f"device must be 'cpu', 'cuda' or a torch.device, got {device!r}: a dtype is given as dtype=")
    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device must be 'cpu', 'cuda' or a torch.device, got {device!r}") from error
    if wanted.type == "cuda" and not torch.cuda.is_available():
        built = "a CPU-only build" if torch.version.cuda is None else f"built for CUDA {torch.version.cuda}"
        raise RuntimeError(
            f"device must be usable, got {str(device)!r} but torch {torch.__version__} ({built}) sees no GPU: "
            f"use {way_out}, or run `flatviz doctor` for what is missing"
        )


def _check_tensor(w: Tensor, name: str) -> None:
    if not isinstance(w, Tensor) or not w.is_floating_point():
        got = f"{w.dtype} tensor" if isinstance(w, Tensor) else type(w).__name__
        raise TypeError(f"{name} must be a floating-point torch.Tensor, got {got}")
