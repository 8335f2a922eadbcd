"""All that is to be measured on a CUDA card, in one command of at most five minutes.

    python tests/benchmarks/gpu.py --out docs/speed_gpu.md [--budget SECONDS] [parts ...]

Parts run in the order of their importance.  Each row is printed and written to the page as soon as
it is there.  A part that fails or takes more than its share of the time leaves its rows and one
line that says so.

replay   a step and a Hessian product of each small network, launched and replayed
fits     a plain PyTorch loop, `pretrain` and fits of ResNet-18 at the size of CIFAR-10, one draw a
         step, in turn; ratios are medians over the rounds
plane    a plane's time a point, set-up included and left out, over that of a bare forward pass
tour     the tour of the MLP on the card and on the CPU
family   a family of five on ResNet-18: fit, and `measure` by its stages

Images are random: speed does not depend on them.  The posterior is narrow: an untrained network
diverges under wider noise on all of its weights.  `--tiny` takes small networks: does it run?
"""

import argparse
import math
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from unittest import mock

import torch
from nets import images, resnet20
from timing import typical
from torch import nn
from torchvision.models import resnet18

import flatviz as fv
from flatviz.engine.graphs import SWITCH
from flatviz.families.tour import TourSettings, run_tour

# of a family, where tiny
FEW_CELLS = dict(n_draws=3, n_spectra=1, k=2, resolution=3, around_resolution=3)
WARM = 5  # steps before the clock starts: kernels are chosen, steps recorded, memory is taken
ROUNDS = 3
ABOUT = """# Speed on a card

Written by `python tests/benchmarks/gpu.py` on {day}: {device}, torch {torch}, {cores} cores,
networks of images in {precision} at batch {batch}. A ratio on the wrong side of its goal did not
reach it. A part that was cut off had used its share of the five minutes.
"""


class Late(BaseException):
    """The share of a part is over; no `Exception`, for those are caught where a replay fails."""


@dataclass
class Page:
    """Rows of the parts as Markdown, printed and in a file at once."""

    path: Path
    text: str = ""

    def write(self, *lines):
        """Add lines."""
        print(*lines, sep="\n", flush=True)
        self.text += "\n".join(lines) + "\n"
        self.path.write_text(self.text, encoding="utf-8")

    def begin(self, part, what):
        """A part begins."""
        self.write(f"\n## {part}\n\n{what}\n")
        self.write("| quantity | value | goal | |", "|---|---|---|---|")

    def row(self, name, value, unit="", goal="", note=""):
        """A quantity."""
        self.write(f"| {name} | {value:.3g} {unit} | {goal} | {note.replace('|', '/')} |")


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
        net = fv.Net.from_module(module, which, example=images(2).x).to(self.device)
        factor = 1e-4 * torch.randn(5, net.dim).to(self.device)
        return net, fv.Gaussian(net.w, torch.full_like(net.w, -9.0), factor)

    def autocast(self):
        """The precision of a plain loop."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision is not None)

    def placed(self, module):
        """On the device, channels last on a card."""
        layout = {"memory_format": torch.channels_last} if self.device.type == "cuda" else {}
        return module.to(self.device, **layout)

    def done(self):
        """Wait for the card."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def few(self, many, few):
        """The second where tiny."""
        return few if self.tiny else many


class Stages:
    """A row of the seconds between one label and the next."""

    def __init__(self, setting, page, name):
        self.setting = setting
        self.page = page
        self.name = name
        self.began = self.last = time.perf_counter()
        self.label = None

    def at(self, label):
        """A stage begins, unless it is that of before."""
        if label == self.label:
            return
        self.setting.done()
        now = time.perf_counter()
        if self.label is not None:
            self.page.row(f"{self.name}, {self.label}", now - self.last, "s")
        self.label = label
        self.last = now

    def end(self, goal=""):
        """The last stage, and all of them."""
        self.at("")
        self.page.row(f"{self.name}, all", self.last - self.began, "s", goal)


def speed(setting, fit):
    """(Images/s after the first steps, peak GiB on a card, result) of `fit(progress=...)`, which
    runs WARM + steps steps."""
    started = []
    on_card = setting.device.type == "cuda"
    if on_card:
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
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    total = WARM + setting.steps
    for step in range(total):
        progress(step, total, "plain SGD")
        index = torch.randint(len(data), (setting.batch,), device=setting.device)
        with setting.autocast():
            loss = loss_of(module, data.x[index], data.y[index])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def seconds(setting, call):
    """Time a call until the card has finished; the median of three, without the first."""

    def whole():
        call()
        setting.done()

    whole()
    return typical(whole)[0]


