"""Fits of a Gaussian that arrive: on conjugate linear regression, whose best q is known, whatever the temperature."""

import math

import pytest
import torch
from oracles import dense_covariance
from scipy.optimize import minimize
from torch import nn

import flatviz as fv

N, NOISE = 40, 0.3


@pytest.fixture(scope="module")
def regression():
    """(net, data, X^T X / noise^2, X^T y / noise^2); two of the three inputs go together."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(N, 3, generator=g, dtype=torch.float64)
    x[:, 1] += x[:, 0]
    y = x @ torch.tensor([[1.0], [-0.5], [0.2]], dtype=torch.float64)
    y += NOISE * torch.randn(N, 1, generator=g, dtype=torch.float64)
    net = fv.Net.from_module(nn.Linear(3, 1, bias=False).double())
    return net, fv.Data(x, y), x.T @ x / NOISE**2, (x.T @ y)[:, 0] / NOISE**2


def diagonal():
    return fv.Gaussian(torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64))


@pytest.mark.parametrize("kl_weight", [pytest.param(1.0, marks=pytest.mark.slow), 0.03])
def test_widths_are_those_of_the_best_diagonal_gaussian_within_two_percent(regression, kl_weight):
    """KL(q || posterior) is least at sigma^2 = 1 / diag(precision), mean at the posterior's."""
    net, data, hessian, pull = regression
    precision = hessian / kl_weight + torch.eye(3, dtype=torch.float64)
    exact = torch.linalg.solve(precision, pull / kl_weight)
    how = dict(likelihood=NOISE, kl_weight=kl_weight, start_scale=1.0, mc_samples=4, steps=1500, seed=0)
    q = fv.fit_vi(net, data, diagonal(), **how)
    assert float((precision.diagonal().sqrt() * (q.mean - exact)).abs().max()) < 0.02
    assert (q.variance * precision.diagonal()).tolist() == pytest.approx([1, 1, 1], rel=0.04)  # 2 % of a width


def test_a_posterior_inside_the_family_is_found_to_the_last_digits(regression):
    """The path gradient is 0 at every draw there, so no noise is left: mean, widths and factor are exact."""
    net, data, hessian, pull = regression
    tilt = 0.3 * torch.tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=torch.float64)
    prior = fv.Gaussian(diagonal().mean, diagonal().log_std, tilt)
    q = fv.fit_vi(net, data, prior, likelihood=NOISE, kl_weight=1.0, start_scale=1.0, steps=3000, seed=0)
    precision = hessian + torch.linalg.inv(dense_covariance(prior))
    root = torch.linalg.cholesky(precision)
    torch.testing.assert_close(root.T @ dense_covariance(q) @ root, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-3)
    assert float((root.T @ (q.mean - torch.linalg.solve(precision, pull))).norm()) < 1e-3


class Apart(nn.Module):
    """Six outputs, each its own linear map of the weights, so that the Hessian of half their squares is A^T A."""

    def __init__(self, A):
        super().__init__()
        self.register_buffer("A", A)
        self.w = nn.Parameter(torch.zeros(A.shape[1], dtype=torch.float64))

    def forward(self, x):
        return (self.A @ self.w).expand(len(x), -1)


@pytest.mark.slow
def test_mean_widths_and_factor_are_those_that_lbfgs_finds_on_the_exact_bound():
    """A rank too low for the posterior: the best q of this family is found by scipy from the closed form of the KL."""
    g = torch.Generator().manual_seed(1)
    D, K = 8, 1
    A = torch.randn(12, D, generator=g, dtype=torch.float64) / 2
    A = A @ torch.diag(torch.linspace(0.2, 2, D, dtype=torch.float64))
    b = torch.randn(12, generator=g, dtype=torch.float64)
    net = fv.Net.from_module(Apart(A))
    data = fv.Data(torch.zeros(5, 1, dtype=torch.float64), b.expand(5, -1).clone())
    prior = fv.Gaussian(torch.zeros(D, dtype=torch.float64), torch.zeros(D, dtype=torch.float64), torch.ones(K, D).double())
    hessian, pull = 5 * A.T @ A, 5 * A.T @ b

    def bound(theta):
        m, s, F = theta[:D], theta[D : 2 * D], theta[2 * D :].view(K, D)
        q = fv.Gaussian.unchecked(m, s, F)
        return 0.5 * (m @ hessian @ m + (hessian * dense_covariance(q)).sum()) - pull @ m + q.kl(prior)

    def value_and_grad(theta):
        theta = torch.tensor(theta, requires_grad=True)
        value = bound(theta)
        return value.item(), torch.autograd.grad(value, theta)[0].numpy()

    first = torch.cat((prior.mean, prior.log_std, prior.factor.flatten())).numpy()
    best = minimize(value_and_grad, first, jac=True, method="L-BFGS-B", options=dict(maxiter=5000, ftol=1e-15, gtol=1e-10))
    exact = fv.Gaussian(*(torch.tensor(t) for t in (best.x[:D], best.x[D : 2 * D], best.x[2 * D :].reshape(K, D))))
    q = fv.fit_vi(net, data, prior, likelihood=1.0, kl_weight=1.0, start_scale=1.0, mc_samples=8, steps=3000, seed=0)
    found = float(bound(torch.cat((q.mean, q.log_std, q.factor.flatten()))))
    assert found - best.fun < 0.005  # nats
    assert (q.variance / exact.variance).tolist() == pytest.approx([1] * D, rel=0.04)
    got, want = dense_covariance(q), dense_covariance(exact)
    assert float(torch.linalg.matrix_norm(got - want) / torch.linalg.matrix_norm(want)) < 0.04


@pytest.mark.parametrize("kl_weight", [1.0, 1e-3])
def test_the_pull_of_the_kl_on_widths_does_not_depend_on_temperature_or_examples(kl_weight):
    """Without curvature q's widths return to the prior's: from a tenth of them, in as many steps at any T / N."""
    module = nn.Linear(2, 1, bias=False).double()
    net = fv.Net.from_module(module)
    nothing = fv.Data(torch.zeros(1000, 2, dtype=torch.float64), torch.zeros(1000, 1, dtype=torch.float64))
    prior = fv.Gaussian(torch.zeros(2, dtype=torch.float64), torch.full((2,), math.log(0.1), dtype=torch.float64))
    q = fv.fit_vi(net, nothing, prior, likelihood=1.0, start_scale=0.1, kl_weight=kl_weight, steps=300, seed=0)
    assert (q.std / prior.std).tolist() == pytest.approx([1, 1], rel=0.02)
