"""The bridge to loss-landscapes: its slices with true coordinates, its side effects kept out."""

import copy
import sys
from importlib.metadata import version

import torch
from cases import normed
from pytest import fixture, importorskip, mark, raises
from torch import nn
from torch.nn import Linear

import flatviz as fv
from flatviz.bridges.loss_landscapes import run_random_plane

loss_landscapes = importorskip("loss_landscapes")
metrics = importorskip("loss_landscapes.metrics")


class Wrapped:
    """A model at other weights, by another interface than 3.0.6's."""

    def __init__(self, module, parts):
        self.inner = copy.deepcopy(module)
        for p, part in zip(self.inner.parameters(), parts):
            p.data = part


def another_walk(model, metric, distance=1, steps=20, normalization="filter"):
    """The `random_plane` of a release that answers to none of 3.0.6's habits: symmetric about the
    weights, column by column."""
    P = [p.detach() for p in model.parameters()]
    D = [[torch.randn_like(p) for p in P] for _ in range(2)]
    D = [[d * p.norm() / d.norm() for d, p in zip(ds, P)] for ds in D]
    ticks = torch.linspace(-distance, distance, steps).tolist()
    moved = lambda s, t: [p + s * d + t * e for p, d, e in zip(P, *D)]
    return torch.tensor(
        [[metric(Wrapped(model, moved(s, t))) for s in ticks[::-1]] for t in ticks]
    ).T


@fixture
def case():
    module = normed(3, 8, 2)
    nn.init.normal_(module[1].bias)  # the library divides by the norm of each parameter
    x = torch.randn(30, 3)
    y = torch.randint(0, 2, (30,))
    return module, fv.Data(x, y), metrics.Loss(nn.CrossEntropyLoss(), x, y)


def plane_of(module, data, metric, **settings):
    """Its surface, once the value at each of its coordinates is that of the network there."""
    surface = run_random_plane(module, metric, seed=3, **settings)
    f = fv.nll(fv.Net.from_module(module), data)
    W = surface.plane.points(torch.stack([surface.a, surface.b], 1))
    torch.testing.assert_close(f.many(W), surface.values, rtol=1e-4, atol=1e-5)
    assert surface.scattered
    assert torch.equal(surface.plane.origin, f.net.w)
    return surface


@mark.parametrize("distance", [1.0, 0.01])
def test_its_plane_comes_back_with_the_coordinates_of_each_value(case, distance):
    surface = plane_of(*case, distance=distance, steps=6)
    assert len(surface.values) == 36
    assert surface.plane.orthonormal
    assert version("loss-landscapes") in surface.plane.name


class Of(metrics.Metric):
    """Any function of the model as a metric."""

    def __init__(self, function):
        self.function = function

    def __call__(self, model):
        return self.function(model)


@mark.parametrize("distance", [1.0, 0.01])
def test_another_release_comes_back_with_the_coordinates_of_its_own_walk(
    case, distance, monkeypatch
):
    """Other values, start, row order, wrapper; `contrib` fails to import."""
    module, data, _ = case
    monkeypatch.setattr(loss_landscapes, "random_plane", another_walk)
    monkeypatch.setattr("flatviz.bridges.loss_landscapes.version", lambda package: "4.99")
    monkeypatch.setitem(sys.modules, "loss_landscapes.contrib", None)
    loss = Of(lambda model: nn.functional.cross_entropy(model.inner(data.x), data.y).item())
    surface = plane_of(module, data, loss, distance=distance, steps=5)
    assert "loss_landscapes 4.99 random_plane" in surface.plane.name
    # This one has the weights
    assert (surface.a.square() + surface.b.square()).sqrt().min() < 1e-4 * distance


@mark.skipif(version("loss-landscapes") != "3.0.6", reason="a finding on loss-landscapes 3.0.6")
def test_a_fresh_bias_of_zeros_is_one_clear_error(case):
    module = nn.Sequential(Linear(3, 2), nn.BatchNorm1d(2))
    with raises(
        ValueError,
        match=r"loss_landscapes 3.0.6 weights must be finite, got NaN or inf; 1.bias is all zeros",
    ):
        run_random_plane(module, case[2], steps=3)


def test_a_metric_that_does_not_run_the_network_or_returns_no_number_is_refused(case):
    with raises(
        ValueError, match="the metric must run the network, whose weights are read then, got Of"
    ):
        run_random_plane(case[0], Of(lambda model: 1.0), steps=3)
    with raises(ValueError, match=r"the metric must return one number, got shape \(2,\) from Of"):
        run_random_plane(case[0], Of(lambda model: model.forward(torch.zeros(4, 3))[0]), steps=3)
