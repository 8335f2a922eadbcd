"""Checks of arguments with one form of error, and the types of public verbs that carry them.

An error says what was expected, what came and what to do.  A check takes a value and the argument's
name.  As `Annotated[int, check_count]` it is part of a type, and `@public` applies it.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from flatviz.words import quoted

Check = Callable[[Any, str], object]

T = TypeVar("T")


def computed(value: T | None) -> T:
    """Return a value that `measure` computes; a ValueError where it is None."""
    if value is None:
        raise ValueError("a measurement must be there, got None: use fv.families.measure")
    return value


LONGEST_NAME = 255  # bytes of a file name, on all common systems


def shown(value: Any) -> str:
    """Show a value in an error: small plain ones as they are, others by their type."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    if not isinstance(value, (str, bool, Real)) and value is not None:
        return f"a {type(value).__name__}"
    return quoted(value)


def anything(value: object, name: str) -> None:
    """Accept any value, which the verb itself checks."""


def kind(kinds: type | tuple[type, ...], expected: str, advice: str = "") -> Check:
    """Build a check for values of these types; `expected` and `advice` are words for the error."""
    way_out = f": {advice}" if advice else ""

    def check(value: object, name: str) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {expected}, got {shown(value)}{way_out}")

    return check


def check_is(value: object, expected: type[T], name: str, advice: str) -> T:
    """Check the type of a value; `advice` says how to get one."""
    if not isinstance(value, expected):
        raise TypeError(f"{name} must be a {expected.__name__}, got {shown(value)}: {advice}")
    return value


def check_weights(w: Tensor, dim: int | None = None, name: str = "w") -> Tensor:
    """Check one weight vector: floating, (dim,), any length where dim is None, no NaN."""
    tensor(1, dim)(w, name)
    return w


def check_many_weights(W: Tensor, dim: int | None = None, name: str = "W") -> Tensor:
    """Check several weight vectors: floating, (S, dim) with S >= 1, without NaN."""
    tensor(2, dim)(W, name)
    return W


def check_dense(value: Tensor, name: str) -> None:
    """Check for a tensor with a number for each entry, in a dtype that torch computes in."""
    if value.layout != torch.strided:
        came = f"of layout {value.layout}: give {name}.to_dense()"
    elif value.is_meta:
        came = "on the meta device, which has no numbers: load it"
    elif value.is_quantized:
        came = f"in {value.dtype}, which is quantized: give {name}.dequantize()"
    elif value.is_floating_point() and value.element_size() == 1:
        came = f"in {value.dtype}, which torch only stores: give {name}.float()"
    else:
        return
    raise TypeError(f"{name} must be a dense tensor of numbers to compute with, got one {came}")


def from_numpy(value: T) -> T | Tensor:
    """Copy an array of numbers to a tensor of its dtype; return anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or np.ma.isMA(value):
        return value
    array = np.ascontiguousarray(value).reshape(value.shape)
    wide_count = array.dtype.kind == "u" and array.dtype.itemsize > 1
    if wide_count:  # torch computes with few of these
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return torch.tensor(array.astype(array.dtype.newbyteorder("=")))


def check_finite(w: Tensor, name: str) -> None:
    """Refuse weights with NaN, which come from a run that diverged."""
    if w.numel() and not bool(torch.isfinite(w).all()):
        bad = int((~torch.isfinite(w)).sum())
        raise ValueError(
            f"{name} must be finite, got {bad} NaN or inf of {w.numel()} values: its run diverged,"
            " lower lr or radius"
        )


def usable(t: Tensor) -> Tensor:
    """Return `t`, copied where autograd would refuse it, as from `torch.inference_mode`."""
    if not t.is_inference():
        return t
    with torch.inference_mode(False):
        return t.clone()


def check_number(value: float, name: str) -> float:
    """Check for a real number, no bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    if isinstance(value, Integral) and abs(value) >= 2**63:
        raise ValueError(
            f"{name} must be below 2**63, which is what a tensor can have, got {value}"
        )
    return float(value)


