"""A few examples of each class, and as many to choose settings on."""

from __future__ import annotations

from typing import NamedTuple

import torch

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.seeds import generator


class FewShot(NamedTuple):
    """Three disjoint parts of a data set: `shots` a class to train on, `shots` a class to choose settings on, the rest."""

    train: Data
    validation: Data
    rest: Data


def few_shot(data: Data, shots: int, *, seed: int) -> FewShot:
    """Draw `shots` examples a class for training and as many, others, for validation.

    The validation split is as small as the training split: who has ten images a class has no 5,000 to tune on.

    Args:
        data: classes as labels y (N,).
        shots: examples a class in each of the two splits.
        seed: draws them.

    Raises ValueError for a regression, or where a class has fewer than 2 `shots` + 1 examples.

    Example:
        >>> import torch, flatviz as fv
        >>> data = fv.Data(torch.rand(40, 3), torch.arange(40) % 2)
        >>> [len(part) for part in fv.datasets.few_shot(data, 5, seed=0)]
        [10, 10, 20]
    """
    check_count(shots, "shots")
    if data.y.is_floating_point():
        raise ValueError("few_shot needs class labels, got floating targets: take a random subset, data.subset(index)")
    order = torch.randperm(len(data), generator=generator(seed))
    y = data.y.cpu()[order]
    parts: list[list[torch.Tensor]] = [[], [], []]
    for label in y.unique():
        members = order[y == label]
        if len(members) < 2 * shots + 1:
            raise ValueError(
                f"each class must have at least {2 * shots + 1} examples for {shots} shots twice and a rest, "
                f"got {len(members)} of class {int(label)}: lower shots"
            )
        for part, piece in zip(parts, members.tensor_split([shots, 2 * shots])):
            part.append(piece)
    return FewShot(*(data.subset(torch.cat(part).to(data.y.device)) for part in parts))
