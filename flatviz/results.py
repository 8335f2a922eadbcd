"""Families, and all nouns by name.

Also how nouns are saved and moved between devices.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from flatviz.checks import shown, usable
from flatviz.gaussian import Gaussian
from flatviz.likelihood import (
    BernoulliLikelihood,
    CategoricalLikelihood,
    GaussianLikelihood,
    NoiseLikelihood,
)
from flatviz.noun import VALUES, History, Noun, Unread
from flatviz.prediction import Prediction
from flatviz.private import cached_property
from flatviz.weight_space import (
    Curve,
    Draws,
    Mixture,
    Plane,
    Posterior,
    Projection,
    Sharpness,
    Spectrum,
    Surface,
)
from flatviz.weight_space import LayerCurvature as LayerCurvature
from flatviz.weight_space import interval as interval

# Scores in figures, where a prediction has them
SHOWN = {
    "accuracy": "accuracy",
    "nll": "NLL",
    "ece": "ECE",
    "rmse": "RMSE",
}


class Shift(Noun, made_by="fv.families.shifted_scores makes one"):
    """Scores under distribution shift: `scores[name]` (K, V), kinds of corruption by severities.

    `severities` begins with 0, the original inputs, whose scores are the same for every kind.
    `scores` holds accuracy, nll and ece of the average of `n_draws` draws on `n` inputs;
    `batchnorm` and `trunk` are those of `Prediction`.
    """

    kinds: tuple[str, ...]
    severities: tuple[int, ...]
    scores: dict[str, Tensor]
    n: int
    n_draws: int
    batchnorm: str | None = None
    trunk: str = "fixed"

    def mean(self, name: str) -> Tensor:
        """Average one score over the kinds of corruption, at each severity, (V,)."""
        return self.scores[name].mean(0)


class Member(Noun, made_by="fv.families.fit_family makes one"):
    """One posterior of a family: its method at a radius in `unit`, and its measurements.

    Args:
        projection: Its draws on the family's surface.
        around: The surface on a random plane around its center.
        sharpest: The surface on the plane of the two sharpest directions there.
        spectrum: Of several draws.
        prediction: On the test split.
        over_seeds: "lambda1", "accuracy", "nll" and "ece", (S,), of fits with other seeds.
        maps: Arrays of other figures, by name: see `families.maps`, `inputs` and `images`.
    """

    method: str
    radius: float
    unit: str
    posterior: Posterior
    projection: Projection | None = None
    around: Surface | None = None
    sharpest: Surface | None = None
    spectrum: tuple[Spectrum, ...] = ()
    prediction: Prediction | None = None
    over_seeds: dict[str, Tensor] = field(default_factory=dict)
    maps: dict[str, Any] = field(default_factory=dict)


def _of_members(name: str) -> property:
    return property(
        lambda family: tuple(getattr(m, name) for m in family.members),
        doc=f"`Member.{name}` of all members.",
    )


class Family(Noun, made_by="fv.families.fit_family makes one"):
    """Posteriors of one or more methods over their radii: M members on shared ground.

    `surface` is the loss on the PCA plane of all draws.  `inputs` and `images` are shared by the
    members' `maps`: a grid of inputs, the pixels.  `family[i]` is a member; `family.method`,
    `.radius`, `.prediction` ... hold a field of all members.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Gaussian(torch.zeros(2), torch.zeros(2))
        >>> members = [fv.results.Member("sabma", radius, "nats", q) for radius in (0.0, 0.5, 2.0)]
        >>> family = fv.Family(tuple(members))
        >>> family.radii("sabma"), family.index("sabma", 1.5), family.measured
        ((0.0, 0.5, 2.0), 2, False)
    """

    members: tuple[Member, ...]
    surface: Surface | None = None
    inputs: dict[str, Tensor] = field(default_factory=dict)
    images: dict[str, Tensor] = field(default_factory=dict)

    method = _of_members("method")
    radius = _of_members("radius")
    unit = _of_members("unit")
    posterior = _of_members("posterior")
    prediction = _of_members("prediction")
    spectrum = _of_members("spectrum")
    projection = _of_members("projection")
    around = _of_members("around")
    sharpest = _of_members("sharpest")

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __getitem__(self, i: int) -> Member:
        return self.members[i]

    def add(self, member: Member) -> Family:
        """Return the family with one more member."""
        return dataclasses.replace(self, members=(*self.members, member))

    def each(self, **fields: Sequence) -> Family:
        """Return the family with new values of its members' fields, one value a member."""
        members = []
        for member, *row in zip(self.members, *fields.values(), strict=True):
            values = dict(zip(fields, row))
            members.append(dataclasses.replace(member, **values))
        return dataclasses.replace(self, members=tuple(members))

    @property
    def measured(self) -> bool:
        """Whether the family has measurements beside posteriors."""
        return self.surface is not None and all(
            m.prediction is not None and m.spectrum for m in self.members
        )

    @property
    def n_draws(self) -> int:
        """Largest ensemble size."""
        predictions = [m.prediction for m in self.members if m.prediction is not None]
        return max(prediction.n_draws for prediction in predictions)

    @cached_property
    def first(self) -> tuple[int, ...]:
        """For each member, the first with its posterior, as radius 0 of several methods is one.

        Posteriors are compared by a draw, as those read from a file share no objects.
        """
        seen: dict[bytes, int] = {}
        first = []
        for i, member in enumerate(self.members):
            draw = member.posterior.sample(1, seed=0).detach().cpu()
            first.append(seen.setdefault(draw.numpy().tobytes(), i))
        return tuple(first)

    @property
    def distinct(self) -> list[int]:
        """Members with different posteriors."""
        return sorted(set(self.first))

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order, each once."""
        return tuple(dict.fromkeys(m.method for m in self.members))

    def radii(self, method: str) -> tuple[float, ...]:
        """List the radii at which `method` was fitted, increasing."""
        return tuple(sorted(m.radius for m in self.members if m.method == method))

    def index(self, method: str, radius: float | None = None) -> int:
        """Find the member of `method` nearest to `radius`, in powers of ten; 0 matches 0 alone."""
        members = [i for i, m in enumerate(self.members) if m.method == method]
        if not members:
            raise ValueError(
                f"method must be one of {', '.join(map(repr, self.methods))}, got {shown(method)}"
            )
        if radius is None:
            return members[0]

        def far(i: int) -> float:
            r = self.members[i].radius
            if r == radius:
                return 0.0
            return abs(math.log10(r / radius)) if r > 0 and radius > 0 else math.inf

        return min(members, key=lambda i: (far(i), self.members[i].radius))


NOUNS = {
    cls.__name__: cls
    for cls in (
        History,
        Gaussian,
        Draws,
        Mixture,
        Plane,
        Curve,
        Surface,
        Spectrum,
        Projection,
        Sharpness,
        Prediction,
        Shift,
        Member,
        Family,
    )
}

LIKELIHOODS = (CategoricalLikelihood, BernoulliLikelihood, GaussianLikelihood, NoiseLikelihood)
SAVED = NOUNS | {"Unread": Unread} | {cls.__name__: cls for cls in LIKELIHOODS}
POSTERIORS = (Gaussian, Draws, Mixture)
FOR_READERS = tuple(kind for kind in NOUNS.values() if kind not in (*POSTERIORS, Plane))


def rebuilt(value: Any, change: Callable[[object], Any]) -> object:
    """Copy a list, tuple, dict or dataclass with change(item) in place of each item.

    Return `value` itself where nothing changes.
    """
    if isinstance(value, (list, tuple)):
        items: dict[Any, Any] = dict(enumerate(value))
    elif isinstance(value, dict):
        items = value
    else:
        # A field that is not computed stays None
        names = [f.name for f in dataclasses.fields(value)]
        items = {name: vars(value)[name] for name in names if name in vars(value)}
    changed = {}
    for key, item in items.items():
        new = change(item)
        if new is not item:
            changed[key] = new
    if not changed:
        return value
    if isinstance(value, (list, tuple)):
        return type(value)((items | changed).values())
    if isinstance(value, dict):
        return items | changed
    return dataclasses.replace(value, **changed)


def _deep(value: object) -> bool:
    """Tell whether tensors inside a value are moved: networks, data, objectives keep their own."""
    return type(value) in (list, tuple, dict, *NOUNS.values(), *VALUES.values())


def placed(value: object, where: torch.device | torch.dtype) -> Any:
    """Copy `value` with its tensors and nouns on a device, or in a dtype.

    Tensors from `torch.inference_mode` are copied for autograd; numbers of NumPy become Python's,
    which torch takes.
    """
    if isinstance(value, Tensor):
        return usable(value).to(where)
    if isinstance(value, np.number):
        return value.item()
    if not _deep(value):
        return value
    return rebuilt(value, partial(placed, where=where))


def for_readers(value: object, inside: bool = False) -> Any:
    """Move the nouns of a verb's result to the CPU, but not weights, planes and posteriors.

    All verbs do it here.  inside: `value` is a part of a noun for readers.
    """
    if isinstance(value, Tensor):
        return value.cpu() if inside else value
    if not _deep(value):
        return value
    inside = type(value) in FOR_READERS or inside and type(value) not in POSTERIORS
    return rebuilt(value, lambda item: for_readers(item, inside))


def to_plain(result: Any, tensors: list[Tensor]) -> object:
    """Write a noun as JSON; tensors are appended to `tensors`.

    Numbers, texts and lists stay, all else is {its kind: its content}.

    Raises:
        TypeError: For a value that cannot be written.
    """
    plain = partial(to_plain, tensors=tensors)
    if isinstance(result, Tensor):
        place = [i for i, other in enumerate(tensors) if other is result]  # members share a prior
        if not place:
            tensors.append(result)
            place = [len(tensors) - 1]
        return {"tensor": str(place[0])}
    if type(result) in VALUES.values():
        content = {}
        for f in dataclasses.fields(result):
            value = getattr(result, f.name)
            if isinstance(value, POSTERIORS):  # what it is, not how it was made
                bare: Any = dict(history=None, method=None)
                names = {f.name for f in dataclasses.fields(value)}
                kept = {name: bare[name] for name in bare if name in names}
                value = dataclasses.replace(value, **kept)
            if callable(value) and type(value) not in VALUES.values():
                value = getattr(value, "__name__", repr(value))
            content[f.name] = plain(value)
        return {"value": [type(result).__name__, content]}
    if type(result) in SAVED.values():
        fields = {f.name: plain(getattr(result, f.name)) for f in dataclasses.fields(result)}
        return {type(result).__name__: fields}
    if isinstance(result, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in result.items()]}
    if isinstance(result, (tuple, list)):
        items = list(map(plain, result))
        return {"tuple": items} if isinstance(result, tuple) else items
    for kind in (bool, int, float, str):  # numbers of numpy and enumerations become plain ones
        if isinstance(result, kind):
            return kind(result)
    if result is None:
        return None
    why = (
        f"expected one of {', '.join(NOUNS)}, or a dict, tuple or list of them, of tensors, numbers"
        " and texts"
    )
    raise TypeError(f"cannot save a {type(result).__name__}: {why}")


def from_plain(plain: object, tensors: Mapping[str, Tensor]) -> Any:
    """Read the output of `to_plain`, with the tensors by their indices."""
    read = partial(from_plain, tensors=tensors)
    if isinstance(plain, list):
        return list(map(read, plain))
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "value":
        name, fields = content
        fields = {k: read(v) for k, v in fields.items()}
        if name not in VALUES:
            importlib.import_module("flatviz.posteriors.entries")  # adds the methods
        if name not in VALUES:
            return Unread(name, fields)
        return VALUES[name](**fields)
    if kind == "dict":
        return {read(k): read(v) for k, v in content}
    if kind == "tuple":
        return tuple(map(read, content))
    return SAVED[kind](**{k: read(v) for k, v in content.items()})
