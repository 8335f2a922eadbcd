"""Early stopping on a small validation split: the parameters of the best check, and an end once they stay the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from flatviz.storage.checkpoints import State

CHECKS = 50  # of the validation loss in a run at most, and one an epoch at most


class EarlyStopping:
    """Checks `score()` every few steps; stops after `patience` checks without a lower one.

    held: the tensors that a fit moves in place; `restore` puts the best ones back.
    """

    def __init__(self, score: Callable[[], Tensor], held: Sequence[Tensor], *, steps: int, epoch: int, patience: int) -> None:
        self.score, self.held, self.patience = score, held, patience
        self.every = max(epoch, math.ceil(steps / CHECKS))
        self.best = [t.clone() for t in held]
        self.lowest, self.since = torch.tensor(math.inf), torch.tensor(0)
        self.losses: list[Tensor] = []

    @property
    def state(self) -> State:
        """All of it, changed in place, for a checkpoint."""
        best = {f"best {i}": t for i, t in enumerate(self.best)}
        return {**best, "lowest": self.lowest, "since": self.since, "validation": self.losses}

    @property
    def over(self) -> bool:
        """Whether the last `patience` checks brought nothing."""
        return int(self.since) >= self.patience

    def look(self, step: int) -> None:
        """Note the state after `step`, where a check is due."""
        if (step + 1) % self.every:
            return
        loss = self.score().detach()
        self.losses.append(loss)
        if float(loss) < float(self.lowest):
            self.lowest.fill_(float(loss)), self.since.zero_()
            for best, now in zip(self.best, self.held):
                best.copy_(now)
        else:
            self.since += 1

    def restore(self) -> None:
        """The best tensors back in their places; as they are, where no check was made."""
        if math.isfinite(float(self.lowest)):
            for best, now in zip(self.best, self.held):
                now.copy_(best)
