"""The fast path: every plan gives the values of a plain loop; what cannot be followed is refused,
what slips through is noticed."""

from collections import Counter
from dataclasses import replace
from functools import partial

import torch
from cases import blobs
from internals import Program
from oracles import loop, stopping_at
from pytest import mark, param, raises, warns
from torch import arange, cartesian_prod, nn, randn, stack, tensor
from torch.nn import BatchNorm2d, Conv2d, Linear, Module, Sequential
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import flatviz as fv
from flatviz.engine.evaluate import Evaluator, Scored, fast_evaluator
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


def setting(kind, treated, dtype=torch.float32):
    data = fv.Data(randn(22, 3, 8, 8) if kind in IMAGES else randn(22, 6), arange(22) % 4)
    chain = Linear(6, 9), nn.LayerNorm(9), nn.Tanh(), Linear(9, 4)
    module = Sequential(*chain) if kind is Sequential else kind()
    if kind in IMAGES:
        module(data.x * 2 + 1)  # statistics that are not the initial ones
    net = fv.Net.from_module(module.eval().to(dtype), treated)
    plane = fv.plane_random(net, net.w, seed=1)
    coords = tensor([[0.0, 0.0], [0.4, -0.3], [-0.7, 0.2], [1.0, 1.0], [0.1, 0.6]], dtype=dtype)
    return net, data.to(dtype=dtype), plane, coords


HEAD = param(lambda name: name.startswith(("head", "3", "b.")), id="head")
IMAGES = [Residual, Merging]
NETS = [*IMAGES, Sequential, Branching, Careless]


@mark.parametrize("treated", ["all", HEAD])
@mark.parametrize("kind", NETS)
def test_every_plan_equals_a_plain_loop(kind, treated):
    net, data, plane, coords = setting(kind, treated)
    want = loop(net, data, plane.points(coords))
    scored = Scored(
        net, data, lambda out, y: nn.functional.cross_entropy(out, y, reduction="sum"), True
    )
    if kind is Branching:
        with warns(UserWarning, match="it could not be traced"):
            assert fast_evaluator(scored, plane.origin, plane.axes) is None
        return
    usual = fast_evaluator(scored, plane.origin, plane.axes).plan
    assert usual.channels_last == (kind in IMAGES)
    for change in ({}, {"chunk": 8}, {"channels_last": False}):
        got = Evaluator(scored, replace(usual, **change), plane.origin, plane.axes)(coords)
        allowed = 1e-5 * want.abs() + 1e-7 * want.max()
        assert ((got - want).abs() <= allowed).all(), change


@mark.parametrize("kind", NETS)
def test_float64_agrees_to_ten_digits_and_exact_is_the_loop(kind):
    net, data, plane, coords = setting(kind, "all", torch.float64)
    want = loop(net, data, plane.points(coords))
    f = fv.nll(net, data)
    assert_close(f.over(plane.origin, plane.axes)(coords), want, rtol=1e-10, atol=0)
    exact = f.over(plane.origin, plane.axes, exact=True)
    assert_close(exact(coords), want, rtol=1e-13, atol=0)
    assert not exact.reuses


def test_frozen_activations_beyond_the_memory_limit_are_made_anew(monkeypatch):
    net, data, plane, coords = setting(Residual, "norm+head")
    f = fv.nll(net, data)
    want = loop(net, data, plane.points(coords))
    monkeypatch.setattr("flatviz.engine.evaluate.MEMORY", 0)
    evaluate = f.over(plane.origin, plane.axes)
    assert_close(evaluate(coords), want, rtol=1e-5, atol=1e-7)
    assert evaluate.reuses


