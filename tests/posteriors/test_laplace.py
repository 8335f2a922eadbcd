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


def test_kronecker_comes_from_laplace_torch_and_names_what_it_cannot_do(regression, tiny):
    net, data = tiny
    with pytest.raises(
        ValueError, match="covers Linear and convolution weights only, got 1.weight of a LayerNorm: use structure"
    ):
        fv.fit_laplace(net, data, seed=0, steps=0, structure="kronecker", prior_precision=1.0)
    net, data, mean, cov, evidence = regression
    q = fv.fit_laplace(net, data, structure="kronecker", **SETTLED)
    torch.testing.assert_close(q.cov_mul(torch.eye(3, dtype=torch.float64)), cov, rtol=1e-5, atol=1e-8)
    found = fv.posteriors.laplace_evidence(net, data, structure="kronecker", prior_precision=2.0, likelihood=NOISE)
    assert found == pytest.approx(evidence, abs=1e-4)


def test_bad_requests_say_what_to_do(tiny):
    net, data = tiny
    with pytest.raises(ValueError, match="prior_precision must be > 0, 'marginal' or 'validation', got 0.0"):
        fv.fit_laplace(net, data, seed=0, steps=0, weight_decay=0.0, prior_precision=None)


@pytest.mark.parametrize("precision", [1.0, "per layer"])
def test_draws_do_not_depend_on_the_eigenvectors_that_a_library_chooses(precision, monkeypatch):
    """Their signs, and the basis of those of one eigenvalue, differ from device to device."""
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double())
    data = fv.Data(torch.randn(12, 3, dtype=torch.float64), torch.arange(12) % 3)
    given = precision if precision == 1.0 else {"0": 2.0, "2": 0.5}
    how = dict(seed=0, steps=1, structure="full", prior_precision=given)
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


DELTA = 2.0


@pytest.fixture(scope="module", params=["mlp", "convolution"])
def small(request):
    """(net, data, Kronecker Laplace, its covariance inverted densely by laplace-torch), float64."""
    import laplace

    torch.manual_seed(0)
    if request.param == "mlp":
        module, x = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4)), torch.randn(20, 3)
    else:
        module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(18, 4))
        x = torch.randn(20, 1, 5, 5)
    module, data = module.double(), fv.Data(x.double(), torch.randint(0, 4, (20,)))
    net = fv.Net.from_module(module)
    q = fv.fit_laplace(net, data, seed=0, steps=0, structure="kronecker", prior_precision=DELTA)
    theirs = laplace.KronLaplace(net.to_module(), "classification", prior_precision=DELTA)
    theirs.fit(DataLoader(TensorDataset(data.x, data.y), batch_size=20))
    return net, data, q, torch.linalg.inv(theirs.posterior_precision.to_matrix().detach())


def test_moments_and_density_are_those_of_the_dense_matrix(small):
    net, _, q, cov = small
    eye, close = torch.eye(net.dim, dtype=torch.float64), dict(rtol=1e-6, atol=1e-10)
    torch.testing.assert_close(q.cov_mul(eye), cov, **close)
    torch.testing.assert_close(q.variance, cov.diagonal(), **close)
    torch.testing.assert_close(q.precision_mul(q.cov_mul(eye)), eye, **close)
    dense = torch.distributions.MultivariateNormal(net.w, (cov + cov.T) / 2)
    W = q.sample(3, seed=0)
    torch.testing.assert_close(q.log_prob(W), dense.log_prob(W))
    assert torch.equal(W[:2], q.sample(2, seed=0)) and torch.equal(q.center, net.w)


def test_draws_have_the_covariance(small):
    net, _, q, cov = small
    off = q.sample(20_000, seed=0) - q.mean
    torch.testing.assert_close(off.T @ off / 20_000, cov, rtol=0, atol=0.05 * float(cov.diagonal().max()))


def test_linearised_predictions_are_those_of_the_dense_gaussian(small):
    net, data, q, cov = small
    values, vectors = torch.linalg.eigh((cov + cov.T) / 2)
    least = 0.5 * values.min()
    dense = fv.Gaussian(net.w, 0.5 * least.log().expand(net.dim), ((values - least).sqrt() * vectors).T)
    for link in ("probit", "mc"):
        found, exact = (fv.metrics.predict_linearised(net, p, data, link=link, n_draws=5).outputs for p in (q, dense))
        torch.testing.assert_close(found, exact, rtol=1e-5, atol=1e-5)


def test_a_network_too_large_for_a_dense_matrix_is_fitted_predicted_and_weighed():
    """64-64-32-10, 6,570 weights, above what a dense covariance may have."""
    net = fv.Net.from_module(nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)))
    data = fv.Data(torch.randn(50, 64), torch.randint(0, 10, (50,)))
    q = fv.fit_laplace(net, data, seed=0, steps=5, structure="kronecker", prior_precision="marginal")
    assert q.sample(2, seed=0).shape == (2, net.dim) and net.dim == 6570
    assert bool(torch.isfinite(fv.metrics.predict_linearised(net, q, data).scores["nll"]))
    still = fv.fit_laplace(net, data, seed=0, steps=0, structure="kronecker", prior_precision=DELTA)
    diagonal = torch.randn(3, net.dim)
    torch.testing.assert_close(still.precision_mul(still.cov_mul(diagonal)), diagonal, rtol=1e-3, atol=1e-4)
    evidence = fv.posteriors.laplace_evidence(net, data, structure="kronecker", prior_precision=DELTA)
    assert evidence < -50 * float(fv.nll(net, data)(net.w))
    with pytest.raises(
        ValueError, match="must cover at most 5,000 weights, got 6,570: use structure='diagonal', 'lowrank', 'kronecker' or"
    ):
        fv.fit_laplace(net, data, seed=0, steps=0, structure="full")
