"""Scores and scale of a regression against scipy, scoringrules and the definition."""

import math

import numpy as np
import scoringrules
import torch
from cases import close, normals, refused, rng
from pytest import approx, fixture, mark
from scipy import integrate, optimize, stats
from torch import float64
from torch.distributions import (
    Exponential,
    Gamma,
    Gumbel,
    Independent,
    InverseGamma,
    Laplace,
    LogNormal,
    Normal,
    Pareto,
    Poisson,
    StudentT,
    Uniform,
)
from torch.testing import assert_close

import flatviz as fv

M = fv.metrics
S = 6
N = 50
G = rng()
MEANS = normals(S, N, 1, source=G)
Y = normals(N, 1, source=G)
STDS = 0.2 + torch.rand(S, N, 1, generator=G, dtype=float64)
RAW = torch.log(torch.expm1(STDS - 1e-6))  # softplus of it is the noise, as "gaussian" says
BOTH = torch.cat([MEANS, RAW], -1)


def independent(distribution):
    """A likelihood of one target."""
    return fv.Likelihood(lambda outputs: Independent(distribution(outputs), 1))


STUDENT = independent(lambda o: StudentT(5.0, o, 0.6))
KINDS = {  # outputs, likelihood, scipy's distribution of each draw and input
    "one noise": (MEANS, 0.6, stats.norm(MEANS, 0.6)),
    "mean and noise": (BOTH, "gaussian", stats.norm(MEANS, STDS)),
    "Student's t": (MEANS, STUDENT, stats.t(5, MEANS, 0.6)),
}
kinds = mark.parametrize("kind", KINDS)


def mixture_quantiles(each, level, size):
    """By Brent's method on scipy's distribution functions of the first `size` draws."""
    args = [np.broadcast_to(a, (S, N, 1)) for a in each.args]
    found = []
    for i in range(N):
        part = each.dist(*(a[:size, i, 0] for a in args))
        above = lambda t: part.cdf(t).mean() - level  # noqa: B023
        found.append(optimize.brentq(above, -60, 60, xtol=1e-13))
    return np.array(found)


@kinds
@mark.parametrize("size", [1, 4])
def test_intervals_and_pit_are_those_of_the_mixture_by_scipy(kind, size):
    outputs, likelihood, each = KINDS[kind]
    p = fv.Prediction(outputs, Y, likelihood)
    y = Y[:, 0].numpy()
    below = each.cdf(Y)[:size].mean(0)
    assert_close(M.pit(p, n_draws=size), torch.as_tensor(below))
    levels = np.arange(1, 100) / 100
    gaps = [abs((below <= level).mean() - level) for level in levels]
    variance = each.var()[:size].mean(0) + each.mean()[:size].var(0)
    std = np.sqrt(variance.mean())
    for score, value in ((M.quantile_calibration_error, np.mean(gaps)), (M.predictive_std, std)):
        close(score(p)[size - 1], value)
        close(score(p, n_draws=size), value)
    for level in (0.5, 0.9):
        low = mixture_quantiles(each, (1 - level) / 2, size)
        high = mixture_quantiles(each, (1 + level) / 2, size)
        inside = (low <= y) & (y <= high)
        width = (high - low).mean()
        for score, value in ((M.coverage, inside.mean()), (M.interval_width, width)):
            close(score(p, level)[size - 1], value, 1e-8)
            close(score(p, level, n_draws=size), value, 1e-8)


def test_crps_of_a_mixture_by_its_quantiles_is_the_integral_of_its_definition():
    """Of four draws of Student's t, where 400 quantiles of each stand for it."""
    p = fv.Prediction(MEANS[:, :8], Y[:8], STUDENT)
    values = []
    for i in range(8):
        part = stats.t(5, MEANS[:4, i, 0].numpy(), 0.6)
        y = float(Y[i])
        below, _ = integrate.quad(lambda t: part.cdf(t).mean() ** 2, -np.inf, y)  # noqa: B023
        above, _ = integrate.quad(lambda t: part.sf(t).mean() ** 2, y, np.inf)  # noqa: B023
        values.append(below + above)
    close(M.crps(p)[3], np.mean(values), 2e-5)


