"""The ascent step: its seven modes, in units of the Fisher matrix, against dense matrices."""

import math

import pytest
import torch
from oracles import as_torch, dense_covariance, random_gaussian

import flatviz as fv
from flatviz.training.perturb import LEVERAGE_FLOOR, MODES, UNITS


def gradient(q, seed=5):
    g = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(t.shape, generator=g, dtype=t.dtype) for t in (q.mean, q.log_std, q.factor))


def fisher_quadratic(q, delta, damping):
    """Delta^T F Delta of each block, F block by block as its docstring states it, dense."""
    A = dense_covariance(q).inverse()
    leverage = ((2 * q.log_std).exp() * A.diagonal()).clamp_min(LEVERAGE_FLOOR)
    gram = q.factor @ A @ q.factor.T + damping * torch.eye(q.rank, dtype=A.dtype)
    return delta[0] @ A @ delta[0], (2 * (leverage * delta[1]).square()).sum(), ((gram @ delta[2]) * (delta[2] @ A)).sum()


@pytest.mark.parametrize("blocks", ["mean", "mean+std", "mean+std+factor"])
@pytest.mark.parametrize("joint", [True, False])
def test_the_step_has_the_asked_length_in_its_own_quadratic_form(blocks, joint):
    q, damping = random_gaussian(1), 1e-3
    delta = fv.perturb(q, gradient(q), radius=0.5, blocks=blocks, joint=joint, damping=damping)
    lengths = [float(v) for v in fisher_quadratic(q, delta, damping)]
    n = blocks.count("+") + 1
    if joint and n == 3:  # the exact KL is asked for, of this direction
        separate = [float(v) for v in fisher_quadratic(q, gradient_solved(q, damping), damping)]
        assert [v / sum(lengths) for v in lengths] == pytest.approx([v / sum(separate) for v in separate], rel=1e-9)
    elif joint:
        assert sum(lengths) == pytest.approx(0.25, rel=1e-6)
    else:
        assert lengths[:n] == pytest.approx([0.25] * n, rel=1e-6)
    assert lengths[n:] == pytest.approx([0.0] * (3 - n))


def gradient_solved(q, damping):
    """F^-1 g, dense, block by block."""
    S, g = dense_covariance(q), gradient(q)
    A = S.inverse()
    leverage = ((2 * q.log_std).exp() * A.diagonal()).clamp_min(LEVERAGE_FLOOR)
    gram = q.factor @ A @ q.factor.T + damping * torch.eye(q.rank, dtype=A.dtype)
    return S @ g[0], g[1] / (2 * leverage.square()), torch.linalg.solve(gram, g[2] @ S)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0])  # of the factor: far below std, the Fisher blocks say little of the KL
@pytest.mark.parametrize(("blocks", "rel"), [("mean", 1e-9), ("mean+std+factor", 0.01)])
def test_the_exact_kl_of_a_step_is_that_of_its_radius(share, blocks, rel):
    whole = random_gaussian(1)
    q = fv.Gaussian(whole.mean, whole.log_std, share * whole.factor)
    for radius in (0.05, 0.5, 1.0, 4.0):
        delta = fv.perturb(q, gradient(q), radius=radius, blocks=blocks)
        kl = torch.distributions.kl_divergence(as_torch(q.moved(delta)), as_torch(q))
        assert math.sqrt(2 * float(kl)) == pytest.approx(radius, rel=rel)
    nothing = tuple(torch.zeros_like(t) for t in gradient(q))
    assert all(float(d.abs().max()) == 0 for d in fv.perturb(q, nothing, radius=1.0, blocks=blocks))


def test_the_step_climbs_as_far_as_any_other_of_its_length():
    q = random_gaussian(0)
    g = gradient(q)
    best = fv.perturb(q, g, radius=1.0, blocks="mean")[0]
    A = dense_covariance(q).inverse()
    generator = torch.Generator().manual_seed(9)
    for _ in range(50):
        other = torch.randn(q.dim, generator=generator, dtype=torch.float64)
        other = other / (other @ A @ other).sqrt()
        assert float(g[0] @ other) <= float(g[0] @ best) + 1e-12


def test_in_the_isotropic_limit_the_mean_step_is_sam():
    sigma, g = 0.01, torch.tensor([3.0, -4.0, 0.0], dtype=torch.float64)
    q = fv.Gaussian(torch.zeros(3, dtype=torch.float64), torch.full((3,), math.log(sigma), dtype=torch.float64))
    grad = (g, torch.zeros(3, dtype=torch.float64), q.factor)
    natural = fv.perturb(q, grad, radius=5.0, blocks="mean")[0]
    sam = fv.perturb(q, grad, radius=5.0 * sigma, mode="sam_mu")[0]
    torch.testing.assert_close(natural, sam, rtol=1e-6, atol=0)
    torch.testing.assert_close(sam, 0.05 * g / 5, rtol=1e-6, atol=1e-12)


