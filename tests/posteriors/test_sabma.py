"""SA-BMA and VI: the same loop, exact where theory is, flat where they should be; a family together
is each member alone."""

from functools import partial

import torch
from cases import (
    around,
    assert_exact,
    blobs,
    fitted_by,
    grid_by,
    mlp,
    net_of,
    normed,
    numbers_of,
    refused,
    warned,
)
from every_method import MODES
from oracles import dense_covariance, random_gaussian
from pytest import approx, fixture, mark, raises
from torch import arange, equal, nn, zeros
from torch.nn import Linear, ReLU
from torch.testing import assert_close

import flatviz as fv
from flatviz.training import Perturbation

QUICK = dict(steps=12, seed=3)


def test_radius_zero_is_vi_bit_for_bit(transferred, task):
    net, prior = transferred
    vi = fv.fit(net, task.train, fv.VI(prior), **QUICK)
    fit = partial(fitted_by(fv.SABMA), net, task.train, prior, radius=0.0, **QUICK)
    for mode in MODES:
        flat = fit(mode=mode)
        assert all(map(equal, numbers_of(vi), numbers_of(flat)))


def test_the_ascent_raises_the_loss_and_the_fit_lowers_it(transferred, task):
    net, prior = transferred
    fit = partial(
        fitted_by(fv.SABMA),
        net,
        task.train,
        prior,
        radius=1.0,
        kl_weight=0.0,
        start_scale=1.0,
        steps=60,
        seed=0,
    )
    ours = fit().history
    released = fit(mode="authors_code").history
    assert (ours.sharpness > 0).float().mean() > 0.9
    found = ours.loss[-10:].mean()
    want = 0.6 * ours.loss[:3].mean()
    assert found < want
    assert released.sharpness.mean() < 0.5 * ours.sharpness.mean()


def test_a_flat_posterior_has_a_smaller_eigenvalue_than_vi(transferred, task):
    net, prior = transferred
    fits = grid_by(fv.SABMA)(
        net,
        task.train,
        prior,
        radius=[0.0, 2.0],
        seed=[0],
        kl_weight=0.0,
        start_scale=1.0,
        weight_decay=5e-4,
        steps=600,
    )
    f = fv.nll(net, task.train)

    def mean_lambda1(q):
        tops = [fv.top_eigenpairs(f, w, 1) for w in q.sample(10, seed=1)]
        return torch.stack([top.values[0] for top in tops]).mean()

    vi, flat = map(mean_lambda1, fits.values())
    assert flat < 0.85 * vi


def test_the_kl_weight_pulls_towards_the_prior_and_a_narrow_prior_does_not_diverge(
    transferred, task
):
    net, prior = transferred
    # Narrow in places: plain SGD on its KL would overshoot
    assert prior.log_std.exp().min() < 1e-2
    fit = partial(fitted_by(fv.VI), net, task.train, prior, start_scale=1.0, steps=60, seed=0)
    near = fit(kl_weight=1.0)
    far = fit(kl_weight=0.0)
    assert near.kl(prior) < 0.05 * far.kl(prior)
    assert near.history.kl[0] == approx(0, abs=1e-2)
    assert far.history.kl is None


def test_the_mean_bug_of_the_released_code_ends_up_in_the_center(transferred, task):
    net, prior = transferred
    settings = dict(
        radius=0.1,
        kl_weight=0.0,
        lr=0.0,
        start_scale=1.0,
        perturbation=fv.Perturbation("authors_code", switches=("z2_mean_bug",)),
    )
    with_bug = fv.fit(net, task.train, fv.SABMA(prior, **settings), **QUICK)
    want = prior.mean + prior.factor.sum(0)
    assert_close(with_bug.mean, want)


FLAT = partial(fitted_by(fv.SABMA), radius=0.3)


