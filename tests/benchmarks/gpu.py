"""All that is to be measured on a CUDA card, in one command of at most four minutes.

    python tests/benchmarks/gpu.py --out FOLDER [--budget SECONDS] [parts ...]
    python tests/benchmarks/gpu_table.py FOLDER > docs/speed_gpu.md

Parts run in the order of their importance.  Each row is printed and written to FOLDER/gpu.json as
soon as it is there.  A part that fails or takes more than its share of the time leaves its rows and
one line that says so.  The tour on the CPU runs beside them in a process of its own.

replay   a step and a Hessian product of each small network, launched and replayed
fits     a plain PyTorch loop, `pretrain` and fits of ResNet-18 at the size of CIFAR-10, one draw a
         step, in turn; ratios are medians over the rounds
plane    a plane's time a point, set-up included and left out, over that of a bare forward pass
tour     the tour of the MLP on the card
draws    a few-shot fit of ResNet-18 in float32 and bfloat16, by its number of draws
profile  time of a launched step on the card by operation
methods  of each method, whether its steps are replayed
family   a family of five on ResNet-18: fit, and `measure` by its stages
cross    steps and measuring of small networks on the card and on the CPU

Images are random: speed does not depend on them.  The posterior is narrow: an untrained network
diverges under wider noise on all of its weights.  `--tiny --device second` runs all of it on the
tests' second device, which mixes with the CPU as little as a card: its times say nothing.
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from nets import images, resnet20
from timing import typical
from torch import nn
from torchvision.models import resnet18

import flatviz as fv
from flatviz.core.arithmetic import FEW, least_multiply_adds
from flatviz.engine.graphs import RECORDERS, SWITCH
from flatviz.families.tour import TourSettings, run_tour
from flatviz.posteriors.entries import keyworded

# of a family, where tiny
FEW_CELLS = dict(
    n_draws=3,
    n_spectra=1,
    k=2,
    resolution=3,
    around_resolution=3,
)
WARM = 5  # steps before the clock starts: kernels are chosen, steps recorded, memory is taken
ROUNDS = 3


class Late(BaseException):
    """The share of a part is over; no `Exception`, for those are caught where a replay fails."""


@dataclass
class Results:
    """Rows by name, on paper and in a file at once."""

    path: Path
    about: dict[str, Any]
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    part: str = ""

    def begin(self, part, what):
        """A part begins."""
        self.part = part
        self.parts[part] = {"what": what, "rows": {}}
        print(f"\n## {part}: {what}", flush=True)

    def row(self, name, value, unit="", goal="", note=""):
        """A row; another of its name is replaced."""
        rows = self.parts[self.part]["rows"]
        rows[name] = [value, unit, goal, note]
        number = "" if value is None else f"{value:.4g} {unit}"
        print(f"{name:<60} {number:<18} {goal and f'wanted {goal}':<16} {note}", flush=True)
        self.write()

    def say(self, name, value):
        """Something about the part: an error, its seconds."""
        self.parts[self.part][name] = value
        print(f"{name}: {value}", flush=True)
        self.write()

    def write(self):
        """All of it, in the file."""
        everything = {"about": self.about, "parts": self.parts}
        self.path.write_text(json.dumps(everything, indent=1))


@dataclass(frozen=True)
class Setting:
    """What all rows share."""

    device: torch.device
    precision: str | None
    tiny: bool
    batch: int
    steps: int
    images: int

    def network(self):
        """ResNet-18 for images of 32 x 32: a first convolution of 3 x 3, no pooling after it;
        ResNet-20 where tiny."""
        torch.manual_seed(0)
        if self.tiny:
            return resnet20()
        module = resnet18(num_classes=10)
        module.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        module.maxpool = nn.Identity()
        return module

    def data(self, few=None):
        """Random images on the device."""
        torch.manual_seed(0)
        return images(few or self.images).to(self.device)

    def treated(self, which="norm+head"):
        """The network on the device, and a prior as narrow as an untrained one needs."""
        module = self.network().eval()
        return self.with_posterior(module, which, images(2).x, -9.0, 1e-4)

    def with_posterior(self, module, which, example, log_std, factor_std):
        """The network on the device, and a Gaussian of rank 5 at its weights."""
        net = fv.Net.from_module(module, which, example=example).to(self.device)
        widths = torch.full_like(net.w, log_std)
        factor = factor_std * torch.randn(5, net.dim)
        return net, fv.Gaussian(net.w, widths, factor.to(self.device))

    def autocast(self):
        """The precision of a plain loop."""
        enabled = self.precision is not None
        return torch.autocast(self.device.type, torch.bfloat16, enabled=enabled)

    def placed(self, module):
        """On the device, channels last on a card."""
        if self.device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)
        return module.to(self.device)

    def done(self):
        """Wait for the card."""
        if self.device.type != "cpu":
            torch.get_device_module(self.device).synchronize()


def speed(setting, fit):
    """(Images/s after the first steps, peak GiB on a card, result) of `fit(progress=...)`, which
    runs WARM + steps steps."""
    started = []
    if on_card := setting.device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def watch(done, total, label):
        if done == WARM:
            setting.done()
            started.append(time.perf_counter())

    result = fit(progress=watch)
    setting.done()
    took = time.perf_counter() - started[0]
    peak = torch.cuda.max_memory_allocated() / 2**30 if on_card else math.nan
    return setting.steps * setting.batch / took, peak, result


def loss_of(module, x, y):
    outputs = module(x.contiguous(memory_format=torch.channels_last))
    return nn.functional.cross_entropy(outputs.float(), y)


def plain_sgd(setting, module, data, progress):
    """What a user writes: autocast, channels last, torch.optim.SGD with momentum."""
    module = setting.placed(module).train()
    optimiser = torch.optim.SGD(
        module.parameters(),
        lr=0.01,
        momentum=0.9,
        weight_decay=5e-4,
    )
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


def seconds(setting, call, repeats=3):
    """Time a call until the card has finished; the median, without the first."""

    def whole():
        call()
        setting.done()

    whole()
    return typical(whole, repeats=repeats)[0]


def small(setting, model, width=None):
    """A network of the digits on the device, norm + head treated, or an MLP of this width, and a
    narrow posterior."""
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    how = {} if width is None else {"hidden": (width, width)}
    network = getattr(fv.models, model)
    module = network(task, **how).eval()
    example = task.train.x[:2]
    net, q = setting.with_posterior(module, "norm+head", example, -4.0, 0.01)
    return net, task.to(setting.device), q


def history_notes(posterior):
    """Notes of a fit, of which a replay that was given up is one."""
    return "; ".join(posterior.history.notes)


def replay(setting, out):
    """Steps and Hessian products, launched and replayed."""
    steps = 4 if setting.tiny else 60
    for model in ("mlp", "convnet"):
        net, task, q = small(setting, model)
        how = dict(seed=0, steps=steps)
        fields = dict(radius=0.5, mc_samples=8)
        fit = partial(fv.fit, net, task.train, fv.SABMA(q, **fields), **how)
        f = fv.nll(net, task.train)
        pairs = partial(fv.top_eigenpairs, f, net.w, 5)
        name = f"{model}, SA-BMA of 8 draws, a step"
        replayed = seconds(setting, fit)
        after = fit()
        each = 1e3 * replayed / steps
        out.row(f"{name}: as it comes", each, "ms", note=history_notes(after))
        short = seconds(setting, pairs)
        with mock.patch.dict(os.environ, {SWITCH: "0"}):
            launched = seconds(setting, fit)
            before = fit()
            long = seconds(setting, pairs)
            values = pairs().values
        out.row(f"{name}: launched", 1e3 * launched / steps, "ms")
        numbers = lambda q: (q.mean, q.log_std, q.factor)
        same = all(map(torch.equal, numbers(before), numbers(after)))
        out.row(f"{name}: faster by", launched / replayed, "times", note=f"same bits: {same}")
        errors = pairs().values / values - 1
        note = f"replayed {1e3 * short:.1f} ms, launched {1e3 * long:.1f}"
        note += f", relative error {float(errors.abs().max()):.0e}"
        out.row(f"{model}, 5 eigenpairs: faster by", long / short, "times", note=note)


GOALS = {
    "pretrain": ">= 0.9",
    "VI, all": ">= 0.95",
    "VI, norm+head": ">= 0.95",
    "SABMA, all": ">= 0.47",
    "SABMA, norm+head": ">= 0.52",
}


def fits(setting, out):
    """Images/s of fits of ResNet-18, one draw a step, over those of a plain loop."""
    data = setting.data()
    total = WARM + setting.steps
    passes = dict(
        seed=0,
        training=fv.Training(precision=setting.precision),
        batch_size=setting.batch,
    )
    one = dict(steps=total, lr=1e-3, batchnorm="frozen", **passes)
    runs = {"plain": partial(plain_sgd, setting, setting.network(), data)}
    epochs, rest = divmod(total, -(-len(data) // setting.batch))
    if not rest:  # else it has other steps than were counted
        net = setting.treated("all")[0]
        runs["pretrain"] = partial(fv.pretrain, net, data, epochs=epochs, **passes)
    for which in ("norm+head", "all"):
        net, prior = setting.treated(which)
        drawn = dict(kl_weight=0.0, mc_samples=1, **one)
        sabma = partial(keyworded(fv.SABMA), radius=0.1)
        runs[f"SABMA, {which}"] = partial(sabma, net, data, prior, **drawn)
        runs[f"VI, {which}"] = partial(
            fv.fit,
            net,
            data,
            fv.VI(prior, kl_weight=0.0, mc_samples=1, lr=1e-3),
            steps=total,
            batchnorm="frozen",
            **passes,
        )
        runs[f"SGD, {which}"] = partial(
            fv.fit, net, data, fv.SGD(lr=1e-3), steps=total, batchnorm="frozen", **passes
        )
    rates = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, fit in runs.items():
            try:
                rate, peak, posterior = speed(setting, fit)
            except Exception as error:  # of one fit, the others are worth their time
                out.row(name, None, note=f"{type(error).__name__}: {error}")
                continue
            rates[name].append(rate)
            each = [a / b for a, b in zip(rates[name], rates["plain"])]
            note = f"{rate:,.0f} images/s, {peak:.2f} GiB at the peak; of each round: "
            note += " ".join(f"{ratio:.2f}" for ratio in each)
            if getattr(posterior, "history", None) is not None:
                note += f"; {history_notes(posterior) or 'replayed'}"
            out.row(name, statistics.median(each), "of plain", GOALS.get(name, ""), note)


def plane(setting, out):
    """A plane of ResNet-18 with its set-up, and a point alone, by the times of two sizes."""
    least, most = (2, 3) if setting.tiny else (4, 9)
    data = setting.data()
    module = setting.placed(setting.network()).eval()
    net = fv.Net.from_module(setting.network().eval()).to(setting.device)
    plane = fv.plane_random(net, net.w, seed=0)
    f = fv.nll(net, data)

    @torch.inference_mode()
    def forward():
        with setting.autocast():
            for x, y in zip(data.x.split(1024), data.y.split(1024)):
                loss_of(module, x, y)
        setting.done()

    def surface(side, precision):
        fv.slice_plane(
            f,
            plane,
            extent=0.5,
            resolution=side,
            precision=precision,
        )
        setting.done()

    for precision in dict.fromkeys((setting.precision, None)):
        if precision is None and setting.precision is not None:
            continue  # float32 was near its limit in all runs
        forward()
        surface(2, precision)
        points = most**2 - least**2
        rounds = [
            typical(
                forward,
                partial(surface, least, precision),
                partial(surface, most, precision),
                repeats=1,
            )
            for _ in range(2)
        ]
        passes = []
        set_ups = []
        for bare, small_plane, large_plane in rounds:
            a_point = (large_plane - small_plane) / points
            passes.append(a_point / bare)
            set_ups.append(large_plane - most**2 * a_point)
        bare = statistics.median(times[0] for times in rounds)
        alone = statistics.median(passes)
        set_up = statistics.median(set_ups)
        name = f"plane, {precision or 'float32'}"
        out.row(f"{name}: a bare forward pass", 1e3 * bare, "ms")
        out.row(f"{name}: a point alone", alone, "passes", "<= 1.15")
        out.row(f"{name}: set-up", set_up, "s")
        for side in (11, 41):
            whole = alone + set_up / bare / side**2
            out.row(f"{name}: a point of {side} x {side}, with set-up", whole, "passes", "<= 1.15")


def tour(setting, out):
    """The tour of the MLP by its stages."""
    stages = []

    def heard(text):
        label, _, state = text.partition(": ")
        if state == "computing":
            setting.done()
            if stages:
                name, start = stages[-1]
                took = time.perf_counter() - start
                out.row(f"{setting.device.type}, {name}", took, "s")
            stages.append((label, time.perf_counter()))

    settings = TourSettings()
    if setting.tiny:
        settings = TourSettings(
            epochs=2,
            repeats=1,
            measured=FEW_CELLS,
            radii={"vi": (0.0,), "sabma": (0.0, 0.5)},
            fit={"steps": 3},
        )
    start = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {"FLATVIZ_CACHE": folder}),
    ):
        run_tour(
            "mlp",
            device=setting.device,
            settings=settings,
            say=heard,
        )
        heard("the end: computing")
    took = time.perf_counter() - start
    out.row(f"{setting.device.type}, all", took, "s", "no slower than on the CPU")


def profile(setting, out):
    """Time a launched step of ResNet-18 on the card, in ms, also its longest operations."""
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    data = setting.data()
    short = replace(setting, steps=5)
    one = dict(
        seed=0,
        batchnorm="frozen",
        steps=WARM + short.steps,
        batch_size=setting.batch,
        training=fv.Training(precision=setting.precision),
    )
    fields = dict(lr=1e-3, kl_weight=0.0, mc_samples=1)
    net, prior = setting.treated("all")
    runs = {
        "plain": partial(plain_sgd, short, setting.network(), data),
        "SABMA, all": partial(fv.fit, net, data, fv.SABMA(prior, radius=0.1, **fields), **one),
        "VI, all": partial(fv.fit, net, data, fv.VI(prior, **fields), **one),
    }
    for name, run in runs.items():
        seen = torch.profiler.profile(activities=kinds)

        def watch(done, total, label, seen=seen):
            if done == WARM:
                setting.done()
                seen.start()

        with mock.patch.dict(os.environ, {SWITCH: "0"}):
            run(progress=watch)
        setting.done()
        seen.stop()
        events = [e for e in seen.key_averages() if e.key.startswith("aten::")]
        events.sort(key=lambda e: e.self_device_time_total, reverse=True)
        milliseconds = lambda e: e.self_device_time_total / 1e3 / short.steps
        out.row(f"{name}: all operations", sum(map(milliseconds, events)), "ms")
        for e in events[:10]:
            calls = f"{e.count / short.steps:.0f} calls"
            out.row(f"{name}: {e.key}", milliseconds(e), "ms", note=calls)


def draws(setting, out):
    """A few-shot fit of SA-BMA by its number of draws, in both precisions."""
    net, prior = setting.treated()
    few = setting.data(4 if setting.tiny else 40)
    steps = 3 if setting.tiny else 100
    for precision in dict.fromkeys((None, setting.precision)):
        how = dict(seed=0, training=fv.Training(precision=precision), batchnorm="frozen")
        fields = dict(radius=0.1, lr=1e-3)
        for draw in (1, 8):
            start = time.perf_counter()
            q = fv.fit(net, few, fv.SABMA(prior, mc_samples=draw, **fields), steps=steps, **how)
            setting.done()
            took = time.perf_counter() - start
            name = f"{len(few)} images, {steps} steps, draws a step: {draw}"
            name += f", {precision or 'float32'}"
            out.row(name, took, "s", note=history_notes(q) or "replayed")


def methods(setting, out):
    """Of each method, whether its steps are replayed, on the MLP of the digits."""
    net, task, q = small(setting, "mlp")
    given = {"vi": {"prior": q}, "sabma": {"prior": q, "radius": 0.5}}
    names = "sgd swa swag vi sabma bsam sgld sghmc csgld emcmc svgd dropout ensemble"
    for name in names.split():
        fit = getattr(fv, f"fit_{name}")
        start = time.perf_counter()
        try:
            fitted = fit(net, task.train, seed=0, **given.get(name, {}))
            note = history_notes(fitted) or "replayed"
        except Exception as error:  # of one method, said beside the others
            first_line = str(error).splitlines()[0]
            note = f"{type(error).__name__}: {first_line}"
        out.row(f"fit_{name}", time.perf_counter() - start, "s", note=note)


def family(setting, out):
    """A family of five on ResNet-18, and what is measured of it, by stages."""
    net, prior = setting.treated()
    data = setting.data(8 if setting.tiny else 40)
    task = fv.Task(data, data, data, n_classes=10)
    radii = (0.0, 0.1) if setting.tiny else (0.0, 0.1, 0.2, 0.3, 0.4)
    start = time.perf_counter()
    how = {"steps": 2 if setting.tiny else 100, "lr": 1e-3}
    five = fv.families.fit_family(
        net,
        task,
        prior,
        radii={"sabma": radii},
        seed=0,
        fit=how,
    )
    setting.done()
    out.row(f"fit of {len(five.radius)} members", time.perf_counter() - start, "s")
    stages = []

    def watch(done, total, label):
        if stages and stages[-1][0] == label:
            return
        setting.done()
        if stages:
            name, start = stages[-1]
            took = time.perf_counter() - start
            out.row(f"measure, {name}", took, "s")
        stages.append((label, time.perf_counter()))

    start = time.perf_counter()
    how = FEW_CELLS if setting.tiny else {}
    fv.families.measure(net, task, five, seed=0, progress=watch, **how)
    watch(0, 0, "the end")
    out.row("measure, all", time.perf_counter() - start, "s", "<= 10 to a first picture")


def cross(setting, out):
    """Fits and measuring of small networks on the card and on the CPU, beside which `auto`
    chooses."""
    networks = [("convnet", None), ("mlp", None)]
    if not setting.tiny:
        networks.append(("mlp", 1024))
    for model, width in networks:
        both = []
        for device in (setting.device, torch.device("cpu")):
            here = replace(setting, device=device)
            net, task, q = small(here, model, width)
            radii = {"sabma": (0.0, 0.5)}
            steps = {"steps": 3 if setting.tiny else 60}
            family = fv.families.fit_family(
                net,
                task,
                q,
                radii=radii,
                seed=0,
                fit=steps,
            )
            how = FEW_CELLS if setting.tiny else {}
            sabma = partial(keyworded(fv.SABMA), radius=0.5, seed=0, **steps)
            fit = partial(sabma, net, task.train, q)
            measuring = partial(fv.families.measure, net, task, family, seed=0, **how)
            both.append([seconds(here, call, repeats=1) for call in (fit, measuring)])
        name = model if width is None else f"{model} {width}"
        adds = f"{least_multiply_adds(net.module):,} multiply-adds"
        adds += f"; auto takes the card from {FEW:,}"
        for what, card, cpu in zip(("60 steps of SA-BMA", "measuring"), *both):
            note = f"{card:.2f} s there, {cpu:.2f} s on the CPU; {adds}"
            out.row(f"{name}, {what}: on the card faster by", cpu / card, "times", note=note)


# part -> (what runs, its share of the budget)
PARTS = {
    "replay": (replay, 0.15),
    "fits": (fits, 0.4),
    "plane": (plane, 0.2),
    "tour": (tour, 0.35),
    "draws": (draws, 0.15),
    "profile": (profile, 0.1),
    "methods": (methods, 0.15),
    "family": (family, 0.25),
    "cross": (cross, 0.25),
}


def late(*_):
    raise Late


def run(parts, setting, out, end):
    """The parts, each within its share of the time that is left until `end`."""
    budget = end - time.monotonic()
    signal.signal(signal.SIGALRM, late)
    for name in parts:
        part, share = PARTS[name]
        out.begin(name, " ".join(part.__doc__.split()))
        start = time.monotonic()
        allowed = min(share * budget, end - start)
        if allowed <= 1:
            out.say("not measured", "no time was left")
            continue
        try:
            # again a second later, should something catch it
            signal.setitimer(signal.ITIMER_REAL, allowed, 1.0)
            try:
                part(setting, out)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Late:
            out.say("cut off", f"after {allowed:.0f} s, its share of the time")
        except Exception as error:  # the next part is worth its time on a card all the same
            out.say("failed", f"{type(error).__name__}: {error}")
        out.say("seconds", round(time.monotonic() - start, 1))


def launched_again(warm, step):
    """In place of a graph: a step that is not recorded but launched once more."""
    warm()
    return step


def main():
    """Measure the parts asked for, all by default."""
    started = time.monotonic()
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument(
        "parts",
        nargs="*",
        choices=[[], *PARTS],
        default=[],
        help="all by default",
    )
    cuda = "cuda" if torch.cuda.is_available() else "cpu"
    ask.add_argument("--device", default=cuda, help="cuda, cpu or second")
    ask.add_argument(
        "--out",
        type=Path,
        default=Path("gpu"),
        help="folder of gpu.json",
    )
    ask.add_argument("--budget", type=float, default=230.0, help="seconds of all parts together")
    ask.add_argument("--tiny", action="store_true", help="ResNet-20, few images: does it run?")
    asked = ask.parse_args()
    precision = "bfloat16"
    name = asked.device
    if asked.device == "second":
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from second_device import second_device

        asked.device = second_device()
        precision = None  # it has no autocast
        RECORDERS[asked.device.type] = launched_again
    sizes = (4, 3, 8) if asked.tiny else (256, 91, 8192)
    setting = Setting(torch.device(asked.device), precision, asked.tiny, *sizes)
    asked.out.mkdir(parents=True, exist_ok=True)
    parts = asked.parts or list(PARTS)
    beside = None
    if name != "cpu":
        torch.set_num_threads(min(8, torch.get_num_threads()))
    if name != "cpu" and "tour" in parts:
        words = [sys.executable, __file__, "tour", "--device", "cpu", "--out", asked.out]
        words += ["--budget", str(asked.budget / PARTS["tour"][1])]
        words += ["--tiny"] * asked.tiny
        log = (asked.out / "cpu.log").open("w")
        beside = subprocess.Popen(words, stdout=log, stderr=log)
    where = torch.cuda.get_device_name() if name == "cuda" else name
    about = {
        "torch": torch.__version__,
        "device": where,
        "cores": os.cpu_count(),
        "batch": setting.batch,
        "precision": precision or "float32",
        "day": time.strftime("%Y-%m-%d"),
        "tiny": asked.tiny,
    }
    print(", ".join(f"{key} {value}" for key, value in about.items()), flush=True)
    file = "cpu.json" if name == "cpu" else "gpu.json"
    out = Results(asked.out / file, about)
    end = started + asked.budget
    try:
        run(parts, setting, out, end)
    finally:
        if beside is not None:
            try:
                beside.wait(max(1.0, end + 5 - time.monotonic()))
            except subprocess.TimeoutExpired:
                beside.kill()
                beside.wait()
    print(f"\n{time.monotonic() - started:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
