"""Fast evaluation of a network's loss at many points of a line or plane of weight space.

A plan says how; its outputs are compared with those of the plain forward pass.
"""

import math
import operator
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.conv import _ConvNd

from flatviz.core import Data, Net, PointEvaluator, generator
from flatviz.core.arithmetic import arithmetic, threads, workers
from flatviz.engine.cost import CACHE, Work, few_of, work_of
from flatviz.engine.determinism import difference, tolerance
from flatviz.engine.trace import Program, trace_of
from flatviz.private import cached_property
from flatviz.words import check_choice

# Bytes of frozen activations kept, of all batches and members; more are recomputed for each block
MEMORY = 2**30
Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Plan:
    """Choices for the evaluation of points, by rule, so that a resumed run gives the same bytes.

    Args:
        chunk: Examples a batch.
        channels_last: Memory order of images.
        traced: The frozen part of the network runs once, and layers that are affine in the treated
            weights are summed, not run; not where the module could not be traced, or gave other
            outputs.
        dtype: Of activations and weights.
    """

    chunk: int = 4096
    channels_last: bool = False
    traced: bool = False
    dtype: str = "float32"


class Evaluator(PointEvaluator):
    """Compute the sum of score(outputs, y) over `data` at origin + coords @ axes.

    The result is (S,) for coords (S, K), with origin (D,) and axes (K, D).  With an additive
    planner the scores of batches are summed and divided by the number of examples; otherwise the
    score gets all outputs at once, and may return a tensor.  Without programs the net itself runs.

    few: examples to use in place of the planner's; the values are then their outputs.

    Memory, beside weights and data (once more where the plan changes dtype or order): a few times
    the largest activation of a batch, and MEMORY bytes for frozen activations.
    """

    def __init__(
        self,
        planner: "EvaluationPlanner",
        origin: Tensor,
        axes: Tensor,
        plan: Plan,
        few: Data | None = None,
    ) -> None:
        net = planner.net(plan)
        data = planner.data if few is None else few
        parts = parts_of(data, plan)
        programs = planner.programs(net, parts) if plan.traced else None
        self.plan = plan
        self._net = net
        self._additive = planner.additive and few is None
        self._score = planner.score if few is None else lambda outputs, _: outputs
        self.reuses = plan.traced
        self._work = (
            max((p.layer for p in programs), default=0.0)
            if programs
            else planner.layer * plan.chunk
        )
        self._scale = 1 / len(data.y) if self._additive else 1.0
        self._origin = origin
        self._axes = axes
        self._parts = parts
        self._ys = list(data.y.split(plan.chunk))
        self._programs = programs
        self._no_grad = torch.inference_mode if programs else torch.no_grad

    def __call__(self, coords: Tensor) -> Tensor:
        """Compute values (S,) at origin + coords @ axes.

        Python threads share the points where that pays; each runs on one core, and they meet only
        at the end.
        """
        shared = self._programs is not None and self._additive and self._origin.device.type == "cpu"
        n = min(workers(self._work), len(coords)) if shared else 1
        with arithmetic(), threads(self._work), self._no_grad(), ThreadPoolExecutor(n) as pool:
            shares = [
                (some, self._started, self._work if n == 1 else 0.0)
                for some in coords.tensor_split(n)
            ]
            values = torch.cat(list((map if n == 1 else pool.map)(self._values, *zip(*shares))))
        # A tensor made in inference mode cannot be used in autograd; its copy can
        return values.clone()

    def _values(self, coords: Tensor, kept: list | None, work: float) -> Tensor:
        """Compute values at some of the points, on as many torch threads as pay for `work`."""
        dtype = self._origin.dtype
        rows = coords.tolist()
        scores: list[list[Tensor]] = [[] for _ in rows]
        with self._no_grad(), threads(work):
            # The flat buffer that the programs' weights are views of
            wide = self._origin.detach().clone()
            narrow = wide if self._net.w.dtype == dtype else wide.to(self._net.w.dtype)
            weights = {program: program.weights(narrow) for program in set(self._programs or ())}
            read = (
                slice(None)
                if self._programs is None
                else _span([t for env in weights.values() for t in env.values()])
            )
            flat = _Along(self._origin[read], *self._axes[:, read])
            for j, y in enumerate(self._ys):
                started = kept[j] if kept else self._start(j)
                sums = [] if self._programs is None else [_Along(*layer) for layer in started[1]]
                for i, row in enumerate(rows):
                    flat(row, out=wide[read])
                    if narrow is not wide:
                        narrow[read].copy_(wide[read])
                    if self._programs is None:
                        out = self._net(narrow, started)
                    else:
                        program = self._programs[j]
                        out = program.run(
                            started[0], weights[program], [layer(row) for layer in sums]
                        )
                    out = out.to(dtype) if out.is_floating_point() else out
                    scores[i].append(self._score(out, y).double() if self._additive else out)
            if self._additive:
                values = [reduce(operator.add, row) for row in scores]
            else:
                y = torch.cat(self._ys)
                values = [
                    torch.as_tensor(self._score(torch.cat(outs), y)).double() for outs in scores
                ]
            return (torch.stack(values) * self._scale).to(dtype)

    def _start(self, j: int) -> Any:
        """Start batch `j`: its inputs, or the frozen values of its program."""
        if self._programs is None:
            return self._parts[j]
        w = self._origin.to(self._net.w.dtype)
        axes = self._axes.to(self._net.w.dtype)
        kept, layers = self._programs[j].start(self._parts[j], w, axes)
        order = self.plan
        return {v: laid_out(t, order) for v, t in kept.items()}, [
            tuple(laid_out(t, order) for t in la) for la in layers
        ]

    @cached_property
    def _started(self) -> list | None:
        """Return all batches, started once, where their values fit in memory.

        The first batch shows whether they do.
        """
        first = self._start(0)
        fits = self._programs is None or self._bytes(*first) <= MEMORY
        return [first, *map(self._start, range(1, len(self._parts)))] if fits else None

    def _bytes(self, kept: dict, layers: list) -> int:
        """Estimate the bytes of frozen activations of all batches from those of the first."""
        resident = [
            t
            for t in [*kept.values(), *(t for layer in layers for t in layer)]
            if t is not self._parts[0]
        ]
        total = sum(len(part) for part in self._parts)
        return sum(t.numel() * t.element_size() for t in resident) * total // len(self._parts[0])


