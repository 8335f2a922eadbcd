"""Times of several calls, taken in turn: a slow moment of the machine hits them all; and a machine that is busy."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager


@contextmanager
def busy():
    """One process a core that never rests."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def least(*calls: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Least seconds of each call over `repeats` rounds; `clock` counts them, wall time by default."""
    return [min(seconds) for seconds in in_turn(*calls, repeats=repeats, clock=clock)]


def typical(*calls: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Median seconds of each call over `repeats` rounds."""
    return [statistics.median(seconds) for seconds in in_turn(*calls, repeats=repeats, clock=clock)]


def in_turn(*calls: Callable[[], object], repeats: int, clock: Callable[[], float]) -> list[tuple[float, ...]]:
    """Seconds of each call in each round."""

    def taken(call: Callable[[], object]) -> float:
        start = clock()
        call()
        return clock() - start

    return list(zip(*([taken(call) for call in calls] for _ in range(repeats))))


def step(*runs: Callable[[Callable], object], rounds: int = 11) -> tuple[float, list[float]]:
    """Median seconds of a step of the first run, and how many times that each further run takes; `run(progress)` is a fit.

    The ratio is the median over rounds of the ratio of median single steps: a round is short, so that a virtual machine
    that runs slower for a while does so for all runs of it.  The first round and first step are left out.
    """
    medians: list[list[float]] = []
    for _ in range(rounds + 1):
        medians.append([])
        for run in runs:
            at: list[float] = []
            run(lambda done, total, label, at=at: at.append(time.perf_counter()))
            medians[-1].append(statistics.median(b - a for a, b in zip(at[1:], at[2:])))
    first = [m[0] for m in medians[1:]]
    return statistics.median(first), [statistics.median(m[i] / m[0] for m in medians[1:]) for i in range(1, len(runs))]
