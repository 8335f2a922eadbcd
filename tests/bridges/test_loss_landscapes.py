"""The bridge to loss-landscapes: its metrics exact, its slices with true coordinates, its side effects kept out."""

import numpy as np
import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.bridges.loss_landscapes import metric_objective, run_linear_interpolation, run_random_plane

loss_landscapes = pytest.importorskip("loss_landscapes")
metrics = pytest.importorskip("loss_landscapes.metrics")


@pytest.fixture
def case():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    nn.init.normal_(module[1].bias)  # the library divides by the norm of each parameter
    x, y = torch.randn(30, 3), torch.randint(0, 2, (30,))
    return module, fv.Data(x, y), metrics.Loss(nn.CrossEntropyLoss(), x, y)


def test_a_metric_is_an_objective_with_our_values(case):
    module, data, metric = case
    net = fv.Net.from_module(module, treated=lambda name: not name.startswith("1."))
    f, ours = metric_objective(net, metric), fv.nll(net, data)
    plane = fv.plane_random(net, net.w, seed=0)
    a, b = fv.slice_plane(f, plane, resolution=5), fv.slice_plane(ours, plane, resolution=5)
    torch.testing.assert_close(a.values, b.values, rtol=1e-5, atol=1e-6)
    assert (a.label, a.batchnorm) == ("Loss", "frozen")
    line = fv.slice_line(f, net.w, net.w + 1, resolution=3)
    torch.testing.assert_close(line.values, fv.slice_line(ours, net.w, net.w + 1, resolution=3).values, rtol=1e-5, atol=1e-6)


def test_its_plane_comes_back_with_the_coordinates_of_each_value(case):
    module, data, metric = case
    surface = run_random_plane(module, metric, steps=6, seed=3)
    assert surface.scattered and len(surface.values) == 36
    f = fv.nll(fv.Net.from_module(module), data)
    W = surface.plane.points(torch.stack([surface.a, surface.b], 1))
    torch.testing.assert_close(f.many(W), surface.values, rtol=1e-4, atol=1e-5)
    assert torch.equal(surface.plane.origin, f.net.w)


def test_its_rows_are_shifted_and_its_centre_is_missing_as_reported(case):
    """Findings on 3.0.6 that the coordinates lay open: with an odd number of steps no value is at the weights."""
    module, _, metric = case
    surface = run_random_plane(module, metric, steps=5, seed=3)
    away = (surface.a.square() + surface.b.square()).sqrt()
    assert float(away.min()) > 0.5
    rows = surface.b.reshape(5, 5)  # in the order of its walk: even rows up, odd rows down
    assert float(rows[0].min()) == pytest.approx(float(rows[1].min()) + 1, abs=1e-3)


def test_its_values_are_the_librarys_own(case):
    module, _, metric = case
    torch.manual_seed(7)
    own = loss_landscapes.random_plane(fv.Net.from_module(module).to_module().eval(), metric, steps=4, deepcopy_model=True)
    ours = run_random_plane(module, metric, steps=4, seed=7)
    np.testing.assert_allclose(np.sort(own.reshape(-1)), np.sort(ours.values.numpy()), rtol=1e-5)


def test_its_interpolation_starts_after_the_start(case):
    module, data, metric = case
    first, last = fv.Net.from_module(module), fv.pretrain(module, data, seed=0, epochs=2)
    curve = run_linear_interpolation(first, last.to_module(first.w), metric, steps=4)
    assert curve.t.isnan().all() or float(curve.t.abs().max()) >= 0  # identical ends have no direction
    other = first.at(first.w + 0.5)
    curve = run_linear_interpolation(first, other, metric, steps=4)
    torch.testing.assert_close(curve.t, torch.tensor([0.25, 0.5, 0.75, 1.0]), rtol=1e-4, atol=1e-4)
    f = fv.nll(first, data)
    W = torch.stack([first.w + 0.5 * t for t in curve.t])
    torch.testing.assert_close(curve.values, f.many(W), rtol=1e-4, atol=1e-5)


def test_a_fresh_bias_of_zeros_is_one_clear_error(case):
    _, _, metric = case
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    with pytest.raises(ValueError, match="loss_landscapes divides by the norm of each parameter, got all zeros in 1.bias"):
        run_random_plane(module, metric, steps=3)


def test_a_metric_that_returns_no_number_is_refused(case):
    module, _, _ = case

    class Vector(metrics.Metric):
        def __call__(self, wrapper):
            return np.zeros(3)

    f = metric_objective(fv.Net.from_module(module), Vector())
    with pytest.raises(ValueError, match=r"the metric must return one number, got shape \(3,\) from Vector"):
        f(f.net.w)
