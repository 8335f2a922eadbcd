"""Laplace: exact on linear regression, its curvature dense and by hand, its predictions by the formulas."""

import copy
from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz.metrics.prediction import linearised

NOISE = 0.5


@pytest.fixture(scope="module")
def regression(linear_regression):
    """(net at the MAP, data, exact mean, exact covariance, exact evidence) of a Bayesian linear regression, delta = 2."""
    net, data, mean, cov = linear_regression(30, [1.0, -0.5, 0.2], NOISE, 2.0)
    marginal = NOISE**2 * torch.eye(30, dtype=torch.float64) + data.x @ data.x.T / 2.0
    evidence = torch.distributions.MultivariateNormal(0 * data.y[:, 0], marginal).log_prob(data.y[:, 0])
    return net.at(mean), data, mean, cov, float(evidence)


@pytest.mark.parametrize("structure", ["full", "last_layer"])
def test_the_posterior_and_the_evidence_of_a_linear_regression_are_exact(structure, regression):
    net, data, mean, cov, evidence = regression
    fit = partial(fv.fit_laplace, net, data, structure=structure, seed=0, steps=0, likelihood=NOISE)
    for q in (fit(prior_precision=2.0), fit(prior_precision=None, weight_decay=2.0 / 30)):
        torch.testing.assert_close(q.mean, mean)
        torch.testing.assert_close(q.cov_mul(torch.eye(3, dtype=torch.float64)), cov, rtol=1e-8, atol=1e-12)
    found = fv.posteriors.laplace_evidence(net, data, structure=structure, prior_precision=2.0, likelihood=NOISE)
    assert found == pytest.approx(evidence, abs=1e-8)


PEERS = {"last_layer": "FullLLLaplace", "full": "FullLaplace", "diagonal": "DiagLaplace"}


@pytest.mark.parametrize("structure", PEERS)
def test_covariance_evidence_and_probit_are_those_of_laplace_torch(structure):
    import laplace

    module = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    x, y, new = torch.randn(40, 4, dtype=torch.float64), torch.randint(0, 3, (40,)), torch.randn(7, 4, dtype=torch.float64)
    peer = getattr(laplace, PEERS[structure])(copy.deepcopy(module), "classification", prior_precision=1.5)
    peer.fit(DataLoader(TensorDataset(x, y), batch_size=40))
    net, data, test = fv.Net.from_module(module), fv.Data(x, y), fv.Data(new, torch.zeros(7).long())
    q = fv.fit_laplace(net, data, seed=0, steps=0, structure=structure, prior_precision=1.5)
    (f, V), (peer_f, peer_V) = linearised(net, q, test), peer._glm_predictive_distribution(new)
    torch.testing.assert_close(f, peer_f, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(V, peer_V, rtol=1e-4, atol=1e-6)
    if structure == "last_layer":
        covariance = q.cov_mul(torch.eye(net.dim, dtype=torch.float64))[-18:, -18:]
        torch.testing.assert_close(covariance, peer.posterior_covariance, rtol=1e-4, atol=1e-7)  # its H is off by 2e-7
    found = fv.posteriors.laplace_evidence(net, data, structure=structure, prior_precision=1.5)
    assert found == pytest.approx(float(peer.log_marginal_likelihood()), rel=1e-6)
    p = fv.metrics.predict_linearised(net, q, test, link="probit").bma()
    torch.testing.assert_close(p, peer(new, link_approx="probit"), rtol=1e-4, atol=1e-6)


def test_draws_do_not_depend_on_the_eigenvectors_that_a_library_chooses(tiny, monkeypatch):
    """Their signs, and the basis of those of one eigenvalue, differ from device to device."""
    fit = partial(fv.fit_laplace, *tiny, seed=0, steps=1, structure="full", prior_precision=1.0)
    draws, eigh = fit().sample(4, seed=1), torch.linalg.eigh

    def other(matrix):
        values, vectors = eigh(matrix)
        flat = values.abs() < 1e-9 * values.abs().max()  # a cluster at 0, turned by a rotation of its own
        turn = torch.linalg.qr(torch.randn(int(flat.sum()), int(flat.sum()), dtype=vectors.dtype))[0]
        vectors = vectors * torch.where(torch.arange(len(values)) % 2 == 0, -1.0, 1.0)
        vectors[:, flat] = vectors[:, flat] @ turn
        return values, vectors

    monkeypatch.setattr(torch.linalg, "eigh", other)
    torch.testing.assert_close(fit().sample(4, seed=1), draws, rtol=1e-8, atol=1e-8)


def test_the_marginal_precision_is_where_the_evidence_is_largest(tiny):
    given = tiny[0].at(fv.fit_sgd(*tiny, seed=0, steps=200, weight_decay=1e-3).center), tiny[1]
    evidence, fit = (partial(f, *given, structure="full") for f in (fv.posteriors.laplace_evidence, fv.fit_laplace))
    best = max(torch.logspace(-2, 4, 400).tolist(), key=lambda d: evidence(prior_precision=d))
    marginal, largest = (fit(seed=0, steps=0, prior_precision=precision).variance for precision in ("marginal", best))
    torch.testing.assert_close(marginal, largest, rtol=0.05, atol=0)


def test_a_colder_posterior_has_its_covariance_times_the_temperature(tiny):
    fit = partial(fv.fit_laplace, *tiny, seed=0, steps=0, structure="full", prior_precision=1.0)
    warm, cold = fit(), fit(temperature=0.25)
    torch.testing.assert_close(cold.variance, 0.25 * warm.variance)


def test_bad_requests_say_what_to_do(tiny):
    with pytest.raises(ValueError, match="prior_precision must be > 0, got None with a weight_decay of 0"):
        fv.fit_laplace(*tiny, seed=0, steps=0, weight_decay=0.0, prior_precision=None)
    large = fv.Net.from_module(nn.Linear(600, 10)), fv.Data(torch.randn(5, 600), torch.arange(5))
    with pytest.raises(ValueError, match="at most 5,000 weights, got 6,010: use structure='diagonal' or 'last_layer'"):
        fv.fit_laplace(*large, seed=0, steps=0, structure="full")
