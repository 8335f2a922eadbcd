"""The fast path: every plan gives the values of a plain loop; what cannot be followed is refused,
what slips through is noticed."""

from collections import Counter
from functools import partial

import torch
from cases import blobs, net_of, refused, warned
from internals import Program
from oracles import loop, stopping_at
from pytest import fixture, mark, param, raises
from torch import arange, cartesian_prod, nn, randn, stack, tensor
from torch.nn import BatchNorm2d, Conv2d, Linear, Module, Sequential
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import flatviz as fv
from flatviz.engine.evaluate import Evaluator
from flatviz.landscape import grid


class Residual(Module):
    """Two conv layers with BatchNorm, a shortcut added in place, a head."""

    def __init__(self):
        super().__init__()
        self.first = Conv2d(3, 8, 3, padding=1)
        self.norm = BatchNorm2d(8)
        self.second = Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm2 = BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.head = Linear(8, 4)

    def forward(self, x):
        x = self.relu(self.norm(self.first(x)))
        y = self.norm2(self.second(x))
        y += x
        return self.head(self.relu(y).mean((2, 3)))


class Merging(Module):
    """Of each way to fewer operations one that may be taken, and one that may not: what is read
    twice, images of odd size."""

    def __init__(self):
        super().__init__()
        self.first = Conv2d(3, 6, 3, padding=1)
        self.norm = BatchNorm2d(6, affine=False)
        self.second = Conv2d(6, 6, 2, bias=False)
        self.norm2 = BatchNorm2d(6)
        self.third = Conv2d(6, 6, 1)
        self.norm3 = BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2)
        self.head = Linear(6, 4)

    def forward(self, x):
        x = self.pool(self.norm(self.first(x)))
        y = self.second(x)
        y = (self.norm2(y) + y).relu()
        y = (self.norm3(self.third(y)) + y).relu()
        return self.head(self.pool(y).flatten(1))


class Branching(Module):
    """Control flow that hangs on a value: cannot be traced."""

    def __init__(self):
        super().__init__()
        self.a = Linear(6, 6)
        self.b = Linear(6, 4)

    def forward(self, x):
        return self.b(self.a(x)) if float(x.sum()) > -1e9 else self.b(x)


