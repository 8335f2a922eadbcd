"""Values on a grid of any number of axes: coarse to fine, resumable, here or on a cluster."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from flatviz.checks import FilePath
from flatviz.core.objective import Objective, PointEvaluator
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.landscape.cluster import on_cluster
from flatviz.storage.digest import CannotHashError, tensor_digest
from flatviz.storage.points import PointStore

BLOCK = 16  # points between two reports and two looks at the cancel button
CONFIRMED = 400  # one more cell is computed plainly and compared, after the run, for so many
WRITE = 0.05  # seconds between two writes to disk, or one point
DIVERGED = 16  # cells without a value at which a reduced precision is compared with the exact one
STRIDES = (4, 2, 1)  # the first level of a plane is 1/16 of it
Precision = Literal["float32", "tf32", "bfloat16"]
Cache = bool | FilePath | None


class Grid:
    """f(origin + sum_k c_k axes[k]) at every combination of `ticks`, K tensors; `values` has their lengths as shape.

    The order is coarse to fine and from the middle outwards: `preview(values, step)` is called when all points of every
    `step`-th tick are there.  cache: True or a folder, where values are stored as they come and found again: after every
    point, or every 1/20 s of quicker ones; only points run together (BLOCK at most) are stored, and by a kill lost, together.
    engine: a `dask.distributed` client.  `error`: for a reduced precision, the largest difference from the exact value
    at corners, edges and middle.
    """

    def __init__(
        self,
        f: Objective,
        origin: Tensor,
        axes: Tensor,
        ticks: Sequence[Tensor],
        *,
        exact: bool = False,
        precision: str | None = None,
        progress: Progress = False,
        label: str = "surface",
        cache: Cache = None,
        engine: Any = None,
        preview: Callable[[Tensor, int], None] | None = None,
    ) -> None:
        self._f, self._origin, self._axes = f, origin, axes
        self._options = dict(exact=exact, precision=precision)
        self._coords = torch.cartesian_prod(*ticks).view(-1, len(ticks)).to(origin)
        self.shape = tuple(len(t) for t in ticks)
        flat = torch.full((len(self._coords),), float("nan"), dtype=origin.dtype)
        self._store = _store(f, origin, axes, ticks, cache, **self._options)
        done = torch.zeros(len(flat), dtype=torch.bool) if self._store is None else self._store.read(flat)
        run = dict(engine=engine, progress=progress, label=label, preview=preview)
        if not bool(done.all()):
            plan = None if self._store is None else self._store.plan
            evaluate = self._fill(flat, done, plan=plan, **run)
            sample = torch.randperm(len(flat), generator=generator(0))[: 1 + len(flat) // CONFIRMED]
            if not evaluate.confirms(self._coords[sample], flat[sample].to(origin)):
                warnings.warn(
                    "fast values differ from those of the plain forward pass, so they were discarded and all points computed "
                    "again without reuse (exact=True does so at once): does the module keep state between calls?",
                    stacklevel=4,
                )
                self._options["exact"] = True
                self._fill(flat, torch.zeros_like(done), plan=None, anew=True, **run)
        self.values = flat.view(self.shape).to(origin.device)
        reduced = precision is not None and f"torch.{precision}" != str(origin.dtype)
        self.error = self._error(flat) if reduced else None

    def _fill(
        self,
        flat: Tensor,
        done: Tensor,
        *,
        plan: dict | None,
        engine: Any,
        progress: Progress,
        label: str,
        preview: Callable[[Tensor, int], None] | None,
        anew: bool = False,
    ) -> PointEvaluator:
        """Compute what is not `done` of `flat`; the evaluator that did."""
        evaluate = self._f.over(self._origin, self._axes, len(flat), plan=plan, coords=self._coords, **self._options)
        if self._store is not None:
            self._store.begin(_plan(evaluate), anew=anew)
        blocks = [(step, block) for step, level in _levels(self.shape) for block in _split(level, done)]
        run = self._local(evaluate, blocks) if engine is None else self._on_cluster(engine, evaluate, blocks)
        last = {step: i for i, (step, _) in enumerate(blocks)}
        for i in track(self._kept(run, blocks, flat), label, progress, total=len(blocks)):
            step = blocks[i][0]
            if preview is not None and engine is None and step > 1 and last[step] == i:
                preview(flat.view(self.shape), step)
        return evaluate

    def _local(self, evaluate: PointEvaluator, blocks: list[tuple[int, list[int]]]) -> Iterator[tuple[int, Tensor]]:
        size = BLOCK if self._store is None else 1
        for i, (_, block) in enumerate(blocks):
            values, left = [], block
            while left:
                part, left = left[:size], left[size:]
                start = time.perf_counter()
                values.append(evaluate(self._coords[part]).cpu())
                self._write(part, values[-1])
                if self._store is not None:  # many quick points, or one slow one; all where they are run together
                    pace = (time.perf_counter() - start) / len(part)
                    size = BLOCK if evaluate.in_blocks else max(1, min(BLOCK, int(WRITE / pace)))
            yield i, torch.cat(values)

    def _on_cluster(
        self, engine: Any, evaluate: PointEvaluator, blocks: list[tuple[int, list[int]]]
    ) -> Iterator[tuple[int, Tensor]]:
        for i, values in on_cluster(engine, self._job(evaluate), self._parts(blocks)):
            self._write(blocks[i][1], values)
            yield i, values

    def _write(self, points: list[int], values: Tensor) -> None:
        if self._store is not None:
            self._store.append(points, values.double().tolist())

    def _kept(self, run: Iterator[tuple[int, Tensor]], blocks: list[tuple[int, list[int]]], flat: Tensor) -> Iterator[int]:
        """Each block's number once its values are in place; they are on disk before it, so that a cancel loses none."""
        for i, values in run:
            flat[blocks[i][1]] = values.to(flat)
            yield i

    def _parts(self, blocks: list[tuple[int, list[int]]]) -> list[Tensor]:
        return [self._coords[block].cpu() for _, block in blocks]

    def _job(self, evaluate: PointEvaluator) -> tuple:
        """What a worker needs, once."""
        return self._f, self._origin, self._axes, len(self._coords), dict(self._options, plan=_plan(evaluate))

    def _error(self, flat: Tensor) -> float:
        """Largest difference from the exact value at corners, edges, middle and a few diverged cells.

        It is inf where only the reduced precision diverged.
        """
        ends = [sorted({0, n // 2, n - 1}) for n in self.shape]
        index = [int(i) for i in _ravel(list(itertools.product(*ends)), self.shape)]
        index += (~flat.isfinite()).nonzero()[:DIVERGED, 0].tolist()
        exact = self._f.over(self._origin, self._axes, len(index), exact=True)(self._coords[index]).cpu()
        known = exact.isfinite()
        difference = (flat[index] - exact).abs()[known].nan_to_num(torch.inf)
        return float(difference.max()) if len(difference) else float("nan")


def _plan(evaluate: PointEvaluator) -> dict | None:
    return None if evaluate.plan is None else evaluate.plan.to_dict()


def ticks_between(lo: float, hi: float, n: int, like: Tensor) -> Tensor:
    """N values from lo to hi, mirror images about their middle, so that the middle of an odd number is exact."""
    steps = torch.arange(n, dtype=torch.float64) * 2 - (n - 1)
    ticks = ((lo + hi) / 2 + (hi - lo) / 2 * steps / (n - 1)).to(like)
    if not bool((ticks.diff() > 0).all()):
        raise ValueError(f"extent must be a number > 0 with room for {n} ticks in {ticks.dtype}, got ({lo:g}, {hi:g})")
    return ticks


def _levels(shape: tuple[int, ...]) -> Iterator[tuple[int, list[int]]]:
    """Flat indices of each level, coarse ones first, each from the middle outwards."""
    index = torch.cartesian_prod(*(torch.arange(n) for n in shape)).view(-1, len(shape))
    middle = torch.tensor([n // 2 for n in shape])
    size = torch.tensor([max(n - 1, 1) for n in shape]).double()
    far = ((index - middle) / size).square().sum(1)
    seen = torch.zeros(len(index), dtype=torch.bool)
    for step in STRIDES:
        level = ((index - middle) % step == 0).all(1) & ~seen
        seen |= level
        cells = level.nonzero()[:, 0]
        yield step, cells[far[cells].argsort(stable=True)].tolist()


def _split(level: list[int], done: Tensor) -> Iterator[list[int]]:
    """Blocks of the points that are not done; where they are cut does not depend on what is."""
    for start in range(0, len(level), BLOCK):
        block = [i for i in level[start : start + BLOCK] if not done[i]]
        if block:
            yield block


def _ravel(index: list[tuple[int, ...]], shape: tuple[int, ...]) -> Iterator[int]:
    for place in index:
        flat = 0
        for i, n in zip(place, shape):
            flat = flat * n + i
        yield flat


def _store(f: Objective, origin: Tensor, axes: Tensor, ticks: Sequence[Tensor], cache: Cache, **options: Any):
    if cache is None or cache is False:
        return None
    try:
        key = f.key
    except CannotHashError as error:
        warnings.warn(f"values not kept on disk: {f.label} depends on {error}", stacklevel=4)
        return None
    if not key:
        raise ValueError(
            f"cache needs an objective that says what it depends on, got {f.label}: "
            "use nll, a named quantity, or quantity(..., key='what it computes')"
        )
    return PointStore(
        cache, objective=key, where=tensor_digest(origin, axes, *ticks), device=str(origin.device.type), **options
    )