@mark.parametrize("fit", [fitted_by(fv.VI), FLAT])
def test_a_fit_starts_at_start_and_is_pulled_to_the_prior(fit, transferred, task):
    net, prior = transferred
    fit = partial(fit, net, task.train, prior)
    # narrower, of another rank
    factor = zeros(2, prior.dim)
    start = fv.Gaussian(prior.mean + 0.1, prior.log_std - 1.0, factor)
    still = fit(start=start, start_scale=1.0, lr=0.0, steps=2, seed=0)
    assert equal(still.mean, start.mean)
    assert equal(still.log_std, start.log_std)
    assert still.rank == 2
    assert_close(still.history.kl[0], start.kl(prior))
    found = fit(start=prior, **QUICK).mean
    assert equal(found, fit(**QUICK).mean)
    with refused("start must cover the net's 906 treated weights, got 3"):
        q = fv.Gaussian(zeros(3), zeros(3))
        fit(start=q, seed=0)


@mark.parametrize(
    "settings",
    [
        dict(kl_weight=1.0),
        dict(kl_weight=0.0, weight_decay=0.01, batch_size=8, blocks="mean+std+factor"),
        dict(mode="sam_mu", joint=False),
        dict(joint=False, blocks="mean+std+factor"),
        dict(mode="sam_theta", blocks="mean+std+factor", mc_samples=2),
        dict(mode="rank1_pinv"),
        dict(mode="rank1_damped", kl_weight=0.0),
        dict(mode="authors_code", switches=("z2_mean_bug",), kl_weight=0.0),
    ],
)
def test_fifty_steps_of_a_family_together_are_those_of_each_member_alone(settings, small):
    how = dict(steps=50, **settings)
    found = grid_by(fv.SABMA)(*small, radius=[0.0, 0.3], seed=[0, 1], **how)
    assert list(found) == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    for radius, seed in ((0.0, 1), (0.3, 0)):
        q = found[radius, seed]
        alone = fitted_by(fv.SABMA)(*small, radius=radius, seed=seed, **how)
        near = dict(rtol=1e-8, atol=1e-8)
        assert_close(numbers_of(q), numbers_of(alone), **near)
        assert_close(q.history.loss, alone.history.loss, **near)
        if settings.get("kl_weight", 1.0):
            assert_close(q.history.kl, alone.history.kl, rtol=1e-7, atol=1e-7)


GRIDS = [method for method in fv.METHODS.values() if method.fit_grid]


@mark.parametrize("method", GRIDS, ids=str)
def test_a_grid_of_a_method_is_of_that_method(method, small):
    radius = 0.7 if method.in_grid(0.0) is False else 0.0
    grid = method.fit_grid(*small, radius=[radius], seed=[1, 2], steps=30)
    assert list(grid) == [(radius, 1), (radius, 2)]
    how = dict(radius=radius) if radius else {}
    alone = method.fit(*small, seed=2, steps=30, **how)
    together = grid[radius, 2]
    near = dict(rtol=1e-7, atol=1e-8)  # float64, thirty steps
    assert_close(numbers_of(together), numbers_of(alone), **near)
    assert_close(together.history.kl, alone.history.kl, **near)


@mark.parametrize(
    "settings",
    [
        dict(),
        dict(mode="sam_theta", mc_samples=2),
        dict(batchnorm="train"),
    ],
)
def test_what_cannot_run_together_runs_one_after_the_other(settings, small):
    module = normed(2, 5, 3).double()
    net = net_of(module, "norm+head")
    given = net, small[1], around(net, -1.5)
    found = grid_by(fv.SABMA)(*given, radius=[0.3], seed=[0, 1], steps=2, **settings)
    alone = fitted_by(fv.SABMA)(*given, radius=0.3, seed=1, steps=2, **settings)
    assert_close(found[0.3, 1].mean, alone.mean)


