"""Scores and scale of a regression against scipy, scoringrules and the definition."""

import math

import numpy as np
import scipy.integrate
import scipy.stats
import scoringrules
import torch
from cases import rng
from pytest import approx, mark, raises
from torch import float64, randn
from torch.distributions import Gamma, Independent, Laplace, Poisson, StudentT
from torch.testing import assert_close

import flatviz as fv

M = fv.metrics
S = 6
N = 50
G = rng()
MEANS = randn(S, N, 1, generator=G, dtype=float64)
Y = randn(N, 1, generator=G, dtype=float64)
STDS = 0.2 + torch.rand(S, N, 1, generator=G, dtype=float64)
RAW = torch.log(torch.expm1(STDS - 1e-6))  # softplus of it is the noise, as "gaussian" says
BOTH = torch.cat([MEANS, RAW], -1)


def student(outputs):
    return Independent(StudentT(5.0, outputs, 0.6), 1)


KINDS = {  # outputs, likelihood, scipy's distribution of each draw and input
    "one noise": (MEANS, 0.6, scipy.stats.norm(MEANS, 0.6)),
    "mean and noise": (BOTH, "gaussian", scipy.stats.norm(MEANS, STDS)),
    "Student's t": (MEANS, fv.Likelihood(student), scipy.stats.t(5, MEANS, 0.6)),
}
kinds = mark.parametrize("kind", KINDS)


def mixture_quantile(each, level, size):
    """By Brent's method on scipy's distribution functions of the first `size` draws."""
    args = [np.broadcast_to(a, (S, N, 1)) for a in each.args]

    def at(i):
        part = each.dist(*(a[:size, i, 0] for a in args))
        return scipy.optimize.brentq(lambda t: part.cdf(t).mean() - level, -60, 60, xtol=1e-13)

    return np.array([at(i) for i in range(N)])


@kinds
@mark.parametrize("size", [1, 4])
def test_intervals_and_pit_are_those_of_the_mixture_by_scipy(kind, size):
    outputs, likelihood, each = KINDS[kind]
    p = fv.Prediction(outputs, Y, likelihood)
    below = each.cdf(Y)[:size].mean(0)
    assert_close(M.pit(p, n_draws=size), torch.as_tensor(below))
    for level in (0.5, 0.9):
        low, high = (mixture_quantile(each, (1 + s * level) / 2, size) for s in (-1, 1))
        inside = (low <= Y[:, 0].numpy()) & (Y[:, 0].numpy() <= high)
        assert M.coverage(p, level)[size - 1] == approx(inside.mean())
        assert M.coverage(p, level, n_draws=size) == approx(inside.mean())
        width = (high - low).mean()
        assert M.interval_width(p, level, n_draws=size) == approx(width, rel=1e-8)
        assert M.interval_width(p, level)[size - 1] == approx(width, rel=1e-8)
    levels = np.arange(1, 100) / 100
    gaps = [abs((below <= level).mean() - level) for level in levels]
    for found in (
        M.quantile_calibration_error(p)[size - 1],
        M.quantile_calibration_error(p, n_draws=size),
    ):
        assert found == approx(np.mean(gaps))
    variance = each.var()[:size].mean(0) + each.mean()[:size].var(0)
    assert M.predictive_std(p)[size - 1] == approx(np.sqrt(variance.mean()))


def test_crps_of_a_mixture_by_its_quantiles_is_the_integral_of_its_definition():
    """Of four draws of Student's t, where 400 quantiles of each stand for it."""
    outputs, likelihood, _ = KINDS["Student's t"]
    p = fv.Prediction(outputs[:, :8], Y[:8], likelihood)
    squared = lambda share, low, high: scipy.integrate.quad(
        lambda t: share(t).mean() ** 2, low, high
    )[0]
    values = []
    for y, means in zip(Y[:8, 0].tolist(), MEANS[:4, :8, 0].T.numpy()):
        part = scipy.stats.t(5, means, 0.6)
        values.append(squared(part.cdf, -np.inf, y) + squared(part.sf, y, np.inf))
    assert M.crps(p)[3] == approx(np.mean(values), rel=2e-5)


def test_crps_is_that_of_scoringrules():
    y = Y[:, 0].numpy()
    weights = np.full((N, S), 1 / S)
    mixture = scoringrules.crps_mixnorm(y, MEANS[..., 0].T.numpy(), STDS[..., 0].T.numpy(), weights)
    found = M.crps(fv.Prediction(BOTH, Y, "gaussian"))[-1]
    assert found == approx(mixture.mean(), rel=1e-10)
    at = MEANS[0, :, 0].numpy()
    one = MEANS[:1]
    laplace = fv.Prediction(one, Y, fv.Likelihood(lambda o: Independent(Laplace(o, 0.6), 1)))
    want = scoringrules.crps_laplace(y, at, 0.6).mean()
    assert M.crps(laplace) == approx(want, rel=1e-4)  # 400 quantiles
    gamma = fv.Likelihood(lambda o: Independent(Gamma(2 + o.abs(), 1.5), 1))
    want = scoringrules.crps_gamma(abs(y), 2 + abs(at), 1.5).mean()
    found = M.crps(fv.Prediction(one, Y.abs(), gamma))
    assert found == approx(want, rel=0.03)  # 10,000 samples of each of 50 inputs


