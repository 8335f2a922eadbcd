"""A user's training and test data as the task of a lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from flatviz.checks import anything
from flatviz.core import Data, Likelihood, Net, Task, generator
from flatviz.datasets.given import data_from
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.objectives.network import nll

Given = Data | Dataset | DataLoader | Sequence  # examples, as a lab takes them
Examples = Annotated[Given, anything]
MAX_EXAMPLES = 2000  # examples that are fitted
HELD_OUT = 0.2  # of the training examples: settings are chosen on them


def examples(
    given: Examples,
    name: str,
    classes: Sequence[str] = (),
    likelihood: Likelihood = "categorical",
) -> Data:
    """Read inputs and labels, or targets of another likelihood, into a `Data`.

    A data set or a loader is read as far as a lab fits it.
    """
    most = MAX_EXAMPLES if isinstance(given, (Dataset, DataLoader)) else None
    try:
        given = data_from(given, most, classes=classes or None)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be (inputs, labels), a data set or a loader: {error}"
        ) from error
    y = given.y
    if isinstance(as_likelihood(likelihood), CategoricalLikelihood):
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        whole = y == y.round()
        if y.is_floating_point() and bool(whole.all()):
            y = y.long()
    given = replace(given, y=y)
    if torch.float64 in (given.x.dtype, y.dtype):
        return given.to(dtype=torch.float32)
    return given


def _as_taken(net: Net, data: Data) -> Data:
    """Convert integers to floats where the net does not take them as they are."""
    x = data.x
    if not isinstance(x, Tensor) or x.is_floating_point():
        return data
    try:
        net(net.w, x[:2])
    except RuntimeError:
        return replace(data, x=x.float())
    return data


def task_of(
    net: Net,
    train: Data,
    test: Data,
    likelihood: Likelihood,
    seed: int,
) -> Task:
    """Take at most `MAX_EXAMPLES` training examples in random order, and split validation off.

    Source and train are one.

    Raises:
        ValueError: For inputs or labels that the net cannot have.
        TypeError: For targets of another type than the likelihood's.
    """
    train = _as_taken(net, train)
    test = _as_taken(net, test)
    n_classes = 1
    if isinstance(as_likelihood(likelihood), CategoricalLikelihood):
        largest = max(train.y.max(), test.y.max())
        n_classes += int(largest)
    if not test.class_names and len(train.class_names) >= n_classes:
        test = replace(test, class_names=train.class_names)
    wanted = tuple(train.x.shape[1:])
    shape = tuple(test.x.shape[1:])
    if shape != wanted:
        raise ValueError(f"test must have inputs as train has, {wanted}, got {shape}")
    order = torch.randperm(len(train), generator=generator(seed))
    order = order[:MAX_EXAMPLES]
    n_held_out = max(1, round(HELD_OUT * len(order)))
    validation = train.subset(order[:n_held_out])
    fitted = train.subset(order[n_held_out:])
    task = Task(fitted, fitted, test, n_classes, "your data", validation, likelihood=likelihood)
    for name in ("train", "test"):
        try:
            nll(net, task.parts()[name], likelihood=likelihood)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    return task


def first_of(data: Data) -> Data:
    """Take the first examples, at most as many as are fitted."""
    n = min(len(data), MAX_EXAMPLES)
    return data.subset(torch.arange(n))
