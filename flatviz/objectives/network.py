"""A number computed from a network's outputs on data, as an objective of its weights: what nll, quantity and bma_nll share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, check_weights
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.objective import Objective, PointEvaluator
from flatviz.core.precision import arithmetic
from flatviz.core.progress import Progress, track
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.engine.evaluate import Plan
from flatviz.engine.plan import EvaluationPlanner


@dataclass(frozen=True, eq=False)
class NetworkObjective(Objective):
    """f(w) = score(outputs on `data`, y); a subclass says which score.

    additive: scores of batches add up, and f is their sum over n.  chunk: examples a batch.
    """

    net: Net = field()
    data: Data = field()
    chunk: int = field()

    differentiable = False
    additive = False
    statistics = None  # a Data from which BatchNorm's are re-estimated at every w; None: frozen

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Of outputs (N, C) and labels: the value, ()."""
        raise NotImplementedError

    @property
    def dim(self) -> int:
        """Number of weights D."""
        return self.net.dim

    @property
    def n(self) -> int:
        """Examples behind the value."""
        return len(self.data)

    @property
    def batchnorm(self) -> str | None:
        """Statistics used: 'frozen', 're-estimated' at each point, or None for a net without BatchNorm."""
        if not self.net.has_batchnorm:
            return None
        return "frozen" if self.statistics is None else "re-estimated"

    def __call__(self, w: Tensor) -> Tensor:
        """The value at `w` (D,)."""
        return self.many(check_weights(w, self.dim)[None])[0]

    @arithmetic()
    def many(self, W: Tensor, *, progress: Progress = False) -> Tensor:
        """Values (S,) at the rows of `W` (S, D), without gradients."""
        check_many_weights(W, self.dim)
        with torch.no_grad():
            if not self.data.is_held and self.additive and self.statistics is None:  # each batch is read once, for all w
                batches = track(self.data.batches(self.chunk), self.label, progress, total=-(-self.n // self.chunk))
                values = sum(torch.stack([self.score(self.net(w, x), y) for w in W]) for x, y in batches) / self.n
            else:
                batches = list(self.data.batches(self.chunk)) if self.data.is_held else None
                values = torch.stack([self.value(w, batches) for w in track(W, self.label, progress)])
            return values.to(W.dtype)

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
        coords: Tensor | None = None,
    ) -> PointEvaluator:
        """Values at origin + coords @ axes, by the engine where it knows the net and the data; arguments as in `Objective`."""
        if self.statistics is not None or not self.data.is_held:
            plain = super().over(origin, axes, precision=precision)
            plain.in_blocks = not self.data.is_held  # each batch is read once, for all points
            return plain
        planner = EvaluationPlanner(self.net, self.data, self.score, additive=self.additive)
        options = dict(exact=exact, precision=precision, coords=coords)
        return planner.evaluator(origin, axes, Plan(**plan) if plan else planner.plan(origin, axes, **options))

    def value(self, w: Tensor, batches: list[tuple[Any, Tensor]] | None) -> Tensor:
        """The value at `w` (D,) from batches of inputs and labels, or from the data itself, ()."""
        batches = self.data.batches(self.chunk) if batches is None else batches
        net = self.net if self.statistics is None else refresh_batchnorm(self.net, w, self.statistics)
        if self.additive:
            return sum(self.score(net(w, x), y) for x, y in batches) / self.n
        return self.score(torch.cat([net(w, x) for x, _ in batches]), self.data.y)
