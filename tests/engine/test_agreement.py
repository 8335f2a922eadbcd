"""The fast values are the module's own where they are used: what cannot be followed is refused, what slips through is noticed."""

from functools import partial

import pytest
import torch
from oracles import loop, stopping_at
from torch import nn

import flatviz as fv
from flatviz.engine.evaluate import Evaluator
from flatviz.engine.trace import Program
from flatviz.landscape import grid


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.gate = nn.Linear(6, 8), nn.Linear(8, 4), nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)) * self.gate.exp())


class Numpy(Plain):
    """The sign is 1 at the origin and 0.3 along both axes, where a plan was once compared; -1 in a good part of the extent."""

    def forward(self, x):
        return super().forward(x) * (1 if -1 < self.gate.detach().numpy() < 1 else -1)


class NumpySum(Plain):
    """numpy reads many numbers: a stand-in without memory would end the process."""

    def forward(self, x):
        return super().forward(x) * float(self.a.weight.detach().numpy().sum())


def problem(make):
    net = fv.Net.from_module(make().eval())
    return net, fv.Data(torch.randn(80, 6), torch.arange(80) % 4), fv.plane_random(net, net.w, seed=0, normalize="none")


def by_loop(net, data, surface):
    return loop(net, data, surface.plane.points(torch.cartesian_prod(surface.a, surface.b))).view_as(surface.values)


@pytest.mark.parametrize("make", [Numpy, NumpySum])  # hooks, patches and branches: test_fuzz_modules
def test_a_slice_is_the_modules_own_whatever_its_forward_does(make):
    net, data, plane = problem(make)
    surface = fv.slice_plane(fv.nll(net, data), plane, extent=1.0, resolution=11)
    torch.testing.assert_close(surface.values, by_loop(net, data, surface), rtol=1e-4, atol=1e-5)  # float32 sums over 80


def test_what_does_not_agree_at_a_corner_is_not_used(monkeypatch):
    net, data, plane = problem(Plain)
    own, corner = Program.run, net.w + plane.axes.sum(0)

    def run(self, kept, weights, affine):
        out = own(self, kept, weights, affine)
        return out + torch.allclose(weights[self._w], corner)

    monkeypatch.setattr(Program, "run", run)
    coords = torch.cartesian_prod(torch.linspace(-1, 1, 5), torch.linspace(-1, 1, 5))
    f = fv.nll(net, data)
    assert f.over(plane.origin, plane.axes, coords=coords).plan.traced is False
    assert f.over(plane.origin, plane.axes, coords=coords / 2).plan.traced is True


@pytest.mark.parametrize("cached", [False, True])
def test_fast_values_that_are_wrong_after_the_run_are_discarded_with_a_warning(monkeypatch, tmp_path, cached):
    net, data, plane = problem(Plain)
    f, own = fv.nll(net, data), Evaluator.__call__
    wrong = lambda self, coords: own(self, coords) + 0.01 * (self._additive and self.plan.traced)  # noqa: E731
    monkeypatch.setattr(Evaluator, "__call__", wrong)
    options = dict(extent=1.0, resolution=9, cache=tmp_path if cached else None)
    with pytest.warns(UserWarning, match="fast values differ from those of the plain forward pass, so they were discarded"):
        surface = fv.slice_plane(f, plane, **options)
    torch.testing.assert_close(surface.values, by_loop(net, data, surface), rtol=1e-5, atol=1e-6)
    assert not cached or torch.equal(fv.slice_plane(f, plane, **options).values, surface.values)


def test_an_accuracy_may_differ_by_an_example_or_two_of_rounding():
    net, data, plane = problem(Plain)
    f = fv.quantity(net, data, "accuracy")
    values = f.many(plane.points(torch.cartesian_prod(*[torch.tensor([0.0, 0.5])] * 2)))
    assert grid._confirmed(f, values + 1 / 80, values) and not grid._confirmed(f, values + 3 / 80, values)


OBJECTIVES = {"nll": lambda net, data: fv.nll(net, data), "accuracy": lambda net, data: fv.quantity(net, data, "accuracy")}


@pytest.mark.parametrize(("name", "precision"), [(name, None) for name in OBJECTIVES] + [("nll", "bfloat16")])
def test_a_slice_is_the_same_bytes_whatever_its_blocks_and_however_often_stopped(name, precision, tmp_path, monkeypatch):
    net, data, plane = problem(Plain)
    run = partial(fv.slice_plane, OBJECTIVES[name](net, data), plane, extent=1.0, resolution=9, precision=precision)
    want = run().values
    for block in (1, 5, 16, 81):
        monkeypatch.setattr(grid, "BLOCK", block)
        folder = tmp_path / str(block)
        with pytest.raises(KeyboardInterrupt):
            run(cache=folder, progress=stopping_at(1))
        for cache in (None, folder, folder):  # computed anew, resumed, read
            assert torch.equal(run(cache=cache).values, want), block
