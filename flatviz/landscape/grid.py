"""Values on a grid along a line or over a plane: resumable, here or on a cluster."""

from __future__ import annotations

import math
import uuid
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal

import torch
from torch import Tensor

from flatviz.checks import FilePath
from flatviz.core.objective import Objective, PointEvaluator
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.landscape.cluster import block_values, on_cluster
from flatviz.storage.digest import CannotHashError, tensor_digest
from flatviz.storage.points import PointStore

BLOCK = 16  # points between two reports and two looks at the cancel button
CONFIRMED = 400  # one more cell is computed plainly and compared, after the run, for so many
DIVERGED = 16  # cells without a value at which a reduced precision is compared with the exact one
Precision = Literal["float32", "bfloat16"]
Cache = bool | FilePath | None


class Grid:
    """f(origin + sum_k c_k axes[k]) at every combination of `ticks`, K tensors; `values` has their lengths as shape.

    cache: True or a folder, where values are stored as they come, after every point; those that are run together (BLOCK at
    most) are stored together, and a kill loses them together.  engine: a `dask.distributed` client.
    `error`: for a reduced precision, the largest difference from the exact value at corners, edges and middle.
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
        cache: Cache = None,
        engine: Any = None,
    ) -> None:
        self._f, self._origin, self._axes = f, origin, axes
        self._options = dict(exact=exact, precision=precision)
        self._coords = torch.cartesian_prod(*ticks).view(-1, len(ticks)).to(origin)
        self.shape = tuple(len(t) for t in ticks)
        flat = torch.full((len(self._coords),), float("nan"), dtype=origin.dtype)
        self._store = _store(f, origin, axes, ticks, cache, **self._options)
        done = torch.zeros(len(flat), dtype=torch.bool) if self._store is None else self._store.read(flat)
        self._engine, self._progress = engine, progress
        if not bool(done.all()):
            plan = None if self._store is None else self._store.plan
            evaluate = self._fill(flat, done, plan)
            sample = torch.randperm(len(flat), generator=generator(0))[: 1 + len(flat) // CONFIRMED]
            if not evaluate.confirms(self._coords[sample], flat[sample].to(origin)):
                warnings.warn(
                    "fast values differ from those of the plain forward pass, so they were discarded and all points computed "
                    "again without reuse (exact=True does so at once): does the module keep state between calls?",
                    stacklevel=4,
                )
                self._options["exact"] = True
                self._fill(flat, torch.zeros_like(done), None, anew=True)
        self.values = flat.view(self.shape).to(origin.device)
        reduced = precision is not None and f"torch.{precision}" != str(origin.dtype)
        self.error = self._error(flat) if reduced else None

    def _fill(self, flat: Tensor, done: Tensor, plan: dict | None, *, anew: bool = False) -> PointEvaluator:
        """Compute what is not `done` of `flat`; the evaluator that did."""
        evaluate = self._f.over(self._origin, self._axes, plan=plan, coords=self._coords, **self._options)
        if self._store is not None:
            self._store.begin(_plan(evaluate), anew=anew)
        blocks = _blocks(done)
        run = (self._local if self._engine is None else self._on_cluster)(evaluate, blocks)
        for block, values in track(run, "surface", self._progress, total=len(blocks)):  # on disk before a cancel is looked for
            flat[block] = values.to(flat)
        return evaluate

    def _local(self, evaluate: PointEvaluator, blocks: list[list[int]]) -> Iterator[tuple[list[int], Tensor]]:
        for block in blocks:
            values, left = [], block
            while left:
                size = BLOCK if self._store is None or evaluate.in_blocks else 1  # known after the first call
                part, left = left[:size], left[size:]
                values.append(evaluate(self._coords[part]).cpu())
                self._write(part, values[-1])
            yield block, torch.cat(values)

    def _on_cluster(self, evaluate: PointEvaluator, blocks: list[list[int]]) -> Iterator[tuple[list[int], Tensor]]:
        options = dict(self._options, plan=_plan(evaluate))
        job = uuid.uuid4().hex, self._f, self._origin, self._axes, options
        for i, values in on_cluster(self._engine, block_values, job, [self._coords[points].cpu().numpy() for points in blocks]):
            self._write(blocks[i], torch.from_numpy(values))
            yield blocks[i], torch.from_numpy(values)

    def _write(self, points: list[int], values: Tensor) -> None:
        if self._store is not None:
            self._store.append(points, values.double().tolist())

    def _error(self, flat: Tensor) -> float:
        """Largest difference from the exact value at corners, edges, middle and a few diverged cells.

        It is inf where only the reduced precision diverged.
        """
        index = torch.arange(len(flat)).view(self.shape)
        for side, n in enumerate(self.shape):
            index = index.index_select(side, torch.tensor(sorted({0, n // 2, n - 1})))
        index = torch.cat([index.flatten(), (~flat.isfinite()).nonzero()[:DIVERGED, 0]])
        exact = self._f.over(self._origin, self._axes, exact=True)(self._coords[index]).cpu()
        known = exact.isfinite()
        difference = (flat[index] - exact).abs()[known].nan_to_num(torch.inf)
        return float(difference.max()) if len(difference) else float("nan")


def _plan(evaluate: PointEvaluator) -> dict | None:
    return None if evaluate.plan is None else asdict(evaluate.plan)


def ticks_between(lo: float, hi: float, n: int, like: Tensor) -> Tensor:
    """N values from lo to hi, mirror images about their middle, so that the middle of an odd number is exact."""
    steps = torch.arange(n, dtype=torch.float64) * 2 - (n - 1)
    ticks = ((lo + hi) / 2 + (hi - lo) / 2 * steps / (n - 1)).to(like)
    if not bool((ticks.diff() > 0).all()):
        raise ValueError(f"extent must be a number > 0 with room for {n} ticks in {ticks.dtype}, got ({lo:g}, {hi:g})")
    return ticks


def _blocks(done: Tensor) -> list[list[int]]:
    """Blocks of the points that are not done; where they are cut does not depend on what is."""
    every = [[i for i in range(start, min(start + BLOCK, len(done))) if not done[i]] for start in range(0, len(done), BLOCK)]
    return list(filter(None, every))


def _store(f: Objective, origin: Tensor, axes: Tensor, ticks: Sequence[Tensor], cache: Cache, **options: Any):
    if cache is None or cache is False:
        return None
    try:
        key = f.key
    except CannotHashError as error:
        warnings.warn(f"values not kept on disk: {f.label} depends on {error}", stacklevel=4)
        return None
    if not key:
        raise ValueError(f"cache needs an objective that says what it depends on, got {f.label}: use nll or quantity")
    return PointStore(
        cache,
        math.prod(map(len, ticks)),
        objective=key,
        where=tensor_digest(origin, axes, *ticks),
        device=str(origin.device.type),
        **options,
    )