def number(
    expected: str, fits: Callable[[float], bool], advice: str = ""
) -> Callable[[float, str], float]:
    """Build a check for a number that fits; `expected` and `advice` are words for the error."""
    way_out = f": {advice}" if advice else ""

    def check(value: float, name: str) -> float:
        if not fits(check_number(value, name)):
            raise ValueError(f"{name} must be {expected}, got {shown(value)}{way_out}")
        return float(value)

    return check


check_radius = number("a finite number >= 0", lambda r: 0 <= r < math.inf, "0 is plain VI")
check_positive = number("a finite number > 0", lambda v: 0 < v < math.inf)
check_share = number("from 0 to 1", lambda v: 0 <= v <= 1)


def check_count(n: int, name: str, least: int = 1) -> int:
    """Check for an integer of at least `least`."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {shown(n)}")
    check_number(n, name)
    return int(n)


def check_seed(seed: int, name: str = "seed") -> int:
    """Check for an integer from 0 to 2**63 - 1."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise TypeError(
            f"{name} must be an int, got {shown(seed)}: any whole number from 0 to 2**63 - 1"
            " will do"
        )
    if not 0 <= seed < 2**63:
        raise ValueError(f"{name} must be from 0 to 2**63 - 1, got {seed}: any of them will do")
    return int(seed)


def check_device(device: object, way_out: str = "'cpu'") -> None:
    """Check for a device that torch can compute on here, or None."""
    if device is None:
        return
    if not isinstance(device, (str, torch.device)):
        raise TypeError(
            f"device must be 'cpu', 'cuda' or a torch.device, got {quoted(device)}: a dtype is"
            " given as dtype="
        )
    try:
        parsed = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"device must be 'cpu', 'cuda' or a torch.device, got {shown(device)}"
        ) from error
    if parsed.type == "cuda" and not torch.cuda.is_available():
        built = (
            "a CPU-only build"
            if torch.version.cuda is None
            else f"built for CUDA {torch.version.cuda}"
        )
        raise RuntimeError(
            f"device must be usable, got {str(device)!r} but torch {torch.__version__} ({built})"
            f" sees no GPU: use {way_out}, or run `flatviz doctor` for what is missing"
        )


def function(expected: str = "a function", advice: str = "") -> Check:
    """Build a check for a function or another callable, but no class, module or noun.

    Those are callable too, and passed by mistake.
    """
    way_out = f": {advice}" if advice else ""

    def check(value: object, name: str) -> None:
        by_mistake = isinstance(value, (type, nn.Module)) or made_by(type(value))
        if by_mistake or not callable(value):
            raise TypeError(f"{name} must be {expected}, got {shown(value)}{way_out}")

    return check


def check_path(value: Any, name: str) -> None:
    """Check for a text or `Path` that names a file or a folder."""
    kind((str, Path), "a path")(value, name)
    if str(value) in ("", "."):
        raise ValueError(f"{name} must name a file, got {str(value)!r}")
    if str(value).startswith("~"):
        raise ValueError(
            f"{name} must not begin with ~, which Python takes for a folder's name, got"
            f" {shown(str(value))}: give pathlib.Path(...).expanduser()"
        )
    if "\0" in str(value):
        raise ValueError(f"{name} must be a path, got {shown(str(value))}, with a zero character")
    lengths = [len(os.fsencode(part)) for part in Path(value).parts]
    if max(lengths) > LONGEST_NAME:
        raise ValueError(
            f"{name} must have names of at most {LONGEST_NAME} bytes, got {shown(str(value))}"
        )


def check_file(value: Any, name: str) -> None:
    """Check for a text or `Path` that names a file, not an existing folder."""
    check_path(value, name)
    if Path(value).is_dir():
        raise ValueError(
            f"{name} must name a file, got the folder {str(value)!r}: name a file in it"
        )


