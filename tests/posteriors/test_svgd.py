"""SVGD: a step is the paper's double sum, its particles have the moments of a Gaussian target, and without heat they all descend."""

import math

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.training.starts import starts

N, NOISE, DECAY, S = 30, 0.5, 0.1, 100


@pytest.fixture(scope="module")
def line(linear_regression):
    """(net, data, exact mean, exact covariance) of a regression with two inputs that go together."""
    return linear_regression(N, [1.0, -0.5], NOISE, N * DECAY, seed=1)


def double_sum(w, g, temperature):
    """Equation 8 of the paper, a pair at a time; the gradient of the kernel by autograd."""
    apart = sorted(float((w[i] - w[j]).norm()) for i in range(len(w)) for j in range(i))
    h = apart[(len(apart) - 1) // 2] ** 2 / math.log(len(w))
    phi = torch.zeros_like(w)
    for i in range(len(w)):
        for j in range(len(w)):
            other = w[j].clone().requires_grad_(True)
            k = (-(other - w[i]).square().sum() / h).exp()
            phi[i] += k.detach() * -g[j] / temperature + torch.autograd.grad(k, other)[0]
    return phi / len(w)


def test_two_steps_of_the_fit_are_two_steps_of_the_sum_with_momentum(line):
    net, data, _, _ = line
    how = dict(seed=0, n_draws=5, lr=0.02, momentum=0.5, weight_decay=DECAY, likelihood=NOISE)
    before, after = (fv.fit_svgd(net, data, steps=steps, **how).W for steps in (1, 3))
    w, v = starts(net, range(0, 5000, 1000), head_only=False), 0
    for step in range(3):
        g = (w @ data.x.T - data.y.T) @ data.x / (N * NOISE**2) + DECAY * w
        v = 0.5 * v + double_sum(w, g, 1 / N) / N
        w = w + 0.02 * v
        if step == 0:
            torch.testing.assert_close(before, w, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(after, w, rtol=1e-10, atol=1e-12)


def test_without_heat_nothing_keeps_particles_apart_and_all_arrive_at_the_mode(line):
    net, data, mean, _ = line
    W = fv.fit_svgd(net, data, seed=0, n_draws=4, steps=400, lr=0.1, temperature=0.0, weight_decay=DECAY, likelihood=NOISE).W
    assert float((W - mean).abs().max()) < 1e-4


def test_particles_at_one_place_are_refused(line):
    with pytest.raises(ValueError, match=r"3 particles must start apart, got one place for all: treat a head"):
        module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)).double()
        fv.fit_svgd(fv.Net.from_module(module, lambda name: name.startswith("0.")), line[1], seed=0, n_draws=3)
