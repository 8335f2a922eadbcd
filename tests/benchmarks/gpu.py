"""SA-BMA on ResNet-18 at the size of CIFAR-10 beside plain SGD, for a CUDA card: `python tests/benchmarks/gpu.py [options]`.

Prints a table: images/s and peak memory of a plain PyTorch loop, of `pretrain` and of `fit_sabma` on all weights and on
norm + head, each in the same precision, and a plane's time a point over that of a bare forward pass.  Images are random: speed
does not depend on them.
The posterior is narrow: an untrained network diverges under wider noise on all of its weights, and speed does not depend on it.
`--tiny` runs all of it on a CPU in a minute, to see that it runs; its times say nothing.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from nets import images, resnet20
from timing import typical
from torch import nn
from torchvision.models import resnet18

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
        torch.manual_seed(0)
        if self.tiny:
            return resnet20()
        module = resnet18(num_classes=10)
        module.conv1, module.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
        return module

    def data(self) -> fv.Data:
        """Random images on the device."""
        torch.manual_seed(0)
        return images(self.images).to(self.device)

    def autocast(self):
        """The precision of a plain loop."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision is not None)

    def placed(self, module: nn.Module) -> nn.Module:
        """On the device, channels last on a card."""
        layout = {"memory_format": torch.channels_last} if self.device.type == "cuda" else {}
        return module.to(self.device, **layout)

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


def loss_of(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(module(x.contiguous(memory_format=torch.channels_last)).float(), y)


def plain_sgd(setting: Setting, module: nn.Module, data: fv.Data, progress: Callable) -> None:
    """What a user writes: autocast, channels last, torch.optim.SGD with momentum."""
    module = setting.placed(module).train()
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    for step in range(WARM + setting.steps):
        progress(step, WARM + setting.steps, "plain SGD")
        index = torch.randint(len(data), (setting.batch,), device=setting.device)
        x, y = data.x[index], data.y[index]
        with setting.autocast():
            loss = loss_of(module, x, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def rows(setting: Setting) -> list[tuple[str, float, float]]:
    """(name, images/s, peak GiB) of each fit."""
    data, module = setting.data(), setting.network().eval()
    total, passes = WARM + setting.steps, dict(training=fv.Training(precision=setting.precision), batch_size=setting.batch)
    found = [("plain PyTorch loop, SGD", *speed(setting, partial(plain_sgd, setting, setting.network(), data)))]
    epochs, rest = divmod(total, -(-len(data) // setting.batch))
    if not rest:  # else it has other steps than were counted
        net = fv.Net.from_module(module).to(setting.device)
        found.append(("pretrain", *speed(setting, partial(fv.pretrain, net, data, seed=0, epochs=epochs, **passes))))
    for treated in ("all", "norm+head"):
        net = fv.Net.from_module(module, treated, example=data.x[:2].cpu()).to(setting.device)
        prior = fv.Gaussian(net.w, torch.full_like(net.w, -9.0), 1e-4 * torch.randn(5, net.dim, device=setting.device))
        one = dict(seed=0, steps=total, lr=1e-3, batchnorm="frozen", **passes)
        fits = {
            "fit_sgd": partial(fv.fit_sgd, net, data, **one),
            "fit_vi": partial(fv.fit_vi, net, data, prior, kl_weight=0.0, **one),
            "fit_sabma": partial(fv.fit_sabma, net, data, prior, radius=0.1, kl_weight=0.0, **one),
        }
        found += [(f"{name}, {treated}", *speed(setting, fit)) for name, fit in fits.items()]
    return found


def plane_ratio(setting: Setting, side: int) -> tuple[float, float, float]:
    """Milliseconds of a bare forward pass over the data, of a point of a plane, and their ratio."""
    data, module = setting.data(), setting.placed(setting.network()).eval()
    net = fv.Net.from_module(setting.network().eval()).to(setting.device)
    plane, f = fv.plane_random(net, net.w, seed=0), fv.nll(net, data)

    @torch.inference_mode()
    def forward() -> None:
        with setting.autocast():
            for x, y in zip(data.x.split(1024), data.y.split(1024)):
                loss_of(module, x, y)
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
    for option, default in (("--batch", 256), ("--steps", 91), ("--images", 8192)):
        ask.add_argument(option, type=int, default=default)
    ask.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    ask.add_argument("--tiny", action="store_true", help="ResNet-20, few images: does it run?")
    asked = ask.parse_args()
    precision = None if asked.precision == "float32" else asked.precision
    batch, *sizes = (4, 3, 8) if asked.tiny else (asked.batch, asked.steps, asked.images)
    setting = Setting(torch.device(asked.device), precision, batch, *sizes, asked.tiny)
    where = torch.cuda.get_device_name() if setting.device.type == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {where}, batch {batch}, {asked.precision}\n")
    network = "ResNet-20" if asked.tiny else "ResNet-18"
    print(f"| fit of {network}, 32 x 32 | images/s | of the plain loop | peak GiB |\n|---|---|---|---|")
    table = rows(setting)
    for name, rate, peak in table:
        print(f"| {name} | {rate:,.0f} | {rate / table[0][1]:.2f} | {peak:.2f} |")
    bare, point, ratio = plane_ratio(setting, 3 if asked.tiny else 11)
    print(f"\nplane: {point:.2f} ms a point, bare forward pass {bare:.2f} ms, ratio {ratio:.2f} (wanted <= 1.25)")


if __name__ == "__main__":
    main()
