"""What an argument can be asked to be: checks (value, name) that raise one clear error, and how to make them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from flatviz.checks import check_choice, check_count, check_finite, check_nonnegative
from flatviz.core.net import Net
from flatviz.gaussian import GAUSSIANS
from flatviz.results import Draws, FunctionPosterior, Posterior

Check = Callable[[Any, str], object]


def kind(kinds: type | tuple[type, ...], wanted: str, do: str = "") -> Check:
    """A value of these types; `wanted` and `do` are words for the error."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {wanted}, got {shown(value)}{do and ': '}{do}")

    return check


def shown(value: Any) -> str:
    """A value as an error names it: small plain ones by themselves, others by their type."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    return repr(value) if isinstance(value, (str, bool, Real)) or value is None else f"a {type(value).__name__}"


def net(value: Any, name: str) -> None:
    """A `Net`; a module gets the hint how to make one."""
    if isinstance(value, nn.Module):
        raise TypeError(f"{name} must be a Net, got the module {type(value).__name__}: fv.Net.from_module(module) makes one")
    kind(Net, "a Net", "fv.Net.from_module(module) makes one")(value, name)


def whole(least: int) -> Check:
    """A whole number of at least `least`."""
    return lambda value, name: check_count(value, name, least=least)


def seed(value: Any, name: str) -> None:
    """A whole number from 0 to 2**63 - 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, got {shown(value)}: any whole number from 0 to 2**63 - 1 will do")
    if not 0 <= value < 2**63:
        raise ValueError(f"{name} must be from 0 to 2**63 - 1, got {value}: any of them will do")


def positive(value: Any, name: str) -> None:
    """A finite number above 0."""
    number(value, name)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")


def number(value: Any, name: str) -> None:
    """A real number, no bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {shown(value)}")


def nonnegative(value: Any, name: str) -> None:
    """A finite number >= 0."""
    number(value, name)
    check_nonnegative(value, name)


def word(*words: str) -> Check:
    """One of these words."""

    def check(value: Any, name: str) -> None:
        text(value, name)
        check_choice(value, words, name)

    return check


def labels(value: Any, name: str) -> None:
    """A tensor with a side."""
    kind(Tensor, "a tensor of labels (N,)")(value, name)
    if value.ndim == 0:
        raise ValueError(f"{name} must have shape (N,), got a single number")


def share(value: Any, name: str) -> None:
    """A number from 0 to 1."""
    number(value, name)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")


def real(check: Callable[[Any], object]) -> Check:
    """A check of one number that names its argument itself."""

    def checked(value: Any, name: str) -> None:
        number(value, name)
        check(value)

    return checked


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


def noun(of: type, do: str) -> Check:
    """One of our own results; `do` says which verb makes one."""
    return kind(of, f"a {of.__name__}", do)


def either(*checks: tuple[type | tuple[type, ...], Check], wanted: str) -> Check:
    """The check of the first type that the value has."""

    def check(value: Any, name: str) -> None:
        for kinds, of_kind in checks:
            if isinstance(value, kinds):
                of_kind(value, name)
                return
        raise TypeError(f"{name} must be {wanted}, got {shown(value)}")

    return check


def each(of_one: Check, wanted: str, least: int = 1) -> Check:
    """A list or tuple of at least `least`, each of which passes `of_one`."""

    def check(value: Any, name: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, range)):
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
            text(key, f"a key of {name}")
            of_one(item, f"{name}[{key!r}]")

    return check


def objective(value: Any, name: str) -> None:
    """A function of the weights."""
    if isinstance(value, (nn.Module, Net, type)) or not callable(value):
        raise TypeError(f"{name} must be an objective, w (D,) -> (), got {shown(value)}: fv.nll(net, data) makes one")


def function(value: Any, name: str) -> None:
    """A function or another callable; a class or a module is callable too, and never what is meant."""
    if not callable(value) or isinstance(value, (type, nn.Module, Net)):
        raise TypeError(f"{name} must be a function, got {shown(value)}")


def path(value: Any, name: str) -> None:
    """A text or `Path` that names a file."""
    kind((str, Path), "a path")(value, name)
    if str(value) in ("", "."):
        raise ValueError(f"{name} must name a file, got {str(value)!r}")


def file(value: Any, name: str) -> None:
    """A text or `Path` that names a file, not a folder that is there."""
    path(value, name)
    if Path(value).is_dir():
        raise ValueError(f"{name} must name a file, got the folder {str(value)!r}: name a file in it")


def posterior(value: Any, name: str) -> None:
    """Draws (S, D), or anything with `center` and `sample`, or with `outputs`."""
    if isinstance(value, Tensor):
        tensor(2)(value, name)
    elif not isinstance(value, (Posterior, FunctionPosterior)):
        raise TypeError(f"{name} must be a posterior (center, sample) or draws (S, D), got {shown(value)}: fv.fit_* make one")


def anything(value: Any, name: str) -> None:
    """No check: what it must be, the verb itself knows best."""


def draws(value: Any, name: str) -> None:
    """Weight vectors (S, D), or a posterior of a kind that the verb names itself."""
    if not isinstance(value, (Draws, *GAUSSIANS)):
        tensor(2)(value, name)


def one_or_more(of: type, do: str) -> Check:
    """A result, or a list of them."""
    listed = each(noun(of, do), f"{of.__name__}s")
    return either((of, anything), ((list, tuple), listed), wanted=f"a {of.__name__}, or a list of them ({do})")


def one_or_named(of: type, do: str) -> Check:
    """A result, or a dict of them by name."""
    named = values(noun(of, do), of.__name__)
    return either((of, anything), (Mapping, named), wanted=f"a {of.__name__}, or a dict of them ({do})")


text, flag = kind(str, "a text"), kind(bool, "True or False")
