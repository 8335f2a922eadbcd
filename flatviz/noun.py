"""Checks of a value by its type, the base class of nouns, and the history of a fit."""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from torch import Tensor

from flatviz.checks import (
    Check,
    anything,
    check_dense,
    check_number,
    each,
    function,
    kind,
    made_by,
    shown,
    values,
)
from flatviz.words import check_choice

WORDS = {
    float: "a number",
    int: "a whole number",
    str: "a text",
    bool: "True or False",
    Callable: "a function",
}
DRAWING = "flatviz.plots.by_type"  # whose shown(result) -> Figure | None draws a `Drawn`


def check_of(hint: Any) -> Check:
    """Return the check that a type's values must pass."""
    origin = get_origin(hint) or hint
    parts = get_args(hint)
    if origin is Annotated:
        return next(filter(callable, parts[1:]), None) or check_of(parts[0])
    if origin in (Union, UnionType):
        return _either(parts)
    if origin is Literal:
        return lambda value, name: check_choice(value, parts, name)
    if origin in (Sequence, list, tuple):
        return each(check_of(parts[0]), many(parts[0]), least=0 if Ellipsis in parts else 1)
    if origin in (Mapping, dict):
        return values(check_of(parts[1]), many(parts[1])) if parts else kind(dict, "a dict")
    if origin is Callable:
        return function()
    if origin in (Any, object, inspect.Parameter.empty):
        return anything
    if origin in (float, int):
        return check_number
    return kind(origin, _words(origin), made_by(origin))


def _either(parts: tuple) -> Check:
    """Return the check of the first type that the value has."""
    checks = [(_type(part), check_of(part)) for part in parts]

    def check(value: object, name: str) -> object:
        for classes, check_part in checks:
            if isinstance(value, classes):
                return check_part(value, name)
        wanted = [part for part in parts if part is not NoneType]
        if len(wanted) == 1:
            return check_of(wanted[0])(value, name)
        advice = " ".join(
            filter(None, (made_by(part) for part in wanted if isinstance(part, type)))
        )
        words = [_words(part) for part in wanted]
        words[1:] = [
            text.replace(many(wanted[0]), "them").replace("from names to", "of")
            for text in words[1:]
        ]
        raise TypeError(
            f"{name} must be {', or '.join(words)}{advice and f' ({advice})'}, got {shown(value)}"
        )

    return check


def _type(hint: Any) -> Any:
    """Return the class, or classes, of values of this type, for `isinstance`."""
    origin = get_origin(hint) or hint
    parts = get_args(hint)
    if origin in (Annotated, Union, UnionType):
        return tuple(map(_type, parts[:1] if origin is Annotated else parts))
    return {float: Real, int: Integral, Any: object, Literal: str}.get(origin, origin)


def _words(hint: object) -> str:
    """Name a type as in errors; a text beside it in `Annotated` is its name."""
    origin = get_origin(hint) or hint
    parts = get_args(hint)
    if origin is Annotated:
        names = [part for part in parts[1:] if isinstance(part, str)]
        return names[0] if names else _words(parts[0])
    if origin in (Union, UnionType):
        return ", or ".join(map(_words, parts))
    if origin is Literal:
        return ", ".join(map(repr, parts))
    if origin in (Sequence, list, tuple):
        return f"a list of {many(parts[0])}"
    if origin in (Mapping, dict) and parts:
        return f"a dict from names to {many(parts[1])}"
    return WORDS.get(origin) or f"a {getattr(origin, '__name__', origin)}"


def many(hint: object) -> str:
    """Name several values of a type."""
    return _words(hint).removeprefix("a ") + "s"


CHECKS: dict[type, dict[str, Check]] = {}  # checks of fields, by dataclass


