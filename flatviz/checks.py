"""What arguments must be: checks of one form (expected, came, do), and the types of public verbs that carry them.

A check takes a value and the argument's name.  As `Annotated[int, check_count]` it is part of a type, and `@public` applies it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn

Check = Callable[[Any, str], object]


def shown(value: Any) -> str:
    """A value as an error names it: small plain ones by themselves, others by their type."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    return repr(value) if isinstance(value, (str, bool, Real)) or value is None else f"a {type(value).__name__}"


def anything(value: Any, name: str) -> None:
    """No check: what it must be, the verb itself knows best."""


def kind(kinds: type | tuple[type, ...], wanted: str, do: str = "") -> Check:
    """A value of these types; `wanted` and `do` are words for the error."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {wanted}, got {shown(value)}{do and ': '}{do}")

    return check


def check_is(value: object, kind: type | tuple[type, ...], name: str, do: str) -> None:
    """A value of this kind; `do` says how to get one."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or a ".join(k.__name__ for k in kinds)
        raise TypeError(f"{name} must be a {wanted}, got {type(value).__name__}: {do}")


def check_weights(w: Tensor, dim: int | None = None, name: str = "w") -> Tensor:
    """One weight vector: a floating tensor of shape (dim,), or of any length where dim is None, without NaN."""
    _check_floating(w, name)
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
    _check_floating(W, name)
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


def check_number(value: float, name: str) -> float:
    """A real number, no bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    return float(value)


def check_radius(radius: float, name: str = "radius") -> float:
    """A perturbation radius: a finite number >= 0."""
    if not math.isfinite(check_number(radius, name)):
        raise ValueError(f"{name} must be a finite number >= 0, got {radius!r}")
    if radius < 0:
        raise ValueError(f"{name} must be >= 0, got {radius:g}: 0 is plain VI")
    return float(radius)


def check_count(n: int, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {n!r}")
    return int(n)


def check_nonnegative(value: float, name: str) -> float:
    """A finite number >= 0."""
    if not math.isfinite(check_number(value, name)) or value < 0:
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return float(value)


def check_positive(value: float, name: str) -> float:
    """A finite number > 0."""
    if not math.isfinite(check_number(value, name)) or value <= 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return float(value)


def check_share(value: float, name: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= check_number(value, name) <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
    return float(value)


def check_lr(lr: float, name: str = "lr", *, zero: bool = True) -> float:
    """A learning rate: a finite number >= 0; a fit at 0 stays where it is, so `zero` says whether that is of use."""
    if not math.isfinite(check_number(lr, name)) or lr < 0 or (lr == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {'>=' if zero else '>'} 0, got {lr!r}: 0.05 is where most fits begin")
    return float(lr)


def check_momentum(momentum: float, name: str = "momentum") -> float:
    """The share of the last step that goes into the next: from 0 to below 1."""
    if not 0 <= check_number(momentum, name) < 1:
        raise ValueError(f"{name} must be from 0 to below 1, got {momentum!r}: 0 is none, 0.9 is usual")
    return float(momentum)


def check_seed(seed: int, name: str = "seed") -> int:
    """A whole number from 0 to 2**63 - 1."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise TypeError(f"{name} must be an int, got {shown(seed)}: any whole number from 0 to 2**63 - 1 will do")
    if not 0 <= seed < 2**63:
        raise ValueError(f"{name} must be from 0 to 2**63 - 1, got {seed}: any of them will do")
    return int(seed)


def check_choice(value: str, choices: tuple[str, ...], name: str) -> str:
    """One of the given words."""
    if not isinstance(value, (str, NoneType)) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}")
    return value


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


def check_function(value: Any, name: str) -> None:
    """A function or another callable; a class, a module or a noun is callable too, and never what is meant."""
    if not callable(value) or isinstance(value, (type, nn.Module)) or made_by(type(value)):
        raise TypeError(f"{name} must be a function, got {shown(value)}")