def replay(setting, page):
    """Steps and Hessian products, launched and replayed."""
    steps = setting.few(60, 4)
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    for model in ("mlp", "convnet"):
        module = getattr(fv.models, model)(task).eval()
        net = fv.Net.from_module(module, "norm+head", example=task.train.x[:2]).to(setting.device)
        data = task.train.to(setting.device)
        factor = 0.01 * torch.randn(5, net.dim).to(setting.device)
        q = fv.Gaussian(net.w, torch.full_like(net.w, -4.0), factor)
        settings = dict(radius=0.5, seed=0, mc_samples=8, steps=steps)
        fit = partial(fv.fit_sabma, net, data, q, **settings)
        pairs = partial(fv.top_eigenpairs, fv.nll(net, data), net.w, 5)
        replayed = seconds(setting, fit)
        short = seconds(setting, pairs)
        after = fit()
        values = pairs().values
        with mock.patch.dict(os.environ, {SWITCH: "0"}):
            launched = seconds(setting, fit)
            long = seconds(setting, pairs)
            before = fit()
            error = float((values / pairs().values - 1).abs().max())
        name = f"{model}, SA-BMA of 8 draws, a step"
        notes = "; ".join(after.history.notes)
        page.row(f"{name}: as it comes", 1e3 * replayed / steps, "ms", note=notes)
        page.row(f"{name}: launched", 1e3 * launched / steps, "ms")
        same = torch.equal(before.mean, after.mean) and torch.equal(before.factor, after.factor)
        page.row(f"{name}: faster by", launched / replayed, "times", note=f"same bits: {same}")
        note = f"relative error {error:.0e}"
        page.row(f"{model}, 5 eigenpairs: faster by", long / short, "times", note=note)


GOALS = {
    "pretrain": ">= 0.9",
    "fit_vi, all": ">= 0.95",
    "fit_vi, norm+head": ">= 0.95",
    "fit_sabma, all": ">= 0.47",
    "fit_sabma, norm+head": ">= 0.52",
}


def fits(setting, page):
    """Images/s of fits of ResNet-18, one draw a step, over those of a plain loop."""
    data = setting.data()
    total = WARM + setting.steps
    training = fv.Training(precision=setting.precision)
    passes = dict(seed=0, training=training, batch_size=setting.batch)
    one = dict(steps=total, lr=1e-3, batchnorm="frozen", **passes)
    drawn = dict(kl_weight=0.0, mc_samples=1, **one)
    runs = {"plain": partial(plain_sgd, setting, setting.network(), data)}
    a_pass = math.ceil(len(data) / setting.batch)
    if total % a_pass == 0:  # else it has other steps than were counted
        net, _ = setting.treated("all")
        runs["pretrain"] = partial(fv.pretrain, net, data, epochs=total // a_pass, **passes)
    for which in ("norm+head", "all"):
        net, prior = setting.treated(which)
        runs[f"fit_sabma, {which}"] = partial(fv.fit_sabma, net, data, prior, radius=0.1, **drawn)
        runs[f"fit_vi, {which}"] = partial(fv.fit_vi, net, data, prior, **drawn)
        runs[f"fit_sgd, {which}"] = partial(fv.fit_sgd, net, data, **one)
    ratios = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, fit in runs.items():
            rate, peak, result = speed(setting, fit)
            if name == "plain":
                plain = rate
            ratios[name].append(rate / plain)
            each = " ".join(f"{ratio:.2f}" for ratio in ratios[name])
            note = f"{rate:,.0f} images/s, {peak:.2f} GiB at the peak; of each round: {each}"
            history = getattr(result, "history", None)
            if history is not None:
                note += "; " + ("; ".join(history.notes) or "replayed")
            page.row(name, median(ratios[name]), "of plain", GOALS.get(name, ""), note)


def plane(setting, page):
    """A plane of ResNet-18 with its set-up, and a point alone, by the times of two sizes."""
    least = setting.few(4, 2)
    most = setting.few(9, 3)
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

    def surface(side):
        fv.slice_plane(f, plane, extent=0.5, resolution=side, precision=setting.precision)
        setting.done()

    forward()
    surface(2)
    calls = (forward, partial(surface, least), partial(surface, most))
    bare, short, long = typical(*calls, repeats=2)
    point = (long - short) / (most**2 - least**2)
    set_up = long - most**2 * point
    name = f"plane, {setting.precision or 'float32'}"
    page.row(f"{name}: a bare forward pass", 1e3 * bare, "ms")
    page.row(f"{name}: a point alone", point / bare, "passes", "<= 1.15")
    page.row(f"{name}: set-up", set_up, "s")
    for side in (11, 41):
        whole = (point + set_up / side**2) / bare
        page.row(f"{name}: a point of {side} x {side}, with set-up", whole, "passes", "<= 1.15")


def tour(setting, page):
    """The tour of the MLP by its stages."""
    radii = {"vi": (0.0,), "sabma": (0.0, 0.5)}
    tiny = dict(epochs=2, repeats=1, measured=FEW_CELLS, radii=radii, fit={"steps": 3})
    settings = TourSettings(**setting.few({}, tiny))
    for device in dict.fromkeys((setting.device.type, "cpu")):
        stages = Stages(setting, page, device)

        def heard(text, stages=stages):
            label, _, state = text.partition(": ")
            if state == "computing":
                stages.at(label)

        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, {"FLATVIZ_CACHE": folder}):
                run_tour("mlp", device=device, settings=settings, say=heard)
        stages.end("" if device == "cpu" else "no slower than on the CPU")


