"""The ascent step: its seven modes, in units of the Fisher matrix, against dense matrices."""

import math
from functools import partial

import torch
from cases import assert_exact, blobs, numbers_of, rng
from every_method import MODES
from oracles import as_torch, dense_covariance, random_gaussian
from pytest import approx, mark
from torch import cat, distributions, eye, float64, full, linalg, nn, randn, zeros
from torch.testing import assert_close

import flatviz as fv


def gradient(q, seed=5):
    g = rng(seed)
    return tuple(randn(t.shape, generator=g, dtype=t.dtype) for t in numbers_of(q))


def noise_of(q):
    """(z1, z2) of one draw."""
    return tuple(z[0] for z in q.noise(1, seed=0))


def lengths(q, delta):
    """Of each block; of theta's factor before it is folded."""
    mean, std, factor = (float(block.norm()) for block in delta)
    return [mean, std, math.sqrt(2 * (q.rank - 1)) * factor]


def moves(delta):
    """Whether any block is not 0."""
    return any(block.any() for block in delta)


def score_of_draw(q):
    """The score of one draw in each block."""
    (w,) = q.at(*q.noise(1, seed=0))
    return q.score(w)


def kl_radius(q, other):
    """sqrt(2 KL(other | q)), by torch's dense Gaussians."""
    kl = distributions.kl_divergence(as_torch(other), as_torch(q))
    return math.sqrt(2 * float(kl))


def cosine(a, b):
    similarity = nn.functional.cosine_similarity(a.flatten(), b.flatten(), dim=0)
    return float(similarity)


def fisher(q, damping):
    """Sigma, the diagonal of F for log_std and the factor's gram matrix, dense, as the docstring of
    F states them."""
    S = dense_covariance(q)
    P = S.inverse()
    leverage = (2 * q.log_std).exp() * P.diagonal()
    gram = q.factor @ P @ q.factor.T + damping * eye(q.rank)
    return S, 2 * leverage.square(), gram


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
    natural = [
        S @ g[0],
        g[1] / scale,
        linalg.solve(gram, g[2] @ S),
    ]
    delta = fv.perturb(
        q,
        g,
        radius=0.5,
        blocks=blocks,
        joint=joint,
        damping=1e-3,
    )
    assert not moves(delta[n:])
    ratios = []
    for d, v in zip(delta[:n], natural):
        ratio = float((d / v).mean())
        assert ratio > 0
        assert_exact(d, ratio * v)
        ratios.append(ratio)
    mean, std, factor = delta
    P = S.inverse()
    squares = [
        mean @ P @ mean,
        scale @ std.square(),
        (gram @ factor * (factor @ P)).sum(),
    ]
    if not joint:
        found = [float(v) for v in squares[:n]]
        assert found == approx([0.25] * n, rel=1e-6)
    elif n < 3:  # of all three the exact KL is asked for
        assert ratios == approx([ratios[0]] * n, rel=1e-9)
        assert float(sum(squares)) == approx(0.25, rel=1e-6)


@mark.parametrize("share", [1.0, 0.1, 0.0])
@mark.parametrize("blocks, rel", [("mean", 1e-9), ("mean+std+factor", 0.01)])
def test_the_exact_kl_of_a_step_is_that_of_its_radius(share, blocks, rel):
    """With a share of the factor: far below std, the Fisher blocks say little of the KL."""
    whole = random_gaussian(1)
    q = fv.Gaussian(whole.mean, whole.log_std, share * whole.factor)
    g = gradient(q)
    step = partial(fv.perturb, q, blocks=blocks)
    for radius in (0.05, 0.5, 1.0, 4.0):
        worst = q.moved(step(g, radius=radius))
        assert kl_radius(q, worst) == approx(radius, rel=rel)
    nothing = tuple(map(torch.zeros_like, g))
    assert not moves(step(nothing, radius=1.0))


def test_rank_one_steps_follow_the_signed_score_or_shun_it():
    q = random_gaussian(0)
    g = gradient(q)
    noise = noise_of(q)
    s = cat(score_of_draw(q)[:2])
    both = cat(g[:2])
    perturb = partial(fv.perturb, q, g, radius=0.5, noise=noise)

    def along(s, g):
        sign = torch.sign(s @ g)
        return 0.5 * sign * s / (s @ s)

    step = cat(perturb(mode="rank1_pinv")[:2])
    assert_close(step, along(s, both))
    assert float(s @ step) ** 2 == approx(0.25)  # its length under s s^T
    one = perturb(mode="rank1_pinv", joint=False)[0]
    assert_close(one, along(s[:7], g[0]))
    damped = torch.outer(s, s) + 1e-6 * eye(len(s))
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
    assert not moves(others)
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
    without = perturb(gradient(q), switches=())
    for got, s in zip(without, score_of_draw(q)):
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
    assert step.std() < 0.2 * step.mean().abs()


def test_the_mode_none_moves_nothing_and_the_gradient_of_a_factor_of_rank_0_is_empty():
    q = random_gaussian(0, rank=0)
    step = partial(fv.perturb, q, gradient(q))
    assert not moves(step(radius=1.0, mode="none"))
    _, _, factor = step(radius=0.1, blocks="mean+std+factor")
    assert factor.shape == (0, 7)


def test_nothing_of_size_d_squared_is_built():
    D = 200_000  # D^2 floats would be 160 GB
    q = fv.Gaussian(zeros(D), zeros(D), randn(3, D) / 100)
    delta = fv.perturb(q, gradient(q), radius=1.0, blocks="mean+std+factor")
    assert all(torch.isfinite(d).all() for d in delta)


def flat(step):
    return cat([block.flatten() for block in step])


@mark.parametrize("mode", [m for m in MODES if m != "none"])
def test_a_radius_in_kl_is_the_exact_kl_in_every_mode(mode):
    q = random_gaussian(1)
    step = partial(fv.perturb, q, gradient(q), mode=mode, noise=noise_of(q))
    assert not moves(step(radius=0.0))
    for radius in (0.2, 1.5):
        delta = step(radius=radius, radius_unit="kl")
        assert kl_radius(q, q.moved(delta)) == approx(radius, rel=0.01)
        found = cosine(flat(delta), flat(step(radius=radius)))
        assert found == approx(1, abs=1e-5)


def test_a_fit_says_the_radius_that_it_reached():
    net = fv.Net.from_module(torch.nn.Linear(2, 3))
    factor = torch.full((1, net.dim), 0.1)
    prior = fv.Gaussian(net.w, full((net.dim,), -1.0), factor)
    given = net, blobs(12, 2, 3), prior
    flat = fv.fit(
        *given[:2],
        fv.SABMA(given[2], radius=0.5, perturbation=fv.Perturbation(radius_unit="kl")),
        steps=4,
        seed=0,
    )
    reach = flat.history.reach.tolist()
    assert reach == approx([0.5] * 4, rel=0.01)
    vi = fv.fit(*given[:2], fv.VI(given[2]), steps=2, seed=0)
    assert vi.history.reach is None
