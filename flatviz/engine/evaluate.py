"""Fast evaluation of a network's loss at many points of a line or plane of weight space.

The part of the network that no treated weight enters runs once, and layers that are affine in the
weights are summed, not run.  The outputs are compared with those of the plain forward pass.
"""

import math
import operator
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.conv import _ConvNd

from flatviz.core import Data, Net, PointEvaluator, generator
from flatviz.core.arithmetic import arithmetic, threads, workers
from flatviz.engine.cost import CACHE, Work, few_of, work_of
from flatviz.engine.determinism import difference, tolerance
from flatviz.engine.trace import Program, recorded
from flatviz.private import cached_property
from flatviz.words import check_choice

# Bytes of frozen activations kept, of all batches and members; more are recomputed for each block
MEMORY = 2**30
# A fast pass makes fewer activations, and reuses their memory, so that batches may be larger
FAST_CACHE = 4 * CACHE
PRECISIONS = ("float32", "bfloat16")
Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Plan:
    """Choices for the evaluation of points, by rule, so that a resumed run gives the same bytes.

    Args:
        chunk: Examples a batch.
        channels_last: Memory order of images.
        dtype: Dtype of activations and weights.
    """

    chunk: int
    channels_last: bool
    dtype: torch.dtype

    def laid_out(self, value: Tensor) -> Tensor:
        """Convert images to the plan's memory order.

        A first layer with one channel cannot tell the two orders apart.
        """
        if self.channels_last and value.ndim == 4:
            return value.contiguous(memory_format=torch.channels_last)
        return value

    def batches(self, data: Data) -> list[Tensor]:
        """Split inputs into batches, in the plan's dtype and memory order."""
        x = data.tensor()
        if x.is_floating_point():
            x = x.to(self.dtype)
        return list(map(self.laid_out, x.split(self.chunk)))


@dataclass(frozen=True, eq=False)
class Scored:
    """A network with its data and a score of outputs (N, C) and labels.

    With `additive` the scores of batches are summed and divided by the number of examples;
    otherwise the score gets all outputs at once, and may return a tensor.
    """

    net: Net
    data: Data
    score: Score
    additive: bool


class Evaluator(PointEvaluator):
    """Compute the score at origin + coords @ axes, (S,) for coords (S, K), by traced programs.

    Memory, beside weights and data (once more where the plan changes dtype or order): a few times
    the largest activation of a batch, and MEMORY bytes for frozen activations.
    """

    reuses = True

    def __init__(
        self,
        problem: Scored,
        plan: Plan,
        origin: Tensor,
        axes: Tensor,
    ) -> None:
        self.problem = problem
        self.plan = plan
        self.origin = origin
        self.axes = axes
        self._batches = plan.batches(problem.data)
        self._labels = problem.data.y.split(plan.chunk)
        net = problem.net
        if net.w.dtype != plan.dtype:
            net = net.to(dtype=plan.dtype)
        self.programs = _programs(net, self._batches)
        self._work = max(program.layer for program in self.programs)

    def __call__(self, coords: Tensor) -> Tensor:
        """Compute values (S,) at origin + coords @ axes.

        Python threads share the points where that pays; each runs on one core, and they meet only
        at the end.
        """
        shared = self.problem.additive and self.origin.device.type == "cpu"
        n = min(workers(self._work), len(coords)) if shared else 1
        work = self._work if n == 1 else 0.0
        with arithmetic(), threads(self._work), torch.inference_mode():
            compute = partial(self._values, started=self._started, work=work)
            if n == 1:
                values = compute(coords)
            else:
                with ThreadPoolExecutor(n) as pool:
                    shares = pool.map(compute, coords.tensor_split(n))
                    values = torch.cat(list(shares))
        # A tensor made in inference mode cannot be used in autograd; its copy can
        return values.clone()

    def _values(
        self,
        coords: Tensor,
        started: list | None,
        work: float,
    ) -> Tensor:
        """Compute values at some of the points, on as many torch threads as pay for `work`."""
        rows = coords.tolist()
        outputs: list[list[Tensor]] = [[] for _ in rows]
        with torch.inference_mode(), threads(work):
            # The flat buffers that the programs' weights are views of
            exact = self.origin.detach().clone()
            w = exact.to(self.plan.dtype)
            weights = {program: program.weights(w) for program in set(self.programs)}
            point = _Along(self.origin, *self.axes)
            for j, y in enumerate(self._labels):
                program = self.programs[j]
                kept, affine_parts = self._start(j) if started is None else started[j]
                sums = [_Along(*parts) for parts in affine_parts]
                for i, row in enumerate(rows):
                    w.copy_(point(row, out=exact))
                    affine = [at(row) for at in sums]
                    out = program.run(kept, weights[program], affine)
                    outputs[i].append(self._scored(out, y))
            if self.problem.additive:
                totals = [reduce(operator.add, scores) for scores in outputs]
                values = torch.stack(totals) * (1 / len(self.problem.data))
            else:
                values = torch.stack([self._score(outs) for outs in outputs])
            return values.to(self.origin.dtype)

    def _scored(self, out: Tensor, y: Tensor) -> Tensor:
        """Return a batch's outputs, or their score where scores add up."""
        if out.is_floating_point():
            out = out.to(self.origin.dtype)
        if not self.problem.additive:
            return out
        return self.problem.score(out, y).double()

    def _score(self, outputs: list[Tensor]) -> Tensor:
        """Compute the score of the outputs of all batches."""
        value = self.problem.score(torch.cat(outputs), self.problem.data.y)
        return torch.as_tensor(value).double()

    def _start(self, j: int) -> Any:
        """Compute the frozen values of batch `j`, and its affine layers' parts."""
        w = self.origin.to(self.plan.dtype)
        axes = self.axes.to(self.plan.dtype)
        kept, affine_parts = self.programs[j].start(self._batches[j], w, axes)
        laid_out = self.plan.laid_out
        ordered = {value: laid_out(t) for value, t in kept.items()}
        return ordered, [tuple(map(laid_out, parts)) for parts in affine_parts]

    @cached_property
    def _started(self) -> list | None:
        """Return all batches, started once, where their values fit in memory.

        The first batch shows whether they do.
        """
        kept, affine_parts = self._start(0)
        x = self._batches[0]
        tensors = [*kept.values(), *chain(*affine_parts)]
        resident = sum(t.nbytes for t in tensors if t is not x)
        if resident * len(self.problem.data) // len(x) > MEMORY:
            return None
        others = map(self._start, range(1, len(self._batches)))
        return [(kept, affine_parts), *others]


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


