"""SA-BMA on ResNet-18 at the size of CIFAR-10 beside plain SGD, for a CUDA card: `python tests/benchmarks/gpu.py [options]`.

Prints a table: images/s and peak memory of a plain PyTorch loop, of `pretrain` and of `fit_sabma` on all weights and on
norm + head, each in the same precision, and a plane's time a point over that of a bare forward pass.  Images are random: speed
does not depend on them.
The posterior is narrow: an untrained network diverges under wider noise on all of its weights, and speed does not depend on it.
`--tiny` runs all of it on a CPU in a minute, to see that it runs; its times say nothing.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from nets import ResNet20
from timing import typical

import flatviz as fv

WARM = 5  # steps before the clock starts: kernels are chosen, memory is taken


@dataclass(frozen=True)
class Setting:
    """What all rows share."""

    device: torch.device
    precision: str | None
    batch: int
    steps: int
    images: int
    tiny: bool

    def network(self) -> nn.Module:
        """ResNet-18 for images of 32 x 32: a first convolution of 3 x 3, no pooling after it; ResNet-20 where tiny."""
        from torchvision.models import resnet18

        torch.manual_seed(0)
        if self.tiny:
            return ResNet20()
        module = resnet18(num_classes=10)
        module.conv1, module.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
        return module

    def data(self) -> fv.Data:
        """Random images on the device."""
        g = torch.Generator().manual_seed(0)
        x, y = torch.randn(self.images, 3, 32, 32, generator=g), torch.randint(0, 10, (self.images,), generator=g)
        return fv.Data(x, y).to(self.device)

    @property
    def passes(self) -> dict:
        """Keywords of a fit."""
        return dict(training=fv.Training(precision=self.precision), batch_size=self.batch)

    def done(self) -> None:
        """Wait for the card."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def peak(self) -> float:
        """GiB taken at most since `reset`; on a CPU of the process so far."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated() / 2**30
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    def reset(self) -> None:
        """Forget the peak."""
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


def speed(setting: Setting, fit: Callable[[Callable], object]) -> tuple[float, float]:
    """(images/s after the first steps, peak GiB) of `fit(progress=...)`, which runs WARM + steps steps."""
    started: list[float] = []

    def watch(done: int, total: int, label: str) -> None:
        if done == WARM:
            setting.done()
            started.append(time.perf_counter())

    setting.reset()
    fit(progress=watch)
    setting.done()
    return setting.steps * setting.batch / (time.perf_counter() - started[0]), setting.peak()


def plain_sgd(setting: Setting, module: nn.Module, data: fv.Data, progress: Callable) -> None:
    """What a user writes: autocast, channels last, torch.optim.SGD with momentum."""
    module = module.to(setting.device).train()
    if setting.device.type == "cuda":
        module = module.to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    total = WARM + setting.steps
    for step in range(total):
        progress(step, total, "plain SGD")
        index = torch.randint(len(data), (setting.batch,), device=setting.device)
        x, y = data.x[index], data.y[index]
        with torch.autocast(setting.device.type, torch.bfloat16, enabled=setting.precision is not None):
            loss = nn.functional.cross_entropy(module(x.contiguous(memory_format=torch.channels_last)).float(), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def rows(setting: Setting) -> list[tuple[str, float, float]]:
    """(name, images/s, peak GiB) of each fit."""
    data, module = setting.data(), setting.network()
    total = WARM + setting.steps
    found = [("plain PyTorch loop, SGD", *speed(setting, partial(plain_sgd, setting, module, data)))]
    module = setting.network().eval()
    epoch = -(-len(data) // setting.batch)
    epochs = -(-total // epoch)

    if epochs * epoch == total:  # else it has other steps than were counted
        net = fv.Net.from_module(module).to(setting.device)
        fit = partial(fv.pretrain, net, data, seed=0, epochs=epochs, **setting.passes)
        found.append(("pretrain", *speed(setting, fit)))
    for treated in ("all", "norm+head"):
        net = fv.Net.from_module(module, treated, example=data.x[:2].cpu()).to(setting.device)
        prior = fv.Gaussian(net.w, torch.full_like(net.w, -9.0), 1e-4 * torch.randn(5, net.dim, device=setting.device))
        one = dict(seed=0, steps=total, lr=1e-3, batchnorm="frozen", **setting.passes)
        fits = {
            "fit_sgd": partial(fv.fit_sgd, net, data, **one),
            "fit_vi": partial(fv.fit_vi, net, data, prior, kl_weight=0.0, **one),
            "fit_sabma": partial(fv.fit_sabma, net, data, prior, radius=0.1, kl_weight=0.0, **one),
        }
        found += [(f"{name}, {treated}", *speed(setting, fit)) for name, fit in fits.items()]
    return found


def plane_ratio(setting: Setting, side: int) -> tuple[float, float, float]:
    """Milliseconds of a bare forward pass over the data, of a point of a plane, and their ratio."""
    data, module = setting.data(), setting.network().to(setting.device).eval()
    net = fv.Net.from_module(setting.network().eval()).to(setting.device)
    plane, f = fv.plane_random(net, net.w, seed=0), fv.nll(net, data)
    if setting.device.type == "cuda":
        module = module.to(memory_format=torch.channels_last)

    @torch.inference_mode()
    def forward() -> None:
        with torch.autocast(setting.device.type, torch.bfloat16, enabled=setting.precision is not None):
            for x, y in zip(data.x.split(1024), data.y.split(1024)):
                nn.functional.cross_entropy(module(x.contiguous(memory_format=torch.channels_last)).float(), y)
        setting.done()

    def surface() -> None:
        fv.slice_plane(f, plane, extent=0.5, resolution=side, precision=setting.precision)
        setting.done()

    bare, whole = typical(forward, surface)
    return 1e3 * bare, 1e3 * whole / side**2, whole / side**2 / bare


def main() -> None:
    """Print the table."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    ask.add_argument("--batch", type=int, default=256)
    ask.add_argument("--steps", type=int, default=91)
    ask.add_argument("--images", type=int, default=8192)
    ask.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    ask.add_argument("--tiny", action="store_true", help="ResNet-20, few images: does it run?")
    asked = ask.parse_args()
    precision = None if asked.precision == "float32" else asked.precision
    batch, steps, images = (4, 3, 8) if asked.tiny else (asked.batch, asked.steps, asked.images)
    setting = Setting(torch.device(asked.device), precision, batch, steps, images, asked.tiny)
    where = torch.cuda.get_device_name() if setting.device.type == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {where}, batch {batch}, {asked.precision}\n")
    name = "ResNet-20" if asked.tiny else "ResNet-18"
    print(f"| fit of {name}, 32 x 32 | images/s | of the plain loop | peak GiB |\n|---|---|---|---|")
    table = rows(setting)
    for name, rate, peak in table:
        print(f"| {name} | {rate:,.0f} | {rate / table[0][1]:.2f} | {peak:.2f} |")
    bare, point, ratio = plane_ratio(setting, 3 if asked.tiny else 11)
    print(f"\nplane: {point:.2f} ms a point, bare forward pass {bare:.2f} ms, ratio {ratio:.2f} (wanted <= 1.25)")


if __name__ == "__main__":
    main()
