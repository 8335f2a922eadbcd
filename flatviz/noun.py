"""The base class of nouns, those that draw themselves, and the history of a fit."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, dataclass_transform, get_type_hints

from torch import Tensor

from flatviz.annotations import check_of, takes_tensors
from flatviz.checks import Check, check_dense, from_numpy, shown
from flatviz.words import foreign, no_attribute

# Values beside nouns that a file of `save` may hold, by name: methods, perturbations.  A class adds
# itself when its file is imported, as those files are in layers above.
VALUES: dict[str, type] = {}
# What posteriors of other libraries have, and how it is done with one of ours
HABITS = dict.fromkeys(
    ("to", "cuda", "cpu"), "net.to(device): verbs move a posterior to its net"
) | {
    "predict": "fv.predict(net, posterior, x, n_draws, seed=0)",
    "save": "fv.save(posterior, path)",
    "load": "fv.load(path)",
    "rsample": "posterior.sample(n, seed=0)",
    "stddev": "variance.sqrt()",
    "fit": "fv.fit(net, data, method, seed=0)",
}
CHECKS: dict[type, dict[str, Check]] = {}  # checks of fields, by dataclass
OF_TENSORS: dict[type, list[str]] = {}  # fields that hold tensors, by dataclass


def check_fields(result: Any) -> None:
    """Check each field of a dataclass by its annotation, as `@public` does for arguments."""
    cls = type(result)
    if cls not in CHECKS:
        hints = get_type_hints(cls, include_extras=True)
        CHECKS[cls] = {}
        for f in dataclasses.fields(cls):
            hint = hints[f.name]
            CHECKS[cls][f.name] = check_of(hint | None if f.default is None else hint)
        OF_TENSORS[cls] = [name for name in CHECKS[cls] if takes_tensors(hints[name])]
    for name in OF_TENSORS[cls]:
        vars(result)[name] = from_numpy(vars(result)[name])
    for name, check in CHECKS[cls].items():
        value = vars(result)[name]
        check(value, name)
        if isinstance(value, Tensor):
            check_dense(value, name)


def one_line(result: Any) -> str:
    """Write type and fields on one line: tensors by shape, long tuples by length.

    Fields at their default are left out.
    """
    texts = []
    for field in dataclasses.fields(result):
        value = vars(result)[field.name]
        if value is not field.default and value is not None:
            texts.append(_shown(field.name, value))
    text = ", ".join(texts)
    if len(text) >= 100:
        text = f"{text[:97]}..."
    return f"{type(result).__name__}({text})"


def _shown(name: str, value: object) -> str:
    if isinstance(value, Tensor):
        return f"{name} {tuple(value.shape)}"
    if isinstance(value, tuple):
        is_long = len(value) > 3 or any(map(dataclasses.is_dataclass, value))
        return f"{name}: {len(value)}" if is_long else f"{name}={value!r}"
    if isinstance(value, dict):
        return f"{name}: {', '.join(map(str, value)) or 'none'}"
    if isinstance(value, (str, bool, int, float)):
        return f"{name}={value!r}"
    return f"{name}: {type(value).__name__}"


@dataclass_transform(eq_default=False, frozen_default=True)
class Noun:
    """A frozen dataclass with checked fields (annotations, then `_check`) and a one-line repr.

    `made_by` says in errors which verb makes one.
    """

    made_by: ClassVar[str]

    def __init_subclass__(cls, made_by: str = "", eq: bool = False, kw_only: bool = False) -> None:
        super().__init_subclass__()
        cls.made_by = made_by
        dataclass(frozen=True, eq=eq, repr=False, kw_only=kw_only)(cls)

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Refuse a field that there is not, with ours where it is another library's."""
        fields = [f.name for f in dataclasses.fields(cls)] if kwargs else []  # type: ignore[arg-type]
        for name in kwargs:
            if name not in fields:
                meant = cls.road(name, fields) or f"it takes {', '.join(fields)}"
                raise TypeError(f"{cls.__name__}: got an unexpected argument {name!r}: {meant}")
        return object.__new__(cls)

    @classmethod
    def road(cls, name: str, fields: Sequence[str]) -> str:
        """Say what is meant by an argument that is no field; an empty text for most."""
        return foreign(name, fields)

    def __getattr__(self, name: str) -> object:
        habits = HABITS if hasattr(type(self), "sample") else {}
        raise AttributeError(no_attribute(self, name, habits))

    def __post_init__(self) -> None:
        check_fields(self)
        self._check()

    def _check(self) -> None:
        """Check more than types."""

    def __repr__(self) -> str:
        return one_line(self)


def check_method(value: object, name: str) -> None:
    """Check for the value of a method, or for None."""
    if value is not None and type(value) not in VALUES.values() and not isinstance(value, Noun):
        raise TypeError(
            f"{name} must be the value of a method, got {shown(value)}: fv.fit gives it"
        )


Made = Annotated[object, check_method]  # the method that made a posterior


class Unread(Noun):
    """A value of a file whose class is not flatviz's: its name and its fields."""

    name: str
    values: dict[str, object]

    def __repr__(self) -> str:
        return f"{self.name}(...)"


class Drawn(Noun):
    """A noun that draws itself as the last value of a notebook's cell.

    It shows its text without plotly, or where it is not `drawable`.
    """

    @property
    def drawable(self) -> bool:
        """Whether there is something to draw."""
        raise NotImplementedError

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        text: dict[str, object] = {"text/plain": repr(self)}
        if not self.drawable:
            return text
        try:
            figure = sys.modules["flatviz"].plot(self)  # which loads when it is used
        except ModuleNotFoundError:
            return text
        return text | figure._repr_mimebundle_(include, exclude)


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
        >>> history = fv.fit(net, fv.Data(torch.eye(2), torch.arange(2)), fv.SGD(), seed=0).history
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
        records = {}
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                records[name] = function(value)
        return dataclasses.replace(self, **records)  # type: ignore[arg-type]
