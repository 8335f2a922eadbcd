"""SWAG: its moments against float64, its samples against its formula."""

import pytest
import torch

import flatviz as fv
from flatviz.posteriors.swag import fit_swag_members, swag_gaussian
from flatviz.training.snapshots import Moments


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
