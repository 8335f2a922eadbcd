"""The records of a fit, `Optim` and `Run`, which travel inside in place of its keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from flatviz.checks import check_file
from flatviz.core.likelihood import Likelihood
from flatviz.core.progress import Progress
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.passes import Training

Checkpoint = Annotated[str | Path, check_file] | None


@dataclass(frozen=True)
class Optim:
    """SGD with momentum: number of steps, learning rate, momentum, weight decay, examples a minibatch (None: all)."""

    steps: int = 0
    lr: float = 0.0
    momentum: float = 0.9
    weight_decay: float = 0.0
    batch_size: int | None = None


@dataclass(frozen=True)
class Run:
    """How one fit is run: what of its keywords several files read.

    Args:
        seed: Of minibatches and noise.
        checkpoint: Path to save to and resume from.
        progress: Who watches.
        label: What the run is called.
        arguments: A hash of the arguments, which says whose checkpoint a file is; empty without one.
        training: How minibatches pass.
        optim: How it steps.
        likelihood: Of the outputs.
        batchnorm: Whether statistics are "frozen" or of each batch, "train".
        ascent: The perturbation of a flat-seeking version.
    """

    seed: int
    checkpoint: Checkpoint = None
    progress: Progress = False
    label: str = "training"
    arguments: str = ""
    training: Training = Training()
    optim: Optim = Optim()
    likelihood: Likelihood = "categorical"
    batchnorm: str = "frozen"
    ascent: Ascent | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any], label: str) -> Run:
        """From `locals()` on the first line of a fit, `how` and all: the keywords that are fields, and a hash of all."""
        flat = {name: value for name, value in arguments.items() if name != "how"} | arguments.get("how", {})
        optim = Optim(**{f.name: flat[f.name] for f in fields(Optim) if f.name in flat})
        given = {f.name: flat[f.name] for f in fields(cls) if flat.get(f.name) is not None}
        return cls(**given | dict(label=label, arguments=arguments_digest(flat), optim=optim))

    def check_no_validation(self, why: str) -> None:
        """ValueError where there is validation data and `why` it is of no use."""
        if self.training.validation is not None:
            raise ValueError(
                f"training.validation must be None for {self.label}, got {len(self.training.validation)} examples: {why}"
            )
