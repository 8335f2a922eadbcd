"""The records of a fit: `Training`, which a user gives, and `Optim` and `Run`, which travel inside in place of its keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

from flatviz.checks import check_count, check_file, kind
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.progress import Progress
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.passes import Passes

Checkpoint = Annotated[str | Path, check_file] | None


@dataclass(frozen=True, eq=False)
class Training(Passes):
    """How a fit goes through its examples, whatever it minimises: `training=fv.Training(...)`.

    `pretrain`, `train_pool` and every `fit_*` that takes gradient steps have it: all but `fit_hmc`; `fit_ptl` hands on its `settings=`.

    Args:
        precision: "bfloat16" computes the network's products in that type (autocast); weights, gradients, posterior and
            perturbation stay in float32.
        accumulate: parts of a minibatch that pass one after another: the same gradient in less memory; BatchNorm then
            normalises each part by itself.
        parallel: share each minibatch among the processes that `torchrun --nproc-per-node=2 script.py` started, averaging
            gradients; batch_size is of all together, every process holds net and data and draws the same noise, and
            BatchNorm normalises each share.
        validation: the parameters returned are those with the least loss on it (a Gaussian's at its mean; of an ensemble
            each member's own), checked once an epoch and at most 50 times; `history.validation` holds it.
        patience: checks without a lower loss that end the run.

    Chains, SWAG and pools, which have no one best place, take no validation; dropout and a sampled trunk, which draw noise for
    a whole minibatch, take of the first three precision alone.
    Raises ValueError for a value out of range, and parallel=True in a script that `torchrun` did not start.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> how = fv.Training(accumulate=2, validation=task.source, patience=3)
        >>> len(fv.fit_sgd(net, task.train, seed=0, training=how).history.validation) < 50  # it stopped early
        True
    """

    made_by = "make one, fv.Training(accumulate=2)"

    validation: Data | None = None
    patience: int = 10

    def __post_init__(self) -> None:
        check_count(self.patience, "patience")
        kind((Data, NoneType), "a Data", "task.validation is one")(self.validation, "validation")
        super().__post_init__()


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

    @property
    def passes(self) -> Passes:
        """How each minibatch goes through the network."""
        return self.training

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

    def check_passes(self, why: str) -> None:
        """ValueError where minibatches go in parts or on several processes, and `why` they cannot."""
        if not self.passes.whole:
            raise ValueError(f"{self.label} takes of fv.Training precision and validation alone, got {self.training}: {why}")
