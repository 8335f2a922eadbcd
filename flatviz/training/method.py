"""A method is a value: a frozen dataclass of the numbers in its equation, which `fv.fit` runs.

What belongs to every run (steps, minibatches, seed, likelihood, precision, statistics, checkpoint,
progress) is an argument of `fit`.  A field that is None by default is filled by `completed`, from
network, data and run; the posterior keeps the completed method.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, get_type_hints

import torch
from torch import Tensor

from flatviz.checks import Statistics
from flatviz.core import Net
from flatviz.noun import VALUES, Noun
from flatviz.objectives.problem import Problem
from flatviz.results import Posterior
from flatviz.training.gradient import Ascent
from flatviz.training.settings import Run

Q = TypeVar("Q", bound=Posterior)
# Default of a field that `completed` fills, whose type is that of the filled one
BY_NET: Any = None
OF_RUN = (
    "steps",
    "batch_size",
    "batchnorm",
    "likelihood",
    "training",
    "augment",
    "seed",
    "checkpoint",
    "progress",
)
OF_PERTURBATION = ("mode", "blocks", "joint", "damping", "switches", "radius_unit")
UNSHOWN = ("prior", "start", "n")


class Usual(NamedTuple):
    """What a run of a method takes where `fit` is given None."""

    steps: int = 300
    batch_size: int | None = None
    batchnorm: Statistics = "frozen"


class Method(Noun, Generic[Q]):
    """Base of all methods: fields, and how `fv.fit` runs them.

    A subclass has the numbers of its equation as fields, and `fitted`, or `init` and `update`
    (`Stepped`).  `name` is its key in `fv.METHODS`, `label` its name in texts.
    """

    usual: ClassVar[Usual] = Usual()
    takes: ClassVar[tuple[str, ...]] = ("steps", "batch_size", "batchnorm", "training", "augment")
    together: ClassVar[tuple[str, ...]] = ()  # fields in which members of one batch may differ
    label: ClassVar[str] = "training"

    def __init_subclass__(cls, **how: Any) -> None:
        """Make it a frozen dataclass whose errors and help name its fields."""
        super().__init_subclass__(kw_only=True, **how)
        if cls.__module__.startswith("flatviz."):  # a user's class is in no other process
            VALUES[cls.__name__] = cls
        cls.__doc__ = _with_fields_of_bases(cls)
        raw = inspect.signature(cls.__init__)
        hints = get_type_hints(cls)
        shown = [
            p.replace(annotation=hints.get(p.name, p.annotation))
            for p in list(raw.parameters.values())[1:]
        ]
        cls.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]

    @classmethod
    def road(cls, name: str, fields: Sequence[str]) -> str:
        """Say where an argument of the run, or of the perturbation, is given."""
        if name in OF_RUN:
            call = f"fv.fit(net, data, {cls.__name__}(...), {name}=...)"
            return f"it is an argument of fv.fit, {call}"
        if name in OF_PERTURBATION and "perturbation" in fields:
            return f"here perturbation=fv.Perturbation({name}=...)"
        return super().road(name, fields)

    def usual_for(self, net: Net) -> Usual:
        """Return what a run on this network takes where nothing is given."""
        return self.usual

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill the fields that are None by network, data and run; twice is as once."""
        return self.with_examples(len(problem.data))

    def with_examples(self, n: int) -> Self:
        """Fill the field `n`, the number of examples, of a method that has one."""
        if "n" in vars(self) and vars(self)["n"] is None:
            return replace(self, **{"n": n})
        return self

    def remarks(self, given: Self) -> tuple[str, ...]:
        """Return notes for the history on how `given` was completed to this method."""
        return ()

    def fitted(self, problem: Problem, run: Run) -> Q:
        """Fit the posterior; the method is completed."""
        raise NotImplementedError

    def reduced(self) -> "Method":
        """Return the simpler method that this one is to the bit: an ascent of radius 0 is none."""
        ascent = vars(self).get("ascent")
        if ascent is not None and vars(ascent).get("radius") == 0:
            return self.with_ascent(None)
        return self

    def with_ascent(self, ascent: Ascent | None) -> Self:
        """Return the method with every gradient at the end of `ascent`, its flat-seeking version.

        Raises:
            ValueError: For a method that takes no ascent.
        """
        if "ascent" not in vars(self):
            raise ValueError(
                f"{self.label} takes no ascent, got {ascent!r}: give it to another method"
            )
        return replace(self, **{"ascent": ascent})

    def check_filled(self, *names: str) -> None:
        """Refuse a step of a method whose fields are not filled yet."""
        for name in names:
            if vars(self)[name] is None:
                raise ValueError(
                    f"{name} of {type(self).__name__} must be filled for a step by hand, got None:"
                    f" give {type(self).__name__}({name}=...), or let fv.fit fill it"
                )

    def __eq__(self, other: object) -> bool:
        """Compare type and fields, tensors by content."""
        if type(other) is not type(self):
            return NotImplemented
        return _same(vars(self), vars(other))

    def __hash__(self) -> int:
        """Hash the type and the plain fields."""
        plain = [v for v in vars(self).values() if isinstance(v, (str, int, float, bool))]
        return hash((type(self), tuple(plain)))

    def __repr__(self) -> str:
        """Write the fields that differ from their defaults, those of the class itself first."""
        bases = [base for base in type(self).__mro__[1:] if is_dataclass(base)]
        inherited = {f.name for base in bases for f in fields(base)}
        mine = [f for f in fields(self) if f.name not in inherited]
        rest = [f for f in fields(self) if f.name in inherited]
        texts = []
        for f in (*mine, *rest):
            value = vars(self)[f.name]
            if f.name not in UNSHOWN and value is not None and not _same(value, f.default):
                text = f"{value:g}" if type(value) is float else repr(value)
                texts.append(f"{f.name}={text}")
        return f"{type(self).__name__}({', '.join(texts)})"