def test_a_member_that_diverges_is_named_and_the_others_are_returned(small):
    how = dict(steps=20, kl_weight=0.0)
    fit = partial(grid_by(fv.SABMA), *small, seed=[0, 1], **how)
    with warned(
        r"2 of 4 members diverged and are left out: SABMA\(radius=1e.30, .*\) with seed 0, SABMA",
    ):
        grid = fit(radius=[0.3, 1e30])
    assert list(grid) == [(0.3, 0), (0.3, 1)]
    whole = fit(radius=[0.3, 0.0])
    for member, q in grid.items():
        assert_exact(q.mean, whole[member].mean)
    with raises(
        fv.Diverged,
        match=r"all 2 members diverged, SABMA\(radius=1e.30.*with seed 0, .* inf at step 1 of 20",
    ):
        fit(radius=[1e30])
    with refused("the loss must stay finite, got NaN or inf .* lower lr or radius"):
        fv.fit(*small[:2], fv.SABMA(small[2], radius=1e30, kl_weight=0.0), seed=0, steps=20)


def test_draws_of_a_step_follow_the_networks_size(transferred, task):
    net, prior = transferred
    fit = partial(fitted_by(fv.SABMA), net, task.train, prior, radius=0.5, seed=0, steps=5)
    assert equal(fit(mc_samples=8).mean, fit().mean)
    module = mlp(2, 1000, 1000, 3, act=ReLU)
    net = net_of(module)
    data = blobs(90, 2, 3)
    fit = partial(fitted_by(fv.SABMA), net, data, around(net, -3.0), radius=0.5)
    chosen = fit(seed=0, steps=2)
    given = fit(mc_samples=1, lr=1.0, seed=0, steps=2)
    assert equal(given.mean, chosen.mean)
    first, *rest = chosen.history.notes
    assert first.startswith("one draw a step, rate 1")
    assert given.history.notes == tuple(rest)


@fixture
def large():
    """(net, data, prior) of a network so large that draws share the examples of a step."""
    module = nn.Sequential(
        Linear(4, 1500),
        nn.LayerNorm(1500),
        ReLU(),
        Linear(1500, 1500),
        Linear(1500, 3),
    )
    net = net_of(module, "norm+head")
    return net, blobs(60, 4, 3), around(net, -3.0)


def test_draws_of_a_large_network_share_the_examples_of_a_step(large):
    q = fv.fit(*large[:2], fv.SABMA(large[2], radius=0.5), seed=0, steps=2)
    assert q.history.notes[0].startswith("6 draws share the examples of a step, rate 1")


@mark.parametrize("batch_size", [None, 24])
def test_members_whose_draws_share_examples_each_say_which_part_of_the_ascent_is_noise(
    batch_size, large
):
    how = dict(radius=[0.5, 1.0], seed=[0], steps=2)
    members = grid_by(fv.SABMA)(*large, batch_size=batch_size, **how)
    for q in members.values():
        assert any("noise" in note for note in q.history.notes)


@mark.parametrize("draws", [1, 4])
def test_the_share_of_noise_in_an_ascent_is_that_of_a_quadratic_loss(draws):
    q = random_gaussian(0, dim=6, rank=2)
    H = arange(1, 7).double().diag()
    b = torch.tensor([1.0, -2, 0, 1, 0, 2]).double()

    def loss(w):
        r = w - q.mean
        return 0.5 * r @ H @ r + b @ w

    quadratic = fv.training.gradient_of(loss)
    sabma = fv.SABMA(q, radius=1.0, mc_samples=draws, perturbation=Perturbation(blocks="mean"))
    noises = [q.noise(draws, seed=i) for i in range(4000)]
    covariance = dense_covariance(q)
    noise = (H @ covariance @ H @ covariance).trace() / draws
    share = noise / (b @ covariance @ b + noise)
    estimate = sabma.noise_share(q, quadratic, None, noises)
    assert estimate == approx(float(share), rel=0.1)  # five standard errors


def test_the_history_of_a_fit_says_the_share_of_noise_of_each_member(transferred, task):
    net, prior = transferred
    fits = grid_by(fv.SABMA)(
        net,
        task.train,
        prior,
        radius=[0, 1.0],
        seed=[0, 1],
        steps=5,
    )
    for (radius, _), q in fits.items():
        said = "squared length is noise of 8 draws"
        notes = [note for note in q.history.notes if said in note]
        assert len(notes) == (radius > 0)
