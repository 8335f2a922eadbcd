"""Early stopping on a small validation split: the parameters of the best check, and an end once they stay the best."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.storage.files import State
from flatviz.training.gradient import TrainingLoss
from flatviz.training.keywords import Run
from flatviz.training.streams import steps_per_epoch

CHECKS = 50  # of the validation loss in a run at most, and one an epoch at most


class EarlyStopping:
    """Checks `score()` every few steps; stops after `patience` checks without a lower one.

    It looks at the loss of `run.training.validation` at `center()`, (D,), or (B, D) of members trained at once: each has then its
    best, the run ends with the last, and statistics of BatchNorm are those of the last step.

    Args:
        loss: What the fit minimises.
        held: Gives the tensors that the fit moves; `restore` puts the best ones back, in place.
        center: The point whose loss counts.
        run: Validation data, patience, minibatches.
        steps: Of the run.

    Raises:
        ValueError: For data that the network cannot read.
    """

    def __init__(
        self, loss: TrainingLoss, held: Callable[[], list[Tensor]], center: Callable[[], Tensor], run: Run, steps: int
    ) -> None:
        validation, self.patience = run.training.validation, run.training.patience
        loss.check(validation)
        alone = center().ndim == 1
        members, judge = (1, loss.each[0]) if alone else (len(center()), loss)
        statistics = [value for value in loss.state.values() if isinstance(value, Tensor)]
        self.score = lambda: judge.score(center(), validation)
        self.held = lambda: [t[None] for t in (*held(), *statistics)] if alone else held()  # views, a row a member
        self.every = max(steps_per_epoch(len(loss.data), run.batch_size), math.ceil(steps / CHECKS))
        self.best = [t.clone() for t in self.held()]
        self.lowest = torch.full((members,), math.inf, dtype=torch.float64)
        self.since = torch.zeros(members, dtype=torch.long)
        self.losses: list[Tensor] = []

    @property
    def state(self) -> State:
        """All of it, changed in place, for a checkpoint."""
        best = {f"best {i}": t for i, t in enumerate(self.best)}
        return {**best, "lowest": self.lowest, "since": self.since, "validation": self.losses}

    @property
    def over(self) -> bool:
        """Whether the last `patience` checks brought nothing, to any member."""
        return bool((self.since >= self.patience).all())

    def look(self, step: int) -> None:
        """Note the state after `step`, where a check is due."""
        if (step + 1) % self.every:
            return
        loss = self.score().detach()
        self.losses.append(loss)
        now, going = loss.reshape(-1).double().cpu(), self.since < self.patience
        better = going & (now < self.lowest)
        self.lowest[better] = now[better]
        self.since.add_(going.long()).masked_fill_(better, 0)
        for best, held in zip(self.best, self.held()):
            rows = better.to(best.device)
            best[rows] = held[rows]

    def restore(self) -> None:
        """The best tensors back in their places; as they are, where no check was made."""
        checked = self.lowest.isfinite()
        for best, held in zip(self.best, self.held()):
            rows = checked.to(best.device)
            held[rows] = best[rows]
