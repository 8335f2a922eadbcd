"""The two modes: their loss by hand, and SA-BMA on them against its own recursion with expectations by quadrature."""

import math

import pytest
import torch

import flatviz as fv
from flatviz.studies import two_modes
from flatviz.studies.two_modes import TwoModes, balance, end_in_wide, expected_gradient, loss


def nothing():
    return fv.Data(torch.zeros(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64))


def test_both_modes_are_equally_deep_and_the_network_has_their_loss():
    ends = torch.tensor([-2.0, 2.0], dtype=torch.float64)
    assert loss(ends, 2.0).tolist() == pytest.approx([math.log(2)] * 2, abs=1e-6)  # the other mode is 6 widths away
    f = fv.nll(fv.Net.from_module(TwoModes(2.0)), nothing(), likelihood=1.0)
    w = torch.tensor([0.3], dtype=torch.float64)
    by_hand = -math.log(0.5 * math.exp(-0.5 * (2.3 / 0.3) ** 2) + 0.5 * math.exp(-0.5 * (1.7 / 0.6) ** 2))
    assert float(f(w)) == pytest.approx(by_hand + 1 + 0.5 * math.log(2 * math.pi), abs=1e-12)


def test_the_quadrature_is_that_of_a_gaussian_mode_and_vanishes_at_the_balance():
    mean, std = torch.tensor([1.5, 0.1], dtype=torch.float64)
    g_mean, g_log_std = expected_gradient(mean, std, 1.0)
    assert float(g_mean) == pytest.approx(-0.5 / 0.09, rel=1e-6) and float(g_log_std) == pytest.approx(0.01 / 0.09, rel=1e-4)
    for ratio in (2.0, 5.0):
        at = torch.tensor(balance(ratio), dtype=torch.float64)
        assert abs(float(expected_gradient(at, torch.tensor(0.5).double(), ratio)[0])) < 1e-9


@pytest.mark.parametrize("radius", [pytest.param(0.0, marks=pytest.mark.slow), 0.5])
def test_sabma_with_many_draws_is_its_recursion_with_expectations_by_quadrature(radius):
    """Delta = radius (s^2 g_m, g_s / 2) / sqrt(s^2 g_m^2 + g_s^2 / 2): equation (1) with the Fisher matrix of N(m, s^2)."""
    ratio, kl, lr, m, steps, prior = 3.0, 0.1, 0.02, 0.9, 40, 2.0
    net = fv.Net.from_module(TwoModes(ratio, 0.2))
    first, far = (fv.Gaussian(net.w, torch.full_like(net.w, s).log()) for s in (0.5, prior))
    settings = dict(steps=steps, lr=lr, momentum=m, kl_weight=kl, mc_samples=400, likelihood=1.0, seed=0)
    found = fv.fit_sabma(net, nothing(), far, start=first, radius=radius, **settings)
    mean, log_std, v = torch.tensor(0.2).double(), torch.tensor(0.5).double().log(), [0.0, 0.0]
    for t in range(steps):
        std = log_std.exp()
        g = expected_gradient(mean, std, ratio)
        length = (std.square() * g[0].square() + g[1].square() / 2).sqrt()
        moved = (mean + radius * std.square() * g[0] / length, log_std + radius * g[1] / 2 / length)
        g = expected_gradient(moved[0], moved[1].exp(), ratio)
        pull = kl * (mean - 0.2) / prior**2, kl * (std.square() / prior**2 - 1)
        v = [m * a + b + c for a, b, c in zip(v, g, pull)]
        rate = lr / 2 * (1 + math.cos(math.pi * t / steps))
        mean, log_std = mean - rate / (1 + rate * kl / prior**2) * v[0], log_std - rate * v[1]
    assert float(found.mean) == pytest.approx(float(mean), abs=0.03)  # 400 draws a step: a noise of 5 % in the gradient
    assert float(found.std) == pytest.approx(float(log_std.exp()), rel=0.06)
    assert float(mean) > 1.2 and float(log_std.exp()) < 0.48  # it has moved


def test_runs_that_start_in_a_mode_stay_there(monkeypatch):
    monkeypatch.setitem(two_modes.SETTINGS, "steps", 30)
    assert end_in_wide([0.0, 0.5], ratio=5.0, seeds=[0, 1], start=1.5).all()
    assert not end_in_wide([0.0], ratio=5.0, seeds=[0, 1], start=-2.0).any()
    with pytest.raises(ValueError, match="ratio must be at least 1, got 0.5"):
        end_in_wide([0.0], ratio=0.5, seeds=[0])
