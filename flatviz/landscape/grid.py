"""Values on a grid along a line or over a plane: its extent, its points, resumable runs."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import filterfalse
from numbers import Real
from typing import Annotated, Literal

import torch
from torch import Tensor

from flatviz.checks import FilePath, kind, shown
from flatviz.core import Objective, PointEvaluator, Progress, generator, track
from flatviz.storage.cache import PointStore
from flatviz.storage.digest import CannotHashError

WANTED = "'auto', a number > 0, (lo, hi), or a pair for each axis"
Extent = Annotated[
    float | str | Sequence[float] | Sequence[Sequence[float]],
    kind((Real, str, tuple, list, Tensor), WANTED),
]
RISE = 5.0  # extent="auto" ends where the objective is this multiple of its value at the origin
# Doublings of a quarter of the suggested extent: at most 64 times that where f never rises so far
DOUBLINGS = 8
HALVINGS = 30  # halvings of the same
BISECTIONS = 3  # bisections of a factor of 2, to at most 9 % beyond the crossing


def ends(
    f: Objective,
    origin: Tensor,
    axes: Tensor,
    extent: Extent | None,
    suggested: Sequence[Sequence[float]] | None,
    n: int,
) -> list[tuple[float, float]]:
    """Find (lo, hi) along each of `axes` (2, D): `extent`, or `suggested` without it.

    "auto" searches each end, such that 0 is one of `n` ticks.
    """
    if extent == "auto":
        suggested = suggested or [(-1.0, 1.0)] * len(axes)
        reach = [max(abs(lo), abs(hi)) for lo, hi in suggested]
        sides = auto_extent(f, origin, axes, reach)
        return [_with_zero(lo, hi, n) for lo, hi in sides]
    return extent_of(suggested if extent is None else extent)


def extent_of(extent: Extent | None) -> list[tuple[float, float]]:
    """Return (lo, hi) of each of the two axes."""
    expected = (
        "extent must be 'auto', a number > 0, (lo, hi) or ((a_lo, a_hi), (b_lo, b_hi)) with lo < hi"
    )
    if extent is None:
        raise ValueError(f"{expected}: this plane suggests none")
    try:
        values = torch.as_tensor(extent, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{expected}, got {shown(extent)}") from error
    if values.ndim == 0:
        values = torch.stack([-values, values])
    if values.ndim == 1 and len(values) == 2:
        values = values.expand(2, 2)
    valid = extent is not True and values.shape == (2, 2) and values.isfinite().all()
    if not valid or (values[:, 0] >= values[:, 1]).any():
        raise ValueError(f"{expected}, got {shown(extent)}")
    return [(float(lo), float(hi)) for lo, hi in values]


def auto_extent(
    f: Objective,
    origin: Tensor,
    axes: Tensor,
    reach: Sequence[float],
) -> list[tuple[float, float]]:
    """Find (lo, hi) on each axis where f first is RISE times f(origin), or not finite.

    From a quarter of `reach` steps double outwards, or halve inwards where that is already too far;
    bisections follow.

    Raises:
        ValueError: If f at the origin is 0 or not finite.
    """
    centre = float(f.many(origin[None])[0])
    if centre == 0 or not math.isfinite(centre):
        raise ValueError(
            f"the value at the origin must be finite and not 0, got {centre:g}: give a number"
        )
    target = centre + (RISE - 1) * abs(centre)

    def over(axis: Tensor, t: float) -> bool:
        w = origin + t * axis
        return not f.many(w[None])[0] < target

    ends = []
    for axis, far in zip(axes, reach):
        lo = -_first_over(partial(over, -axis), far / 4)
        hi = _first_over(partial(over, axis), far / 4)
        ends.append((lo, hi))
    return ends


def _first_over(over: Callable[[float], bool], t: float) -> float:
    """Find the distance at which `over` begins to hold, at most 9 % beyond.

    It is t doubled `DOUBLINGS` times where it never does.
    """
    doubled = [t * 2**k for k in range(DOUBLINGS + 1)]
    outside = next(filter(over, doubled), None)
    if outside is None:
        return doubled[-1]
    inside = outside / 2
    if outside == t:  # the first step was too far
        halved = [t / 2**k for k in range(1, HALVINGS + 1)]
        inside = next(filterfalse(over, halved), halved[-1])
        outside = 2 * inside
    for _ in range(BISECTIONS):
        middle = math.sqrt(inside * outside)
        if over(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _with_zero(lo: float, hi: float, n: int) -> tuple[float, float]:
    """Widen the ends so that 0 is one of n ticks, with one on either side at least."""
    if n < 3:
        return lo, hi
    steps = n - 1
    share = -lo / (hi - lo)
    below = min(max(round(share * steps), 1), steps - 1)
    above = steps - below
    step = max(-lo / below, hi / above)
    return -below * step, above * step


BLOCK = 16  # points between two reports and two looks at the cancel button
SAVE_EVERY = 1.0  # seconds between two writes of the points that are done
CONFIRMED = 400  # cells for each one that is compared with the plain forward pass after the run
Precision = Literal["float32", "bfloat16"]
Cache = bool | FilePath | None


def on_grid(
    f: Objective,
    origin: Tensor,
    axes: Tensor,
    ticks: Sequence[Tensor],
    *,
    exact: bool = False,
    precision: str | None = None,
    progress: Progress = False,
    cache: Cache = None,
) -> tuple[Tensor, float | None]:
    """Compute f(origin + sum_k c_k axes[k]) at every combination of `ticks`, and an error.

    `ticks` are K tensors; their lengths are the shape of the values.  The error is for a reduced
    precision: the largest difference from the exact value at the middle and where values are
        largest.

    cache: True or a folder, where values are stored as they are computed: a killed run loses the
        BLOCK points at work and those of the last SAVE_EVERY seconds.  One stored value is computed
        again; if it differs, all are discarded.
    """
    coords = torch.cartesian_prod(*ticks).view(-1, len(ticks)).to(origin)
    over = partial(f.over, origin, axes, coords=coords)
    evaluate = over(exact=exact, precision=precision)

    def plain(index: Tensor) -> Tensor:
        """Compute the values at points of these indices by the plain forward pass."""
        return over(exact=True)(coords[index]).cpu()

    flat = torch.full((len(coords),), float("nan"), dtype=origin.dtype)
    done = torch.zeros(len(coords), dtype=torch.bool)
    store = _store(f, origin, axes, ticks, cache, exact=exact, precision=precision)
    if store is not None:
        store.read(flat, done)
    if not _reproduced(evaluate, coords, flat, done):
        warnings.warn(
            "stored values differ from those computed now, so they are discarded and computed"
            " again",
            stacklevel=4,
        )
        done.zero_()
    if not done.all():
        _fill(evaluate, coords, flat, done, store, progress)
        shuffled = torch.randperm(len(flat), generator=generator(0))
        sample = shuffled[: 1 + len(flat) // CONFIRMED]
        comparable = evaluate.reuses and precision is None
        if comparable and not _confirmed(f, flat[sample], plain(sample)):
            warnings.warn(
                "fast values differ from those of the plain forward pass, so they were discarded"
                " and all points computed again without reuse (exact=True does so at once): does"
                " the module keep state between calls?",
                stacklevel=4,
            )
            _fill(over(exact=True), coords, flat, done.zero_(), store, progress)
    reduced = precision is not None and f"torch.{precision}" != str(origin.dtype)
    error = _error(flat, coords, plain) if reduced else None
    values = flat.view([len(t) for t in ticks])
    return values.to(origin.device), error


def _reproduced(
    evaluate: PointEvaluator,
    coords: Tensor,
    flat: Tensor,
    done: Tensor,
) -> bool:
    """Compute one of the values that are `done` again, and tell whether it is the same."""
    stored = done.nonzero()[:, 0]
    if not len(stored):
        return True
    one = stored[torch.randint(len(stored), (1,), generator=generator(0))]
    again = evaluate(coords[one]).to(flat)
    return torch.allclose(
        again,
        flat[one],
        rtol=1e-4,
        atol=1e-6,
        equal_nan=True,
    )


def _fill(
    evaluate: PointEvaluator,
    coords: Tensor,
    flat: Tensor,
    done: Tensor,
    store: PointStore | None,
    progress: Progress,
) -> None:
    """Compute, in blocks, the values of `flat` that are not `done`.

    The blocks do not depend on what is done.
    """
    blocks = []
    for block in torch.arange(len(done)).split(BLOCK):
        missing = block[~done[block]]
        if len(missing):
            blocks.append(missing)
    saved = time.monotonic()
    try:
        for block in track(blocks, "surface", progress):
            flat[block] = evaluate(coords[block]).to(flat)
            done[block] = True
            if store is not None and time.monotonic() - saved > SAVE_EVERY:
                store.write(flat, done)
                saved = time.monotonic()
    finally:  # also where it was cancelled
        if store is not None:
            store.write(flat, done)


def _confirmed(f: Objective, fast: Tensor, plain: Tensor) -> bool:
    """Tell whether fast values are those of the plain forward pass, to rounding.

    A score that counts examples (accuracy) may differ by two of them by rounding.
    """
    rounding = 2**10 * torch.finfo(fast.dtype).eps
    largest = float(plain.nan_to_num(0, 0, 0).abs().max())
    allowed = rounding * largest
    if not f.differentiable:
        allowed += 2 / (f.n or 1)
    return torch.allclose(
        fast,
        plain.to(fast),
        rtol=rounding,
        atol=allowed,
        equal_nan=True,
    )


def _error(flat: Tensor, coords: Tensor, plain: Callable[[Tensor], Tensor]) -> float:
    """Compute the largest difference from exact values, at some points.

    They are the middle, the largest value, and the diverged point nearest to the origin.  It is inf
    where only the reduced precision diverged.
    """
    finite = flat.isfinite()
    largest = flat.where(finite, -math.inf).argmax()
    diverged = coords.norm(dim=1).cpu().where(~finite, math.inf).argmin()
    index = torch.stack([torch.tensor(len(flat) // 2), largest, diverged])
    exact = plain(index)
    differences = (flat[index] - exact).abs().nan_to_num(math.inf)
    differences = differences[exact.isfinite()]
    return float(differences.max()) if len(differences) else math.nan


def ticks_between(lo: float, hi: float, n: int, like: Tensor) -> Tensor:
    """Space n values from lo to hi symmetrically, so that the middle of an odd number is exact."""
    steps = torch.arange(n, dtype=torch.float64) * 2 - (n - 1)
    middle = (lo + hi) / 2
    half = (hi - lo) / 2
    ticks = (middle + half * steps / (n - 1)).to(like)
    if not (ticks.diff() > 0).all():
        raise ValueError(
            f"extent must be a number > 0 with room for {n} ticks in {ticks.dtype}, got ({lo:g},"
            f" {hi:g})"
        )
    return ticks


def _store(
    f: Objective,
    origin: Tensor,
    axes: Tensor,
    ticks: Sequence[Tensor],
    cache: Cache,
    **options: object,
):
    if cache is None or cache is False:
        return None
    try:
        key = f.key
    except CannotHashError as error:
        warnings.warn(f"values not kept on disk: {f.label} depends on {error}", stacklevel=4)
        return None
    if not key:
        raise ValueError(
            f"cache needs an objective that says what it depends on, got {f.label}: use nll or"
            " quantity"
        )
    about = {
        "objective": key,
        "where": [origin, axes, *ticks],
        "device": str(origin.device.type),
    }
    return PointStore(cache, math.prod(map(len, ticks)), **about, **options)
