"""Choosing how to evaluate: by rule where the work is small, by a short timed trial where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz._checks import check_choice
from flatviz.core.data import Data
from flatviz.core.engine import Evaluator, Plan, Score
from flatviz.core.net import Net
from flatviz.core.program import Program

CACHE = 2**20  # bytes of one batch's largest activation: it and its neighbour stay in a core's second-level cache
TRIAL_WORK = 5e9  # multiply-adds of a whole job from which a trial pays for itself
TRIAL_EXAMPLES = 128
PRECISIONS = ("float32", "tf32", "bfloat16")
AGREES = {torch.float64: 1e-9, torch.float32: 1e-3, torch.bfloat16: 0.3}  # of the largest output: a wrong trace is far off


class Workshop:
    """A net, its data and a score, from which evaluators are made; traced once, on a copy of the net.

    `total`: scores of batches add up, and the value is their sum over the number of examples.
    """

    def __init__(self, net: Net, data: Data, score: Score, *, total: bool = True) -> None:
        self._nets = {net.w.dtype: net.copy()}
        self._data, self._score, self._total = data, score, total
        self._graph = Program.graph_of(self._nets[net.w.dtype])
        self._own = net.w.dtype

    def plan(self, origin: Tensor, axes: Tensor, points: int, *, exact: bool = False, precision: str | None = None) -> Plan:
        """The plan for `points` points origin + coords @ axes; `exact`: without any reuse between points."""
        base = Plan(chunk=4096, dtype=str(self._own).removeprefix("torch."))
        if precision is not None:
            check_choice(precision, PRECISIONS, "precision")
            if precision == "tf32" and origin.device.type != "cuda":
                raise ValueError(f"precision='tf32' needs CUDA tensors, got {origin.device.type}: use 'float32' or 'bfloat16'")
            base = replace(base, dtype=precision.replace("tf32", "float32"), tf32=precision == "tf32")
        if exact:
            return base
        net = self._net(base)
        one = self._data.x[:1]
        macs, widest, images = _work(net, one.to(self._dtype(base)) if one.is_floating_point() else one)
        chunk = 4096 if origin.device.type == "cuda" else max(8, min(4096, CACHE // max(widest, 1)))
        chunk = min(2 ** (chunk.bit_length() - 1), max(len(self._data), 1))
        plan = replace(base, chunk=chunk, channels_last=images, fold=True, prefix=True, reuse=len(axes) > 0)
        work = points * len(self._data) * macs
        if points >= 256 and work >= TRIAL_WORK:
            plan = self._trial(plan, origin, axes, small=len(self._data) * macs < 2e8)
        return plan if self._agrees(plan, origin, axes) else base

    def evaluator(self, origin: Tensor, axes: Tensor, plan: Plan) -> Evaluator:
        """Values at origin + coords @ axes, by `plan`."""
        return self._make(origin, axes, plan, self._data)

    def _make(self, origin: Tensor, axes: Tensor, plan: Plan, data: Data, score: Score | None = None) -> Evaluator:
        scale = 1 / len(self._data) if self._total else 1.0
        made = dict(graph=self._graph, total=self._total and score is None, scale=1.0 if score else scale)
        made["statistics"] = self._nets[self._own].buffers()
        return Evaluator(self._net(plan), data, score or self._score, origin, axes, plan, **made)

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

    def _agrees(self, plan: Plan, origin: Tensor, axes: Tensor) -> bool:
        """Whether the plan gives the module's own outputs on a few examples, at the origin and beside it."""
        few = self._data.subset(slice(0, 4))

        def outputs(out: Tensor, _: Tensor) -> Tensor:
            return out

        coords = torch.tensor([[0.0] * len(axes), [0.3] * len(axes)], dtype=origin.dtype, device=origin.device)
        W = origin + coords @ axes
        made = []
        for tried in (plan, Plan(dtype=str(self._own).removeprefix("torch."))):
            try:
                evaluate = self._make(origin, axes, tried, few, outputs)
                made.append(evaluate(coords) if len(axes) else evaluate.values_at(W))
            except (RuntimeError, NotImplementedError, TypeError, KeyError):
                return False
        mine, plain = made
        if mine.shape != plain.shape or not torch.equal(torch.isfinite(mine), torch.isfinite(plain)):
            return False
        scale = plain.abs().nan_to_num(0, 0, 0).max().clamp_min(1.0)
        return bool(((mine - plain).abs().nan_to_num(0, 0, 0) <= AGREES.get(self._dtype(plan), 1e-3) * scale).all())

    def _net(self, plan: Plan) -> Net:
        dtype = self._dtype(plan)
        if dtype not in self._nets:
            self._nets[dtype] = self._nets[self._own].to(dtype=dtype)
        return self._nets[dtype]

    @staticmethod
    def _dtype(plan: Plan) -> torch.dtype:
        return getattr(torch, plan.dtype)


def _work(net: Net, x: Tensor) -> tuple[int, int, bool]:
    """For one example: multiply-adds of linear and convolutional layers, bytes of the largest activation, images or not."""
    macs, widest = 0, x.numel() * x.element_size() if x.is_floating_point() else 0

    def note(module: nn.Module, _: tuple, out: object) -> None:
        nonlocal macs, widest
        if not isinstance(out, Tensor):
            return
        widest = max(widest, out.numel() * out.element_size())
        if isinstance(module, nn.Linear):
            macs += out.numel() * module.in_features
        elif isinstance(module, _ConvNd):
            macs += out.numel() * module.weight[0].numel()

    hooks = [m.register_forward_hook(note) for m in net.module.modules() if not list(m.children())]
    try:
        with torch.no_grad():
            net(net.w, x)
    finally:
        for hook in hooks:
            hook.remove()
    convolves = any(isinstance(m, _ConvNd) for m in net.module.modules())
    return macs, widest, convolves and x.ndim == 4
