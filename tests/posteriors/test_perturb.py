"""The ascent step: its seven modes, in units of the Fisher matrix, against dense matrices."""

import math
from functools import partial

import torch
from cases import assert_exact, blobs, rng
from every_method import MODES
from oracles import as_torch, dense_covariance, random_gaussian
from pytest import approx, mark
from torch import cat, distributions, eye, float64, full, linalg, nn, randn, zeros
from torch.testing import assert_close

import flatviz as fv


def gradient(q, seed=5):
    g = rng(seed)
    return tuple(randn(t.shape, generator=g, dtype=t.dtype) for t in (q.mean, q.log_std, q.factor))


def noise_of(q):
    """(z1, z2) of one draw."""
    return tuple(z[0] for z in q.noise(1, seed=0))


def lengths(q, delta):
    """Of each block; of theta's factor before it is folded."""
    return [
        float(delta[0].norm()),
        float(delta[1].norm()),
        math.sqrt(2 * (q.rank - 1)) * float(delta[2].norm()),
    ]


def cosine(a, b):
    return float(nn.functional.cosine_similarity(a.flatten(), b.flatten(), dim=0))


def fisher(q, damping):
    """Sigma, the diagonal of F for log_std and the factor's gram matrix, dense, as the docstring of
    F states them."""
    S = dense_covariance(q)
    leverage = (2 * q.log_std).exp() * S.inverse().diagonal()
    return (
        S,
        2 * leverage.square(),
        q.factor @ S.inverse() @ q.factor.T + damping * eye(q.rank, dtype=S.dtype),
    )


@mark.parametrize("blocks", ["mean", "mean+std", "mean+std+factor"])
@mark.parametrize("joint", [True, False])
def test_the_step_follows_the_natural_gradient_and_has_the_asked_length_in_its_metric(
    blocks, joint
):
    """Of all steps of a length in that form, it climbs furthest."""
    q = random_gaussian(1)
    n = blocks.count("+") + 1
    g = gradient(q)
    S, scale, gram = fisher(q, 1e-3)
    natural = [S @ g[0], g[1] / scale, linalg.solve(gram, g[2] @ S)][:n]
    delta = fv.perturb(
        q,
        g,
        radius=0.5,
        blocks=blocks,
        joint=joint,
        damping=1e-3,
    )
    assert not any(d.any() for d in delta[n:])
    ratios = [float((d / v).mean()) for d, v in zip(delta, natural)]
    assert min(ratios) > 0
    for d, v, ratio in zip(delta, natural, ratios):
        assert_exact(d, ratio * v)
    mean, std, factor = delta
    P = S.inverse()
    squares = [mean @ P @ mean, scale @ std.square(), (gram @ factor * (factor @ P)).sum()]
    if not joint:
        found = [float(v) for v in squares[:n]]
        assert found == approx([0.25] * n, rel=1e-6)
    elif n < 3:  # of all three the exact KL is asked for
        assert ratios == approx([ratios[0]] * n, rel=1e-9)
        assert float(sum(squares)) == approx(0.25, rel=1e-6)


@mark.parametrize(
    "share", [1.0, 0.1, 0.0]
)  # of the factor: far below std, the Fisher blocks say little of the KL
@mark.parametrize("blocks, rel", [("mean", 1e-9), ("mean+std+factor", 0.01)])
def test_the_exact_kl_of_a_step_is_that_of_its_radius(share, blocks, rel):
    whole = random_gaussian(1)
    q = fv.Gaussian(whole.mean, whole.log_std, share * whole.factor)
    for radius in (0.05, 0.5, 1.0, 4.0):
        delta = fv.perturb(q, gradient(q), radius=radius, blocks=blocks)
        kl = distributions.kl_divergence(as_torch(q.moved(delta)), as_torch(q))
        found = math.sqrt(2 * float(kl))
        assert found == approx(radius, rel=rel)
    nothing = tuple(torch.zeros_like(t) for t in gradient(q))
    assert not any(d.any() for d in fv.perturb(q, nothing, radius=1.0, blocks=blocks))