def _span(views: list[Tensor]) -> slice:
    """Return the part of a flat vector that covers these views of it."""
    ends = [
        t.storage_offset() + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) + 1
        for t in views
    ]
    return slice(min((t.storage_offset() for t in views), default=0), max(ends, default=0))


class _Along:
    """Compute base + sum_i c_i part_i, where each point's rounding is the same in any call.

    Points of a row share the sum of all terms but the last.
    """

    def __init__(self, base: Tensor, *parts: Tensor) -> None:
        self._base = base
        self._parts = parts
        self._row: list[float] | None = None

    def __call__(self, row: list[float], out: Tensor | None = None) -> Tensor:
        if row[:-1] != self._row:
            self._row = row[:-1]
            self._shared = self._base
            for c, part in zip(self._row, self._parts):
                self._shared = torch.add(self._shared, part, alpha=c)
        return torch.add(self._shared, self._parts[-1], alpha=row[-1], out=out)


def parts_of(data: Data, plan: Plan) -> list[Tensor]:
    """Split inputs into batches, in the plan's dtype and memory order."""
    parts = data.tensor().split(plan.chunk)
    dtype = getattr(torch, plan.dtype)
    return [
        laid_out(part.to(dtype=dtype) if part.is_floating_point() else part, plan) for part in parts
    ]


def laid_out(value: Tensor, plan: Plan) -> Tensor:
    """Convert images to the plan's memory order.

    A first layer with one channel cannot tell the two orders apart.
    """
    image = plan.channels_last and isinstance(value, Tensor) and value.ndim == 4
    return value.contiguous(memory_format=torch.channels_last) if image else value


# A fast pass makes fewer activations, and reuses their memory, so that batches may be larger
FAST_CACHE = 4 * CACHE
PRECISIONS = ("float32", "bfloat16")


