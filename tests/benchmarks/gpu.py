"""All that is to be measured on a CUDA card, in one command of under ten minutes: `python
tests/benchmarks/gpu.py [options]`.

Each part prints its table as soon as it has it, and a part that fails prints its error: replay  a
step of each small network launched and replayed, results compared to the bit; of each method
whether it is replayed
cross   steps and measuring of small networks on the card and on the CPU: where `auto` should change
fits    images/s and peak memory of a plain PyTorch loop, `pretrain`,
    and fits of ResNet-18 at the size of CIFAR-10, one draw a step
draws   the same fit as it comes, and a few-shot fit in float32 and bfloat16
plane   a plane's time a point, set-up included and left out, over that of a bare forward pass
family  a family of five on ResNet-18: fit, `measure` by its stages, page

Images are random: speed does not depend on them.  The posterior is narrow: an untrained network
diverges under wider noise on all of its weights.  `--tiny` runs all of it in a few minutes on a
CPU, or with `--device second` on the tests' second device, which mixes with the CPU as little as a
card: it shows that all runs; its times say nothing.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from unittest import mock

import torch
from nets import images, resnet20
from timing import typical
from torch import nn
from torchvision.models import resnet18

import flatviz as fv
from flatviz.core.arithmetic import FEW, multiply_adds
from flatviz.engine.graphs import RECORDERS

FEW_CELLS = dict(
    n_draws=2, n_spectra=1, k=2, resolution=3, around_resolution=3
)  # of a family, where tiny
WARM = 5  # steps before the clock starts: kernels are chosen, memory is taken


@dataclass(frozen=True)
class Setting:
    """What all rows share."""

    device: torch.device
    precision: str | None
    tiny: bool
    batch: int
    steps: int
    images: int

    def network(self) -> nn.Module:
        """ResNet-18 for images of 32 x 32: a first convolution of 3 x 3, no pooling after it;
        ResNet-20 where tiny."""
        torch.manual_seed(0)
        if self.tiny:
            return resnet20()
        module = resnet18(num_classes=10)
        module.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        module.maxpool = nn.Identity()
        return module

    def data(self, few: int | None = None) -> fv.Data:
        """Random images on the device."""
        torch.manual_seed(0)
        return images(few or self.images).to(self.device)

    def treated(self, which: str = "norm+head") -> tuple[fv.Net, fv.Gaussian]:
        """The network on the device, and a prior as narrow as an untrained one needs."""
        net = fv.Net.from_module(self.network().eval(), which, example=images(2).x).to(self.device)
        return net, fv.Gaussian(
            net.w, torch.full_like(net.w, -9.0), 1e-4 * torch.randn(5, net.dim).to(self.device)
        )

    def autocast(self):
        """The precision of a plain loop."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision is not None)

    def placed(self, module: nn.Module) -> nn.Module:
        """On the device, channels last on a card."""
        layout = {"memory_format": torch.channels_last} if self.device.type == "cuda" else {}
        return module.to(self.device, **layout)

    def done(self) -> None:
        """Wait for the card."""
        if self.device.type != "cpu":
            torch.get_device_module(self.device).synchronize()


def speed(setting: Setting, fit: Callable[[Callable], object]) -> tuple[float, float]:
    """(images/s after the first steps, peak GiB on a card) of `fit(progress=...)`, which runs WARM
    + steps steps."""
    started: list[float] = []
    if on_card := setting.device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def watch(done: int, total: int, label: str) -> None:
        if done == WARM:
            setting.done()
            started.append(time.perf_counter())

    fit(progress=watch)
    setting.done()
    took = time.perf_counter() - started[0]
    return (
        setting.steps * setting.batch / took,
        torch.cuda.max_memory_allocated() / 2**30 if on_card else math.nan,
    )


