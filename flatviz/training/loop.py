"""Parts of the driver's loop: early stopping, and steps recorded as CUDA graphs.

A replayed step is one launch in place of hundreds, which dominate a small network's step.  `update`
of a method is recorded: state, minibatch and noise are copied into fixed buffers, and the graph
computes the next state and writes it over the last.  Each size of minibatch has its graph.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.core import Data
from flatviz.engine.graphs import NOT_REPLAYED, Replay, Step, recorder_for
from flatviz.storage.files import State
from flatviz.training.gradient import TrainingLoss
from flatviz.training.settings import Run
from flatviz.training.streams import steps_per_epoch

Moved = Callable[[], list[Tensor]]
CHECKS = 50  # largest number of validation losses in a run, at most one an epoch


class EarlyStopping:
    """Check `score()` every few steps, and stop after `patience` checks without a lower one.

    It takes the loss of `run.training.validation` at `center()`, (D,), or (B, D) of members trained
    at once: each has its own best state, the run ends with the last, and statistics of BatchNorm
    are those of the last step.

    Args:
        validation: The data.
        loss: Loss that the fit minimises.
        moved: Returns the tensors that the fit moves; `restore` puts the best ones back, in place.
        center: The point whose loss counts.
        run: Patience, minibatches.
        steps: Number of steps of the run.

    Raises:
        ValueError: For data that the network cannot read.
    """

    def __init__(
        self,
        validation: Data,
        loss: TrainingLoss,
        moved: Moved,
        center: Callable[[], Tensor],
        run: Run,
        steps: int,
    ) -> None:
        self.patience = run.training.patience
        loss.check(validation)
        alone = center().ndim == 1
        members = 1 if alone else len(center())
        statistics = [value for value in loss.state.values() if isinstance(value, Tensor)]
        self.score = lambda: loss.score(center(), validation)
        self.moved = moved
        if alone:  # views, a row a member
            self.moved = lambda: [t[None] for t in (*moved(), *statistics)]
        epoch = steps_per_epoch(loss.examples, run.batch_size)
        self.every = max(epoch, math.ceil(steps / CHECKS))
        self.last = steps
        self.best = [t.clone() for t in self.moved()]
        self.lowest = torch.full((members,), math.inf, dtype=torch.float64)
        self.since = torch.zeros(members, dtype=torch.long)
        self.losses: list[Tensor] = []

    @property
    def state(self) -> State:
        """Return all of it, changed in place, for a checkpoint."""
        best = {f"best {i}": t for i, t in enumerate(self.best)}
        return {**best, "lowest": self.lowest, "since": self.since, "validation": self.losses}

    @property
    def over(self) -> bool:
        """Tell whether the last `patience` checks improved no member."""
        return bool((self.since >= self.patience).all())

    def look(self, step: int) -> None:
        """Note the state after `step`, where a check is due, as after the last one."""
        done = step + 1
        if done % self.every and done != self.last:
            return
        loss = self.score().detach()
        self.losses.append(loss)
        now = loss.reshape(-1).double().cpu()
        going = self.since < self.patience
        better = going & (now < self.lowest)
        self.lowest[better] = now[better]
        self.since.add_(going.long()).masked_fill_(better, 0)
        for best, moved in zip(self.best, self.moved()):
            rows = better.to(best.device)
            best[rows] = moved[rows]

    def restore(self) -> None:
        """Put the best tensors back in place; change nothing where there was no check."""
        checked = self.lowest.isfinite()
        for best, moved in zip(self.best, self.moved()):
            rows = checked.to(best.device)
            moved[rows] = best[rows]


def replayed(
    update: Callable[..., tuple[NamedTuple, NamedTuple]],
    state: NamedTuple,
    loss: TrainingLoss,
) -> tuple[Step, list[str]]:
    """Return `update` as a replayed step where the state's device records, and the history's notes.

    Notes are added at its first steps.
    """

    def plain(
        state: NamedTuple,
        batch: Tensor | None,
        noise: tuple[Tensor, ...],
    ) -> tuple[NamedTuple, NamedTuple]:
        return update(state, loss, batch, noise)

    recorder = recorder_for(state[0].device)
    notes = list[str]()
    if recorder is None:
        return plain, notes
    if loss.state:
        notes = [
            f"{NOT_REPLAYED}: the loss changes something at each call, statistics of BatchNorm or a"
            " generator"
        ]
    elif not loss.recordable:
        notes = [f"{NOT_REPLAYED}: examples are read part by part, or have several inputs"]
    return plain if notes else Replay(plain, recorder, notes), notes
