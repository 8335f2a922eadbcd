"""The nouns: draws, mixtures, planes, saving; the low-rank Gaussian's algebra against torch's,
dense matrices, and of several members."""

import math

import numpy as np
import torch
from cases import assert_exact, refused, rng
from oracles import as_torch, dense_covariance, equal, random_gaussian
from pytest import approx, mark
from torch import autograd, cov, distributions, eye, float64, ones, randn, tensor, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz import results


def test_an_ensemble_gives_no_more_draws_than_members_and_its_center_is_a_member():
    draws = fv.Draws(tensor([[0.0, 0.0], [1.0, 1.0], [1.2, 0.9], [9.0, 9.0]]))
    assert any(torch.equal(draws.center, w) for w in draws.W)
    with refused(
        "asked for 5 draws, but this ensemble has 4 members: lower n_draws, or train more",
    ):
        draws.sample(5, seed=0)
    found = fv.Draws(ones(1, 3)).sample(4, seed=0).shape
    assert found == (4, 3)


def test_a_mixture_gives_every_part_its_share():
    draws = fv.Draws(zeros(1, 2))
    parts = (draws, fv.Draws(ones(1, 2)))
    W = fv.Mixture(parts).sample(41, seed=0)
    assert W[:, 0].tolist() == [i % 2 for i in range(41)]
    found = fv.Mixture(parts).sample(1, seed=0)
    want = fv.Mixture(parts).center[None]
    assert torch.equal(found, want)


def test_an_oblique_plane_knows_its_lengths_and_angle():
    plane = fv.Plane(zeros(2), tensor([[2.0, 0.0], [1.0, 1.0]]), "step")
    assert plane.lengths == approx((2.0, math.sqrt(2)))
    assert plane.angle == approx(45.0)
    assert not plane.orthonormal
    assert fv.Plane(zeros(2), eye(2), "step").orthonormal
    found = plane.points(tensor([[1.0, 2.0]]))
    want = tensor([[4.0, 2.0]])
    assert_close(found, want)


def one_of_each(q):
    """Every noun with every field filled, with long texts and many members."""
    W = zeros(30, 7)
    sides = (0.5, 0.2), ((-1.0, 1.0),) * 2
    plane = fv.Plane(
        W[0], eye(7)[:2], "distance in weight space", "plane through three solutions", *sides
    )
    surface = fv.Surface(
        plane,
        W[:, 0],
        W[:, 1],
        zeros(30, 30),
        "mean NLL (nats)",
        100,
        "frozen",
        "bfloat16",
        1e-3,
    )
    curve = fv.Curve(
        W[:, 0], W[:, 0], "distance along the path", "mean NLL (nats)", "a path", 9, "frozen"
    )
    spectrum = fv.Spectrum(W[0], W, W[0], 80, "at the center", 100, "frozen", "ggn", W[0], W[0])
    projection = fv.Projection(
        plane, W[:, :2], W[:, 0], W[:, 0], "mean NLL (nats)", "draws of SA-BMA", eye(2), 0.3
    )
    scores = dict.fromkeys(("nll", "accuracy", "ece"), W[0])
    weighted = fv.Likelihood.categorical(weight=ones(10))
    prediction = fv.Prediction(zeros(30, 100, 10), zeros(100), weighted, "frozen", scores, W)
    rest = dict(
        projection=projection, around=surface, spectrum=(spectrum,) * 3, prediction=prediction
    )
    member = results.Member("sabma", 0.1, "sqrt(2 KL in nats)", q, **rest, maps={"probs": W})
    return {
        "History": fv.History(W[0], W[0], W[0]),
        "Gaussian": q,
        "Plane": plane,
        "Surface": surface,
        "Curve": curve,
        "Spectrum": spectrum,
        "Projection": projection,
        "Draws": fv.Draws(W, fv.History(W[0]), {"0.running_mean": W}),
        "Mixture": fv.Mixture((q,) * 7),
        "Prediction": prediction,
        "Sharpness": fv.results.Sharpness(*W[:7]),
        "Shift": fv.results.Shift(
            ("gaussian_noise",) * 9,
            tuple(range(6)),
            dict.fromkeys(("accuracy", "nll", "ece"), W),
            9,
            9,
            "frozen",
        ),
        "Member": member,
        "Family": fv.Family((member,) * 12, surface),
    }