def test_crps_is_that_of_scoringrules():
    y = Y[:, 0].numpy()
    means = MEANS[..., 0].T.numpy()
    stds = STDS[..., 0].T.numpy()
    mixture = scoringrules.crps_mixnorm(y, means, stds, np.full((N, S), 1 / S))
    found = M.crps(fv.Prediction(BOTH, Y, "gaussian"))[-1]
    close(found, mixture.mean(), 1e-10)
    at = means[:, 0]
    laplace = fv.Prediction(MEANS[:1], Y, independent(lambda o: Laplace(o, 0.6)))
    want = scoringrules.crps_laplace(y, at, 0.6).mean()
    close(M.crps(laplace), want, 1e-4)  # 400 quantiles
    likelihood = independent(lambda o: Gamma(2 + o.abs(), 1.5))
    gamma = fv.Prediction(MEANS[:1], Y.abs(), likelihood)
    want = scoringrules.crps_gamma(abs(y), 2 + abs(at), 1.5).mean()
    close(M.crps(gamma), want, 0.03)  # 10,000 samples of each of 50 inputs


def test_crps_without_spread_is_the_absolute_error_though_a_variance_is_0_in_float32():
    outputs = torch.zeros(2, 3, 1)
    y = torch.full((3, 1), 0.5)
    assert M.crps(fv.Prediction(outputs, y, likelihood=1e-30)).tolist() == [0.5, 0.5]


@kinds
def test_the_scale_of_the_deviation_is_the_root_of_the_mean_squared_z_and_mends_it(kind):
    outputs, likelihood, each = KINDS[kind]
    y = 3 * Y
    p = fv.Prediction(outputs, y, likelihood)
    mean = each.mean().mean(0)
    variance = each.var().mean(0) + each.mean().var(0)
    squared_z = (y.numpy() - mean) ** 2 / variance
    s = M.fit_deviation(p)
    close(s, math.sqrt(squared_z.mean()), 1e-10)
    wide = M.scale_deviation(p, s)
    assert_close(wide.mean, p.mean)
    assert_close(wide.std, s * p.std)
    close(M.fit_deviation(wide), 1, 1e-10)
    # F of the stretched distribution at y is F at mean + (y - mean) / s
    nearer = p.changed(y=p.mean + (y - p.mean) / s)
    assert_close(M.pit(wide), M.pit(nearer))
    stretched = float(M.nll(nearer)[-1]) + math.log(s)
    close(wide.scores["nll"][-1], stretched, 1e-9)


def test_of_one_gaussian_draw_no_other_factor_has_a_smaller_nll():
    one = fv.Prediction(MEANS[:1], 3 * Y, 0.6)
    nll = lambda s: float(M.nll(M.scale_deviation(one, s)))
    best = optimize.minimize_scalar(nll, bounds=(0.1, 20), options=dict(xatol=1e-8))
    close(M.fit_deviation(one), best.x, 1e-5)


@fixture
def calibrated():
    """(means, targets) of a noise of 0.5."""
    g = rng(3)
    means = normals(1, 20_000, 1, source=g)
    return means, means[0] + 0.5 * normals(20_000, 1, source=g)


def test_predictions_that_are_calibrated_by_construction_are_found_so(calibrated):
    p = fv.Prediction(*calibrated, 0.5)
    assert M.coverage(p, 0.9) == approx(0.9, abs=0.007)  # three deviations
    assert stats.kstest(M.pit(p).flatten(), "uniform").pvalue > 0.01
    assert M.fit_deviation(p) == approx(1, abs=0.015)


def test_calibration_is_drawn_with_the_band_of_chance(calibrated):
    right = fv.Prediction(*calibrated, 0.5)
    too_sure = fv.Prediction(*calibrated, 0.2)
    fig = fv.plots.plot_calibration({"vi": right, "sabma": too_sure})
    band, _, good, _, sure, bars = fig.data
    half = 1.358 / math.sqrt(20_000)
    close(band.y[0], -half)
    off = lambda line: np.abs(np.array(line.y) - np.array(line.x)).max()
    assert off(good) < half
    assert off(sure) > 10 * half
    assert bars.y[0] > 3 < bars.y[-1]
    close(sum(bars.y) / 20, 1)


LINE = fv.Prediction(MEANS, Y, 0.5)
COUNTS = fv.Prediction(MEANS, Y.abs().round(), independent(lambda o: Poisson(o.exp())))
WIDE = fv.Prediction(MEANS, Y, independent(lambda o: StudentT(2.0, o, 1.0)))
CLASSES = fv.Prediction(torch.zeros(1, 3, 2), torch.tensor([0, 1, 0]))


