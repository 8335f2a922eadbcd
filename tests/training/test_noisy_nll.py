"""Gradients of noisy draws, and a scaled start, against closed forms of linear regression."""

import math

import pytest
import torch

import flatviz as fv
from flatviz.training.noisy_nll import NoisyNLL
from flatviz.training.optimize import training_loss
from flatviz.training.variational import Noise

N, RUNS = 20, 400


@pytest.fixture(scope="module")
def regression():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(N, 3, generator=g)
    net = fv.Net.from_module(torch.nn.Linear(3, 1))
    data = fv.Data(x, x @ torch.tensor([[1.0], [-1.0], [0.5]]) + 0.1 * torch.randn(N, 1, generator=g))
    q = fv.Gaussian(torch.zeros(4), torch.full((4,), math.log(0.5)), factor=torch.full((1, 4), 0.2))
    return net, data, q


def _gradients(loss, q):
    """Gradients (RUNS, 3 D) in (mean, log_std, factor) of as many seeds."""
    noise = Noise([7], 1, q, RUNS)
    return torch.stack([torch.cat([g.flatten() for g in NoisyNLL(loss, None, noise.at(i))(q)[1]]) for i in range(RUNS)])


def test_the_mean_gradient_of_the_draws_is_that_of_the_closed_form(regression):
    net, data, q = regression
    shared, _ = training_loss(net, data, 1.0, "frozen")
    grads = _gradients(shared, q)
    mean, log_std, factor = (t.clone().requires_grad_() for t in (q.mean, q.log_std, q.factor))
    X = torch.cat([data.x, torch.ones(N, 1)], 1)  # Linear's weights, then its bias
    covariance = torch.diag((2 * log_std).exp()) + factor.T @ factor
    exact = 0.5 * ((X @ mean - data.y[:, 0]).square() + ((X @ covariance) * X).sum(1)).mean()
    closed = torch.cat([g.flatten() for g in torch.autograd.grad(exact, (mean, log_std, factor))])
    pairs = grads.view(RUNS // 2, 2, -1).mean(1)  # of a draw and its negative
    error = pairs.std(0) / math.sqrt(len(pairs)) + 1e-6
    assert bool(((grads.mean(0) - closed).abs() < 5 * error).all())


def test_a_scaled_start_has_all_its_widths_scaled(regression):
    net, data, q = regression
    first = fv.fit_vi(net, data, q, seed=0, likelihood=1.0, start_scale=0.5, steps=1, lr=1e-12)
    torch.testing.assert_close(first.std, 0.5 * q.std)
    torch.testing.assert_close(first.factor, 0.5 * q.factor)