class EvaluationPlanner:
    """A net, its data and a score, from which evaluators are built.

    The net is traced, on a copy, for each shape of batch.

    Attributes:
        additive: Scores of batches add up, and the value is their sum over the number of examples.
        layer: multiply-adds of a layer for one example.
    """

    def __init__(
        self, net: Net, data: Data, score: Score, *, additive: bool = True, layer: float = 0.0
    ) -> None:
        self._dtype = net.w.dtype
        self._nets = {self._dtype: net.copy()}
        self.data = data
        self.score = score
        self.additive = additive
        self.layer = layer
        self._traced_as: dict[tuple, Program | None] = {}

    def plan(
        self,
        origin: Tensor,
        axes: Tensor,
        *,
        exact: bool = False,
        precision: str | None = None,
        coords: Tensor | None = None,
    ) -> Plan:
        """Choose the plan for points origin + coords @ axes; `exact`: points share no work.

        coords: points (S, K) that will follow; some of them are compared with the plain forward
        (`probes`).
        """
        native = str(self._dtype).removeprefix("torch.")
        base = Plan(
            dtype=native if precision is None else check_choice(precision, PRECISIONS, "precision")
        )
        net = self.net(base)
        x = self.data.x
        work = work_of(net, x[:2].to(dtype=net.w.dtype) if x.is_floating_point() else x[:2])
        base = replace(base, chunk=min(work.chunk(x.device), len(self.data)))
        if exact:
            return base
        few = self.data.subset(few_of(x, work))
        plan = self._traced(base, work, few)
        reason = "it could not be traced"
        if plan is not None:
            off = self._off(plan, origin, axes, probes(coords, axes), few)
            allowed = tolerance(self._dtype)
            if off <= allowed:
                return plan
            reason = (
                f"its outputs would differ by {off:.1g} of the largest, {allowed:.1g} is rounding"
            )
        warnings.warn(
            f"{net!r} is run in full at every point, which is slower, because {reason}",
            stacklevel=2,
        )
        return base

    def _traced(self, base: Plan, work: Work, few: Data) -> Plan | None:
        """Plan all that a trace allows; None where the net cannot be traced.

        Batches are as large as the activations at each point allow, and of equal size where
        possible, so that one program serves all.
        """
        n = len(self.data)
        net = self.net(base)
        images = few.x.ndim == 4 and any(isinstance(m, _ConvNd) for m in net.module.modules())
        plan = replace(base, channels_last=images, traced=True, chunk=len(few))
        programs = self.programs(net, parts_of(few, plan))
        if programs is None:
            return None
        chunk = Work(work.macs, programs[0].widest // len(few)).chunk(few.x.device, FAST_CACHE)
        return replace(plan, chunk=-(-n // -(-n // chunk)))

    def programs(self, net: Net, parts: Sequence[Tensor]) -> list[Program] | None:
        """A program for each batch, or None where one cannot be traced.

        Batches of one shape, dtype and memory order share it.
        """
        programs = []
        for x in parts:
            key = x.dtype, x.shape, x.stride(), net.w.dtype
            if key not in self._traced_as:
                self._traced_as[key] = trace_of(net, x)
            if (program := self._traced_as[key]) is None:
                return None
            programs.append(program)
        return programs

    def _off(self, plan: Plan, origin: Tensor, axes: Tensor, coords: Tensor, few: Data) -> float:
        """Measure how far the plan's outputs on a few examples are from the module's.

        A plan in the net's dtype is compared at points origin + coords @ axes; one in another dtype
        only has to run.  inf where it fails.
        """
        plain = Plan(chunk=plan.chunk, dtype=str(self._dtype).removeprefix("torch."))
        results = []
        for tried in [replace(plan, dtype=plain.dtype), plain] + [plan] * (
            plan.dtype != plain.dtype
        ):
            try:
                results.append(Evaluator(self, origin, axes, tried, few)(coords))
            except (RuntimeError, NotImplementedError):
                return math.inf
        if len(results[0]) == len(results[1]):
            return max(map(difference, results[0], results[1]))
        return math.inf

    def net(self, plan: Plan) -> Net:
        """Return the net in the plan's dtype."""
        dtype = getattr(torch, plan.dtype)
        if dtype not in self._nets:
            self._nets[dtype] = self._nets[self._dtype].to(dtype=dtype)
        return self._nets[dtype]


def probes(coords: Tensor | None, axes: Tensor) -> Tensor:
    """Choose points where a plan is compared with the plain forward.

    They are corners of the extent, the origin, and four points drawn from `coords`; without
    `coords`, the origin, and 0.3 along all axes.
    """
    k = len(axes)
    if coords is None or not coords.numel():
        return torch.tensor([[0.0] * k, [0.3] * k], dtype=axes.dtype, device=axes.device)
    ends = torch.stack([coords.min(0).values, coords.max(0).values])
    corners = torch.cartesian_prod(*ends.T).view(-1, k)
    drawn = torch.randint(len(coords), (4,), generator=generator(0))
    middle = torch.zeros_like(ends[:1])
    return torch.cat([corners, middle, coords[drawn.to(coords.device)]]).to(axes)
