"""The two records that travel inside a fit: how it steps, and how it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flatviz.checks import check_count, check_lr, check_momentum, check_nonnegative
from flatviz.core.data import Data
from flatviz.core.progress import Progress
from flatviz.storage.digest import arguments_digest
from flatviz.training.passes import Passes

Checkpoint = str | Path | None


@dataclass(frozen=True)
class Optim:
    """SGD with momentum: number of steps, learning rate, momentum, weight decay, examples a minibatch (None: all).

    Made at the boundary of each fit from its flat keywords.  Raises ValueError for a value out of range.
    """

    steps: int
    lr: float
    momentum: float = 0.9
    weight_decay: float = 0.0
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_count(self.steps, "steps")
        check_lr(self.lr)
        check_momentum(self.momentum)
        check_nonnegative(self.weight_decay, "weight_decay")
        if self.batch_size is not None:
            check_count(self.batch_size, "batch_size")


@dataclass(frozen=True)
class Run:
    """How one fit is run: seed, path to save to and resume from, progress, its label, and a hash of its arguments.

    `arguments` is empty without a checkpoint: the hash only says whose checkpoint a file is.  passes: how minibatches go
    through the network.  validation: data on which the best parameters are chosen; patience: checks without a lower loss
    after which the fit stops.
    """

    seed: int
    checkpoint: Checkpoint = None
    progress: Progress = False
    label: str = "training"
    arguments: str = ""
    passes: Passes = Passes()
    validation: Data | None = None
    patience: int = 10

    @classmethod
    def of(cls, arguments: Mapping[str, Any], label: str) -> Run:
        """From `locals()` on the first line of a fit: its seed, checkpoint and progress, and a hash of all the rest.

        A fit that takes `precision`, `accumulate`, `compile` and `parallel`, or `validation` and `patience` beside, has them in it.
        """
        digest = arguments_digest(arguments)
        run = cls(arguments["seed"], arguments["checkpoint"], arguments["progress"], label, digest)
        if "accumulate" not in arguments:
            return run
        passes = Passes(*(arguments[name] for name in ("precision", "accumulate", "compile", "parallel")))
        return replace(run, passes=passes, validation=arguments.get("validation"), patience=arguments.get("patience", 10))
