"""A number computed from a network's outputs on data, as an objective of its weights: what nll, quantity and bma_nll share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, check_weights
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.objective import Objective, PointEvaluator
from flatviz.core.precision import arithmetic
from flatviz.core.progress import Progress, track
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.engine.determinism import same_to_rounding
from flatviz.engine.evaluate import Evaluator, Plan
from flatviz.engine.plan import EvaluationPlanner


@dataclass(frozen=True, eq=False)
class NetworkObjective(Objective):
    """f(w) = score(outputs on `data`, y); a subclass says which score.

    additive: scores of batches add up, and f is their sum over n.  An ensemble instead has several `members(w)`, whose
    scores are `joined`.  chunk: examples a batch.
    """

    net: Net = field()
    data: Data = field()
    chunk: int = field()

    differentiable = False
    additive = ensemble = False
    statistics = None  # a Data from which BatchNorm's are re-estimated at every w; None: frozen

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Of outputs (N, C) and labels: the value, (); for an ensemble, what `joined` takes."""
        raise NotImplementedError

    def members(self, w: Tensor) -> list[Tensor]:
        """Weight vectors (D,) of the ensemble at `w`; of a single network, `w` itself."""
        return [w]

    def joined(self, scores: Sequence[Tensor]) -> Tensor:
        """The value from the scores of all members; with a leading dimension of points (S, ...), values (S,)."""
        return scores[0]

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
                rows = [[self._scored(v, batches) for v in self.members(w)] for w in track(W, self.label, progress)]
                values = torch.stack([self.joined(row) for row in rows])
            return values.to(W.dtype)

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
        coords: Tensor | None = None,
    ) -> PointEvaluator:
        """Values at origin + coords @ axes by the engine, each member on a plane of its own; arguments as in `Objective`.

        Raises:
            ValueError: For a precision where statistics are re-estimated.
        """
        if self.statistics is not None:
            if precision is not None:
                raise ValueError(
                    f"precision needs frozen BatchNorm statistics, got {precision!r} with statistics re-estimated at every "
                    "point: leave it out, or use batchnorm='frozen'"
                )
            return PointEvaluator(self, origin, axes)
        planner = EvaluationPlanner(self.net, self.data, self.score, additive=self.additive)
        origins, options = self.members(origin), dict(exact=exact, precision=precision, coords=coords)
        chosen = Plan(**plan) if plan else planner.plan(origins[0], axes, points, **options)
        evaluators = planner.evaluators(origins, axes, chosen)
        return _Joined(self, evaluators) if self.ensemble else evaluators[0]

    def _scored(self, w: Tensor, batches: list[tuple[Tensor, Tensor]] | None) -> Tensor:
        batches = self.data.batches(self.chunk) if batches is None else batches
        net = self.net if self.statistics is None else refresh_batchnorm(self.net, w, self.statistics)
        if self.additive:
            return sum(self.score(net(w, x), y) for x, y in batches) / self.n
        return self.score(torch.cat([net(w, x) for x, _ in batches]), self.data.y)


class _Joined:
    """Values of an objective of several members, from an evaluator of each."""

    def __init__(self, f: NetworkObjective, evaluators: list[Evaluator]) -> None:
        self._f, self._evaluators, self.plan = f, evaluators, evaluators[0].plan

    @property
    def in_blocks(self) -> bool:
        """Whether several points in one call cost less than each alone."""
        return any(evaluate.in_blocks for evaluate in self._evaluators)

    def __call__(self, coords: Tensor) -> Tensor:
        """Values (S,) at coords (S, K)."""
        return self._joined([evaluate(coords) for evaluate in self._evaluators]).to(coords.dtype)

    def confirms(self, coords: Tensor, values: Tensor) -> bool:
        """Whether the plain forward gives `values` (S,) at coords (S, K)."""
        if self.plan.is_reduced(coords.dtype):
            return True
        plain = self._joined([evaluate.plainly(coords) for evaluate in self._evaluators])
        return same_to_rounding(values.to(coords), plain.to(coords.dtype))

    def _joined(self, scores: list[Tensor]) -> Tensor:
        """One point at a time, so that a value rounds alike whatever points come with it."""
        return torch.stack([self._f.joined(point) for point in zip(*scores)])
