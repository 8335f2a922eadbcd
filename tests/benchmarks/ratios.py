"""All speed and accuracy ratios against the peers, one row each: `python tests/benchmarks/ratios.py
[out=FILE] [rows ...]`.

With out=docs/speed.md they are a page of the site, with date and machine.

Values are checked to agree before anything is timed.  Planes are timed block by block in turn with
the peer, and the ratio is the median over the rounds: in processor time at one thread, and where
OMP_NUM_THREADS is not set by the clock at torch's default number, which needs an idle machine; the
rest at one thread, the least of a few in turn.  Beside each ratio stands that of docs/speed.md.
Needs the extra `bench`; a peer that is not there leaves its row out and says so.
"""

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import Mock

import torch
from nets import images, mlp, resnet20, settled
from scipy.sparse.linalg import LinearOperator, eigsh
from timing import busy, least, rounds
from torch import nn
from torch.testing import assert_close
from torchvision.models import resnet18

import flatviz as fv
from flatviz.landscape.grid import CONFIRMED

STEPS = 4  # points a side at which values are compared
THREADS = torch.get_num_threads()  # torch's own choice


ABOUT = """# Speed

Ratios of times of one run, written by `python tests/benchmarks/ratios.py {words}` on {day} with
{machine}. For a plane the ratio is the time a point of loss-landscapes over the time a point of
flatviz: processor time at one thread, clock time at two. A row "a point over its products alone"
divides a point's time by that of the convolutions and products after the first layer, which every
point must compute. For a last-layer plane the ratio is the time of a forward pass through the whole
network over that through the head; for a product, the time of a Hessian-vector product over that of
a gradient. "before" is the ratio of the table that this one replaced. A ratio on the wrong side of
its goal did not reach it.
"""
MEASURED: list[tuple[str, ...]] = []
TABLE = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
ROUNDS = 9  # of calls in turn