def family(setting, page):
    """A family of five on ResNet-18, and what is measured of it, by stages."""
    net, prior = setting.treated()
    data = setting.data(setting.few(40, 8))
    task = fv.Task(data, data, data, n_classes=10)
    radii = {"sabma": setting.few((0.0, 0.1, 0.2, 0.3, 0.4), (0.0, 0.1))}
    settings = {"steps": setting.few(100, 2), "lr": 1e-3}
    fitting = Stages(setting, page, "fit")
    five = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit=settings)
    fitting.end()
    stages = Stages(setting, page, "measure")
    watch = lambda done, total, label: stages.at(label)
    few = setting.few({}, FEW_CELLS)
    fv.families.measure(net, task, five, seed=0, progress=watch, **few)
    stages.end("<= 10 to a first picture")


# part -> (what runs, its share of the budget)
PARTS = {
    "replay": (replay, 0.15),
    "fits": (fits, 0.35),
    "plane": (plane, 0.2),
    "tour": (tour, 0.45),
    "family": (family, 0.25),
}


def late(*_):
    raise Late


def run(parts, setting, page, end):
    """The parts, each within its share of the time that is left until `end`."""
    budget = end - time.monotonic()
    signal.signal(signal.SIGALRM, late)
    for name in parts:
        part, share = PARTS[name]
        page.begin(name, part.__doc__)
        allowed = min(share * budget, end - time.monotonic())
        if allowed <= 1:
            page.write("\nnot measured: no time was left.")
            continue
        try:
            # again a second later, should something catch it
            signal.setitimer(signal.ITIMER_REAL, allowed, 1.0)
            try:
                part(setting, page)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Late:
            page.write(f"\ncut off: after {allowed:.0f} s, its share of the time.")
        except Exception as error:  # the next part is worth its time on a card all the same
            page.write(f"\nfailed: {type(error).__name__}: {error}.")


def main():
    """Measure the parts asked for, all by default."""
    started = time.monotonic()
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[], help="all by default")
    cuda = "cuda" if torch.cuda.is_available() else "cpu"
    ask.add_argument("--device", default=cuda, help="cuda or cpu")
    ask.add_argument("--out", type=Path, default=Path("gpu.md"), help="page to write")
    ask.add_argument("--budget", type=float, default=290.0, help="seconds of all parts together")
    ask.add_argument("--tiny", action="store_true", help="ResNet-20, few images: does it run?")
    asked = ask.parse_args()
    device = torch.device(asked.device)
    sizes = (4, 3, 8) if asked.tiny else (256, 91, 8192)
    setting = Setting(device, "bfloat16", asked.tiny, *sizes)
    about = ABOUT.format(
        day=time.strftime("%Y-%m-%d"),
        device=torch.cuda.get_device_name() if device.type == "cuda" else "CPU",
        torch=torch.__version__,
        cores=os.cpu_count(),
        precision=setting.precision,
        batch=setting.batch,
    )
    page = Page(asked.out)
    page.write(about)
    run(asked.parts or list(PARTS), setting, page, started + asked.budget)
    print(f"\n{time.monotonic() - started:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