def test_frozen_batchnorm_is_part_of_the_convolution_before_it_also_at_diverged_points():
    net, data, plane, coords = setting(Merging, "all")
    f = fv.nll(net, data)
    fast, exact = (f.over(plane.origin, plane.axes, exact=exact) for exact in (False, True))
    fast(coords)
    with Largest() as seen:
        fast(coords[:1])
    assert seen.counts["convolution"] == 2
    assert seen.counts["addcmul"] == 2
    assert not any("batch_norm" in name for name in seen.counts)
    far = tensor([[1e20, 0.0], [0.0, -1e35]])
    assert_close(fast(far), exact(far), equal_nan=True, rtol=1e-4, atol=0)


class Largest(TorchDispatchMode):
    """Bytes of the largest tensor that any operation gives, and how often each operation ran."""

    bytes = 0

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[func.name().removeprefix("aten::")] += 1
        out = func(*args, **(kwargs or {}))
        self.bytes = max(
            [
                self.bytes,
                *(
                    t.numel() * t.element_size()
                    for t in tree_leaves(out)
                    if isinstance(t, torch.Tensor)
                ),
            ]
        )
        return out


def test_no_way_of_evaluating_runs_more_than_a_small_batch_at_once():
    module = Sequential(
        Conv2d(1, 64, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        Linear(64, 4),
    )
    net = fv.Net.from_module(module.eval())
    data = fv.Data(randn(96, 1, 24, 24), arange(96) % 4)
    plane = fv.plane_random(net, net.w, seed=0)
    coords = tensor([[0.1, 0.2], [0.3, 0.0]])
    W = plane.points(coords)
    f = fv.nll(net, data)
    ways = {
        "fast": lambda: f.over(plane.origin, plane.axes)(coords),
        "exact": lambda: f.over(plane.origin, plane.axes, exact=True)(coords),
        "many": lambda: f.many(W),
        "quantity": lambda: fv.quantity(net, data, "nll").many(W),
        "outputs": lambda: fv.predict(net, fv.Draws(W), data, 2, seed=0),
        "line": lambda: fv.slice_line(f, net.w, W[0], resolution=3),
    }
    for name, run in ways.items():
        with Largest() as largest:
            run()
        few = 16 if name in ("fast", "line") else 8  # 4 MiB, and MIN_EXAMPLES
        assert 64 * 24 * 24 * 4 <= largest.bytes <= few * 64 * 24 * 24 * 4, name


def test_any_quantity_of_the_outputs_is_an_objective():
    net, data, plane, coords = setting(Residual, "all")
    outputs = stack([net(w, data.x) for w in plane.points(coords)])
    right = (outputs.argmax(-1) == data.y).float().mean(1)
    for what, want in (
        ("accuracy", right),
        ("error", 1 - right),
        ("nll", loop(net, data, plane.points(coords))),
    ):
        g = fv.quantity(net, data, what)
        for values in (g.over(plane.origin, plane.axes)(coords), g.many(plane.points(coords))):
            assert_close(values, want, rtol=1e-5, atol=1e-7)
    calibration = fv.quantity(
        net, data, lambda out, y: fv.metrics.ece(fv.Prediction(out[None], y)), label="ECE"
    )
    assert calibration.label == "ECE"
    assert calibration.batchnorm == "frozen"
    assert calibration.n == 22
    want = stack(
        [
            torch.as_tensor(fv.metrics.ece(fv.Prediction(o[None], data.y))).reshape(())
            for o in outputs
        ]
    )
    assert_close(
        calibration.over(plane.origin, plane.axes)(coords), want.float(), rtol=1e-4, atol=1e-6
    )
    with raises(ValueError, match="what must be one of 'accuracy', 'error', 'nll', or a function"):
        fv.quantity(net, data, "f1")
    with raises(ValueError, match=r"a quantity must be one real number, got shape \(22, 4\)"):
        fv.quantity(net, data, lambda out, y: out)(net.w)


def test_statistics_can_be_re_estimated_at_every_point():
    net, data, plane, coords = setting(Residual, "all")
    g = fv.quantity(net, data, "nll", batchnorm=data)
    assert g.batchnorm == "re-estimated"
    got = g.over(plane.origin, plane.axes)(coords)
    want = [
        loop(fv.engine.refresh_batchnorm(net, w, data), data, [w])[0] for w in plane.points(coords)
    ]
    assert_close(got, stack(want), rtol=1e-5, atol=1e-6)
    assert not torch.allclose(got, loop(net, data, plane.points(coords)), rtol=1e-3)
    assert (
        fv.quantity(
            fv.Net.from_module(Linear(6, 4)), fv.Data(torch.ones(3, 6), arange(3)), "nll"
        ).batchnorm
        is None
    )


class Plain(Module):
    def __init__(self):
        super().__init__()
        self.a = Linear(6, 8)
        self.b = Linear(8, 4)
        self.gate = nn.Parameter(tensor(0.1))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)) * self.gate.exp())


