"""What sees every operation that reaches torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

OFF = {"training": False, "train": False, "dropout_p": 0.0, "dropout": 0.0}  # arguments by which an operation draws nothing


def named(operation: Any, args: tuple, kwargs: dict) -> dict[str, Any]:
    """The arguments of an operation by name, defaults included."""
    places = operation._schema.arguments
    return {a.name: a.default_value for a in places} | dict(zip((a.name for a in places), args)) | kwargs


def draws(operation: Any, args: tuple, kwargs: dict) -> bool:
    """Whether an operation draws random numbers: attention or RReLU in evaluation mode could, and do not."""
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        return False
    given = named(operation, args, kwargs)
    return not any(given[name] == off for name, off in OFF.items() if name in given)


class Dispatch(TorchDispatchMode):
    """A `TorchDispatchMode` that loads no compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, with sympy: 1.5 s and 150 MB