def check_labels(value: Any, name: str) -> None:
    """Check for a tensor with at least one dimension."""
    kind(Tensor, "a tensor of labels (N,)")(value, name)
    if value.ndim == 0:
        raise ValueError(f"{name} must have shape (N,), got a single number")


def tensor(
    sides: int | None = None,
    dim: int | None = None,
    *,
    empty: bool = False,
) -> Check:
    """Build a check for a real floating tensor without NaN or inf.

    It is (D,) or (S, D) by its number of sides, with D = dim where that is given.
    """
    known = {1: "; a network's is net.w", 2: "; a posterior's are q.sample(n, seed=0)"}

    def check(value: object, name: str) -> None:
        if not isinstance(value, Tensor) or not value.is_floating_point():
            raise TypeError(
                f"{name} must be a floating-point torch.Tensor, got {shown(value)}: use"
                f" torch.as_tensor{known.get(sides or 0, '')}"
            )
        check_dense(value, name)
        fits = sides is None or value.ndim == sides and dim in (None, value.shape[-1])
        if not fits:
            D = dim or "D"
            expected = f"({D},)" if sides == 1 else f"(S, {D})"
            hint = ""
            if (sides, value.ndim) == (1, 2):
                hint = f": one of its vectors is {name}[0]"
            elif (sides, value.ndim) == (2, 1):
                hint = f": one vector is {name}[None]"
            raise ValueError(f"{name} must have shape {expected}, got {tuple(value.shape)}{hint}")
        if value.numel() == 0 and not empty:
            raise ValueError(
                f"{name} must hold at least one number, got shape {tuple(value.shape)}"
            )
        check_finite(value, name)

    return check


def made_by(noun: type) -> str:
    """Return a noun's `made_by`, the text that says how to get one: "fv.project makes one"."""
    return vars(noun).get("made_by", "")


def each(of_one: Check, expected: str, least: int = 1) -> Check:
    """Build a check for a list or tuple of at least `least`, each of which passes `of_one`."""

    def check(value: object, name: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise TypeError(f"{name} must be a list of {expected}, got {shown(value)}")
        if len(value) < least:
            raise ValueError(f"{name} must hold at least {least} of {expected}, got {len(value)}")
        for i, item in enumerate(value):
            of_one(item, f"{name}[{i}]")

    return check


def values(of_one: Check, expected: str) -> Check:
    """Build a check for a dict from names to values that pass `of_one`."""

    def check(value: object, name: str) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} must be a dict from names to {expected}, got {shown(value)}")
        for key, item in value.items():
            kind(str, "a text")(key, f"a key of {name}")
            of_one(item, f"{name}[{key!r}]")

    return check


Count = Annotated[int, check_count]
Whole = Annotated[int, partial(check_count, least=0)]
Several = Annotated[int, partial(check_count, least=2)]
Seed = Annotated[int, check_seed]
Number = Annotated[float, check_number]
Positive = Annotated[float, check_positive]
NonNegative = Annotated[float, number("a finite number >= 0", lambda v: 0 <= v < math.inf)]
Share = Annotated[float, check_share]
PositiveShare = Annotated[float, number("above 0 and at most 1", lambda v: 0 < v <= 1)]
Radius = Annotated[float, check_radius]
# 0 is allowed: the fit stays where it starts
Rate = Annotated[
    float,
    number("a finite number >= 0", lambda lr: 0 <= lr < math.inf, "0.05 is where most fits begin"),
]
Momentum = Annotated[
    float, number("from 0 to below 1", lambda m: 0 <= m < 1, "0 is none, 0.9 is usual")
]
Statistics = Literal["frozen", "train"]  # of BatchNorm, in a fit
Vector = Annotated[Tensor, tensor(1)]  # (D,)
Vectors = Annotated[Tensor, tensor(2)]  # (S, D)
Numbers = Annotated[Tensor, tensor(empty=True)]  # of any shape
Labels = Annotated[Tensor, check_labels]
FilePath = Annotated[str | Path, check_path]
NewFile = Annotated[str | Path, check_file]
