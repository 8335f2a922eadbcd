"""The fast path: values of a network's loss at many points of a line, plane or volume of weight space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, fx

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.engine.program import Program

MEMORY = 2**30  # bytes of frozen activations kept, of all batches and members; beyond it they are made anew for each block
Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Plan:
    """How points are evaluated: chosen once, kept with the results, so that a resumed run gives the same bytes.

    chunk: examples a batch.  channels_last: memory order of images.  fold: BatchNorm folded into convolutions.
    reuse: layers affine in the treated weights are summed, not run.  prefix: what is frozen runs once.
    stack: points run at once (1: one after another).  dtype: of activations and weights.
    """

    chunk: int = 4096
    channels_last: bool = False
    fold: bool = False
    reuse: bool = False
    prefix: bool = False
    stack: int = 1
    dtype: str = "float32"
    tf32: bool = False

    @property
    def tricks(self) -> tuple[str, ...]:
        """What of fold, reuse and prefix is in use; none where the module could not be followed, or gave other outputs."""
        return tuple(name for name in ("fold", "reuse", "prefix") if getattr(self, name))

    def to_dict(self) -> dict:
        """The plan as plain values."""
        return asdict(self)


class Evaluator:
    """values(coords): sum of score(outputs, y) over `data` at origin + coords @ axes, (S,) from coords (S, K).

    origin (D,), axes (K, D); with K = 0 `values_at` takes the weight vectors themselves.  `additive`: scores of batches
    add up; otherwise `score` is asked once, with all outputs, and may return a tensor.  Values are times `scale`.
    `net` is this evaluator's own, in the plan's dtype, `graph` its trace, `statistics` its BatchNorm's, unrounded.
    Memory beside weights and data (once more, where the plan changes dtype or order; `parts`: made before): a few times
    the largest activation of a batch, times `stack`, and MEMORY bytes for what is frozen, divided by the `share`
    evaluators that live together.
    """

    def __init__(
        self,
        net: Net,
        data: Data,
        score: Score,
        origin: Tensor,
        axes: Tensor,
        plan: Plan,
        *,
        graph: fx.Graph | None = None,
        statistics: dict[str, Tensor] | None = None,
        additive: bool = True,
        scale: float = 1.0,
        parts: list[Tensor] | None = None,
        share: int = 1,
    ) -> None:
        self.plan, self._score, self._additive, self._scale = plan, score, additive, scale
        dtype = getattr(torch, plan.dtype)
        self._net, self._origin, self._axes = net, origin, axes
        traced = graph is not None and (plan.prefix or plan.reuse or plan.fold)
        self._traced = Program(net, graph, reuse=plan.reuse, fold=plan.fold, statistics=statistics) if traced else None
        self._parts, self._ys = parts or parts_of(data, plan), list(data.y.split(plan.chunk))
        self._kept: list | None = None
        self._fits: bool | None = None  # whether what is frozen may be kept; seen on the first batch
        self._share = share
        self._wide = origin.detach().clone()  # the flat buffer: every treated parameter is a view of it
        self._narrow = self._wide if dtype == origin.dtype else torch.empty_like(self._wide, dtype=dtype)

    @property
    def in_blocks(self) -> bool:
        """Whether several points together cost less than each alone; known after the first call."""
        return self.plan.stack > 1 or self._fits is False

    def __call__(self, coords: Tensor) -> Tensor:
        """Values at origin + coords @ axes; (S,)."""
        if self.plan.stack > 1:
            return self._stacked(self._origin + coords.to(self._axes) @ self._axes, coords)
        return self._values(coords, lambda i: self._place(coords[i]))

    def values_at(self, W: Tensor) -> Tensor:
        """Values at weight vectors W (S, D); (S,)."""
        if self._traced is not None and self._traced.affine:
            raise ValueError("this evaluator knows points by their coords only: make one with axes (0, D)")
        if self.plan.stack > 1:
            return self._stacked(W, W[:, :0])
        return self._values(W[:, :0], lambda i: self._wide.copy_(W[i]))

    def _values(self, coords: Tensor, place: Callable[[int], object]) -> Tensor:
        n, chunks = len(coords), len(self._parts)
        with torch.inference_mode(), _tf32(self.plan.tf32), self._net.installed(self._narrow):
            fits = self._keeps()
            sums: list = [[] for _ in range(n)]
            order = ((i, j) for i in range(n) for j in range(chunks)) if fits else None
            order = order or ((i, j) for j in range(chunks) for i in range(n))
            now, ready, begun = -1, None, (-1, None)
            rows = coords.tolist()
            for i, j in order:
                if i != now:
                    place(i)
                    if self._narrow is not self._wide:
                        self._narrow.copy_(self._wide)
                    ready, now = self._ready(), i
                if not fits and begun[0] != j:
                    begun = (j, self._start(self._parts[j]))
                out = self._run(self._kept[j] if fits else begun[1], rows[i], ready)
                out = out.to(self._wide.dtype) if out.is_floating_point() else out
                sums[i].append(self._score(out, self._ys[j]).double() if self._additive else out)
            if self._additive:
                values = [sum(s) for s in sums]
            else:
                y = torch.cat(self._ys)
                values = [torch.as_tensor(self._score(torch.cat(s), y)).double() for s in sums]
            result = (torch.stack(values) * self._scale).to(self._wide.dtype)
        return result.clone()

    def _stacked(self, W: Tensor, coords: Tensor) -> Tensor:
        """Several points at once, by vmap over their weights; (S,)."""
        found = []
        with torch.no_grad(), _tf32(self.plan.tf32), self._net.installed(self._narrow):
            fits = self._keeps()
            for block, at in zip(W.to(self._narrow.dtype).split(self.plan.stack), coords.split(self.plan.stack)):
                outs = []
                for started, y in zip(self._kept if fits else map(self._start, self._parts), self._ys):
                    out = self._many(started, block, at)
                    out = out.to(W.dtype) if out.is_floating_point() else out
                    outs.append(torch.vmap(self._score, (0, None))(out, y).double() if self._additive else out)
                if self._additive:
                    found.append(sum(outs))
                else:
                    y, whole = torch.cat(self._ys), torch.cat(outs, dim=1)
                    found.append(torch.stack([torch.as_tensor(self._score(o, y)).double() for o in whole]))
        return (torch.cat(found) * self._scale).to(W.dtype)

    def _many(self, started, W: Tensor, coords: Tensor) -> Tensor:
        """Outputs (S, n, C) of a batch at weights W (S, D)."""
        frontier, layers = started if self._traced is not None else ({}, [])
        sums = []
        for base, *along in layers:
            out = base.expand(len(W), *base.shape)
            for c, part in zip(coords.to(base.dtype).T, along):
                out = torch.addcmul(out, c.view(-1, *[1] * base.ndim), part)
            sums.append(out)

        def one(w: Tensor, *affine: Tensor) -> Tensor:
            with self._net.installed(w):
                if self._traced is None:
                    return self._net.module(started)
                return self._traced.run(frontier, list(affine), [self._narrowed(pair) for pair in self._traced.prepare()])

        return torch.vmap(one)(W, *sums)

    def _place(self, row: Tensor) -> None:
        """Put origin + row @ axes into the buffer, in the order that the plain formula rounds in."""
        torch.add(self._origin, row.to(self._axes) @ self._axes, out=self._wide)

    def _start(self, x: Tensor):
        """What a batch needs once: frozen activations, affine layers at the origin and along each axis."""
        if self._traced is None:
            return x
        program = self._traced
        env = program.run_frozen(x)
        parts = []
        if program.affine:
            parts = [program.run_affine(env, self._origin, direction=False)]
            parts += [program.run_affine(env, axis, direction=True) for axis in self._axes]
        frontier = {n: self._laid_out(v) for n, v in env.items() if n in program.frontier}
        return frontier, [tuple(map(self._laid_out, layer)) for layer in zip(*parts)]

    def _laid_out(self, value: Any) -> Any:
        return _laid_out(value, self.plan)

    def _keeps(self) -> bool:
        """Start all batches at once, where what they hold fits; whether it does."""
        if self._fits is None:
            first = self._start(self._parts[0])
            self._fits = self._traced is None or self._bytes(*first) <= MEMORY // self._share
            self._kept = [first, *map(self._start, self._parts[1:])] if self._fits else None
        return self._fits

    def _bytes(self, frontier: dict, layers: list) -> int:
        """Of frozen activations for all batches, from those of the first."""
        held = [v for n, v in frontier.items() if isinstance(v, Tensor) and n is not self._traced.x]
        held += [v for layer in layers for v in layer]
        total = sum(len(p) for p in self._parts)
        return sum(v.numel() * v.element_size() for v in held) * total // len(self._parts[0])

    def _ready(self):
        return [] if self._traced is None else [self._narrowed(pair) for pair in self._traced.prepare()]

    def _narrowed(self, pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        weight, bias = (t.to(self._narrow.dtype) for t in pair)
        return self._laid_out(weight), bias

    def _run(self, started, row: list[float], ready) -> Tensor:
        if self._traced is None:
            return self._net.module(started)
        frontier, layers = started
        sums = []
        for base, *along in layers:
            out = base
            for c, part in zip(row, along):
                out = torch.add(out, part, alpha=c) if out is base else out.add_(part, alpha=c)
            sums.append(out.clone() if out is base else out)
        return self._traced.run(frontier, sums, ready)


def parts_of(data: Data, plan: Plan) -> list[Tensor]:
    """Inputs in batches, in the plan's dtype and memory order."""
    x = data.x.to(getattr(torch, plan.dtype)) if data.x.is_floating_point() else data.x
    return [_laid_out(part, plan) for part in x.split(plan.chunk)]


def _laid_out(value: Any, plan: Plan) -> Any:
    """Images in the plan's memory order: a first layer that sees one channel cannot tell the two orders apart."""
    image = plan.channels_last and isinstance(value, Tensor) and value.ndim == 4
    return value.contiguous(memory_format=torch.channels_last) if image else value


@contextmanager
def _tf32(on: bool) -> Iterator[None]:
    kept = (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) if on else None
    try:
        if on:
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        yield
    finally:
        if on:
            torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = kept
