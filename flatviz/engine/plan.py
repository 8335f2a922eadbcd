"""Choosing how to evaluate: by rule, and by comparison with the plain forward before any of it is used."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_choice
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.engine.determinism import CACHE, Work, difference, few_of, tolerance, work_of
from flatviz.engine.evaluate import Evaluator, Plan, Score, parts_of
from flatviz.engine.program import Program
from flatviz.engine.trace import Trace, trace_of

FAST_CACHE = 2 * CACHE  # a fast pass overwrites its activations, so a batch may be twice as large
PRECISIONS = ("float32", "bfloat16")


class EvaluationPlanner:
    """A net, its data and a score, from which evaluators are made; the net is traced, on a copy, for each shape of batch.

    `additive`: scores of batches add up, and the value is their sum over the number of examples.  `layer`: multiply-adds of a
    layer for one example.
    """

    def __init__(self, net: Net, data: Data, score: Score, *, additive: bool = True, layer: float = 0.0) -> None:
        self._dtype = net.w.dtype
        self._nets = {self._dtype: net.copy()}
        self._data, self._score, self._additive, self._layer = data, score, additive, layer
        self._traces: dict[tuple, Trace | None] = {}

    def plan(
        self, origin: Tensor, axes: Tensor, *, exact: bool = False, precision: str | None = None, coords: Tensor | None = None
    ) -> Plan:
        """The plan for points origin + coords @ axes; `exact`: without any reuse between points.

        coords (S, K): the points that are coming, of which some are compared with the plain forward (`probes`).
        """
        own = str(self._dtype).removeprefix("torch.")
        base = Plan(dtype=own if precision is None else check_choice(precision, PRECISIONS, "precision"))
        net, x = self._net(base), self._data.x
        work = work_of(net, x[:2].to(dtype=net.w.dtype) if x.is_floating_point() else x[:2])
        base = replace(base, chunk=min(work.chunk(x.device), len(self._data)))
        if exact:
            return base
        few = self._data.subset(few_of(x, work))
        plan, reason = self._traced(base, work, few), "it could not be traced"
        if plan is not None:
            off, allowed = self._off(plan, origin, axes, probes(coords, axes), few), tolerance(self._dtype)
            if off <= allowed:
                return plan
            reason = f"its outputs would differ by {off:.1g} of the largest, {allowed:.1g} is rounding"
        warnings.warn(f"{net!r} is run in full at every point, which is slower, because {reason}", stacklevel=2)
        return base

    def _traced(self, base: Plan, work: Work, few: Data) -> Plan | None:
        """The plan with all that a trace allows; None where the net cannot be traced.

        Batches are as large as what is made at each point allows, and of one size where that is possible: one program then.
        """
        n, net = len(self._data), self._net(base)
        images = few.x.ndim == 4 and any(isinstance(m, _ConvNd) for m in net.module.modules())
        plan = replace(base, channels_last=images, traced=True, chunk=len(few))
        programs = self._programs(net, parts_of(few, plan))
        if programs is None:
            return None
        chunk = Work(work.macs, programs[0].widest // len(few)).chunk(few.x.device, FAST_CACHE)
        return replace(plan, chunk=-(-n // -(-n // chunk)))

    def evaluator(self, origin: Tensor, axes: Tensor, plan: Plan) -> Evaluator:
        """Values at origin + coords @ axes."""
        return self._make(origin, axes, plan, self._data, self._score, additive=self._additive)

    def _make(self, origin: Tensor, axes: Tensor, plan: Plan, data: Data, score: Score, *, additive: bool) -> Evaluator:
        net, parts = self._net(plan), parts_of(data, plan)
        programs = self._programs(net, parts) if plan.traced else None
        how = dict(programs=programs, additive=additive, layer=self._layer)
        return Evaluator(net, parts, data.y, score, origin, axes, plan, **how)

    def _programs(self, net: Net, parts: Sequence[Tensor]) -> list[Program] | None:
        """A program for each batch, or None where one cannot be traced; batches of one shape, dtype and memory order share it."""
        full, keys = self._nets[self._dtype].buffers(), [(x.dtype, x.shape, x.stride(), net.w.dtype) for x in parts]
        statistics = {id(b): full[name] for name, b in net.buffers().items()}
        programs: dict[tuple, Program] = {}
        for key, x in zip(keys, parts):
            if key not in self._traces:
                self._traces[key] = trace_of(net, x)
            trace = self._traces[key]
            if trace is None:
                return None
            if key not in programs:
                programs[key] = Program(trace, statistics)
        return [programs[key] for key in keys]

    def _off(self, plan: Plan, origin: Tensor, axes: Tensor, coords: Tensor, few: Data) -> float:
        """How far the plan's outputs on a few examples are from the module's own, at origin + coords @ axes.

        In the net's own dtype; in another one it must run, else inf.
        """

        def outputs(out: Tensor, _: Tensor) -> Tensor:
            return out

        plain = Plan(chunk=plan.chunk, dtype=str(self._dtype).removeprefix("torch."))
        results = []
        for tried in [replace(plan, dtype=plain.dtype), plain] + [plan] * (plan.dtype != plain.dtype):
            try:
                evaluate = self._make(origin, axes, tried, few, outputs, additive=False)
                results.append(evaluate(coords))
            except (RuntimeError, NotImplementedError):
                return math.inf
        return max(map(difference, results[0], results[1])) if len(results[0]) == len(results[1]) else math.inf

    def _net(self, plan: Plan) -> Net:
        dtype = getattr(torch, plan.dtype)
        if dtype not in self._nets:
            self._nets[dtype] = self._nets[self._dtype].to(dtype=dtype)
        return self._nets[dtype]


def probes(coords: Tensor | None, axes: Tensor) -> Tensor:
    """Where a plan is compared with the plain forward: corners of the extent, the origin, four points drawn from `coords`.

    Without `coords`: the origin, and 0.3 along all axes.
    """
    k = len(axes)
    if coords is None or not coords.numel():
        return torch.tensor([[0.0] * k, [0.3] * k], dtype=axes.dtype, device=axes.device)
    ends = torch.stack([coords.min(0).values, coords.max(0).values])
    corners = torch.cartesian_prod(*ends.T).view(-1, k)
    drawn = torch.randint(len(coords), (4,), generator=generator(0))
    return torch.cat([corners, torch.zeros_like(ends[:1]), coords[drawn.to(coords.device)]]).to(axes)
