"""Inputs with labels, and a task: its source, training, validation and test data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from flatviz.checks import Count, check_dense, check_device, from_numpy, usable
from flatviz.core.inputs import MAX_BYTES, Fields, Pixels
from flatviz.core.streams import Inputs
from flatviz.likelihood import AnyLikelihood as Likelihood
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.noun import check_fields

READ = (
    "use torch.as_tensor, or fv.datasets.data_from, which reads arrays, frames, data sets and"
    " loaders"
)


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs `x` (N, ...) with labels `y` (N,) of classes, or targets (N, C) of a regression.

    `x` is a tensor or an array; images (N, C, H, W) in uint8, which stay bytes in memory and become
    floats from 0 to 1 batch by batch; a dict of tensors (N, ...), passed to the module as keywords;
    a tuple of them, passed in order; or the result of `fv.datasets.stream` for a data set that does
    not fit in memory.

    `y` holds int64 classes or floating targets.  An example may have several labels, (N, ...); then
    -100, or what `Likelihood.categorical(ignore_index=...)` names, marks those that do not count.

    `class_names` are the names of classes 0, 1, ... for figures and texts; with () they are
    numbers.

    Raises:
        ValueError: If the data are empty, lengths differ, x or y holds NaN or inf, a label is out
            of range, or there are fewer names than classes.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.Data(torch.zeros(5, 2), torch.tensor([0, 1, 2, 0, 1]))
        Data(5 examples, x (5, 2) float32, classes 0..2)
        >>> text = {"input_ids": torch.ones(4, 7).long(), "attention_mask": torch.ones(4, 7).long()}
        >>> fv.Data(text, torch.tensor([0, 1, 0, 1]))
        Data(4 examples, input_ids (4, 7) int64, attention_mask (4, 7) int64, classes 0..1)
    """

    made_by = "make one, fv.Data(x, y), or fv.datasets.data_from(arrays, a data set or a loader)"

    x: Tensor | Inputs
    y: Tensor
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        x = inputs_of(self.x)
        vars(self).update(y=_floats_as_usual(self.y))
        if not isinstance(self.y, Tensor):
            raise TypeError(
                f"y must be a torch.Tensor, got {type(self.y).__name__}: use torch.as_tensor"
            )
        tensors = {**_named_tensors(x), "y": self.y}
        for name, value in tensors.items():
            check_dense(value, name)
            if value.ndim == 0:
                raise ValueError(f"{name} must have shape (N, ...), got a single number")
        if len(x) == 0:
            raise ValueError("data must hold at least one example, got an empty set")
        lengths = {"x": len(x)} | {name: len(t) for name, t in tensors.items()}
        for name, n in lengths.items():
            if n != len(self.y):
                raise ValueError(
                    f"{name} and y must be of one length, got {n} inputs and {len(self.y)} labels"
                )
        for name, value in tensors.items():
            bad = int((~torch.isfinite(value)).sum())
            if bad:
                raise ValueError(f"{name} must be finite, got {bad} NaN or inf values: clean them")
        y = _labels(usable(self.y))
        class_names = _names(self.class_names, y)
        vars(self).update(x=x, y=y, class_names=class_names)

    def batch(self, index: Tensor | None) -> tuple[Tensor | Fields, Tensor]:
        """Return inputs and labels at `index` (None: all), in the form that a module takes."""
        if index is not None:
            return self.x[index], self.y[index]
        x = self.x if isinstance(self.x, (Tensor, Fields)) else self.x[:]
        return x, self.y

    def batches(self, size: int) -> Iterator[tuple[Tensor | Fields, Tensor]]:
        """Iterate over (x, y) in order, `size` examples at a time, as a module takes them."""
        return zip(self.x.split(size), self.y.split(size))

    @property
    def in_memory(self) -> bool:
        """Whether all inputs are one tensor in memory, or bytes that may become one."""
        return isinstance(self.x, Tensor) or (
            isinstance(self.x, Pixels) and 4 * self.x.numel() <= MAX_BYTES
        )

    def tensor(self) -> Tensor:
        """Return all inputs as one tensor; a TypeError for inputs of several parts."""
        x, _ = self.batch(None)
        if not isinstance(x, Tensor):
            raise TypeError(f"inputs must be one tensor, got {x.describe()}")
        return x

    def __repr__(self) -> str:
        if self.y.is_floating_point():
            y = f"targets {tuple(self.y.shape)}"
        else:
            y = f"classes 0..{int(self.y.max())}"
        x = Fields({"x": self.x}) if isinstance(self.x, Tensor) else self.x
        return f"Data({len(self)} examples, {x.describe()}, {y})"

    def __len__(self) -> int:
        return len(self.x)

    def subset(self, index: Tensor | slice) -> Self:
        """Return the examples at `index`; those of a slice share their memory."""
        x = self.x[index] if isinstance(self.x, Tensor) else self.x.take(index)
        return replace(self, x=x, y=self.y[index])

    def to(
        self,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Self:
        """Copy the data to a device, with floating tensors in `dtype`.

        Raises RuntimeError for a GPU that is not there.
        """
        check_device(device)
        whole_numbers = isinstance(self.x, Tensor) and not self.x.is_floating_point()
        x = self.x.to(device, None if whole_numbers else dtype)
        targets = self.y.is_floating_point()
        y = self.y.to(device, dtype if targets else None)
        return replace(self, x=x, y=y)


def inputs_of(x: object, name: str = "x") -> Tensor | Inputs:
    """Convert a tensor, a dict or tuple of tensors, `Inputs` or a `Data` to the inputs of a `Data`.

    Arrays of NumPy are copied to tensors, floats in torch's default dtype.

    Raises:
        TypeError: For anything else.
    """
    if isinstance(x, Data):
        return x.x
    if isinstance(x, (Mapping, tuple)):
        fields = dict(x) if isinstance(x, Mapping) else dict(enumerate(x))
        fields = {key: _floats_as_usual(value) for key, value in fields.items()}
        if not fields or not all(isinstance(t, Tensor) for t in fields.values()):
            kinds = {key: type(t).__name__ for key, t in fields.items()}
            raise TypeError(
                f"{name} must hold tensors by the module's argument names, or in their order, got"
                f" {kinds}: {READ}"
            )
        named: dict[str | int, Tensor] = {}
        for key, t in fields.items():
            keyword = key if isinstance(key, int) else str(key)
            named[keyword] = usable(t)
        return Fields(named)
    x = _floats_as_usual(x)
    if isinstance(x, Tensor):
        images = x.dtype == torch.uint8 and x.ndim == 4 and len(x) > 0
        return Pixels(x) if images else usable(x)
    if not isinstance(x, Inputs):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}: {READ}")
    return x