def test_the_scale_of_the_deviation_is_the_root_of_the_mean_squared_z_and_mends_it():
    for outputs, likelihood, each in KINDS.values():
        p = fv.Prediction(outputs, 3 * Y, likelihood)
        mean = each.mean().mean(0)
        std = np.sqrt(each.var().mean(0) + each.mean().var(0))
        want = math.sqrt((((3 * Y.numpy() - mean) / std) ** 2).mean())
        s = M.fit_deviation(p)
        assert s == approx(want, rel=1e-10)
        wide = M.scale_deviation(p, s)
        assert_close(wide.mean, p.mean)
        assert_close(wide.std, s * p.std)
        assert M.fit_deviation(wide) == approx(1, rel=1e-10)
        # F of the stretched distribution at y is F at mean + (y - mean) / s
        nearer = p.mean + (3 * Y - p.mean) / s
        assert_close(M.pit(wide), M.pit(p.changed(y=nearer)))
        assert wide.scores["nll"][-1] == approx(
            float(M.nll(p.changed(y=nearer))[-1]) + math.log(s), rel=1e-9
        )
    # of one Gaussian draw no other factor has a smaller NLL
    one = fv.Prediction(MEANS[:1], 3 * Y, 0.6)
    best = scipy.optimize.minimize_scalar(
        lambda s: float(M.nll(M.scale_deviation(one, s))),
        bounds=(0.1, 20),
        method="bounded",
        options=dict(xatol=1e-8),
    )
    assert M.fit_deviation(one) == approx(best.x, rel=1e-5)


def test_predictions_that_are_calibrated_by_construction_are_found_so():
    g = rng(3)
    means = randn(1, 20_000, 1, generator=g, dtype=float64)
    y = means[0] + 0.5 * randn(20_000, 1, generator=g, dtype=float64)
    p = fv.Prediction(means, y, 0.5)
    assert M.coverage(p, 0.9) == approx(0.9, abs=0.007)  # three deviations
    assert scipy.stats.kstest(M.pit(p).flatten(), "uniform").pvalue > 0.01
    assert M.fit_deviation(p) == approx(1, abs=0.015)
    fig = fv.plots.plot_calibration({"vi": p, "sabma": fv.Prediction(means, y, 0.2)})
    band, _, good, _, sure, bars = fig.data
    half = 1.358 / math.sqrt(20_000)
    assert band.y[0] == approx(-half)
    assert np.abs(np.array(good.y) - np.array(good.x)).max() < half
    assert np.abs(np.array(sure.y) - np.array(sure.x)).max() > 10 * half
    assert bars.y[0] > 3 < bars.y[-1]
    assert sum(bars.y) / 20 == approx(1)


COUNTS = fv.Prediction(
    MEANS, (Y.abs()).round(), fv.Likelihood(lambda o: Independent(Poisson(o.exp()), 1))
)
CLASSES = fv.Prediction(torch.zeros(1, 3, 2), torch.tensor([0, 1, 0]))
WRONG = {
    "classes": (lambda: M.crps(CLASSES), "a regression is scored here, got 'categorical'"),
    "classes scaled": (lambda: M.scale_deviation(CLASSES, 2.0), "use scale_temperature"),
    "counts": (lambda: M.pit(COUNTS), "continuous distribution, got .*: use crps and nll"),
    "no targets": (lambda: M.crps(fv.Prediction(MEANS, None, 0.5)), "scores need labels, got none"),
    "no variance": (
        lambda: M.fit_deviation(
            fv.Prediction(MEANS, Y, fv.Likelihood(lambda o: Independent(StudentT(2.0, o, 1.0), 1)))
        ),
        "variance that are finite",
    ),
    "temperature": (
        lambda: M.fit_temperature(fv.Prediction(MEANS, Y, 0.5)),
        "need a likelihood of classes",
    ),
    "by name": (
        lambda: fv.score(fv.Prediction(MEANS, Y, 0.5), "crps"),
        r"call fv.metrics.crps\(prediction\)",
    ),
    "a picture of classes": (
        lambda: fv.plots.plot_calibration(CLASSES),
        "use plot_reliability for classes",
    ),
}


@mark.parametrize("call, text", WRONG.values(), ids=WRONG)
def test_a_score_of_another_kind_of_prediction_is_one_clear_error(call, text):
    with raises(ValueError, match=text):
        call()
    assert M.crps(COUNTS)[0] > 0
