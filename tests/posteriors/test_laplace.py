"""Laplace: exact on linear regression, its curvature dense and by hand, its predictions by the formulas."""

import copy

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz.metrics.linearised import linearised
from flatviz.objectives.jacobian import ggn, jacobians

NOISE = 0.5


@pytest.fixture(scope="module")
def regression():
    """(net at the MAP, data, exact mean, exact covariance, exact evidence) of a Bayesian linear regression, delta = 2."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(30, 3, generator=g, dtype=torch.float64)
    y = x @ torch.tensor([[1.0], [-0.5], [0.2]], dtype=torch.float64) + NOISE * torch.randn(
        30, 1, generator=g, dtype=torch.float64
    )
    precision = x.T @ x / NOISE**2 + 2.0 * torch.eye(3, dtype=torch.float64)
    mean = torch.linalg.solve(precision, x.T @ y / NOISE**2)[:, 0]
    marginal = NOISE**2 * torch.eye(30, dtype=torch.float64) + x @ x.T / 2.0
    zero = torch.zeros(30, dtype=torch.float64)
    evidence = torch.distributions.MultivariateNormal(zero, marginal).log_prob(y[:, 0])
    module = nn.Linear(3, 1, bias=False).double()
    net = fv.Net.from_module(module).at(mean)
    return net, fv.Data(x, y), mean, torch.linalg.inv(precision), float(evidence)


SETTLED = dict(seed=0, steps=0, prior_precision=2.0, likelihood=NOISE)


@pytest.mark.parametrize("structure", ["full", "last_layer"])
def test_the_posterior_and_the_evidence_of_a_linear_regression_are_exact(structure, regression):
    net, data, mean, cov, evidence = regression
    q = fv.fit_laplace(net, data, structure=structure, **SETTLED)
    torch.testing.assert_close(q.mean, mean)
    torch.testing.assert_close(q.cov_mul(torch.eye(3, dtype=torch.float64)), cov, rtol=1e-8, atol=1e-12)
    found = fv.posteriors.laplace_evidence(net, data, structure=structure, prior_precision=2.0, likelihood=NOISE)
    assert found == pytest.approx(evidence, abs=1e-8)


def test_training_and_the_prior_of_the_training_lead_to_the_same_posterior(regression):
    net, data, *_ = regression
    settings = dict(seed=0, structure="full", likelihood=NOISE, weight_decay=2.0 / 30, prior_precision=None)
    q = fv.fit_laplace(net.at(torch.zeros_like(net.w)), data, steps=100, lr=0.2, momentum=0.5, **settings)
    exact = fv.fit_laplace(net, data, structure="full", **SETTLED)
    torch.testing.assert_close(q.mean, exact.mean, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(q.variance, exact.variance, rtol=1e-9, atol=0)


def test_the_gauss_newton_matrix_is_that_of_dense_jacobians_and_of_features_for_the_head(tiny):
    net, data = tiny
    p = net(net.w, data.x).softmax(-1)
    Lambda = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    J = torch.autograd.functional.jacobian(lambda w: net(w, data.x), net.w)
    dense = torch.einsum("ncp,ncd,ndq->pq", J, Lambda, J)
    torch.testing.assert_close(jacobians(net, net.w, data.x)[1], J)
    torch.testing.assert_close(ggn(net, net.w, data), dense)
    torch.testing.assert_close(ggn(net, net.w, data, diagonal=True), dense.diagonal())
    module = net.to_module()
    phi = module[:3](data.x)
    head = torch.einsum("ncd,nf,ng->cfdg", Lambda, phi, phi).reshape(12, 12)
    part = slice(net.dim - 15, net.dim - 3)  # the head's weight (3, 4); its bias follows
    torch.testing.assert_close(ggn(net, net.w, data, part=part), head)


@pytest.mark.parametrize(
    "structure, name", [("last_layer", "FullLLLaplace"), ("full", "FullLaplace"), ("diagonal", "DiagLaplace")]
)
def test_covariance_evidence_probit_and_bridge_are_those_of_laplace_torch(structure, name):
    import laplace

    module = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    x, y, new = torch.randn(40, 4, dtype=torch.float64), torch.randint(0, 3, (40,)), torch.randn(7, 4, dtype=torch.float64)
    peer = getattr(laplace, name)(copy.deepcopy(module), "classification", prior_precision=1.5)
    peer.fit(DataLoader(TensorDataset(x, y), batch_size=40))
    net, data, test = fv.Net.from_module(module), fv.Data(x, y), fv.Data(new, torch.zeros(7).long())
    q = fv.fit_laplace(net, data, seed=0, steps=0, structure=structure, prior_precision=1.5)
    f, V = linearised(net, q, test)
    peer_f, peer_V = peer._glm_predictive_distribution(new)
    torch.testing.assert_close(f, peer_f, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(V, peer_V, rtol=1e-4, atol=1e-6)
    if structure == "last_layer":
        covariance = q.cov_mul(torch.eye(net.dim, dtype=torch.float64))[-18:, -18:]
        torch.testing.assert_close(covariance, peer.posterior_covariance, rtol=1e-4, atol=1e-7)  # its H is off by 2e-7
    found = fv.posteriors.laplace_evidence(net, data, structure=structure, prior_precision=1.5)
    assert found == pytest.approx(float(peer.log_marginal_likelihood()), rel=1e-6)
    p = fv.metrics.predict_linearised(net, q, test, link="probit").bma()
    torch.testing.assert_close(p, peer(new, link_approx="probit"), rtol=1e-4, atol=1e-6)


def test_bad_requests_say_what_to_do(tiny):
    net, data = tiny
    with pytest.raises(ValueError, match="prior_precision must be > 0, got None with a weight_decay of 0"):
        fv.fit_laplace(net, data, seed=0, steps=0, weight_decay=0.0, prior_precision=None)


def test_draws_do_not_depend_on_the_eigenvectors_that_a_library_chooses(monkeypatch):
    """Their signs, and the basis of those of one eigenvalue, differ from device to device."""
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double())
    data = fv.Data(torch.randn(12, 3, dtype=torch.float64), torch.arange(12) % 3)
    how = dict(seed=0, steps=1, structure="full", prior_precision=1.0)
    draws = fv.fit_laplace(net, data, **how).sample(4, seed=1)
    eigh = torch.linalg.eigh

    def other(matrix):
        values, vectors = eigh(matrix)
        flat = values.abs() < 1e-9 * values.abs().max()  # a cluster at 0, turned by a rotation of its own
        turn = torch.linalg.qr(torch.randn(int(flat.sum()), int(flat.sum()), dtype=vectors.dtype))[0]
        vectors = vectors * torch.where(torch.arange(len(values)) % 2 == 0, -1.0, 1.0)
        vectors[:, flat] = vectors[:, flat] @ turn
        return values, vectors

    monkeypatch.setattr(torch.linalg, "eigh", other)
    torch.testing.assert_close(fv.fit_laplace(net, data, **how).sample(4, seed=1), draws, rtol=1e-8, atol=1e-8)


def test_the_marginal_precision_is_where_the_evidence_is_largest(tiny):
    net, data = tiny
    net = net.at(fv.fit_sgd(net, data, seed=0, steps=200, weight_decay=1e-3).center)
    marginal = fv.fit_laplace(net, data, seed=0, steps=0, structure="full", prior_precision="marginal")
    evidence = {
        d: fv.posteriors.laplace_evidence(net, data, structure="full", prior_precision=d)
        for d in torch.logspace(-2, 4, 400).tolist()
    }
    best = fv.fit_laplace(net, data, seed=0, steps=0, structure="full", prior_precision=max(evidence, key=evidence.get))
    torch.testing.assert_close(marginal.variance, best.variance, rtol=0.05, atol=0)


def test_a_colder_posterior_has_its_covariance_times_the_temperature(tiny):
    net, data = tiny
    how = dict(seed=0, steps=0, structure="full", prior_precision=1.0)
    warm, cold = fv.fit_laplace(net, data, **how), fv.fit_laplace(net, data, temperature=0.25, **how)
    torch.testing.assert_close(cold.variance, 0.25 * warm.variance)


def test_a_network_too_large_for_a_dense_matrix_is_refused():
    net = fv.Net.from_module(nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)))
    data = fv.Data(torch.randn(5, 64), torch.randint(0, 10, (5,)))
    with pytest.raises(
        ValueError, match="must cover at most 5,000 weights, got 6,570: use structure='diagonal' or 'last_layer'"
    ):
        fv.fit_laplace(net, data, seed=0, steps=0, structure="full")
