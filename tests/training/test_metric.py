"""The metric of Hamiltonian chains: what it learns, that the law stays the posterior's, and what it saves."""

import statistics
from functools import partial

import pytest
import torch
from oracles import stopping_at
from torch import nn

import flatviz as fv
from flatviz.posteriors import hmc
from flatviz.posteriors.hmc import Metric, leapfrog


def quadratic(precision, z):
    """U = z^T P z / 2 with its gradient, as `Potential` gives them."""
    slope = z @ precision
    value = 0.5 * (z * slope).sum(1)
    return value, slope, value


@pytest.fixture
def stiff():
    """Ten numbers, two of them 50 and 20 times narrower than the others, turned at random."""
    basis, _ = torch.linalg.qr(torch.randn(10, 10).double())
    return basis @ torch.diag(torch.tensor([2500.0, 400.0, *[1.0] * 8]).double()) @ basis.T


def learnt(z, gradients):
    """The metric after these positions and the gradients there."""
    metric = Metric()
    metric.see(z, gradients)
    metric.renew()
    return metric


def learnt_of(precision):
    z = torch.randn(4000, 10, generator=torch.Generator().manual_seed(1)).double()
    z = z @ torch.linalg.cholesky(torch.linalg.inv(precision)).T
    return learnt(z, z @ precision)


def test_stiff_directions_become_as_wide_as_the_others(stiff):
    """A P A has no eigenvalue but those near 1: moments of 4,000 draws are good to a few per cent."""
    metric = learnt_of(stiff)
    A = metric.scaled(torch.eye(10).double())
    assert len(metric.rows) == 2
    torch.testing.assert_close(A, A.T)
    assert float((torch.linalg.eigvalsh(A @ stiff @ A) - 1).abs().max()) < 0.15


def test_noise_alone_teaches_nothing():
    """Gradients of N(0, I) in 400 dimensions, 200 of them: their largest eigenvalue is about 5.8, and none is kept."""
    z = torch.randn(200, 400, generator=torch.Generator().manual_seed(0))
    metric = learnt(z, z)
    assert metric.rows == [] and metric.places == []
    assert torch.equal(metric.scaled(torch.ones(2, 400)), torch.ones(2, 400))


def test_leapfrog_under_a_metric_keeps_the_energy_and_runs_backwards(stiff):
    metric, potential = learnt_of(stiff), partial(quadratic, stiff)
    (z, p), off = torch.randn(2, 3, 10).double(), []
    for size in (0.02, 0.01):
        there, speed, (value, slope, _) = leapfrog(potential, z, p, potential(z)[1], size, round(0.5 / size), metric)
        off.append(float((value + speed.square().sum(1) / 2 - potential(z)[0] - p.square().sum(1) / 2).abs().max()))
        back, _, _ = leapfrog(potential, there, -speed, slope, size, round(0.5 / size), metric)
        torch.testing.assert_close(back, z, rtol=0, atol=1e-9)
    assert off[0] / off[1] == pytest.approx(4, rel=0.2)  # second order


@pytest.fixture
def regression():
    """(net, data, prior, exact mean, exact covariance): six weights, precisions up to 5,000 times the prior's."""
    x = torch.randn(40, 6).double() * torch.tensor([12, *[1] * 5])
    y = x @ torch.ones(6, 1).double() + torch.randn(40, 1).double()
    cov = torch.linalg.inv(torch.eye(6).double() + x.T @ x)
    net = fv.Net.from_module(nn.Linear(6, 1, bias=False).double())
    return net, fv.Data(x, y), fv.Gaussian(*torch.zeros(2, 6).double()), cov @ (x.T @ y)[:, 0], cov


def test_a_run_stopped_in_burn_in_goes_on_with_what_it_learnt(regression, tmp_path):
    fit = partial(fv.fit_hmc, *regression[:3], seed=0, n_draws=32, chains=8, burn_in=40, likelihood=1.0)
    whole = fit()
    for stop in (13, 33):  # while it looks, and once it has learnt
        with pytest.raises(KeyboardInterrupt):
            fit(checkpoint=tmp_path / f"{stop}", progress=stopping_at(stop))
        assert torch.equal(fit(checkpoint=tmp_path / f"{stop}").W, whole.W)


def test_a_narrow_posterior_costs_fewer_steps_and_has_the_same_moments(regression, monkeypatch):
    """Against the closed form; and steps counted with the metric and without."""
    *given, mean, cov = regression
    counts = []
    monkeypatch.setattr(hmc, "leapfrog", lambda *args: counts.append(args[5]) or leapfrog(*args))
    fit = partial(fv.fit_hmc, *given, seed=0, chains=32, burn_in=60, likelihood=1.0, kl_weight=1.0)
    q = fit(n_draws=1600)
    z = torch.linalg.solve_triangular(torch.linalg.cholesky(cov), (q.W - mean).T, upper=False)
    assert float(z.mean(1).abs().max()) < 0.1  # of 1,600 draws, nearly independent: 0.025 each
    assert float((z @ z.T / len(q.W) - torch.eye(6).double()).abs().max()) < 0.15
    with_metric = statistics.mean(counts[60:])
    counts.clear()
    monkeypatch.setattr(hmc.Metric, "renew", lambda self: None)
    fit(n_draws=320)
    assert with_metric < 0.2 * statistics.mean(counts[60:])