class Careless(Module):
    """In-place operations on what comes before the treated layer, and a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.a = Linear(6, 6)
        self.scale = nn.Parameter(torch.ones(6))
        self.b = Linear(6, 4)

    def forward(self, x):
        h = x * 2
        h += self.a(x) * self.scale
        return self.b(h.relu_().view(x.size(0), -1))


class Chain(Sequential):
    """Layers in a row."""

    def __init__(self):
        super().__init__(Linear(6, 9), nn.LayerNorm(9), nn.Tanh(), Linear(9, 4))


IMAGES = [Residual, Merging]
COORDS = [[0.0, 0.0], [0.4, -0.3], [-0.7, 0.2], [1.0, 1.0], [0.1, 0.6]]


def setting(kind, treated="all", dtype=torch.float32):
    """(net, data, plane, coordinates on it)."""
    shape = (3, 8, 8) if kind in IMAGES else (6,)
    data = fv.Data(randn(22, *shape), arange(22) % 4)
    module = kind()
    module(data.x * 2 + 1)  # statistics that are not the initial ones
    net = net_of(module.eval().to(dtype), treated)
    plane = fv.plane_random(net, net.w, seed=1)
    return net, data.to(dtype=dtype), plane, tensor(COORDS, dtype=dtype)


def over(f, plane, **how):
    """The objective on a plane, by coordinates."""
    return f.over(plane.origin, plane.axes, **how)


HEAD = param(lambda name: name.startswith(("head", "3", "b.")), id="head")


@mark.parametrize("dtype, rtol", [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@mark.parametrize("treated", ["all", HEAD])
@mark.parametrize("kind", [*IMAGES, Chain, Branching, Careless])
def test_every_network_has_the_values_of_a_plain_loop(kind, treated, dtype, rtol):
    net, data, plane, coords = setting(kind, treated, dtype)
    want = loop(net, data, plane.points(coords))
    f = fv.nll(net, data)
    fast = over(f, plane)
    assert fast.reuses == (kind is not Branching)
    exact = over(f, plane, exact=True)
    assert not exact.reuses
    for evaluate in (fast, exact):
        assert_close(evaluate(coords), want, rtol=rtol, atol=rtol / 100)


def test_frozen_activations_beyond_the_memory_limit_are_made_anew(monkeypatch):
    net, data, plane, coords = setting(Residual, "norm+head")
    want = loop(net, data, plane.points(coords))
    monkeypatch.setattr("flatviz.engine.evaluate.MEMORY", 0)
    evaluate = over(fv.nll(net, data), plane)
    assert_close(evaluate(coords), want, rtol=1e-5, atol=1e-7)
    assert evaluate.reuses


class Largest(TorchDispatchMode):
    """Bytes of the largest tensor that any operation gives, and how often each operation ran."""

    bytes = 0

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[func.name().removeprefix("aten::")] += 1
        out = func(*args, **(kwargs or {}))
        for t in tree_leaves(out):
            if isinstance(t, torch.Tensor):
                self.bytes = max(self.bytes, t.numel() * t.element_size())
        return out


def test_frozen_batchnorm_is_part_of_the_convolution_before_it_also_at_diverged_points():
    net, data, plane, coords = setting(Merging)
    f = fv.nll(net, data)
    fast = over(f, plane)
    fast(coords)
    with Largest() as seen:
        fast(coords[:1])
    assert seen.counts["convolution"] == 2
    assert seen.counts["max_pool2d_with_indices"] == 1
    assert not any("batch_norm" in name for name in seen.counts)
    far = tensor([[1e20, 0.0], [0.0, -1e35]])
    exact = over(f, plane, exact=True)
    assert_close(fast(far), exact(far), equal_nan=True, rtol=1e-4, atol=0)


def test_no_way_of_evaluating_runs_more_than_a_small_batch_at_once():
    layers = Conv2d(1, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    net = net_of(Sequential(*layers, Linear(64, 4)).eval())
    data = fv.Data(randn(96, 1, 24, 24), arange(96) % 4)
    plane = fv.plane_random(net, net.w, seed=0)
    coords = tensor([[0.1, 0.2], [0.3, 0.0]])
    W = plane.points(coords)
    f = fv.nll(net, data)
    ways = {
        "fast": lambda: over(f, plane)(coords),
        "exact": lambda: over(f, plane, exact=True)(coords),
        "many": lambda: f.many(W),
        "quantity": lambda: fv.quantity(net, data, "nll").many(W),
        "outputs": lambda: fv.predict(net, fv.Draws(W), data, 2, seed=0),
        "line": lambda: fv.slice_line(f, net.w, W[0], resolution=3),
    }
    one_example = 64 * 24 * 24 * 4
    for name, run in ways.items():
        with Largest() as largest:
            run()
        few = 16 if name in ("fast", "line") else 8  # 4 MiB, and MIN_EXAMPLES
        assert one_example <= largest.bytes <= few * one_example, name


def ece(out, y):
    return fv.metrics.ece(fv.Prediction(out[None], y))


@mark.parametrize("what", ["accuracy", "error", "nll", ece])
def test_any_quantity_of_the_outputs_is_an_objective(what):
    net, data, plane, coords = setting(Residual)
    W = plane.points(coords)
    outputs = stack([net(w, data.x) for w in W])
    right = (outputs.argmax(-1) == data.y).float().mean(1)
    want = {
        "accuracy": right,
        "error": 1 - right,
        "nll": loop(net, data, W),
        ece: tensor([float(ece(out, data.y)) for out in outputs]),
    }
    g = fv.quantity(net, data, what)
    assert g.batchnorm == "frozen"
    assert g.n == 22
    for values in (over(g, plane)(coords), g.many(W)):
        assert_close(values, want[what], rtol=1e-4, atol=1e-6)


def test_what_is_no_quantity_is_refused():
    net, data, *_ = setting(Chain)
    with refused("what must be one of 'accuracy', 'error', 'nll', or a function"):
        fv.quantity(net, data, "f1")
    with refused(r"a quantity must be one real number, got shape \(22, 4\)"):
        fv.quantity(net, data, lambda out, y: out)(net.w)


def test_statistics_can_be_re_estimated_at_every_point():
    net, data, plane, coords = setting(Residual)
    g = fv.quantity(net, data, "nll", batchnorm=data)
    assert g.batchnorm == "re-estimated"
    got = over(g, plane)(coords)
    for w, value in zip(plane.points(coords), got):
        refreshed = fv.engine.refresh_batchnorm(net, w, data)
        assert_close(value, loop(refreshed, data, [w])[0], rtol=1e-5, atol=1e-6)
    assert not torch.allclose(got, loop(net, data, plane.points(coords)), rtol=1e-3)
    without, data, *_ = setting(Chain)
    assert fv.quantity(without, data, "nll").batchnorm is None


class Plain(Module):
    def __init__(self):
        super().__init__()
        self.a = Linear(6, 8)
        self.b = Linear(8, 4)
        self.gate = nn.Parameter(tensor(0.1))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)) * self.gate.exp())


@fixture
def plain():
    """(net, data, plane) of a small network."""
    net = net_of(Plain().eval())
    return net, blobs(80, 6, 4), fv.plane_random(net, net.w, seed=0, normalize="none")


def square(*ticks):
    return cartesian_prod(tensor(ticks), tensor(ticks))


def test_what_does_not_agree_at_a_corner_is_not_used(monkeypatch, plain):
    net, data, plane = plain
    (gate,) = [block.slice for block in net.blocks if block.name == "gate"]
    right = Program.run
    corner = (net.w + plane.axes.sum(0))[gate]

    def run(self, kept, weights, affine):
        out = right(self, kept, weights, affine)
        at_the_corner = [w.ndim == 0 and torch.allclose(w, corner) for w in weights.values()]
        return out + any(at_the_corner)

    monkeypatch.setattr(Program, "run", run)
    f = fv.nll(net, data)
    for end, traced in ((1.0, False), (0.5, True)):
        coords = square(-end, 0.0, end)
        assert over(f, plane, coords=coords).reuses is traced


@mark.parametrize("cached", [False, True])
def test_fast_values_that_are_wrong_after_the_run_are_discarded_with_a_warning(
    monkeypatch, tmp_path, cached, plain
):
    net, data, plane = plain
    f = fv.nll(net, data)
    right = Evaluator.__call__
    wrong = lambda self, coords: right(self, coords) + 0.01 * self.problem.additive
    monkeypatch.setattr(Evaluator, "__call__", wrong)
    slice_it = partial(fv.slice_plane, f, plane, extent=1.0, resolution=9)
    cache = tmp_path if cached else None
    with warned("fast values differ from .*, so they were discarded"):
        surface = slice_it(cache=cache)
    points = plane.points(cartesian_prod(surface.a, surface.b))
    by_loop = loop(net, data, points).view(9, 9)
    assert_close(surface.values, by_loop, rtol=1e-5, atol=1e-6)
    if cached:
        assert torch.equal(slice_it(cache=cache).values, surface.values)


def test_an_accuracy_may_differ_by_an_example_or_two_of_rounding(plain):
    net, data, plane = plain
    f = fv.quantity(net, data, "accuracy")
    values = f.many(plane.points(square(0.0, 0.5)))
    assert grid._confirmed(f, values + 1 / 80, values)
    assert not grid._confirmed(f, values + 3 / 80, values)


@mark.parametrize("what, precision", [("nll", None), ("accuracy", None), ("nll", "bfloat16")])
def test_a_slice_is_the_same_bytes_whatever_its_blocks_and_however_often_stopped(
    what, precision, tmp_path, monkeypatch, plain
):
    net, data, plane = plain
    f = fv.nll(net, data) if what == "nll" else fv.quantity(net, data, what)
    run = partial(
        fv.slice_plane,
        f,
        plane,
        extent=1.0,
        resolution=9,
        precision=precision,
    )
    want = run().values
    for block in (1, 5, 16, 81):
        monkeypatch.setattr(grid, "BLOCK", block)
        folder = tmp_path / str(block)
        with raises(KeyboardInterrupt):
            run(cache=folder, progress=stopping_at(1))
        for cache in (None, folder, folder):  # computed anew, resumed, read
            assert torch.equal(run(cache=cache).values, want), block