def loss_of(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(
        module(x.contiguous(memory_format=torch.channels_last)).float(), y
    )


def plain_sgd(setting: Setting, module: nn.Module, data: fv.Data, progress: Callable) -> None:
    """What a user writes: autocast, channels last, torch.optim.SGD with momentum."""
    module = setting.placed(module).train()
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    for step in range(WARM + setting.steps):
        progress(step, WARM + setting.steps, "plain SGD")
        index = torch.randint(len(data), (setting.batch,), device=setting.device)
        x = data.x[index]
        y = data.y[index]
        with setting.autocast():
            loss = loss_of(module, x, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def seconds(setting: Setting, call: Callable[[], object], repeats: int = 3) -> float:
    """Median of a call that ends when the card has; the first, of kernels and graphs, is left out."""

    def whole() -> None:
        call()
        setting.done()

    whole()
    return typical(whole, repeats=repeats)[0]


def small(
    setting: Setting, model: str, width: int | None = None
) -> tuple[fv.Net, fv.Task, fv.Gaussian]:
    """A network of the digits on the device, norm + head treated, or an MLP of this width, and a
    narrow posterior."""
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    module = getattr(fv.models, model)(
        task, **({} if width is None else {"hidden": (width, width)})
    )
    net = fv.Net.from_module(module.eval(), "norm+head", example=task.train.x[:2]).to(
        setting.device
    )
    q = fv.Gaussian(
        net.w, torch.full_like(net.w, -4.0), 0.01 * torch.randn(5, net.dim).to(setting.device)
    )
    return net, task.to(setting.device), q


def replay(setting: Setting) -> Iterator[str]:
    """Item 1: replayed steps and Hessian products."""
    yield (
        "| network | SA-BMA, 8 draws: launched, ms a step | replayed | same bits | 5 eigenpairs:"
        " launched, ms | replayed | error |"
    )
    yield "|---|---|---|---|---|---|---|"
    steps = 4 if setting.tiny else 60
    for model in ("mlp", "convnet"):
        net, task, q = small(setting, model)
        fit = partial(
            fv.fit_sabma, net, task.train, q, radius=0.5, seed=0, mc_samples=8, steps=steps
        )
        pairs = partial(fv.top_eigenpairs, fv.nll(net, task.train), net.w, 5)
        replayed = seconds(setting, fit)
        after = fit()
        short = seconds(setting, pairs)
        pairs_after = pairs()
        with mock.patch.dict(RECORDERS, clear=True):
            launched = seconds(setting, fit)
            before = fit()
            long = seconds(setting, pairs)
            pairs_before = pairs()
        same = all(
            torch.equal(getattr(before, name), getattr(after, name))
            for name in ("mean", "log_std", "factor")
        )
        error = float((pairs_after.values / pairs_before.values - 1).abs().max())
        times = (
            f"{1e3 * launched / steps:.3f} | {1e3 * replayed / steps:.3f} | {same}"
            f" {after.history.notes or ''}"
        )
        yield f"| {model} | {times} | {1e3 * long:.1f} | {1e3 * short:.1f} | {error:.1e} |"
    net, task, q = small(setting, "mlp")
    given = {"fit_vi": ((q,), {}), "fit_sabma": ((q,), {"radius": 0.5})}
    for name in (
        "sgd",
        "swa",
        "swag",
        "vi",
        "sabma",
        "bsam",
        "sgld",
        "sghmc",
        "csgld",
        "emcmc",
        "svgd",
        "dropout",
        "ensemble",
    ):
        before, how = given.get(f"fit_{name}", ((), {}))
        try:
            notes = getattr(fv, f"fit_{name}")(
                net, task.train, *before, seed=0, **how
            ).history.notes
            yield f"fit_{name}: {'; '.join(notes) or 'replayed'}"
        except Exception as error:  # of one method, said beside the others
            yield f"fit_{name}: {type(error).__name__}: {str(error).splitlines()[0]}"


def cross(setting: Setting) -> Iterator[str]:
    """Item 1: where `auto` should take the card."""
    yield (
        f"| network | multiply-adds (auto: card from {FEW:,}) | 60 steps of SA-BMA, s: card, CPU |"
        " measuring, s: card, CPU |"
    )
    yield "|---|---|---|---|"
    for model, width in (("mlp", None), ("convnet", None), ("mlp", 256), ("mlp", 1024))[
        : 2 if setting.tiny else None
    ]:
        both: list[list[float]] = []
        for device in (setting.device, torch.device("cpu")):
            here = replace(setting, device=device)
            net, task, q = small(here, model, width)
            radii = {"sabma": (0.0, 0.5)}
            steps = {"steps": 3 if setting.tiny else 60}
            family = fv.families.fit_family(net, task, q, radii=radii, seed=0, fit=steps)
            how = FEW_CELLS if setting.tiny else {}
            fit = partial(fv.fit_sabma, net, task.train, q, radius=0.5, seed=0, **steps)
            measuring = partial(fv.families.measure, net, task, family, seed=0, **how)
            both.append([seconds(here, call, repeats=1) for call in (fit, measuring)])
        (fit_card, measure_card), (fit_cpu, measure_cpu) = both
        name = model if width is None else f"{model} {width}"
        yield (
            f"| {name} | {multiply_adds(net.module):,} | {fit_card:.2f}, {fit_cpu:.2f} |"
            f" {measure_card:.2f}, {measure_cpu:.2f} |"
        )


def fits(setting: Setting) -> Iterator[str]:
    """Item 2: ResNet-18 at full load."""
    yield (
        "| fit, images of 32 x 32, one draw a step | images/s | of the plain loop | peak GiB"
        " |\n|---|---|---|---|"
    )
    data = setting.data()
    total = WARM + setting.steps
    passes = dict(
        seed=0, training=fv.Training(precision=setting.precision), batch_size=setting.batch
    )
    one = dict(steps=total, lr=1e-3, batchnorm="frozen", **passes)
    runs = {"plain PyTorch loop, SGD": partial(plain_sgd, setting, setting.network(), data)}
    epochs, rest = divmod(total, -(-len(data) // setting.batch))
    if not rest:  # else it has other steps than were counted
        runs["pretrain"] = partial(
            fv.pretrain, setting.treated("all")[0], data, epochs=epochs, **passes
        )
    for which in ("all", "norm+head"):
        net, prior = setting.treated(which)
        drawn = dict(kl_weight=0.0, mc_samples=1, **one)
        runs[f"fit_sgd, {which}"] = partial(fv.fit_sgd, net, data, **one)
        runs[f"fit_vi, {which}"] = partial(fv.fit_vi, net, data, prior, **drawn)
        runs[f"fit_sabma, {which}"] = partial(fv.fit_sabma, net, data, prior, radius=0.1, **drawn)
    plain = None
    for name, fit in runs.items():
        rate, peak = speed(setting, fit)
        plain = plain or rate
        yield f"| {name} | {rate:,.0f} | {rate / plain:.2f} | {peak:.2f} |"


def draws(setting: Setting) -> Iterator[str]:
    """Item 3: draws by the size of the network, in both precisions."""
    net, prior = setting.treated()
    few = setting.data(4 if setting.tiny else 40)
    for precision in dict.fromkeys((None, setting.precision)):
        how = dict(
            seed=0,
            radius=0.1,
            lr=1e-3,
            training=fv.Training(precision=precision),
            batchnorm="frozen",
        )
        steps = 3 if setting.tiny else 100
        for draw in (1, 8):
            fit = partial(fv.fit_sabma, net, few, prior, steps=steps, mc_samples=draw, **how)
            yield (
                f"{len(few)} images, {steps} steps of {draw}, {precision or 'float32'}:"
                f" {seconds(setting, fit, repeats=1):.2f} s"
            )
    q = fv.fit_sabma(net, setting.data(), prior, steps=2, batch_size=setting.batch, **how)
    yield (
        f"as it comes, batches of {setting.batch}:"
        f" {'; '.join(q.history.notes) or 'replayed, eight draws a step'}"
    )


def plane(setting: Setting) -> Iterator[str]:
    """Item 4: a plane with its set-up, and a point alone, by the times of two sizes."""
    side = 3 if setting.tiny else 11
    data = setting.data()
    module = setting.placed(setting.network()).eval()
    net = fv.Net.from_module(setting.network().eval()).to(setting.device)
    plane = fv.plane_random(net, net.w, seed=0)
    f = fv.nll(net, data)

    @torch.inference_mode()
    def forward() -> None:
        with setting.autocast():
            for x, y in zip(data.x.split(1024), data.y.split(1024)):
                loss_of(module, x, y)
        setting.done()

    def surface(side: int) -> None:
        fv.slice_plane(f, plane, extent=0.5, resolution=side, precision=setting.precision)
        setting.done()

    bare, less, whole = typical(forward, partial(surface, side - 1), partial(surface, side))
    alone = (whole - less) / (side**2 - (side - 1) ** 2)
    of = (
        f"a point with set-up {whole / side**2 / bare:.2f} of it (wanted <= 1.15), alone"
        f" {alone / bare:.2f}"
    )
    yield (
        f"{side} x {side}: bare forward pass {1e3 * bare:.2f} ms; {of}; set-up"
        f" {whole - alone * side**2:.2f} s"
    )


def family(setting: Setting) -> Iterator[str]:
    """Item 7: a family and its first picture on a real net."""
    net, prior = setting.treated()
    data = setting.data(8 if setting.tiny else 40)
    task = fv.Task(data, data, data, n_classes=10)
    radii = {"sabma": (0.0, 0.1) if setting.tiny else (0.0, 0.1, 0.2, 0.3, 0.4)}
    start = time.perf_counter()
    how = {"steps": 2 if setting.tiny else 100, "lr": 1e-3}
    five = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit=how)
    setting.done()
    yield f"fit of {len(five.radius)} members: {time.perf_counter() - start:.1f} s"
    stages: list[tuple[str, float]] = []

    def watch(done: int, total: int, label: str) -> None:
        if not stages or stages[-1][0] != label:
            setting.done()
            stages.append((label, time.perf_counter()))

    start = time.perf_counter()
    fv.families.measure(
        net, task, five, seed=0, progress=watch, **(FEW_CELLS if setting.tiny else {})
    )
    watch(0, 0, "the end")
    yield (
        f"measure: {stages[-1][1] - start:.1f} s (wanted: a first picture within 10 s), "
        + ", ".join(f"{label} {end - at:.1f}" for (label, at), (_, end) in pairwise(stages))
    )


PARTS = {
    part.__name__: part for part in (replay, fits, plane, draws, family, cross)
}  # the shortest questions first


def main() -> None:
    """Print the tables of the parts asked for, all by default."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[], help="all by default")
    ask.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="cuda, cpu or second",
    )
    ask.add_argument("--tiny", action="store_true", help="ResNet-20, few images: does it run?")
    asked = ask.parse_args()
    precision = "bfloat16"
    if asked.device == "second":
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from second_device import second_device

        # it has no autocast
        asked.device = second_device()
        precision = None
        RECORDERS[asked.device.type] = lambda warm, step: (warm(), step)[1]
    setting = Setting(
        torch.device(asked.device),
        precision,
        asked.tiny,
        *((4, 3, 8) if asked.tiny else (256, 91, 8192)),
    )
    where = torch.cuda.get_device_name() if setting.device.type == "cuda" else setting.device.type
    print(f"torch {torch.__version__}, {where}, batch {setting.batch}, {precision or 'float32'}")
    for name in asked.parts or PARTS:
        start = time.perf_counter()
        print(f"\n## {name}: {PARTS[name].__doc__}\n", flush=True)
        try:
            for line in PARTS[name](setting):
                print(line, flush=True)
        except Exception as error:  # the next part is worth its minute on a card all the same
            print(f"{type(error).__name__}: {error}", flush=True)
        print(f"\n{time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