def fit_problem(problem: Problem, method: Method[Q], run: Run) -> Q:
    """Complete the method, fit the posterior, and let it keep the method that made it."""
    ready = method.completed(problem, run)
    run = replace(run, notes=ready.remarks(method))
    return replace(ready.fitted(problem, run), method=ready)  # type: ignore[type-var]


def _same(a: object, b: object) -> bool:
    """Tell whether two values of fields are the same, tensors by content."""
    if a is b:
        return True
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        if not isinstance(a, Tensor) or not isinstance(b, Tensor) or a.shape != b.shape:
            return False
        return torch.equal(a.cpu(), b.cpu())
    if type(a) is not type(b):
        return bool(a == b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Noun):
        return _same(_fields_of(a), _fields_of(b))
    return bool(a == b)


def _fields_of(noun: Any) -> dict[str, object]:
    """Return the fields of a noun but its record: how it was made is no part of what it is."""
    return {f.name: vars(noun)[f.name] for f in fields(noun) if f.name not in ("history", "method")}


def _with_fields_of_bases(cls: type) -> str | None:
    """Return the docstring with the lines of inherited fields, which stand in the base's."""
    doc = inspect.cleandoc(cls.__doc__) if cls.__doc__ else ""
    mine = _args_of(doc)
    more = dict[str, str]()
    for base in cls.__mro__[1:]:
        if base.__doc__ and is_dataclass(base):
            for name, text in _args_of(inspect.cleandoc(base.__doc__)).items():
                more.setdefault(name, text)
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    added = "\n".join(more[name] for name in names if name in more and name not in mine)
    if not added:
        return cls.__doc__
    if not mine:
        head, found, tail = doc.partition("\nExample:")
        return f"{head.rstrip()}\n\nArgs:\n{added}\n" + (f"\nExample:{tail}" if found else "")
    last = list(mine.values())[-1]
    return doc.replace(last, f"{last}\n{added}", 1)


def _args_of(doc: str) -> dict[str, str]:
    """Return the entries of a docstring's "Args:", name -> its lines."""
    _, _, rest = doc.partition("\nArgs:\n")
    entries = dict[str, str]()
    name = ""
    for line in rest.splitlines():
        if line and not line.startswith("    "):
            break
        if line.startswith("    ") and not line.startswith("     ") and ": " in line:
            name = line.split(":")[0].strip()
            entries[name] = line
        elif name and line.strip():
            entries[name] += f"\n{line}"
        elif not line.strip():
            name = ""
    return entries
