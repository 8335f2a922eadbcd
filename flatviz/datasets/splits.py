"""Few-shot splits, with as many examples to choose settings on, and transfer tasks of them."""

from typing import NamedTuple

import torch

from flatviz.checks import Count, Seed, Whole, shown
from flatviz.core import Data, Task, generator, public
from flatviz.datasets.given import in_memory

MAX_VALIDATION = 15  # examples a class; with more, a small data set would lack a test split


class FewShot(NamedTuple):
    """Three disjoint parts: examples to train on, as many to choose settings on, the rest."""

    train: Data
    validation: Data
    rest: Data


@public
def few_shot(data: Data, shots: Count, *, seed: Seed) -> FewShot:
    """Draw `shots` examples a class for training, and as many different ones for validation.

    The validation split is as small as the training split, as with ten images a class there are no
    5,000 to tune on.

    Args:
        data: Classes as labels y (N,).
        shots: Examples a class in each of the two splits.
        seed: Draws them.

    Raises:
        ValueError: For a regression, or where a class has fewer than 2 `shots` + 1 examples.

    Example:
        >>> import torch, flatviz as fv
        >>> data = fv.Data(torch.rand(40, 3), torch.arange(40) % 2)
        >>> [len(part) for part in fv.datasets.few_shot(data, 5, seed=0)]
        [10, 10, 20]
    """
    parts = _split(data, shots, seed)
    return FewShot(*map(data.subset, parts))


def hold_out(test: Data, shots: int, *, seed: int) -> tuple[Data, Data]:
    """Take a validation split out of a test split, `shots` a class, at most 15.

    The rest keeps its order.
    """
    validation, *others = _split(test, min(shots, MAX_VALIDATION), seed)
    rest = torch.cat(others).sort().values
    return test.subset(validation), test.subset(rest)


def _split(data: Data, shots: int, seed: int) -> list[torch.Tensor]:
    """Choose the indices of the three parts of `few_shot`, class by class."""
    _check_classes(data, "few_shot")
    order = torch.randperm(len(data), generator=generator(seed))
    y = data.y.cpu()[order]
    rows = []
    for label in y.unique():
        members = order[y == label]
        if len(members) < 2 * shots + 1:
            raise ValueError(
                f"each class must have at least {2 * shots + 1} examples for {shots} shots twice"
                f" and a rest, got {len(members)} of class {int(label)}: lower shots"
            )
        rows.append(members.tensor_split([shots, 2 * shots]))
    return [torch.cat(part).to(data.y.device) for part in zip(*rows)]


def _check_classes(data: Data, verb: str) -> None:
    if data.y.is_floating_point() or data.y.ndim > 1:
        raise ValueError(
            f"{verb} needs one class label an example, got {shown(data.y)}: take data.subset(index)"
        )


@public
def pick_classes(data: Data, classes: list[Whole]) -> Data:
    """Select the examples of these classes, numbered 0, 1, ... in the order given.

    Their names are kept.

    Args:
        data: Classes as labels y (N,).
        classes: Numbers of the classes, in their new order.

    Raises:
        ValueError: For a class without examples, one given twice, and for labels that are not one
            class an example.

    Example:
        >>> import torch, flatviz as fv
        >>> data = fv.Data(torch.rand(9, 3), torch.arange(9) % 3)
        >>> fv.datasets.pick_classes(data, [2, 0]).y
        tensor([1, 0, 1, 0, 1, 0])
    """
    _check_classes(data, "pick_classes")
    present = set(data.y.unique().tolist())
    if len(set(classes)) < len(classes) or not classes or set(classes) - present:
        raise ValueError(
            f"classes must be different ones of {sorted(present)}, got {list(classes)}: check"
            " data.y"
        )
    device = data.y.device
    number = torch.full((max(present) + 1,), -1, device=device)  # of each old class, or -1
    number[list(classes)] = torch.arange(len(classes), device=device)
    labels = number[data.y]
    index = (labels >= 0).nonzero().flatten()
    names = data.class_names
    if names:
        names = tuple(names[c] for c in classes)
    return Data(data.subset(index).x, labels[index], names)


@public
def transfer_task(
    source: Data,
    target: Data,
    *,
    shots: Count = 10,
    seed: Seed = 0,
    test: Data | None = None,
    name: str = "transfer",
) -> Task:
    """Build a task from any data: pre-train on `source`, fit few examples of `target`.

    Validation has as many other examples of `target`; the test split is the rest, or `test` where
    that is given.  Classes are numbered from 0; those of the source may be others, more or fewer.

    Args:
        source: Classes as labels y (N,).
        target: Classes as labels, each with at least 2 `shots` + 1 examples; inputs of the shape of
            the source's.
        shots: Training examples a class.
        seed: Draws them.
        test: The test split, for sets that are published with one.
        name: The name of the task begins with it.

    Raises:
        ValueError: For inputs of two shapes, floating targets or a class with too few examples.

    Example:
        >>> import torch, flatviz as fv
        >>> data = fv.Data(torch.rand(200, 3), torch.arange(200) % 5)
        >>> source = fv.datasets.pick_classes(data, [0, 1, 2])
        >>> target = fv.datasets.pick_classes(data, [3, 4])
        >>> task = fv.datasets.transfer_task(source, target, shots=4, seed=0)
        >>> {name: len(part) for name, part in task.parts().items()}
        {'source': 120, 'train': 8, 'validation': 8, 'test': 64}
    """
    for what, data in {"source": source, "test": test}.items():
        if data is not None and data.x.shape[1:] != target.x.shape[1:]:
            shapes = f"{tuple(data.x.shape[1:])} and {tuple(target.x.shape[1:])}"
            raise ValueError(
                f"{what} and target must have inputs of one shape, got {shapes}: resize one of them"
            )
    if source.y.is_floating_point():
        raise ValueError("source must have class labels, got floating targets: a task has classes")
    parts = few_shot(target, shots, seed=seed)
    n_source = int(source.y.max()) + 1
    n_classes = int(target.y.max()) + 1
    name = f"{name}, {shots} shots a class"
    others = None if n_source == n_classes else n_source
    test = parts.rest if test is None else test
    train = in_memory(parts.train)
    validation = in_memory(parts.validation)
    return Task(source, train, test, n_classes, name, validation, source_classes=others)