def before(name):
    """The ratio of the last table, empty where it had no such row."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and cells[1] == name:
            return cells[2]
    return ""


def say(name, ratio, wanted, seconds=""):
    quantity = name.strip()
    was = before(quantity)
    times = seconds.split(",")[0]
    MEASURED.append((quantity, f"{ratio:.2f}", was, wanted, times))
    beside = f"{ratio:.2f}{was and f', was {was}'}"
    print(f"{name:<58} {beside:<16} wanted {wanted:<9} {seconds}", flush=True)


def products_alone(module, x, chunk):
    """What no reuse spares a point: convolutions and products of all layers but the first, on
    batches of `chunk` in the cache."""
    _, *layers = [m for m in module.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    calls = []
    inputs = {}  # one of each shape

    def look(m, given):
        (x,) = given
        of_this_shape = inputs.setdefault(x.shape, x.clone())
        calls.append((m, of_this_shape))

    hooks = [m.register_forward_pre_hook(look) for m in layers]
    with torch.no_grad():
        for part in x.contiguous(memory_format=torch.channels_last).split(chunk):
            module(part)
    for hook in hooks:
        hook.remove()

    @torch.inference_mode()
    def run():
        for m, given in calls:
            m(given)

    return run


def against_loss_landscapes(
    name,
    make,
    wanted,
    side,
    block,
    *,
    products=False,
):
    """A plane of side x side points: loss-landscapes as shipped, and the steps of `slice_plane`.

    Those are the evaluation of a block, with its share of the set-up and of the points that
    `slice_plane` computes once more by the plain forward pass; what it does beside them, some ms a
    plane, is left out.

    The two take turns with blocks of block x block points, and the ratio is the median of the
    rounds' ratios: the speed of a machine changes by more than what is measured.  Values are
    compared on a plane of flatviz.  At one thread, then at torch's default.  With
    `products` a row says how many times the convolutions and products of a point alone a point
    takes.
    """
    import loss_landscapes.metrics

    module, data = make()
    metric = loss_landscapes.metrics.Loss(nn.CrossEntropyLoss(), data.x, data.y)
    net = fv.Net.from_module(module, "all")
    plane = fv.plane_random(net, net.w, seed=0)
    ticks = torch.linspace(-1, 1, STEPS).to(net.w)
    coords = torch.cartesian_prod(ticks, ticks)
    about = plane.origin, plane.axes
    points = plane.points(coords)
    theirs = torch.tensor([metric(net.at(w).to_module().eval()) for w in points])

    def built():
        return fv.nll(net, data).over(*about, coords=coords)

    evaluate = built()
    errors = evaluate(coords) / theirs - 1
    off = float(errors.abs().max())
    assert off < 1e-4, f"{name}: values differ by {off:g}"
    extent = float(coords.abs().max())
    ticks = extent * torch.linspace(-1, 1, block)
    some = torch.cartesian_prod(ticks, ticks)
    alone = lambda: None
    if products:
        alone = products_alone(module, data.x, evaluate.plan.chunk)
    plain = fv.nll(net, data).over(*about, exact=True)
    calls = (
        lambda: loss_landscapes.random_plane(module, metric, steps=block, deepcopy_model=True),
        lambda: evaluate(some),
        built,
        lambda: plain(some[:1]),
        lambda: [alone() for _ in some],
    )
    share = len(some) / side**2  # of the set-up, and of the points that are computed plainly too
    confirmed = 1 + side**2 // CONFIRMED
    for threads in sorted({1, THREADS}):
        torch.set_num_threads(threads)
        clock = time.process_time if threads == 1 else time.perf_counter
        seen = rounds(*calls, repeats=ROUNDS, clock=clock)
        peer = [row[0] for row in seen]
        ours = [row[1] + share * (row[2] + confirmed * row[3]) for row in seen]
        a = 1e3 * median(peer) / len(some)
        b = 1e3 * median(ours) / len(some)
        plan = "channels_last" if evaluate.plan.channels_last else ""
        what = f"plane {side} x {side}, {name}, {threads} thread{'s' * (threads > 1)}"
        ratio = median(x / y for x, y in zip(peer, ours))
        text = f"{a:.2f} -> {b:.2f} ms a point, off {off:.0e}, chunk {evaluate.plan.chunk}, {plan}"
        say(what, ratio, wanted, text)
        if products:
            of = what.removeprefix(f"plane {side} x {side}, ")
            over = median(row[1] / row[4] for row in seen)
            products_of_some = median(row[4] for row in seen)
            each = 1e3 * products_of_some / len(some)
            name_of = f"  a point over its products alone, {of}"
            say(name_of, over, "<= 1.25", f"{each:.2f} ms alone")
    torch.set_num_threads(1)


def plain_mlp():
    return mlp(784, 100, 10), random_data(1000, 784)


def random_data(n, features):
    """Normal inputs with random labels of ten classes."""
    x = torch.randn(n, features)
    return fv.Data(x, torch.randint(0, 10, (n,)))


def digits_conv():
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    module = settled(fv.models.convnet(task), task.source.x)
    return module, task.source.subset(slice(0, 1000))


def resnet(n):
    data = images(n)
    return settled(resnet20(), data.x), data


def last_layer(name, make, n, head):
    """Against a forward of the whole module at each point, which is what every peer does."""
    module = make()
    data = images(n)
    in_head = lambda name: name.startswith(head)
    net = fv.Net.from_module(settled(module, data.x), in_head)
    f = fv.nll(net, data)
    plane = fv.plane_random(net, net.w, seed=0)
    coords = torch.rand(16, 2) - 0.5
    fast = f.over(plane.origin, plane.axes)
    plain = f.over(plane.origin, plane.axes, exact=True)
    two = coords[:2]
    assert_close(fast(two), plain(two), rtol=1e-4, atol=1e-6)
    start = time.perf_counter()
    f.over(plane.origin, plane.axes)(coords)
    first = time.perf_counter() - start
    one = coords[:1]
    a, b = least(lambda: plain(one), lambda: fast(coords))
    rest = 1665 * b / 16
    whole = 1681 * a / (first + rest)  # of a 41 x 41 plane, the trunk's one pass included
    say(
        f"last-layer plane, {name}, 41 x 41",
        whole,
        ">= 10",
        f"{1e3 * a:.1f} -> {1e3 * b / 16:.3f} ms a point",
    )


def set_up():
    """A whole plane of 11 x 11, its checks included, over as many bare forward passes of the
    module."""
    module, data = resnet(64)
    net = fv.Net.from_module(module, "all")
    plane = fv.plane_random(net, net.w, seed=0)

    def bare():
        with torch.no_grad():
            nn.functional.cross_entropy(module(data.x), data.y)

    def sliced():
        fv.slice_plane(fv.nll(net, data), plane, extent=0.5, resolution=11)

    a, b = least(bare, sliced)
    say(
        "plane 11 x 11 with set-up over bare passes, ResNet-20",
        b / (121 * a),
        "<= 1.15",
        f"{1e3 * a:.1f} ms a pass",
    )


def size_of_data():
    """Time an example of a Hessian product, over 1e3 to 1e6 examples: the longest over the
    shortest."""
    net = fv.Net.from_module(mlp(20, 64, 10), "all")
    each = []
    for n in (10**3, 10**4, 10**5, 10**6):
        f = fv.nll(net, random_data(n, 20))
        product = partial(f.operator(net.w), net.w)
        (seconds,) = least(product, repeats=5, clock=time.process_time)
        each.append(seconds / n)
    text = " ".join(f"{1e6 * t:.2f}" for t in each)
    say("product, time an example, N = 1e3 to 1e6", max(each) / min(each), "<= 1.5", f"{text} us")


def product_ratio(name, make, bar):
    """Time of a Hessian-vector product in gradients, the graph kept."""
    module, data = make()
    net = fv.Net.from_module(module, "all")
    f = fv.nll(net, data)
    w = net.w.clone().requires_grad_()
    v = torch.randn_like(net.w)
    product = f.operator(net.w)
    gradient = lambda: torch.autograd.grad(f(w), w)
    a, b = least(gradient, lambda: product(v), repeats=5)
    say(f"product / gradient, {name}", b / a, f"<= {bar}", f"{1e3 * b:.1f} ms")


def eigenpairs():
    """Products with the Hessian for five eigenpairs, beside curvlinops with ARPACK."""
    digits = fv.datasets.digits_transfer(shots=10, seed=0).source
    data = fv.Data(digits.x.flatten(1)[:500], digits.y[:500])
    net = fv.pretrain(mlp(64, 48, 10), data, seed=0, epochs=5)
    spectrum = fv.top_eigenpairs(fv.nll(net, data), net.w, 5)
    relative = float(spectrum.residual.max() / spectrum.values[0])
    say(
        "top 5 eigenpairs: products",
        spectrum.n_products,
        "<= 40",
        f"relative residual {relative:.0e}",
    )
    try:
        from curvlinops import HessianLinearOperator
    except ImportError:
        print("  curvlinops is not installed")
        return
    module = net.to_module()
    inner = HessianLinearOperator(
        module,
        nn.CrossEntropyLoss(),
        list(module.parameters()),
        [(data.x, data.y)],
    ).to_scipy()
    counted = Mock(wraps=inner.matvec)
    operator = LinearOperator(inner.shape, counted, dtype=inner.dtype)
    values = eigsh(
        operator,
        k=5,
        which="LA",
        tol=1e-4,
        return_eigenvectors=False,
    )
    largest_first = torch.from_numpy(values.copy()).sort(descending=True).values
    theirs = largest_first.to(spectrum.values)
    assert_close(theirs, spectrum.values, rtol=1e-3, atol=0)
    say("  curvlinops + ARPACK, tol 1e-4: products", counted.call_count, "beside")


WORK = """
import sys, time, torch
import flatviz as fv, flatviz.core.arithmetic as arithmetic
share, count = float(sys.argv[1]), int(sys.argv[2])
arithmetic.SHARE = share
torch.set_num_threads(count)
task = fv.datasets.digits_transfer(shots=2, degrees=15, seed=0)
start = time.perf_counter()
source = fv.pretrain(fv.models.mlp(task), task.source, seed=0, epochs=20)
swag = fv.fit(source, task.source, fv.SWAG(), seed=0)
net, prior = fv.transfer(source, swag, treated="norm+head")
fv.fit(net, task.train, fv.SABMA(prior, radius=2.0), seed=0, steps=200)
print(time.perf_counter() - start)
"""


def threads(state):
    """README's fit with the threads that `core/arithmetic.py` chooses over the better of 1 and all,
    each in a process, in turn."""
    environment = dict(os.environ)
    environment.pop("OMP_NUM_THREADS", None)
    cores = os.cpu_count()
    limit = 600.0
    took = []
    with busy() if state == "busy" else nullcontext():
        for share, count in (("2e8", cores), ("1e-9", 1), ("1e-9", cores)):
            command = [sys.executable, "-c", WORK, share, str(count)]
            try:
                done = subprocess.run(
                    command,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                    timeout=limit,
                )
                took.append(float(done.stdout))
            except subprocess.TimeoutExpired:
                took.append(limit)  # it counts as that
    each = " ".join(f"{seconds:.1f}" for seconds in took)
    say(
        f"threads chosen over the best of 1 and all, {state}",
        took[0] / min(took[1:]),
        "<= 1.5",
        f"{each} s",
    )


ROWS = {
    "plane_mlp": partial(
        against_loss_landscapes,
        "MLP 784-100-10, N = 1000",
        plain_mlp,
        ">= 8",
        41,
        10,
    ),
    "plane_digits": partial(
        against_loss_landscapes,
        "digits conv net",
        digits_conv,
        ">= 2",
        21,
        6,
        products=True,
    ),
    "plane_resnet": partial(
        against_loss_landscapes,
        "ResNet-20, 512 images",
        partial(resnet, 512),
        ">= 2.5",
        5,
        2,
        products=True,
    ),
    "plane_last_layer": partial(last_layer, "ResNet-20", resnet20, 256, "head"),
    "plane_last_layer_resnet18": partial(
        last_layer, "ResNet-18", partial(resnet18, num_classes=10), 128, "fc"
    ),
    "product_mlp": partial(
        product_ratio,
        "MLP 784-256-10",
        lambda: (mlp(784, 256, 10), random_data(1000, 784)),
        1.5,
    ),
    "product_resnet": partial(product_ratio, "ResNet-20, N = 128", partial(resnet, 128), 3.3),
    "set_up": set_up,
    "size_of_data": size_of_data,
    "eigenpairs": eigenpairs,
    "threads_idle": partial(threads, "idle"),
    "threads_busy": partial(threads, "busy"),
}


def main(names):
    """Print the rows asked for, all by default."""
    torch.set_num_threads(1)
    words = " ".join(names)
    out = [name.removeprefix("out=") for name in names if name.startswith("out=")]
    asked = [name for name in names if not name.startswith("out=")]
    machine = (
        f"torch {torch.__version__}, {os.cpu_count()} cores,"
        f" {torch.backends.cpu.get_cpu_capability()}"
    )
    machine += f", load average {os.getloadavg()[1]:.1f}"  # beyond the cores: busy
    print(machine)
    for name in asked or ROWS:
        if name not in ROWS:
            raise SystemExit(f"rows must be some of {', '.join(ROWS)}, got {name!r}")
        torch.manual_seed(0)  # a row prints the same alone as among others
        ROWS[name]()
    for path in out:
        heads = ("quantity", "ratio", "before", "goal", "times")
        rows = [heads, ("---",) * 5, *MEASURED]
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        Path(path).write_text(
            ABOUT.format(
                words=words,
                day=date.today(),
                machine=machine,
            )
            + "\n"
            + table,
            encoding="utf-8",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
