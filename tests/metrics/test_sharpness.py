"""Flatness: sharpness and Weyl's bounds by dense Hessians, PAC-Bayes bounds by a search, known
learning coefficients."""

import math
from functools import partial

import torch
from cases import close, normals, refused, rng
from pytest import approx, mark
from scipy.optimize import brentq
from scipy.stats import entropy
from torch import float64, linspace, randn, tensor, zeros
from torch.distributions import MultivariateNormal, kl_divergence
from torch.linalg import eigvalsh
from torch.testing import assert_close

import flatviz as fv
from flatviz import metrics
from flatviz.metrics.curvature import ordered


def test_measures_of_a_quadratic_are_those_of_its_matrix(quadratic):
    f, H, c = quadratic
    W = c + normals(3, 12)
    found = fv.sharpness(f, W, radius=0.1, adaptive_radius=0.2, probes=400)
    values = eigvalsh(H).flip(0)
    close(found.lambda1, values[0].expand(3), 1e-6)
    close(found.ratio, (values[0] / values[4]).expand(3), 1e-5)
    assert ((found.trace - H.trace()).abs() < 4 * found.trace_error).all()
    g = (W - c) @ H
    T = W.abs() + 0.01
    ball = 0.1 * g / g.norm(dim=1, keepdim=True)
    adaptive = 0.2 * T.square() * g / (T * g).norm(dim=1, keepdim=True)
    for risen, step in ((found.sam, ball), (found.adaptive, adaptive)):
        slope = (g * step).sum(1)
        bend = ((step @ H) * step).sum(1)
        assert_close(risen, slope + bend / 2)
    mean, half = found.interval("sam")
    close(mean, found.sam.mean())
    close(half, 4.303 * float(found.sam.std()) / 3**0.5, 1e-3)


def test_weyl_bounds_hold_on_the_samples_of_a_network_and_the_middle_is_the_averaged_hessian(tiny):
    f = fv.nll(*tiny)
    W = f.net.w + 0.3 * normals(4, f.dim)
    lower, middle, upper = metrics.weyl_bounds(f, W)
    dense = torch.stack([torch.autograd.functional.hessian(f, w) for w in W])
    spectra = eigvalsh(dense)
    least = spectra[:, 0]
    most = spectra[:, -1]
    close(middle, eigvalsh(dense.mean(0))[-1], 1e-5)
    close(upper, most.mean(), 1e-5)
    others = least.sum() - least
    close(lower, float((most + others).max()) / 4, 1e-4)
    assert lower <= middle <= upper


def test_draws_in_order_of_sharpness():
    values = tensor([2.0, 4.0, 1.0, 3.0])

    def order(kind, **how):
        return ordered(torch.eye(4), values, kind, **how).argmax(1).tolist()

    assert order("flat") == [2, 0, 3, 1]
    assert order("sharp") == [1, 3, 0, 2]
    assert sorted(order("random", seed=1)) == [0, 1, 2, 3]
    with refused("values must hold a finite number for each of the 4 draws"):
        ordered(torch.eye(4), values[:2], "flat")


@mark.parametrize("n, kl", [(50, 0.0), (400, 20.0), (100_000, 3.0)])
@mark.parametrize("error", [0.0, 0.03, 0.4, 0.99])
def test_the_bound_is_the_largest_error_within_the_budget(error, n, kl):
    budget = (kl + math.log(2 * math.sqrt(n) / 0.05)) / n
    over = lambda e: entropy([error, 1 - error], [e, 1 - e]) - budget
    end = 1 - 1e-12
    largest = brentq(over, error, end) if over(end) > 0 else 1.0
    assert metrics.pac_bayes_bound(error, kl, n) == approx(largest, abs=1e-5)


def test_a_bound_of_no_use_is_one():
    assert metrics.pac_bayes_bound(1.0, 0.0, 100) == 1.0
    assert metrics.pac_bayes_bound(0.5, 1.0, 100, delta=0.0) == 1.0


def test_the_flat_bound_is_that_of_the_blurred_draws():
    W = randn(3, 4, dtype=float64, generator=rng())
    center = randn(4, dtype=float64, generator=rng(2))
    n = 400
    radius = 0.7
    z = randn(400_000, 4, generator=rng(1)).norm(dim=1)
    # A blur is longer than the radius once in sqrt(n) times
    blur = radius / float(z.quantile(1 - 1 / math.sqrt(n)))
    eye = torch.eye(4).double()
    blurred = MultivariateNormal(W, blur**2 * eye)
    prior = MultivariateNormal(center, 1.5**2 * eye).expand((3,))
    kl = float(kl_divergence(blurred, prior).mean())
    theirs = metrics.pac_bayes_bound(0.1 + 1 / math.sqrt(n), kl, n)
    ours = metrics.flat_bound(
        0.1,
        W,
        center,
        radius=radius,
        prior_std=1.5,
        n=n,
    )
    close(ours, theirs, 2e-3)


N = 10_000
learned = partial(metrics.learning_coefficient, n=N)


def grid_draws(f, n_beta, count=2000):
    """(count, 1) quantiles at (i + 1/2) / count of the density exp(-n_beta f) on [-3, 3]: inverse
    CDF on a grid."""
    x = linspace(-3, 3, 400_001, dtype=float64)
    cdf = (-n_beta * f(x)).exp().cumsum(0)
    at = (torch.arange(count, dtype=float64) + 0.5) / count
    return x[torch.searchsorted(cdf / cdf[-1], at)][:, None]


@mark.parametrize("beta", [None, 0.3])
@mark.parametrize("power", [2, 4])
def test_of_a_power_of_w_it_is_one_over_the_power(power, beta):
    draws = grid_draws(lambda x: 7 * x**power, N * (beta or 1 / math.log(N)))
    f = lambda w: 7 * (w**power).sum()
    found = learned(f, zeros(1).double(), draws, beta=beta)
    close(found, 1 / power, 0.01)  # midpoint quantiles miss a little of the tails


def test_of_a_quadratic_it_is_half_the_rank_whatever_the_curvature():
    # The last direction is flat
    curvature = tensor([100.0, 3.0, 0.5, 0.0], dtype=float64)
    one = grid_draws(lambda x: 0.5 * x**2, N / math.log(N))[:, 0]
    shuffled = torch.stack([one[torch.randperm(len(one))] for _ in curvature], 1)
    draws = shuffled / curvature.clamp_min(0.1).sqrt()
    f = lambda w: 0.5 * (curvature * w * w).sum()
    found = learned(f, zeros(4).double(), draws)
    close(found, 3 / 2, 0.01)


def test_a_ratio_to_an_eigenvalue_of_0_is_nan():
    values = torch.tensor([2.0, -2.0, 0.0, 0.0, 0.0, 0.0])
    found = fv.sharpness(lambda w: 0.5 * (values * w * w).sum(), torch.ones(1, 6), k=5)
    assert found.ratio.isnan().all()
    assert fv.sharpness(lambda w: (w * w).sum(), torch.ones(1, 6), k=5).ratio.isfinite().all()


def test_a_learning_coefficient_of_a_function_that_returns_a_number():
    f = lambda w: 0.5 * float(w.square().sum())
    draws = torch.tensor([[-0.1], [0.1]])
    value = fv.metrics.learning_coefficient(f, torch.zeros(1), draws, n=100, beta=1.0)
    assert round(value, 6) == 0.5
