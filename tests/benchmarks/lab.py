"""Four labs of one request, two beside a busy process a core: `python tests/benchmarks/lab.py [nets ...]`.

Prints seconds to the first picture (wall, and of this process), the longest silence, and whether all four are equal to the bit.
Nets: "convs", an untrained BatchNorm conv net on digits; "resnet18", torchvision's on 32 x 32 images, trained as far as needed.
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import torch
from torch import nn

import flatviz as fv
from flatviz.storage.digest import value_digest


def convs(task: fv.Task) -> tuple[nn.Module, fv.Data, fv.Data]:
    return fv.models.convnet(task, seed=0), task.source, task.test


def resnet18(task: fv.Task) -> tuple[nn.Module, fv.Data, fv.Data]:
    from torchvision.models import resnet18 as network

    torch.manual_seed(0)
    larger = [fv.Data(nn.functional.interpolate(d.x, 32).expand(-1, 3, -1, -1), d.y) for d in (task.source, task.test)]
    return network(num_classes=10), *larger


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


def lab(module: nn.Module, train: fv.Data, test: fv.Data) -> tuple[str, str]:
    """One line, and a hash of all that the lab shows."""
    wall, own, heard = time.perf_counter(), time.process_time(), [time.perf_counter()]
    view = fv.lab(module, train, test, seed=0, progress=lambda done, total, label: heard.append(time.perf_counter()))
    status, prepared = None, time.perf_counter() - wall
    while not view.wait(0.05):
        if view.status != status:
            status = view.status
            heard.append(time.perf_counter())
    wall, own = time.perf_counter() - wall, time.process_time() - own
    silence = max(b - a for a, b in zip(heard, heard[1:]))
    shown = [v for m in view.family for v in (m.around.values, m.prediction.outputs, m.posterior.sample(2, seed=0))]
    view.close()
    line = f"prepared after {prepared:.1f} s, first picture {wall:.1f} s (own {own:.1f} s), longest silence {silence:.1f} s; {view.made[0]}"
    return line, value_digest([*shown, view.family.surface.values, view.made])


def main(names: list[str]) -> None:
    """Four labs of each net."""
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    for name in names or ["convs"]:
        given, hashes = {"convs": convs, "resnet18": resnet18}[name](task), set()
        for _ in range(2):
            line, first = lab(*given)
            print(f"{name}, idle: {line}", flush=True)
            with busy():
                line, second = lab(*given)
            print(f"{name}, busy: {line}", flush=True)
            hashes |= {first, second}
        print(f"{name}: {'equal to the bit' if len(hashes) == 1 else f'{len(hashes)} different results'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
