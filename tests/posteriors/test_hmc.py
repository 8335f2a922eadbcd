"""HMC: moments of posteriors that are known, by algebra and by quadrature; chains, step size,
energy, metric."""

import math

import torch
from cases import fitted_by, refused
from pytest import approx, fixture
from torch import equal, eye, float64, linalg, linspace, ones, randn, zeros
from torch.testing import assert_close

import flatviz as fv


@fixture(scope="module")
def regression(linear_regression):
    """(net, data, prior): three weights, a prior with a rank, noise 0.5."""
    net, data, _, _ = linear_regression(30, [1.0, -0.5, 2.0], 0.5, 1.0)
    factor = ones(1, 3).double()
    prior = fv.Gaussian(zeros(3).double(), zeros(3).double(), factor)
    return net, data, prior


def test_without_a_prior_weight_decay_is_one(regression):
    net, data, _ = regression
    same = fv.Gaussian(
        zeros(3).double(), torch.full((3,), -0.5 * math.log(30 * 0.2), dtype=float64)
    )
    how = dict(seed=0, likelihood=0.5)
    fields = dict(n_draws=20, burn_in=10)
    q = fv.fit(net, data, fv.HMC(weight_decay=0.2, **fields), **how)
    W = q.W
    fitted = fv.fit(net, data, fv.HMC(prior=same, **fields), **how)
    want = fitted.W
    assert_close(W, want, rtol=1e-6, atol=1e-8)


def test_one_skewed_weight_is_sampled_as_quadrature_says(of_weights):
    """Integrate exp(-sum (y - w^3 x)^2 / 2 s^2) N(w; 0, 1) up to nine points."""
    x = linspace(0.2, 1, 5).double()[:, None]
    net = of_weights(lambda w, x: w**3 * x, zeros(1))
    prior = fv.Gaussian(*zeros(2, 1).double())
    how = dict(likelihood=0.4)
    fields = dict(n_draws=6400, chains=32, burn_in=200, kl_weight=1.0)
    data = fv.Data(x, 0.6 * x)
    q = fv.fit(net, data, fv.HMC(prior=prior, **fields), seed=1, **how)
    grid = linspace(-6, 6, 20001).double()
    squares = (0.6 * x - grid**3 * x).square().sum(0)
    log_density = -squares / (2 * 0.4**2) - grid.square() / 2
    cumulative = log_density.softmax(0).cumsum(0)
    for share in linspace(0.1, 0.9, 9).tolist():
        at = grid[(cumulative - share).abs().argmin()]
        below = q.W[:, 0] < at
        # at 2000 effective draws the standard deviation of a share is at most 0.011
        assert below.double().mean() == approx(share, abs=0.035)


def test_chains_stand_one_after_the_other_and_disagree_only_by_noise(regression):
    q = fitted_by(fv.HMC)(
        *regression,
        seed=0,
        n_draws=40,
        chains=4,
        burn_in=50,
        likelihood=0.5,
    )
    assert q.by_chain.shape == (4, 10, 3)
    assert equal(q.by_chain[1, 0], q.W[10])
    assert len(q.history.loss) == 60


def test_bad_settings_are_refused(regression):
    net, data, prior = regression
    with refused("weight_decay must be > 0 without a prior, got 0"):
        fv.fit(net, data, fv.HMC(weight_decay=0.0), seed=0, likelihood=0.5)
    with refused("n_draws must be a multiple of the 4 chains, got 10"):
        fv.fit(net, data, fv.HMC(prior=prior, n_draws=10), seed=0)
    with refused("each chain must move, got one with an acceptance rate of"):
        cold = dict(seed=0)
        fields = dict(n_draws=80, burn_in=1, kl_weight=1e-9, most_steps=20)
        fv.fit(net, data, fv.HMC(prior=prior, **fields), likelihood=0.5, **cold)


def test_a_narrow_posterior_costs_few_gradients_and_has_its_moments(of_weights):
    """Six weights, precisions up to 5,000 times the prior's, against the closed form; each gradient
    of the chains is one pass of the network."""
    x = randn(40, 6).double()
    x[:, 0] *= 12
    y = x.sum(1, keepdim=True) + randn(40, 1).double()
    precision = eye(6).double() + x.T @ x
    mean = linalg.solve(precision, x.T @ y)[:, 0]
    prior = fv.Gaussian(*zeros(2, 6).double())
    passes = []
    net = of_weights(lambda w, x: passes.append(1) or x @ w[:, None], zeros(6))
    how = dict(seed=0, likelihood=1.0)
    fields = dict(n_draws=1600, chains=32, burn_in=60, kl_weight=1.0)
    q = fv.fit(net, fv.Data(x, y), fv.HMC(prior=prior, **fields), **how)
    root = linalg.cholesky(precision)
    z = (q.W - mean) @ root
    assert z.mean(0).abs().max() < 0.1  # of 1,600 draws, nearly independent: 0.025 each
    off = z.T @ z / len(z) - eye(6).double()
    assert off.abs().max() < 0.15
    assert len(passes) < 4000  # 2,000; 13,000 where the metric learns nothing
