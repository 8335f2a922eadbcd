"""Early stopping on a small validation split: the parameters of the best check, and an end once they stay the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from flatviz.storage.files import State

CHECKS = 50  # of the validation loss in a run at most, and one an epoch at most


class EarlyStopping:
    """Checks `score()` every few steps; stops after `patience` checks without a lower one.

    held: gives the tensors that a fit moves; `restore` puts the best ones back, in place.  members: B where the first dimension of
    each is that of members trained at once and `score()` is (B,): each has its own best, and the run ends with the last.
    """

    def __init__(
        self,
        score: Callable[[], Tensor],
        held: Callable[[], Sequence[Tensor]],
        *,
        steps: int,
        epoch: int,
        patience: int,
        members: int | None = None,
    ) -> None:
        self.score, self.patience = score, patience
        self.held = lambda: [t[None] if members is None else t for t in held()]  # views, a row a member
        self.every = max(epoch, math.ceil(steps / CHECKS))
        self.best = [t.clone() for t in self.held()]
        self.lowest = torch.full((members or 1,), math.inf, dtype=torch.float64)
        self.since = torch.zeros(members or 1, dtype=torch.long)
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
