"""Times of several calls, taken in turn: a slow moment of the machine hits them all; and a machine
that is busy."""

import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial


@contextmanager
def busy():
    """One process a core that never rests."""
    processes = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def rounds(*calls, repeats=3, clock=time.perf_counter):
    """Seconds of each call, a list a round; `clock` counts them."""

    def taken(call):
        start = clock()
        call()
        return clock() - start

    return [[taken(call) for call in calls] for _ in range(repeats)]


def in_turn(kept, *calls, **how):
    """Seconds of each call in each of `rounds`, of which `kept` makes one number."""
    return [kept(seconds) for seconds in zip(*rounds(*calls, **how))]


least = partial(in_turn, min)
typical = partial(in_turn, statistics.median)


def step(*runs, rounds=11):
    """Median seconds of a step of the first run, and how many times that each further run takes;
    `run(progress)` is a fit.

    The ratio is the median over rounds of the ratio of median single steps: a round is short, so
    that a virtual machine that runs slower for a while does so for all runs of it.  The first round
    and first step are left out.
    """
    medians = []
    for _ in range(rounds + 1):
        medians.append([])
        for run in runs:
            at = []
            run(lambda done, total, label, at=at: at.append(time.perf_counter()))
            medians[-1].append(statistics.median(b - a for a, b in zip(at[1:], at[2:])))
    first = [m[0] for m in medians[1:]]
    return statistics.median(first), [
        statistics.median(m[i] / m[0] for m in medians[1:]) for i in range(1, len(runs))
    ]
