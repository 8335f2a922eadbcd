"""The low-rank Gaussian's algebra against torch's, against dense matrices, and of several members at once."""

import pytest
import torch
from oracles import as_torch, dense_covariance, random_gaussian

import flatviz as fv


def test_kl_and_log_prob_equal_torchs_low_rank_normal(gaussians):
    q, prior = gaussians
    w = q.sample(4, seed=0)
    torch.testing.assert_close(q.log_prob(w), as_torch(q).log_prob(w), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(q.kl(prior), torch.distributions.kl_divergence(as_torch(q), as_torch(prior)), rtol=1e-10, atol=0)
    assert float(q.kl(q)) == pytest.approx(0, abs=1e-10)


def test_the_path_gradient_of_the_kl_is_its_gradient_on_average_and_zero_at_every_draw_of_the_prior(gaussians):
    q, prior = gaussians
    theta = [t.clone().requires_grad_() for t in (q.mean, q.log_std, q.factor)]
    wanted = torch.autograd.grad(fv.Gaussian(*theta).kl(prior), theta)
    z1, z2 = q.noise(40_000, seed=0)
    noise = torch.cat((z1, -z1)), torch.cat((z2, -z2))
    for found, want in zip(q.kl_and_path_grad(prior, *noise)[1], wanted):
        assert float((found - want).norm() / want.norm()) < 0.05  # draws leave 1 to 2 %
    for zero in prior.kl_and_path_grad(prior, z1[:1], z2[:1])[1]:
        torch.testing.assert_close(zero, torch.zeros_like(zero), rtol=0, atol=1e-12)


def test_score_equals_autograd_with_the_draw_held_fixed(gaussians):
    q, _ = gaussians
    w = q.sample(1, seed=0)[0]
    theta = [t.clone().requires_grad_() for t in (q.mean, q.log_std, q.factor)]
    wanted = torch.autograd.grad(fv.Gaussian(*theta).log_prob(w), theta)
    for found, want in zip(q.score(w), wanted):
        torch.testing.assert_close(found, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rank", [0, 3])
def test_products_with_covariance_and_precision_equal_dense_ones(rank):
    q = random_gaussian(0, rank=rank)
    S, v = dense_covariance(q), torch.randn(3, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(q.cov_mul(v), v @ S)
    torch.testing.assert_close(q.precision_mul(v), v @ S.inverse())
    torch.testing.assert_close(q.precision_diag, S.inverse().diagonal())
    torch.testing.assert_close(q.factor_precision, q.factor @ S.inverse())
    torch.testing.assert_close(q.variance, S.diagonal())
    torch.testing.assert_close(q.logdet, S.logdet())
    torch.testing.assert_close(q.log_prob(v), torch.distributions.MultivariateNormal(q.mean, S).log_prob(v))


def test_sample_covariance_is_sigma_and_the_low_rank_noise_has_mean_zero():
    q = random_gaussian(2, dim=6, rank=5)
    z1, z2 = q.noise(60_000, seed=0)
    W, S = q.at(z1, z2), dense_covariance(q)
    assert float(z2.mean(0).abs().max()) < 0.02  # 5 standard errors of a mean of 60,000
    assert float((torch.cov(W.T) - S).abs().max() / S.abs().max()) < 0.03
    blocks = S[:3, 3:].abs().max()  # one z2 for all weights: drawn a layer at a time it would be zero across layers
    assert blocks > 0.05 and float((torch.cov(W.T) - S)[:3, 3:].abs().max()) < 0.5 * blocks


@pytest.mark.parametrize("rank", [0, 3])
def test_the_algebra_of_members_at_once_is_that_of_each_alone(rank):
    alone, prior = [random_gaussian(seed, rank=rank) for seed in (0, 1, 2)], random_gaussian(9)
    together = fv.Gaussian.unchecked(*(torch.stack([getattr(q, n) for q in alone]) for n in ("mean", "log_std", "factor")))
    g = torch.Generator().manual_seed(0)
    v, many = (torch.randn(*shape, 7, generator=g, dtype=torch.float64) for shape in ((3,), (3, 4)))
    z2 = torch.randn(3, 4, rank, generator=g, dtype=torch.float64)

    def check(of):
        """`of(q, i)`: a tensor or tuple of them, of member i, or of all where i selects everything."""
        values = of(together, slice(None)), *(of(q, i) for i, q in enumerate(alone))
        for all_rows, *each in zip(*(t if isinstance(t, tuple) else (t,) for t in values)):
            torch.testing.assert_close(all_rows, torch.stack(each), rtol=1e-12, atol=1e-12)

    assert together.dim == 7 and together.rank == rank
    for name in ("variance", "leverage", "logdet", "precision_diag", "factor_precision"):
        check(lambda q, i, name=name: getattr(q, name))
    for x in (v, many):
        check(lambda q, i, x=x: (q.cov_mul(x[i]), q.precision_mul(x[i])))
    check(lambda q, i: q.at(many[i], z2[i]))
    check(lambda q, i: (q.log_prob(v[i]), *q.score(v[i])))
    check(lambda q, i: (q.kl(prior), *q.kl_and_path_grad(prior, many[i], z2[i])[1]))
    check(lambda q, i: q.moved((0.1 * v[i],)).kl(q))
