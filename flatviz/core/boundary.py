"""The boundary of every public verb: its arguments are checked by their annotations before anything is computed.

A type says what a value must be: `Annotated[float, check_radius]` by the checks beside it, `int | None`, `Sequence[Spectrum]` and the
rest by themselves.  What only a verb itself can know (that a prior covers the net's weights) is checked inside the verb.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor

from flatviz.checks import (
    Check,
    anything,
    check_choice,
    check_function,
    check_number,
    each,
    kind,
    made_by,
    shown,
    usable,
    values,
)
from flatviz.core.arithmetic import PER_NUMBER, arithmetic, threads
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.results import FOR_READERS, for_readers, placed, rebuilt

P = ParamSpec("P")  # a line each: type checkers read no tuple of them
R = TypeVar("R")
KNOWN = {"Net": Net, "Data": Data}  # in annotations of layers that do not import them
WORDS = {float: "a number", int: "a whole number", str: "a text", bool: "True or False", Callable: "a function"}


def public(verb: Callable[P, R]) -> Callable[P, R]:
    """`verb` with every argument checked by its annotation before it runs; None also passes where it is the default.

    Weights, posteriors and results that come from elsewhere are moved to where the network lies; what the verb returns for
    readers lies on the CPU.  The verb runs in IEEE float32; its steps of training, in `advance`, in what the user has set.
    It runs on as many threads as pay for the largest that it is given (`threads`); gradients, products and predictions choose
    for themselves.
    """
    signature = inspect.signature(verb)
    checks: dict[str, Check] = {}

    @functools.wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{verb.__name__}{signature} cannot be called so: {error}") from None
        if not checks:  # at the first call: annotations may name what their file defines further down
            checks.update(argument_checks(verb))
        for name, value in given.items():
            checks[name](value, name)
        device, work = _where((args, kwargs))
        args, kwargs = placed(_usable((args, kwargs)), device)
        with arithmetic(), inference_off(), threads(work):
            return for_readers(verb(*args, **kwargs))

    return checked


def argument_checks(verb: Callable) -> dict[str, Check]:
    """The check of each argument of a verb; those of `**how: Unpack[Shared]` are in that type."""
    raw, hints = inspect.unwrap(verb), {}
    known = {**KNOWN, **raw.__globals__}
    for name, p in inspect.signature(raw).parameters.items():
        hint = eval(p.annotation, known) if isinstance(p.annotation, str) else p.annotation  # `from __future__` leaves text
        hints |= get_type_hints(*get_args(hint), include_extras=True) if get_origin(hint) is Unpack else {name: hint}
    return {name: _of_parameter(p, hints[name]) for name, p in inspect.signature(verb).parameters.items()}


def _of_parameter(parameter: inspect.Parameter, hint: Any) -> Check:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return each(check_of(hint), _many(hint), least=0)
    return check_of(hint | None if parameter.default is None else hint)


def check_of(hint: Any) -> Check:
    """What a value must be to be of this type."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        return next(filter(callable, parts[1:]), None) or check_of(parts[0])
    if origin in (Union, UnionType):
        return _either(parts)
    if origin is Literal:
        return lambda value, name: check_choice(value, parts, name)
    if origin in (Sequence, list, tuple):
        return each(check_of(parts[0]), _many(parts[0]), least=0 if Ellipsis in parts else 1)
    if origin is Mapping:
        return values(check_of(parts[1]), _many(parts[1]))
    if origin is Callable:
        return check_function
    if origin in (Any, object, inspect.Parameter.empty):
        return anything
    if origin in (float, int):
        return check_number
    return kind(origin, _words(origin), made_by(origin))


def _either(parts: tuple[Any, ...]) -> Check:
    """The check of the first type that the value has."""
    checks = [(_type(part), check_of(part)) for part in parts]

    def check(value: Any, name: str) -> None:
        for of, of_kind in checks:
            if isinstance(value, of):
                return of_kind(value, name)
        wanted = [part for part in parts if part is not NoneType]
        if len(wanted) == 1:
            return check_of(wanted[0])(value, name)
        do = " ".join(filter(None, (made_by(part) for part in wanted if isinstance(part, type))))
        words = [_words(part) for part in wanted]
        words[1:] = [text.replace(_many(wanted[0]), "them").replace("from names to", "of") for text in words[1:]]
        raise TypeError(f"{name} must be {', or '.join(words)}{do and f' ({do})'}, got {shown(value)}")

    return check


def _type(hint: Any) -> Any:
    """The class, or classes, that values of this type have, for `isinstance`."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin in (Annotated, Union, UnionType):
        return tuple(map(_type, parts[:1] if origin is Annotated else parts))
    return {float: Real, int: Integral, Any: object, Literal: str}.get(origin, origin)


def _words(hint: Any) -> str:
    """A type as an error names it; the text beside it in `Annotated` is its name."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        return next((part for part in parts[1:] if isinstance(part, str)), None) or _words(parts[0])
    if origin in (Union, UnionType):
        return ", or ".join(map(_words, parts))
    if origin is Literal:
        return ", ".join(map(repr, parts))
    if origin in (Sequence, list, tuple):
        return f"a list of {_many(parts[0])}"
    if origin is Mapping:
        return f"a dict from names to {_many(parts[1])}"
    return WORDS.get(origin) or f"a {getattr(origin, '__name__', origin)}"


def _many(hint: Any) -> str:
    return _words(hint).removeprefix("a ") + "s"


@contextmanager
def inference_off() -> Iterator[None]:
    """No inference mode, but no gradients where it was on: what is made is then of use to the next verb, in any mode."""
    if not torch.is_inference_mode_enabled():
        yield
        return
    with torch.inference_mode(False), torch.no_grad():
        yield


def _usable(value: Any) -> Any:
    """`value` with Python's numbers for NumPy's, and copies that autograd takes of tensors made under `torch.inference_mode`."""
    if isinstance(value, np.number):  # torch and random take Python's numbers only
        return value.item()
    return usable(value) if isinstance(value, Tensor) else rebuilt(value, _usable)


def _where(given: Any) -> tuple[torch.device, float]:
    """Where a verb computes, and the multiply-adds of an operation on the largest weights that it is given.

    It computes where its network lies; without one, on the first card that weights or a posterior lie on.
    """
    nets, others, work = [], [], [0.0]

    def look(value: Any) -> Any:
        if isinstance(value, (Tensor, Net)):
            (nets if isinstance(value, Net) else others).append(value.device)
            work.append(PER_NUMBER * (value.dim if isinstance(value, Net) else value.numel()))
        elif isinstance(value, Data):  # it passes in batches
            others.append(value.x.device)
        elif not isinstance(value, FOR_READERS):
            rebuilt(value, look)
        return value

    look(given)
    return next(iter(nets + [d for d in others if d.type != "cpu"]), torch.device("cpu")), max(work)