@mark.parametrize(
    "score, given, text",
    [
        (M.crps, (CLASSES,), "a regression is scored here, got 'categorical'"),
        (M.scale_deviation, (CLASSES, 2.0), "use scale_temperature"),
        (M.pit, (COUNTS,), "continuous distribution, got .*: use crps and nll"),
        (M.crps, (LINE.changed(y=None),), "scores need labels, got none"),
        (M.fit_deviation, (WIDE,), "variance that are finite"),
        (M.fit_temperature, (LINE,), "need a likelihood of classes"),
        (fv.score, (LINE, "crps"), r"call fv.metrics.crps\(prediction\)"),
        (fv.plots.plot_calibration, (CLASSES,), "use plot_reliability for classes"),
    ],
)
def test_a_score_of_another_kind_of_prediction_is_one_clear_error(score, given, text):
    with refused(text):
        score(*given)


def test_counts_have_a_crps():
    assert M.crps(COUNTS)[0] > 0


def test_a_users_normal_keeps_its_mean_and_quantiles_when_its_deviations_are_scaled():
    """Torch states no mean of a transformed distribution."""
    outputs = torch.tensor([[[1.0], [2.0]]])
    likelihood = fv.Likelihood(lambda outputs: torch.distributions.Normal(outputs, 0.5))
    prediction = fv.Prediction(outputs, likelihood=likelihood)
    wide = fv.metrics.scale_deviation(prediction, 3.0)
    assert torch.equal(wide.mean, prediction.mean)
    assert_close(wide.std, 3 * prediction.std)


def test_outputs_of_half_precision_are_scored_without_overflow():
    prediction = fv.Prediction(
        torch.full((1000, 1, 1), 100.0, dtype=torch.float16), torch.tensor([[400.0]]), 1.0
    )
    close(prediction.scores["rmse"][-1], 300.0)
    assert prediction.scores["nll"].isfinite().all()


def test_the_scale_of_a_distribution_of_one_number_an_example():
    likelihood = fv.Likelihood(lambda o: Normal(o[..., 0], o[..., 1].exp()))
    outputs = torch.randn(2, 5, 2)
    y = torch.randn(5)
    found = M.scale_deviation(fv.Prediction(outputs, y, likelihood=likelihood), 2.0)
    assert found.scores["nll"].shape == (2,)
    one = fv.Prediction(outputs[:1], y, likelihood=likelihood)
    want = -Normal(outputs[0, :, 0], 2 * outputs[0, :, 1].exp()).log_prob(y).mean()
    assert M.scale_deviation(one, 2.0).scores["nll"][0] == approx(float(want), rel=1e-5)


SUPPORTS = {
    "uniform": (lambda m: Uniform(m - 1, m + 2), lambda m: stats.uniform(m - 1, 3)),
    "pareto": (lambda m: Pareto(m.exp(), 3.0), lambda m: stats.pareto(3, scale=np.exp(m))),
    "gumbel": (lambda m: Gumbel(m, 0.1), lambda m: stats.gumbel_r(m, 0.1)),
    "lognormal": (lambda m: LogNormal(m, 0.5), lambda m: stats.lognorm(0.5, scale=np.exp(m))),
    "exponential": (lambda m: Exponential(m.exp()), lambda m: stats.expon(scale=np.exp(-m))),
    "inverse gamma": (
        lambda m: InverseGamma(3.0, m.exp()),
        lambda m: stats.invgamma(3, scale=np.exp(m)),
    ),
}  # fmt: skip


@mark.parametrize("name", SUPPORTS)
def test_draws_whose_support_ends_before_a_target_count_as_0_or_1(name):
    of, exact = SUPPORTS[name]
    m = torch.tensor([[-1.0, 0.0], [1.5, 0.5]], dtype=float64)  # (draws, inputs)
    y = torch.full((2,), 8.0 if name == "pareto" else 0.8, dtype=float64)  # possible in all draws
    likelihood = fv.Likelihood(lambda o: of(o[..., 0]))
    prediction = fv.Prediction(m[:, :, None], y, likelihood=likelihood)
    law = exact(m.numpy())
    for target in (-30.0, -0.5, 0.0, 0.7, 2.5, 40.0):
        below = prediction.below(torch.full((2,), target, dtype=float64))
        assert_close(below, torch.as_tensor(law.cdf(target)), atol=1e-9, rtol=1e-9)
    for level in (0.02, 0.5, 0.97):
        at = prediction.quantile(level)
        reached = torch.as_tensor(law.cdf(at.numpy())).mean(0)
        # torch has no inverse of the inverse gamma's, so that samples answer
        off = 0.02 if name == "inverse gamma" else 1e-5
        assert_close(reached, torch.full_like(reached, level), atol=off, rtol=0)