def test_every_noun_is_one_line_of_less_than_120_characters(gaussians, task, tiny):
    nouns = one_of_each(gaussians[0])
    assert set(nouns) == set(results.NOUNS)
    net, data = tiny
    for shown in (
        *nouns.values(),
        net,
        data,
        task,
        fv.SAM(0.1),
        fv.Mixture((fv.Draws(net.w[None]),)),
    ):
        assert "\n" not in repr(shown) and len(repr(shown)) < 120, repr(shown)
        assert repr(shown).startswith(type(shown).__name__)
        assert "tensor(" not in repr(shown)


def test_every_noun_comes_back_from_disk_as_it_was(gaussians, tmp_path):
    whole = {
        **one_of_each(gaussians[0]),
        3: [1, 2.5, None, True, "x"],
        ("a", 0): {"noun": "Draws", "fields": {}},
    }
    want = fv.load(fv.save(whole, tmp_path / "all.pt"))
    assert equal(whole, want)
    with refused("cannot save a function", TypeError):
        fv.save(lambda: 0, tmp_path / "f.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["all.pt"]  # a failed save leaves nothing


def test_numpys_numbers_are_saved_as_plain_ones(tmp_path):
    back = fv.load(
        fv.save(
            {"score": np.float64(0.5), "name": np.str_("a"), "n": np.int64(3)},
            tmp_path / "n.pt",
        )
    )
    assert back["score"] == 0.5
    assert type(back["score"]) is float
    assert type(back["name"]) is str


def test_kl_and_log_prob_equal_torchs_low_rank_normal(gaussians):
    q, prior = gaussians
    w = q.sample(4, seed=0)
    assert_exact(q.log_prob(w), as_torch(q).log_prob(w))
    assert_exact(q.kl(prior), distributions.kl_divergence(as_torch(q), as_torch(prior)))
    assert q.kl(q) == approx(0, abs=1e-10)


def test_score_equals_autograd_with_the_draw_held_fixed(gaussians):
    q, _ = gaussians
    w = q.sample(1, seed=0)[0]
    theta = [t.clone().requires_grad_() for t in (q.mean, q.log_std, q.factor)]
    wanted = autograd.grad(fv.Gaussian(*theta).log_prob(w), theta)
    for found, want in zip(q.score(w), wanted):
        assert_close(found, want, rtol=1e-9, atol=1e-9)


@mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_what_a_gaussian_keeps_from_a_mode_without_gradients_has_its_gradient(mode):
    """Its square roots are computed when they are first read."""
    w = randn(5)
    theta = randn(2, 5, requires_grad=True)

    def gradient(first):
        q = fv.Gaussian(*theta, ones(1, 5))
        with first():
            q.log_prob(w), q.kl(q), q.leverage
        return autograd.grad(q.log_prob(w), theta)[0]

    assert_close(gradient(mode), gradient(torch.enable_grad))


@mark.parametrize("rank", [0, 3])
def test_products_with_covariance_and_precision_equal_dense_ones(rank):
    q = random_gaussian(0, rank=rank)
    S = dense_covariance(q)
    v = randn(3, 7, dtype=float64, generator=rng())
    assert_close(q.cov_mul(v), v @ S)
    assert_close(q.precision_mul(v), v @ S.inverse())
    assert_close(q.precision_diag, S.inverse().diagonal())
    assert_close(q.factor_precision, q.factor @ S.inverse())
    assert_close(q.variance, S.diagonal())
    assert_close(q.logdet, S.logdet())
    assert_close(q.log_prob(v), distributions.MultivariateNormal(q.mean, S).log_prob(v))


def test_sample_covariance_is_sigma_and_the_low_rank_noise_has_mean_zero():
    q = random_gaussian(2, dim=6, rank=5)
    z1, z2 = q.noise(60_000, seed=0)
    W = q.at(z1, z2)
    S = dense_covariance(q)
    assert z2.mean(0).abs().max() < 0.02  # 5 standard errors of a mean of 60,000
    found = float((cov(W.T) - S).abs().max() / S.abs().max())
    assert found < 0.03
    # One z2 for all weights: drawn a layer at a time it would be zero across layers
    blocks = S[:3, 3:].abs().max()
    assert blocks > 0.05
    found = (cov(W.T) - S)[:3, 3:].abs().max()
    assert found < 0.5 * blocks
