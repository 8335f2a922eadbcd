"""Fits of a Gaussian that arrive: on conjugate linear regression, whose best q is known, whatever the temperature."""

import math

import pytest
import torch
from oracles import dense_covariance
from scipy.optimize import minimize
from torch import nn

import flatviz as fv

NOISE = 0.3


@pytest.fixture(scope="module")
def regression(linear_regression):
    """(net, data, X^T X / noise^2, X^T y / noise^2); two of the three inputs go together."""
    net, data, _, _ = linear_regression(40, [1.0, -0.5, 0.2], NOISE, 1.0)
    return net, data, data.x.T @ data.x / NOISE**2, (data.x.T @ data.y)[:, 0] / NOISE**2


def standard(dim, *factor):
    """N(0, I), or with a factor N(0, I + factor^T factor), in float64."""
    return fv.Gaussian(torch.zeros(dim).double(), torch.zeros(dim).double(), *factor)


def test_widths_are_those_of_the_best_diagonal_gaussian_within_two_percent(regression, kl_weight=0.03):
    """KL(q || posterior) is least at sigma^2 = 1 / diag(precision), mean at the posterior's."""
    net, data, hessian, pull = regression
    precision = hessian / kl_weight + torch.eye(3, dtype=torch.float64)
    exact = torch.linalg.solve(precision, pull / kl_weight)
    how = dict(likelihood=NOISE, kl_weight=kl_weight, start_scale=1.0, mc_samples=4, steps=1500, seed=0)
    q = fv.fit_vi(net, data, standard(3), **how)
    assert float((precision.diagonal().sqrt() * (q.mean - exact)).abs().max()) < 0.02
    assert (q.variance * precision.diagonal()).tolist() == pytest.approx([1, 1, 1], rel=0.04)  # 2 % of a width


def test_a_posterior_inside_the_family_is_found_to_the_last_digits(regression):
    """The path gradient is 0 at every draw there, so no noise is left: mean, widths and factor are exact."""
    net, data, hessian, pull = regression
    prior = standard(3, 0.3 * torch.tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=torch.float64))
    q = fv.fit_vi(net, data, prior, likelihood=NOISE, kl_weight=1.0, start_scale=1.0, steps=3000, seed=0)
    precision = hessian + torch.linalg.inv(dense_covariance(prior))
    root = torch.linalg.cholesky(precision)
    torch.testing.assert_close(root.T @ dense_covariance(q) @ root, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-3)
    assert float((root.T @ (q.mean - torch.linalg.solve(precision, pull))).norm()) < 1e-3


@pytest.mark.long
def test_mean_widths_and_factor_are_those_that_lbfgs_finds_on_the_exact_bound(of_weights):
    """A rank too low for the posterior: the best q of this family is found by scipy from the closed form of the KL.

    Each output is its own linear map of the weights, so that the Hessian of half their squares is A^T A."""
    g = torch.Generator().manual_seed(1)
    D, K = 8, 1
    A = torch.randn(12, D, generator=g, dtype=torch.float64) / 2 * torch.linspace(0.2, 2, D, dtype=torch.float64)
    b = torch.randn(12, generator=g, dtype=torch.float64)
    net = of_weights(lambda w, x: (A @ w).expand(len(x), -1), torch.zeros(D))
    data = fv.Data(torch.zeros(5, 1, dtype=torch.float64), b.expand(5, -1).clone())
    prior, hessian, pull = standard(D, torch.ones(K, D).double()), 5 * A.T @ A, 5 * A.T @ b

    def split(theta):
        return theta[:D], theta[D : 2 * D], theta[2 * D :].view(K, D)

    def bound(theta):
        q = fv.Gaussian.unchecked(*split(theta))
        return 0.5 * (q.mean @ hessian @ q.mean + (hessian * dense_covariance(q)).sum()) - pull @ q.mean + q.kl(prior)

    def value_and_grad(theta):
        theta = torch.tensor(theta, requires_grad=True)
        value = bound(theta)
        return value.item(), torch.autograd.grad(value, theta)[0].numpy()

    first = torch.cat((prior.mean, prior.log_std, prior.factor.flatten())).numpy()
    best = minimize(value_and_grad, first, jac=True, method="L-BFGS-B", options=dict(maxiter=5000, ftol=1e-15, gtol=1e-10))
    exact = fv.Gaussian(*split(torch.tensor(best.x)))
    q = fv.fit_vi(net, data, prior, likelihood=1.0, kl_weight=1.0, start_scale=1.0, mc_samples=8, steps=3000, seed=0)
    found = float(bound(torch.cat((q.mean, q.log_std, q.factor.flatten()))))
    assert found - best.fun < 0.005  # nats
    assert (q.variance / exact.variance).tolist() == pytest.approx([1] * D, rel=0.04)
    got, want = dense_covariance(q), dense_covariance(exact)
    assert float(torch.linalg.matrix_norm(got - want) / torch.linalg.matrix_norm(want)) < 0.04


@pytest.mark.parametrize("kl_weight", [1.0, 1e-3])
def test_the_pull_of_the_kl_on_widths_does_not_depend_on_temperature_or_examples(kl_weight):
    """Without curvature q's widths return to the prior's: from a tenth of them, in as many steps at any T / N."""
    net = fv.Net.from_module(nn.Linear(2, 1, bias=False).double())
    nothing = fv.Data(torch.zeros(1000, 2, dtype=torch.float64), torch.zeros(1000, 1, dtype=torch.float64))
    prior = fv.Gaussian(torch.zeros(2, dtype=torch.float64), torch.full((2,), math.log(0.1), dtype=torch.float64))
    q = fv.fit_vi(net, nothing, prior, likelihood=1.0, start_scale=0.1, kl_weight=kl_weight, steps=300, seed=0)
    assert (q.std / prior.std).tolist() == pytest.approx([1, 1], rel=0.02)