def _programs(net: Net, batches: list[Tensor]) -> list[Program]:
    """Trace a program for each batch; those of one shape and memory order share it."""
    traced: dict[object, Program] = {}
    programs = []
    for x in batches:
        key = x.shape, x.stride()
        if key not in traced:
            traced[key] = Program(*recorded(net, x))
        programs.append(traced[key])
    return programs


def fast_evaluator(
    problem: Scored,
    origin: Tensor,
    axes: Tensor,
    *,
    precision: str | None = None,
    coords: Tensor | None = None,
) -> Evaluator | None:
    """Return an evaluator of points origin + coords @ axes; None where the net is to run in full.

    Batches are as large as the activations at each point allow, and of equal size where possible,
    so that one program serves all.

    coords: points (S, K) that will follow; some of them are compared with the plain forward
        (`probes`).
    """
    problem = replace(problem, net=problem.net.copy())  # the module is traced
    net = problem.net
    x = problem.data.x
    work = work_of(net, x[:2])
    few = problem.data.subset(few_of(x, work))
    has_convolution = any(isinstance(m, _ConvNd) for m in net.module.modules())
    images = few.x.ndim == 4
    plan = Plan(len(few), images and has_convolution, net.w.dtype)
    trial = replace(
        problem,
        data=few,
        score=lambda out, _: out,
        additive=False,
    )
    try:
        fast = Evaluator(trial, plan, origin, axes)
    # The user's code runs on stand-ins for tensors: any error means that it cannot be traced
    except Exception:
        _warn(net, "it could not be traced")
        return None
    off = _off(fast, probes(coords, axes))
    allowed = tolerance(net.w.dtype)
    if off > allowed:
        _warn(
            net, f"its outputs would differ by {off:.1g} of the largest, {allowed:.1g} is rounding"
        )
        return None
    widest = fast.programs[0].widest // len(few)
    chunk = Work(work.macs, widest).chunk(x.device, FAST_CACHE)
    n = len(problem.data)
    n_batches = math.ceil(n / chunk)
    plan = replace(plan, chunk=math.ceil(n / n_batches))
    if precision is not None:
        word = check_choice(precision, PRECISIONS, "precision")
        plan = replace(plan, dtype=getattr(torch, word))
    return Evaluator(problem, plan, origin, axes)


def _warn(net: Net, reason: str) -> None:
    warnings.warn(
        f"{net!r} is run in full at every point, which is slower, because {reason}",
        stacklevel=4,
    )


def _off(fast: Evaluator, coords: Tensor) -> float:
    """Measure how far outputs are from the module's at some points, inf where they fail."""
    net = fast.problem.net
    x = fast.problem.data.tensor()
    try:
        with arithmetic(), torch.no_grad():
            plain = [net(fast.origin + row @ fast.axes, x) for row in coords]
        return max(map(difference, fast(coords), plain))
    except (RuntimeError, NotImplementedError):
        return math.inf


def probes(coords: Tensor | None, axes: Tensor) -> Tensor:
    """Choose points where a plan is compared with the plain forward.

    They are corners of the extent, the origin, and four points drawn from `coords`; without
    `coords`, the origin, and 0.3 along all axes.
    """
    k = len(axes)
    if coords is None or not coords.numel():
        return axes.new_tensor([[0.0] * k, [0.3] * k])
    ends = torch.stack(coords.aminmax(dim=0))
    corners = torch.cartesian_prod(*ends.T).view(-1, k)
    index = torch.randint(len(coords), (4,), generator=generator(0))
    drawn = coords[index.to(coords.device)]
    middle = torch.zeros_like(ends[:1])
    return torch.cat([corners, middle, drawn]).to(axes)