def test_rank_one_steps_follow_the_signed_score_or_shun_it():
    q, g = random_gaussian(0), gradient(random_gaussian(0))
    z1, z2 = (z[0] for z in q.noise(1, seed=0))
    s = torch.cat(q.score(q.at(z1[None], z2[None])[0])[:2])
    both = torch.cat(g[:2])
    step = torch.cat(fv.perturb(q, g, radius=0.5, mode="rank1_pinv", noise=(z1, z2))[:2])
    torch.testing.assert_close(step, 0.5 * torch.sign(s @ both) * s / (s @ s))
    assert float((s @ step) ** 2) == pytest.approx(0.25)  # its length under s s^T
    F = torch.outer(s, s) + 1e-6 * torch.eye(len(s), dtype=s.dtype)
    natural = torch.linalg.solve(F, both)
    step = torch.cat(fv.perturb(q, g, radius=0.5, mode="rank1_damped", damping=1e-6, noise=(z1, z2))[:2])
    torch.testing.assert_close(step, 0.5 * natural / (both @ natural).sqrt(), rtol=1e-5, atol=1e-8)
    assert abs(float(torch.nn.functional.cosine_similarity(step, s, dim=0))) < 1e-3  # little damping: along g without s
    one = torch.cat(fv.perturb(q, g, radius=0.5, mode="rank1_pinv", joint=False, noise=(z1, z2))[:2])
    mean_score = q.score(q.at(z1[None], z2[None])[0])[0]
    torch.testing.assert_close(one[:7], 0.5 * torch.sign(mean_score @ g[0]) * mean_score / (mean_score @ mean_score))


def test_sam_on_theta_is_euclidean_a_block_before_folding():
    q, g = random_gaussian(0), gradient(random_gaussian(0))
    delta = fv.perturb(q, g, radius=0.3, mode="sam_theta", blocks="mean+std+factor")
    unfold = math.sqrt(2 * (q.rank - 1))
    assert [float(delta[0].norm()), float(delta[1].norm()), float(unfold * delta[2].norm())] == pytest.approx([0.3] * 3)


def test_the_released_code_does_not_look_at_the_loss():
    q = random_gaussian(0)
    noise = tuple(z[0] for z in q.noise(1, seed=0))
    first = fv.perturb(q, gradient(q, 1), radius=0.5, mode="authors_code", noise=noise)
    second = fv.perturb(q, gradient(q, 2), radius=0.5, mode="authors_code", noise=noise)
    assert all(torch.equal(a, b) for a, b in zip(first, second))
    unfold = math.sqrt(2 * (q.rank - 1))
    assert [float(first[0].norm()), float(first[1].norm()), float(unfold * first[2].norm())] == pytest.approx([0.5] * 3)


def test_the_released_code_without_its_quirks_follows_the_score():
    q = random_gaussian(0)
    noise = tuple(z[0] for z in q.noise(1, seed=0))
    delta = fv.perturb(q, gradient(q), radius=0.5, mode="authors_code", noise=noise, switches=())
    score = q.score(q.at(*(z[None] for z in noise))[0])
    for got, s in zip(delta, score):
        assert float(torch.nn.functional.cosine_similarity(got.reshape(-1), s.reshape(-1), dim=0)) == pytest.approx(1, abs=1e-6)


def test_total_derivatives_shrink_every_width_alike():
    """The released score in log sigma is a total derivative through the draw, about -1/2 for every weight."""
    D = 400
    g = torch.Generator().manual_seed(0)
    q = fv.Gaussian(*(torch.randn(D, generator=g, dtype=torch.float64) for _ in range(1)),
                    torch.full((D,), math.log(0.01), dtype=torch.float64))  # fmt: skip
    noise = tuple(z[0] for z in q.noise(1, seed=0))
    step = fv.perturb(q, gradient(q), radius=0.5, mode="authors_code", noise=noise)[1]
    assert bool((step < 0).all())
    assert float(step.std() / step.mean().abs()) < 0.2


def test_every_mode_states_its_unit_and_radius_zero_moves_nothing():
    q = random_gaussian(0)
    noise = tuple(z[0] for z in q.noise(1, seed=0))
    for mode in MODES:
        assert UNITS[mode]
        delta = fv.perturb(q, gradient(q), radius=0.0, mode=mode, noise=noise)
        assert all(float(d.abs().max()) == 0 for d in delta)
    assert all(float(d.abs().max()) == 0 for d in fv.perturb(q, gradient(q), radius=1.0, mode="none"))


def test_nothing_of_size_d_squared_is_built():
    D = 200_000  # D^2 floats would be 160 GB
    q = fv.Gaussian(torch.zeros(D), torch.zeros(D), torch.randn(3, D) / 100)
    delta = fv.perturb(q, gradient(q), radius=1.0, blocks="mean+std+factor")
    assert all(bool(torch.isfinite(d).all()) for d in delta)
