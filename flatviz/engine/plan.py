"""Choosing how to evaluate: by rule where the work is small, by a short timed trial where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_choice
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.engine.determinism import few_of, same_to_rounding, work_of
from flatviz.engine.evaluate import Evaluator, Plan, Score, parts_of
from flatviz.engine.trace import graph_of

TRIAL_WORK = 5e9  # multiply-adds of a whole job from which a trial pays for itself
TRIAL_EXAMPLES = 128
PRECISIONS = ("float32", "tf32", "bfloat16")


class EvaluationPlanner:
    """A net, its data and a score, from which evaluators are made; traced once, on a copy of the net.

    `additive`: scores of batches add up, and the value is their sum over the number of examples.
    """

    def __init__(self, net: Net, data: Data, score: Score, *, additive: bool = True) -> None:
        self._nets = {net.w.dtype: net.copy()}
        self._data, self._score, self._additive = data, score, additive
        self._graph = graph_of(self._nets[net.w.dtype], data.x[:2])
        self._own = net.w.dtype

    def plan(
        self,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        coords: Tensor | None = None,
    ) -> Plan:
        """The plan for `points` points origin + coords @ axes; `exact`: without any reuse between points.

        coords (S, K): the points that are coming, of which some are compared with the plain forward (`probes`).
        """
        base = Plan(dtype=str(self._own).removeprefix("torch."))
        if precision is not None:
            check_choice(precision, PRECISIONS, "precision")
            if precision == "tf32" and origin.device.type != "cuda":
                raise ValueError(f"precision='tf32' needs CUDA tensors, got {origin.device.type}: use 'float32' or 'bfloat16'")
            base = replace(base, dtype=precision.replace("tf32", "float32"), tf32=precision == "tf32")
        net = self._net(base)
        x = self._data.x
        work = work_of(net, x[:2].to(self._dtype(base)) if x.is_floating_point() else x)
        images = x.ndim == 4 and any(isinstance(m, _ConvNd) for m in net.module.modules())
        base = replace(base, chunk=min(work.chunk(x.device), len(self._data)))
        if exact:
            return base
        plan = replace(base, channels_last=images)
        if self._graph is not None:
            plan = replace(plan, fold=True, prefix=True, reuse=len(axes) > 0)
        macs = len(self._data) * work.macs
        if points >= 256 and points * macs >= TRIAL_WORK:
            plan = self._trial(plan, origin, axes, small=macs < 2e8)
        tried = probes(coords, axes)
        return plan if self._agrees(plan, origin, axes, tried, self._data.subset(few_of(x, work))) else base

    def evaluator(self, origin: Tensor, axes: Tensor, plan: Plan) -> Evaluator:
        """Values at origin + coords @ axes, by `plan`."""
        return self.evaluators([origin], axes, plan)[0]

    def evaluators(self, origins: Sequence[Tensor], axes: Tensor, plan: Plan) -> list[Evaluator]:
        """One for each origin; they share the data and the memory that what is frozen may take."""
        shared = dict(parts=parts_of(self._data, plan), share=len(origins))
        return [self._make(origin, axes, plan, self._data, **shared) for origin in origins]

    def _make(
        self, origin: Tensor, axes: Tensor, plan: Plan, data: Data, score: Score | None = None, **shared: Any
    ) -> Evaluator:
        scale = 1 / len(self._data) if self._additive else 1.0
        made = dict(graph=self._graph, additive=self._additive and score is None, scale=1.0 if score else scale)
        made["statistics"] = self._nets[self._own].buffers()
        return Evaluator(self._net(plan), data, score or self._score, origin, axes, plan, **made, **shared)

    def _trial(self, plan: Plan, origin: Tensor, axes: Tensor, *, small: bool) -> Plan:
        """The fastest of a few neighbours, each timed on a few examples."""
        steps: list[list[dict]] = [[{"chunk": max(8, plan.chunk // 2)}, {"chunk": plan.chunk * 2}, {"chunk": plan.chunk * 4}]]
        if plan.channels_last:
            steps.append([{"channels_last": False}])
        if self._graph is not None:
            steps += [[{"reuse": False}]] if len(axes) else []
            steps += [[{"fold": False}]] if plan.channels_last else []
        if small or origin.device.type == "cuda":
            steps.append([{"stack": 8, "channels_last": False}, {"stack": 64, "channels_last": False}])
        data = self._data.subset(slice(0, len(self._data) if small else TRIAL_EXAMPLES))
        best = self._time(plan, origin, axes, data)
        for options in steps:
            for change in options:
                tried = replace(plan, **change)
                seconds = self._time(tried, origin, axes, data)
                if seconds < 0.95 * best:
                    plan, best = tried, seconds
        return plan

    def _time(self, plan: Plan, origin: Tensor, axes: Tensor, data: Data) -> float:
        """Seconds a point."""
        evaluate = self._make(origin, axes, plan, data)
        n = max(plan.stack, 2)
        coords = torch.zeros(n, len(axes), dtype=origin.dtype, device=origin.device)
        W = origin.expand(n, -1)
        run: Callable[[], Tensor] = (lambda: evaluate(coords)) if len(axes) else (lambda: evaluate.values_at(W))
        seconds = []
        try:
            for _ in range(3):  # the first one also prepares what is kept
                start = time.perf_counter()
                float(run()[0])
                seconds.append(time.perf_counter() - start)
        except (RuntimeError, NotImplementedError):  # vmap cannot stack this module
            return float("inf")
        return min(seconds[1:]) / n

    def _agrees(self, plan: Plan, origin: Tensor, axes: Tensor, coords: Tensor, few: Data) -> bool:
        """Whether the plan gives the module's own outputs on a few examples, at origin + coords @ axes, to rounding.

        In the net's own dtype; in another one it must run.
        """

        def outputs(out: Tensor, _: Tensor) -> Tensor:
            return out

        own = Plan(chunk=plan.chunk, dtype=str(self._own).removeprefix("torch."))
        made = []
        for tried in [replace(plan, dtype=own.dtype, tf32=False), own] + [plan] * (plan.dtype != own.dtype):
            try:
                evaluate = self._make(origin, axes, tried, few, outputs)
                made.append(evaluate(coords) if len(axes) else evaluate.values_at(origin + coords @ axes))
            except (RuntimeError, NotImplementedError, TypeError, KeyError):
                return False
        return made[0].shape == made[1].shape and all(map(same_to_rounding, made[0], made[1]))

    def _net(self, plan: Plan) -> Net:
        dtype = self._dtype(plan)
        if dtype not in self._nets:
            self._nets[dtype] = self._nets[self._own].to(dtype=dtype)
        return self._nets[dtype]

    @staticmethod
    def _dtype(plan: Plan) -> torch.dtype:
        return getattr(torch, plan.dtype)


def probes(coords: Tensor | None, axes: Tensor) -> Tensor:
    """Where a plan is compared with the plain forward: corners of the extent, the origin, four points drawn from `coords`.

    Without `coords`: the origin, and 0.3 along all axes.  Beyond three axes, two opposite corners only.
    """
    k = len(axes)
    if coords is None or not coords.numel():
        return torch.tensor([[0.0] * k, [0.3] * k], dtype=axes.dtype, device=axes.device)
    ends = torch.stack([coords.min(0).values, coords.max(0).values])
    corners = torch.cartesian_prod(*ends.T).view(-1, k) if k <= 3 else ends
    drawn = torch.randint(len(coords), (4,), generator=generator(0))
    return torch.cat([corners, torch.zeros_like(ends[:1]), coords[drawn.to(coords.device)]]).to(axes)
