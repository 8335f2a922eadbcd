"""SWAG: its moments against float64, its samples against its formula."""

import pytest
import torch

import flatviz as fv
from flatviz.posteriors.swag import fit_swag_members, swag_gaussian
from flatviz.training.snapshots import VARIANCE_FLOOR, Moments


def walk(n=12, dim=6, seed=0, scale=0.1):
    g = torch.Generator().manual_seed(seed)
    return 1 + scale * torch.randn(n, dim, generator=g, dtype=torch.float64)


def test_the_gaussian_is_half_the_variance_plus_half_the_deviations():
    W, K = walk(), 4
    moments = Moments(K, W[0])
    for w in W:
        moments.add(w)
    q = swag_gaussian(moments, torch.float64)
    torch.testing.assert_close(q.mean, W.mean(0))
    torch.testing.assert_close((2 * q.log_std).exp(), 0.5 * W.var(0, unbiased=False))
    means = W.cumsum(0) / torch.arange(1, 13)[:, None]
    D = (W - means)[-K:]  # from the running mean that includes the new iterate
    torch.testing.assert_close(q.factor.T @ q.factor, D.T @ D / (2 * (K - 1)))


def test_variances_survive_float32_where_the_naive_formula_does_not():
    W = walk(n=20, scale=1e-4).float()
    moments = Moments(5, W[0])
    for w in W:
        moments.add(w)
    want = W.double().var(0, unbiased=False)
    torch.testing.assert_close(moments.squares / moments.n, want, rtol=0.01, atol=0)
    naive = (W.square().mean(0) - W.mean(0).square()).double()
    assert float(((naive - want) / want).abs().max()) > 0.5


def test_rank_one_divides_by_nothing():
    moments = Moments(1, torch.zeros(6))
    for w in walk(n=3):
        moments.add(w)
    assert swag_gaussian(moments, torch.float64).factor.shape == (1, 6)
    assert bool(torch.isfinite(swag_gaussian(moments, torch.float64).factor).all())


def test_samples_of_a_fit_have_its_covariance(transferred, task):
    net, _ = transferred
    q = fv.fit_swag(net, task.train, rank=3, snapshots=6, seed=0)
    assert q.factor.shape == (3, net.dim) and float((2 * q.log_std).exp().min()) >= VARIANCE_FLOOR / 2 * 0.99
    few = q.sample(4000, seed=0)[:, :4]
    wanted = torch.diag((2 * q.log_std[:4]).exp()) + q.factor[:, :4].T @ q.factor[:, :4]
    assert float((torch.cov(few.T) - wanted).abs().max() / wanted.abs().max()) < 0.15


def test_scale_multiplies_the_covariance_alone_of_one_fit_and_of_members(tiny):
    net, data = tiny
    settings = dict(rank=3, snapshots=5, batch_size=6)
    one, wide = (fv.fit_swag(net, data, seed=0, scale=scale, **settings) for scale in (1.0, 4.0))
    eye = torch.eye(net.dim, dtype=torch.float64)
    torch.testing.assert_close(wide.cov_mul(eye), 4 * one.cov_mul(eye))
    assert torch.equal(wide.mean, one.mean)
    torch.testing.assert_close(wide.sample(2, seed=1) - wide.mean, 2 * (one.sample(2, seed=1) - one.mean))
    (member,) = fit_swag_members(net, data, net.w[None], seeds=[0], scale=4.0, **settings)
    torch.testing.assert_close(member.cov_mul(eye), wide.cov_mul(eye), rtol=1e-5, atol=1e-12)
    with pytest.raises(ValueError, match="scale must be .* 0"):
        fv.fit_swag(net, data, seed=0, scale=0.0)


def test_two_tied_layers_stay_correlated_across_layers():
    """Both layers make the same moves; SWAG's covariance must know, with half of it on the diagonal."""
    g = torch.Generator().manual_seed(0)
    moments = Moments(5, torch.zeros(6))
    for _ in range(30):
        step = 0.1 * torch.randn(3, generator=g, dtype=torch.float64)
        moments.add(torch.cat([step, step]))
    q = swag_gaussian(moments, torch.float64)
    W = q.sample(20_000, seed=1)
    correlation = torch.corrcoef(W.T)[0, 3]
    S = torch.diag((2 * q.log_std).exp()) + q.factor.T @ q.factor
    assert float(correlation) == pytest.approx(float(S[0, 3] / S[0, 0]), abs=0.03)
    assert float(correlation) > 0.2


def test_snapshots_must_cover_the_rank(transferred, task):
    net, _ = transferred
    with pytest.raises(ValueError, match="snapshots must be a whole number >= 5, got 3"):
        fv.fit_swag(net, task.train, rank=5, snapshots=3, seed=0)
