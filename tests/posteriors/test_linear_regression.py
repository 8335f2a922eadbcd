"""Bayesian linear regression, whose posterior is known: how far each method is from it, and why;
fits of a Gaussian that arrive."""

import math

import torch
from every_method import CASES, DELTA, ETA, NOISE, OTHER_MODES, ROUGH, N
from oracles import dense_covariance
from pytest import approx, fixture, mark
from torch import eye, float64, linalg, nn, tensor, zeros, zeros_like

import flatviz as fv


@fixture(scope="module")
def problem(linear_regression):
    """Build net, data, prior, exact mean, reference -> covariance; two inputs correlate."""
    net, data, mean, cov = linear_regression(N, [1.0, -0.5, 0.2], NOISE, DELTA)
    tilt = 1e-3 * tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=float64)  # a rank for VI to use
    prior = fv.Gaussian(zeros_like(mean), torch.full_like(mean, -0.5 * math.log(DELTA)), tilt)
    alone = torch.diag(1 / linalg.inv(cov).diagonal())
    covs = {
        "posterior": cov,
        "conditional": alone,
        "with the guide": cov + ETA / 2 * eye(3, dtype=float64),
    }
    return net, data, prior, mean, covs


def test_every_method_has_a_case():
    found = {name for name, method in fv.METHODS.items() if method.ascent is None} - OTHER_MODES
    missing = found - set(CASES)
    assert not missing, f"add a row of CASES in tests/every_method.py for {missing}"


@mark.parametrize("name", CASES)
def test_mean_and_width_are_those_of_the_exact_posterior_up_to_the_known_bias(name, problem):
    net, data, prior, mean, covs = problem
    settings, off, least, most, reference, bias = CASES[name]
    given = (prior,) if fv.METHODS[name].needs_prior else ()
    trained = settings is ROUGH or name in ("swag", "moped")  # these begin where SGD ended
    start = net.at(mean if trained else zeros_like(mean))
    q = fv.METHODS[name].fit(start, data, *given, seed=0, likelihood=NOISE, **settings)
    W = q.W if isinstance(q, fv.Draws) else q.sample(20_000, seed=1)  # a width to half a percent
    assert W.dtype == float64
    apart = (W.mean(0) - mean).abs() / covs["posterior"].diagonal().sqrt()
    assert apart.max() <= off, bias
    ratio = W.std(0, correction=0) / covs[reference].diagonal().sqrt()
    assert least <= ratio.min() and ratio.max() <= most, bias


SMALL_NOISE = 0.3


@fixture(scope="module")
def regression(linear_regression):
    """(net, data, X^T X / noise^2, X^T y / noise^2); two of the three inputs go together."""
    net, data, _, _ = linear_regression(40, [1.0, -0.5, 0.2], SMALL_NOISE, 1.0)
    return net, data, data.x.T @ data.x / SMALL_NOISE**2, (data.x.T @ data.y)[:, 0] / SMALL_NOISE**2


def standard(dim, *factor):
    """N(0, I), or with a factor N(0, I + factor^T factor), in float64."""
    return fv.Gaussian(zeros(dim).double(), zeros(dim).double(), *factor)


@mark.parametrize("kl_weight", [1.0, 0.03])
def test_a_posterior_inside_the_family_is_found_to_the_last_digits(regression, kl_weight):
    """The path gradient is 0 at every draw there, so no noise is left: mean, widths and factor are
    exact."""
    net, data, hessian, pull = regression
    prior = standard(3, 0.3 * tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=float64))
    q = fv.fit(
        net,
        data,
        fv.VI(prior, kl_weight=kl_weight, start_scale=1.0),
        likelihood=SMALL_NOISE,
        steps=3000,
        seed=0,
    )
    precision = hessian / kl_weight + linalg.inv(dense_covariance(prior))
    root = linalg.cholesky(precision)
    torch.testing.assert_close(
        root.T @ dense_covariance(q) @ root, eye(3, dtype=float64), rtol=0, atol=1e-3
    )
    found = (root.T @ (q.mean - linalg.solve(precision, pull / kl_weight))).norm()
    assert found < 1e-3


@mark.parametrize("kl_weight", [1.0, 1e-3])
def test_the_pull_of_the_kl_on_widths_does_not_depend_on_temperature_or_examples(kl_weight):
    """Without curvature q's widths return to the prior's: from a tenth of them, in as many steps at
    any T / N."""
    module = nn.Linear(2, 1, bias=False).double()
    net = fv.Net.from_module(module)
    x = zeros(1000, 2, dtype=float64)
    y = zeros(1000, 1, dtype=float64)
    nothing = fv.Data(x, y)
    prior = fv.Gaussian(zeros(2, dtype=float64), torch.full((2,), math.log(0.1), dtype=float64))
    q = fv.fit(
        net,
        nothing,
        fv.VI(prior, start_scale=0.1, kl_weight=kl_weight),
        likelihood=1.0,
        steps=300,
        seed=0,
    )
    found = (q.std / prior.std).tolist()
    assert found == approx([1, 1], rel=0.02)