def check_path(value: Any, name: str) -> None:
    """A text or `Path` that names a file or a folder."""
    kind((str, Path), "a path")(value, name)
    if str(value) in ("", "."):
        raise ValueError(f"{name} must name a file, got {str(value)!r}")


def check_file(value: Any, name: str) -> None:
    """A text or `Path` that names a file, not a folder that is there."""
    check_path(value, name)
    if Path(value).is_dir():
        raise ValueError(f"{name} must name a file, got the folder {str(value)!r}: name a file in it")


def check_labels(value: Any, name: str) -> None:
    """A tensor with a side."""
    kind(Tensor, "a tensor of labels (N,)")(value, name)
    if value.ndim == 0:
        raise ValueError(f"{name} must have shape (N,), got a single number")


def tensor(*sides: int, empty: bool = False) -> Check:
    """A real floating tensor without NaN or inf, of one of these numbers of sides (any where none is given)."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, Tensor) or not value.is_floating_point():
            raise TypeError(f"{name} must be a floating-point torch.Tensor, got {shown(value)}: use torch.as_tensor")
        if sides and value.ndim not in sides:
            shapes = " or ".join({1: "(D,)", 2: "(S, D)"}[n] for n in sides)
            hint = f": one of its vectors is {name}[0]" if (sides, value.ndim) == ((1,), 2) else ""
            hint = f": one vector is {name}[None]" if (sides, value.ndim) == ((2,), 1) else hint
            raise ValueError(f"{name} must have shape {shapes}, got {tuple(value.shape)}{hint}")
        if value.numel() == 0 and not empty:
            raise ValueError(f"{name} must hold at least one number, got shape {tuple(value.shape)}")
        check_finite(value, name)

    return check


def made_by(noun: type) -> str:
    """What to do for a noun: the text `made_by` of its class, "fv.project makes one"."""
    return vars(noun).get("made_by", "")


def each(of_one: Check, wanted: str, least: int = 1) -> Check:
    """A list or tuple of at least `least`, each of which passes `of_one`."""

    def check(value: Any, name: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise TypeError(f"{name} must be a list of {wanted}, got {shown(value)}")
        if len(value) < least:
            raise ValueError(f"{name} must hold at least {least} of {wanted}, got {len(value)}")
        for i, item in enumerate(value):
            of_one(item, f"{name}[{i}]")

    return check


def values(of_one: Check, wanted: str) -> Check:
    """A dict from names to what passes `of_one`."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} must be a dict from names to {wanted}, got {shown(value)}")
        for key, item in value.items():
            kind(str, "a text")(key, f"a key of {name}")
            of_one(item, f"{name}[{key!r}]")

    return check


def _check_floating(w: Tensor, name: str) -> None:
    if not isinstance(w, Tensor) or not w.is_floating_point():
        got = f"{w.dtype} tensor" if isinstance(w, Tensor) else type(w).__name__
        raise TypeError(f"{name} must be a floating-point torch.Tensor, got {got}")


Count = Annotated[int, check_count]
Whole = Annotated[int, partial(check_count, least=0)]
Several = Annotated[int, partial(check_count, least=2)]
Seed = Annotated[int, check_seed]
Number = Annotated[float, check_number]
Positive = Annotated[float, check_positive]
NonNegative = Annotated[float, check_nonnegative]
Share = Annotated[float, check_share]
Radius = Annotated[float, check_radius]
Rate = Annotated[float, check_lr]
Momentum = Annotated[float, check_momentum]
Statistics = Literal["frozen", "train"]  # of BatchNorm, in a fit
Vector = Annotated[Tensor, tensor(1)]  # (D,)
Vectors = Annotated[Tensor, tensor(2)]  # (S, D)
Numbers = Annotated[Tensor, tensor(empty=True)]  # of any shape
Labels = Annotated[Tensor, check_labels]
FilePath = Annotated[str | Path, check_path]