def problem(make):
    net = fv.Net.from_module(make().eval())
    return (
        net,
        blobs(80, 6, 4),
        fv.plane_random(net, net.w, seed=0, normalize="none"),
    )


def by_loop(net, data, surface):
    return loop(net, data, surface.plane.points(cartesian_prod(surface.a, surface.b))).view_as(
        surface.values
    )


def test_what_does_not_agree_at_a_corner_is_not_used(monkeypatch):
    net, data, plane = problem(Plain)
    (at,) = [block.slice for block in net.blocks if block.name == "gate"]
    own = Program.run
    corner = (net.w + plane.axes.sum(0))[at]

    def run(self, kept, weights, affine):
        out = own(self, kept, weights, affine)
        return out + any(w.ndim == 0 and torch.allclose(w, corner) for w in weights.values())

    monkeypatch.setattr(Program, "run", run)
    coords = cartesian_prod(torch.linspace(-1, 1, 5), torch.linspace(-1, 1, 5))
    f = fv.nll(net, data)
    assert f.over(plane.origin, plane.axes, coords=coords).reuses is False
    assert f.over(plane.origin, plane.axes, coords=coords / 2).reuses is True


@mark.parametrize("cached", [False, True])
def test_fast_values_that_are_wrong_after_the_run_are_discarded_with_a_warning(
    monkeypatch, tmp_path, cached
):
    net, data, plane = problem(Plain)
    f = fv.nll(net, data)
    own = Evaluator.__call__
    wrong = lambda self, coords: own(self, coords) + 0.01 * self.problem.additive
    monkeypatch.setattr(Evaluator, "__call__", wrong)
    options = dict(extent=1.0, resolution=9, cache=tmp_path if cached else None)
    with warns(
        UserWarning,
        match="fast values differ from those of the plain forward pass, so they were discarded",
    ):
        surface = fv.slice_plane(f, plane, **options)
    assert_close(surface.values, by_loop(net, data, surface), rtol=1e-5, atol=1e-6)
    assert not cached or torch.equal(fv.slice_plane(f, plane, **options).values, surface.values)


def test_an_accuracy_may_differ_by_an_example_or_two_of_rounding():
    net, data, plane = problem(Plain)
    f = fv.quantity(net, data, "accuracy")
    values = f.many(plane.points(cartesian_prod(*[tensor([0.0, 0.5])] * 2)))
    assert grid._confirmed(f, values + 1 / 80, values)
    assert not grid._confirmed(f, values + 3 / 80, values)


OBJECTIVES = {
    "nll": lambda net, data: fv.nll(net, data),
    "accuracy": lambda net, data: fv.quantity(net, data, "accuracy"),
}


@mark.parametrize("name, precision", [(name, None) for name in OBJECTIVES] + [("nll", "bfloat16")])
def test_a_slice_is_the_same_bytes_whatever_its_blocks_and_however_often_stopped(
    name, precision, tmp_path, monkeypatch
):
    net, data, plane = problem(Plain)
    run = partial(
        fv.slice_plane,
        OBJECTIVES[name](net, data),
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