def test_rank_one_steps_follow_the_signed_score_or_shun_it():
    q = random_gaussian(0)
    g = gradient(q)
    noise = noise_of(q)
    s = cat(q.score(q.at(*q.noise(1, seed=0))[0])[:2])
    both = cat(g[:2])
    perturb = partial(fv.perturb, q, g, radius=0.5, noise=noise)
    along = lambda s, g: 0.5 * torch.sign(s @ g) * s / (s @ s)
    step = cat(perturb(mode="rank1_pinv")[:2])
    assert_close(step, along(s, both))
    assert float(s @ step) ** 2 == approx(0.25)  # its length under s s^T
    one = perturb(mode="rank1_pinv", joint=False)[0]
    assert_close(one, along(s[:7], g[0]))
    damped = torch.outer(s, s) + 1e-6 * torch.eye(len(s), dtype=s.dtype)
    natural = linalg.solve(damped, both)
    step = cat(perturb(mode="rank1_damped", damping=1e-6)[:2])
    want = 0.5 * natural / (both @ natural).sqrt()
    assert_close(step, want, rtol=1e-5, atol=1e-8)
    assert abs(cosine(step, s)) < 1e-3  # little damping: along g without s


def test_sam_is_euclidean_on_the_mean_and_on_theta_a_block_before_folding():
    q = random_gaussian(0)
    g = gradient(random_gaussian(0))
    mean, *others = fv.perturb(q, g, radius=0.3, mode="sam_mu")
    want = 0.3 * g[0] / g[0].norm()
    assert_close(mean, want)
    assert not any(d.any() for d in others)
    delta = fv.perturb(
        q,
        g,
        radius=0.3,
        mode="sam_theta",
        blocks="mean+std+factor",
    )
    assert lengths(q, delta) == approx([0.3] * 3)


def test_the_released_code_does_not_look_at_the_loss_and_without_its_quirks_follows_the_score():
    q = random_gaussian(0)
    perturb = partial(
        fv.perturb,
        q,
        radius=0.5,
        mode="authors_code",
        noise=noise_of(q),
    )
    first = perturb(gradient(q, 1))
    second = perturb(gradient(q, 2))
    assert all(map(torch.equal, first, second))
    assert lengths(q, first) == approx([0.5] * 3)
    for got, s in zip(perturb(gradient(q), switches=()), q.score(q.at(*q.noise(1, seed=0))[0])):
        assert cosine(got, s) == approx(1, abs=1e-6)


def test_total_derivatives_shrink_every_width_alike():
    """The released score in log sigma is a total derivative through the draw, about -1/2 for every
    weight."""
    q = fv.Gaussian(
        randn(400, dtype=float64),
        full((400,), math.log(0.01), dtype=float64),
    )
    delta = fv.perturb(
        q,
        gradient(q),
        radius=0.5,
        mode="authors_code",
        noise=noise_of(q),
    )
    step = delta[1]
    assert step.max() < 0
    found = float(step.std() / step.mean().abs())
    assert found < 0.2


def test_the_mode_none_moves_nothing_and_the_gradient_of_a_factor_of_rank_0_is_empty():
    q = random_gaussian(0, rank=0)
    assert not any(d.any() for d in fv.perturb(q, gradient(q), radius=1.0, mode="none"))
    delta = fv.perturb(q, gradient(q), radius=0.1, blocks="mean+std+factor")
    found = delta[2].shape
    assert found == (0, 7)


def test_nothing_of_size_d_squared_is_built():
    D = 200_000  # D^2 floats would be 160 GB
    q = fv.Gaussian(zeros(D), zeros(D), randn(3, D) / 100)
    delta = fv.perturb(q, gradient(q), radius=1.0, blocks="mean+std+factor")
    assert all(torch.isfinite(d).all() for d in delta)


def reached(q, worst):
    """sqrt(2 KL), by torch's dense Gaussians."""
    return math.sqrt(2 * float(distributions.kl_divergence(as_torch(worst), as_torch(q))))


def flat(step):
    return cat([block.flatten() for block in step])


@mark.parametrize("mode", [m for m in MODES if m != "none"])
def test_a_radius_in_kl_is_the_exact_kl_in_every_mode(mode):
    q = random_gaussian(1)
    step = partial(fv.perturb, q, gradient(q), mode=mode, noise=noise_of(q))
    assert not any(d.any() for d in step(radius=0.0))
    for radius in (0.2, 1.5):
        delta = step(radius=radius, radius_unit="kl")
        got = reached(q, q.moved(delta))
        assert got == approx(radius, rel=0.01)
        found = cosine(flat(delta), flat(step(radius=radius)))
        assert found == approx(1, abs=1e-5)


def test_a_fit_says_the_radius_that_it_reached():
    net = fv.Net.from_module(torch.nn.Linear(2, 3))
    factor = torch.full((1, net.dim), 0.1)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0), factor)
    given = net, blobs(12, 2, 3), prior
    fit = fv.fit_sabma(*given, radius=0.5, radius_unit="kl", steps=4, seed=0)
    assert fit.history.reach.tolist() == approx([0.5] * 4, rel=0.01)
    q = fv.fit_vi(*given, steps=2, seed=0)
    found = q.history.reach
    assert found is None
