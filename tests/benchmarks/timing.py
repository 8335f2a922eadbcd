"""Times of several calls, taken in turn: a slow moment of the machine hits them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def least(*calls: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Least seconds of each call over `repeats` rounds; `clock` counts them, wall time by default."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, own in zip(calls, seconds):
            start = clock()
            call()
            own.append(clock() - start)
    return [min(own) for own in seconds]


def step(*runs: Callable[[Callable], object], rounds: int = 5) -> list[float]:
    """Median seconds of a step of each run, the first round and first step left out; `run(progress)` is a fit.

    A median of single steps: a virtual machine that stands still for a second now and then hits few of them.
    """
    seconds: list[list[float]] = [[] for _ in runs]
    for i in range(rounds + 1):
        for run, own in zip(runs, seconds):
            at: list[float] = []
            run(lambda done, total, label, at=at: at.append(time.perf_counter()))
            if i:
                own += [b - a for a, b in zip(at, at[1:])][1:]
    return [statistics.median(own) for own in seconds]