def check_fields(result: Any) -> None:
    """Check each field of a dataclass by its annotation, as `@public` does for arguments."""
    cls = type(result)
    if cls not in CHECKS:
        hints = get_type_hints(cls, include_extras=True)
        CHECKS[cls] = {f.name: check_of(hints[f.name]) for f in dataclasses.fields(cls)}
    for name, check in CHECKS[cls].items():
        value = vars(result)[name]
        check(value, name)
        if isinstance(value, Tensor):
            check_dense(value, name)


def one_line(result: Any) -> str:
    """Write type and fields on one line: tensors by shape, long tuples by length.

    Fields at their default are left out.
    """
    shown = [
        _shown(f.name, value)
        for f in dataclasses.fields(result)
        if (value := vars(result)[f.name]) is not f.default and value is not None
    ]
    text = ", ".join(shown)
    return f"{type(result).__name__}({text if len(text) < 100 else text[:97] + '...'})"


def _shown(name: str, value: object) -> str:
    if isinstance(value, Tensor):
        return f"{name} {tuple(value.shape)}"
    if isinstance(value, tuple) and (
        len(value) > 3 or any(dataclasses.is_dataclass(v) for v in value)
    ):
        return f"{name}: {len(value)}"
    if isinstance(value, dict):
        return f"{name}: {', '.join(map(str, value)) or 'none'}"
    plain = isinstance(value, (str, bool, int, float, tuple, type(None)))
    return f"{name}={value!r}" if plain else f"{name}: {type(value).__name__}"


@dataclass_transform(eq_default=False, frozen_default=True)
class Noun:
    """A frozen dataclass with checked fields (annotations, then `_check`) and a one-line repr.

    `made_by` says in errors which verb makes one.
    """

    made_by: ClassVar[str]

    def __init_subclass__(cls, made_by: str = "", eq: bool = False) -> None:
        cls.made_by = made_by
        dataclass(frozen=True, eq=eq, repr=False)(cls)

    def __post_init__(self) -> None:
        check_fields(self)
        self._check()

    def _check(self) -> None:
        """Check more than types."""

    def __repr__(self) -> str:
        return one_line(self)


class Drawn(Noun):
    """A noun that draws itself as the last value of a notebook's cell.

    Plots import results and not the other way round, so the module `DRAWING` is named here and
    loaded when a notebook asks.  It shows its text without plotly, or without a figure.
    """

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        try:
            figure = importlib.import_module(DRAWING).shown(self)
        except ModuleNotFoundError:
            figure = None
        return {"text/plain": repr(self)} | (
            {} if figure is None else figure._repr_mimebundle_(include, exclude)
        )


class History(Noun):
    """Record of a fit at each step, (T,) each.

    Args:
        loss: Mean training loss of the minibatch.
        kl: KL(q || prior), in nats.
        sharpness: The loss gained by the ascent.
        reach: Exact sqrt(2 KL(q' || q)) of SA-BMA's ascent, whatever the unit of its radius.
        validation: Loss of the validation data at each check, of a fit that has some.
        lambda1, trace: Of the Hessian, after each of `steps`, of a loop that `record_path` watched.
        notes: Remarks on the fit, for instance that its loss ended far above where it began.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 2))
        >>> history = fv.fit_sgd(net, fv.Data(torch.eye(2), torch.arange(2)), seed=0).history
        >>> history.loss.shape, bool(history.loss[-1] < history.loss[0])
        (torch.Size([300]), True)
    """

    loss: Tensor
    kl: Tensor | None = None
    sharpness: Tensor | None = None
    validation: Tensor | None = None
    notes: tuple[str, ...] = ()
    lambda1: Tensor | None = None
    trace: Tensor | None = None
    steps: Tensor | None = None
    reach: Tensor | None = None

    def mapped(self, function: Callable[[Tensor], Tensor]) -> Self:
        """Apply `function` to each record that is there, for instance to select one member."""
        records = {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}
        changed: dict[str, Any] = {name: function(record) for name, record in records.items()}
        return dataclasses.replace(self, **changed)
