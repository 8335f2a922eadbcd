"""Batched losses: members trained at once, one loss for several weight vectors, a row each, and a minibatch for each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll_rows
from flatviz.core.net import Net
from flatviz.engine.stacked import Stacked, Vmapped, forward
from flatviz.storage.files import State
from flatviz.training.gradient import TrainingLoss


class SequentialLoss(TrainingLoss):
    """Losses of the rows of W (B, D), each computed by itself; `value_and_grad` takes their gradients one by one."""

    def __init__(self, losses: Sequence[TrainingLoss]) -> None:
        first = losses[0]
        self.losses, self.data, self.passes, self.layer = losses, first.data, first.passes, first.layer

    @property
    def each(self) -> Sequence[TrainingLoss]:
        """The loss of each row by itself."""
        return self.losses

    @property
    def state(self) -> State:
        """The states of all, each once: draws of a member share one."""
        return {f"{i} {name}": value for i, loss in enumerate(dict.fromkeys(self.losses)) for name, value in loss.state.items()}

    def in_one_pass(self, rows: int, index: Tensor | None) -> bool:
        """Never: each row is computed by itself."""
        return False

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        self.losses[0].check(data)

    def score(self, W: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at each row, (B,)."""
        return torch.stack([loss.score(w, data) for loss, w in zip(self.losses, W.unbind())])


class BatchedLoss(SequentialLoss):
    """(W (B, D), index (B, n) or None) -> losses (B,) from one pass over all rows, where that is faster than row by row."""

    def __init__(self, net: Net, likelihood: Likelihood, network: Stacked | Vmapped, losses: Sequence[TrainingLoss]) -> None:
        super().__init__(losses)
        self.net, self.likelihood, self.network = net, likelihood, network
        self.inputs = network.features(self.data.batch(None)[0])

    def in_one_pass(self, rows: int, index: Tensor | None) -> bool:
        """Whether one pass is faster than row by row, and fits a GPU's memory."""
        return self.network.worth_batching(rows, len(self.data) if index is None else index.shape[1])

    def __call__(self, W: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss of each row."""
        x, y = (self.inputs, self.data.y) if index is None else (_rows(self.inputs, index), self.data.y[index])
        if index is None:
            y = y.expand(len(W), *y.shape)
        return mean_nll_rows(self.network(W, x), y, self.likelihood)

    def score(self, W: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at each row, (B,)."""
        return mean_nll_rows(forward(self.net, W, data.x), data.y.expand(len(W), *data.y.shape), self.likelihood)


def _rows(x: Tensor, index: Tensor) -> Tensor:
    """x[index], (B, n, ...); whole rows are copied, where indexing by a table of indices goes number by number."""
    return x.index_select(0, index.flatten()).unflatten(0, index.shape)
