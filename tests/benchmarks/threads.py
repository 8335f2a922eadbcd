"""Threads that flatviz chooses beside fixed numbers, on the machine as it is and beside a busy process a core.

`python tests/benchmarks/threads.py [idle] [busy] [limit=SECONDS]` prints seconds of README's fit (pre-training, SWAG, SA-BMA) with
the threads that `core/arithmetic.py` chooses and with 1 and all of torch's everywhere, each in a process of its own, in turn; the
ratio is that of the choice over the best of the others, wanted 1.5 at most.  A run beyond the limit is stopped and counts as that.
"""

import os
import subprocess
import sys
import time
from contextlib import nullcontext

from timing import busy

WORK = """
import sys, time, torch
import flatviz as fv, flatviz.core.arithmetic as arithmetic
share, count = float(sys.argv[1]), int(sys.argv[2])
arithmetic.SHARE = share
torch.set_num_threads(count)
task = fv.datasets.digits_transfer(shots=2, degrees=15, seed=0)
start = time.perf_counter()
source = fv.pretrain(fv.models.mlp(task), task.source, seed=0, epochs=20)
net, prior = fv.transfer(source, fv.fit_swag(source, task.source, seed=0), treated="norm+head")
fv.fit_sabma(net, task.train, prior, radius=2.0, seed=0, steps=200)
print(time.perf_counter() - start)
"""
ALL = os.cpu_count()
CHOICES = {"chosen": ("2e8", ALL), "1": ("1e-9", 1), f"all {ALL}": ("1e-9", ALL)}


def seconds(share: str, count: int, limit: float) -> float:
    """Of the work in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command, start = [sys.executable, "-c", WORK, share, str(count)], time.perf_counter()
    try:
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=limit).stdout)
    except subprocess.TimeoutExpired:
        return time.perf_counter() - start


def main(words: list[str]) -> None:
    """A row for each state of the machine."""
    limit = next((float(word[6:]) for word in words if word.startswith("limit=")), 600.0)
    for state in [word for word in words if word in ("idle", "busy")] or ["idle", "busy"]:
        with busy() if state == "busy" else nullcontext():
            took = {name: seconds(*how, limit) for name, how in CHOICES.items()}
        ratio = took["chosen"] / min(value for name, value in took.items() if name != "chosen")
        times = ", ".join(f"{name} {value:.1f} s" for name, value in took.items())
        print(f"{state}: {times}; ratio {ratio:.2f}, wanted <= 1.5")


if __name__ == "__main__":
    main(sys.argv[1:])