def _floats_as_usual(value: object) -> object:
    """Copy an array to a tensor, floats of 64 bits in torch's default dtype."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return from_numpy(value.astype(str(torch.get_default_dtype()).removeprefix("torch.")))
    return from_numpy(value)


def batch_of(x: object, name: str = "x") -> Tensor | Fields:
    """Convert inputs, as `inputs_of` does, to the form that a module takes.

    A `Data` may be large, so its first two examples stand for it.
    """
    if isinstance(x, Data):
        x = x.subset(torch.arange(min(2, len(x))))
    x = inputs_of(x, name)
    return x if isinstance(x, (Tensor, Fields)) else x[:]


def _named_tensors(x: Tensor | Inputs) -> dict[str, Tensor]:
    """Return the tensors of inputs in memory, by their names in errors."""
    if isinstance(x, Tensor):
        return {"x": x}
    if not isinstance(x, Fields):
        return {}
    named = {}
    for key, t in x.named.items():
        name = key if isinstance(key, str) else f"x[{key}]"
        named[name] = t
    return named


def _labels(y: Tensor) -> Tensor:
    """Check real labels or targets; return labels in int64."""
    if y.is_complex():
        raise TypeError(f"y must be real labels or targets, got {y.dtype}: take its real part")
    if y.is_floating_point():
        return y
    y = y.long()
    counting = y
    if y.ndim > 1:
        counting = y[(y != -1) & (y != -100)]
    if counting.numel() and int(counting.min()) < 0:
        raise ValueError(
            f"labels must be 0 or more, got {int(counting.min())}: number the classes from 0"
        )
    return y


def _names(names: object, y: Tensor) -> tuple[str, ...]:
    """Return the names of all classes, or none."""
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class_names must be a tuple of texts, one a class, got {names!r}")
    if names and y.is_floating_point():
        raise ValueError(
            "class_names belong to class labels, got floating targets y: leave them out"
        )
    if names and int(y.max()) >= len(names):
        raise ValueError(
            f"class_names must name every class, 0 to {int(y.max())}, got {len(names)} names"
        )
    return tuple(names)


@dataclass(frozen=True, eq=False)
class Task:
    """Transfer task: `source` to pre-train on, `train` (few examples) to fit, `test` to score.

    Args:
        n_classes: Classes of the target, so of train, validation and test; 1 under a likelihood
            without classes.
        validation: Data to choose settings on, as small as train, without examples of train or
            test; None where there is none.
        source_classes: Classes of the source where they differ from the target's; the transfer then
            makes a new head.
        likelihood: Likelihood of all its fits and scores, as in `fv.nll`.

    Example:
        >>> import torch, flatviz as fv
        >>> data = fv.Data(torch.randn(8, 2), torch.arange(8) % 2)
        >>> fv.Task(source=data, train=data, test=data, n_classes=2).input_shape
        (2,)
    """

    made_by = "fv.datasets has some"

    source: Data
    train: Data
    test: Data
    n_classes: Count
    name: str = "task"
    validation: Data | None = None
    source_classes: Count | None = None
    likelihood: Likelihood = "categorical"

    def __post_init__(self) -> None:
        check_fields(self)
        of_target = self.parts()
        del of_target["source"]
        for name, part in of_target.items():
            highest = float(part.y.max())
            classes = self._categorical and not part.y.is_floating_point()
            if classes and highest >= self.n_classes:
                raise ValueError(
                    f"n_classes must be above all labels of {name}, got {self.n_classes} and"
                    f" {highest:g}"
                )
            named = part.class_names
            train = self.train.class_names
            if named and train and named != train:
                raise ValueError(
                    f"{name} must number its classes as train, {train}, got {named}: give both the"
                    " same classes"
                )

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {len(part)}" for name, part in self.parts().items())
        return f"Task({self.name!r}: {parts}, {self.n_classes} classes)"

    def parts(self) -> dict[str, Data]:
        """Return the data sets by name, without validation where there is none."""
        parts = {
            "source": self.source,
            "train": self.train,
            "validation": self.validation,
            "test": self.test,
        }
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def one_label(self) -> bool:
        """Whether each example has one label, with logits (N, C)."""
        return self._categorical and self.train.y.ndim == 1

    @property
    def _categorical(self) -> bool:
        return isinstance(as_likelihood(self.likelihood), CategoricalLikelihood)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return tuple(self.train.x.shape[1:])

    def for_source(self) -> Self:
        """Return the task of the source network, with as many classes as the source has."""
        if self.source_classes is None:
            return self
        return self._unchecked(n_classes=self.source_classes)

    def to(
        self,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Self:
        """Copy the task to a device."""
        moved: dict[str, Any] = {}
        for name, part in self.parts().items():
            moved[name] = part.to(device, dtype)
        return self._unchecked(**moved)

    def _unchecked(self, **fields: object) -> Self:
        """Copy with other fields; a task for the source has training labels of the target."""
        other = copy(self)
        other.__dict__.update(fields)
        return other
