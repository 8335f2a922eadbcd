"""Kronecker Laplace at any size: the eigenvectors of the factors stand for the dense matrix."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv

DELTA = 2.0


@pytest.fixture(scope="module", params=["mlp", "convolution"])
def small(request):
    """(net, data, Kronecker Laplace, its covariance inverted densely by laplace-torch), float64."""
    laplace = pytest.importorskip("laplace")
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
    pytest.importorskip("laplace")
    torch.manual_seed(0)
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


def test_its_shadow_on_a_plane_is_that_of_its_draws():
    torch.manual_seed(0)
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double())
    data = fv.Data(torch.randn(30, 4).double(), torch.arange(30) % 3)
    q = fv.fit_laplace(net, data, seed=0, structure="kronecker", prior_precision=1.0)
    plane = fv.plane_random(net, net.w, seed=0)
    shadow, drawn = fv.project(q, plane), fv.project(q.sample(20_000, seed=0), plane)
    torch.testing.assert_close(shadow.covariance, torch.cov(drawn.coords.T), rtol=0.05, atol=0.005)
    assert shadow.spread == pytest.approx(float(drawn.distance.square().mean().sqrt()), rel=0.01)
