"""The local learning coefficient against its known values, with draws by quadrature."""

import math

import pytest
import torch

import flatviz as fv

N = 10_000


def grid_draws(f, n_beta, count=2000, limit=3.0):
    """(count, 1) quantiles at (i + 1/2) / count of the density exp(-n_beta f) on [-limit, limit]: inverse CDF on a grid."""
    x = torch.linspace(-limit, limit, 400_001, dtype=torch.float64)
    cdf = (-n_beta * f(x)).exp().cumsum(0)
    at = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    return x[torch.searchsorted(cdf / cdf[-1], at)][:, None]


@pytest.mark.parametrize("beta", [None, 0.3])
@pytest.mark.parametrize(("power", "exact"), [(2, 1 / 2), (4, 1 / 4)])
def test_of_a_power_of_w_it_is_one_over_the_power(power, exact, beta):
    n_beta = N * (1 / math.log(N) if beta is None else beta)
    draws = grid_draws(lambda x: 7 * x**power, n_beta)
    found = fv.metrics.learning_coefficient(lambda w: 7 * (w**power).sum(), torch.zeros(1).double(), draws, n=N, beta=beta)
    assert found == pytest.approx(exact, rel=0.01)  # midpoint quantiles miss a little of the tails


def test_of_a_quadratic_it_is_half_the_rank_whatever_the_curvature():
    curvature = torch.tensor([100.0, 3.0, 0.5, 0.0], dtype=torch.float64)  # the last direction is flat
    one = grid_draws(lambda x: 0.5 * x**2, N / math.log(N))[:, 0]
    draws = torch.stack([one[torch.randperm(len(one))] for _ in curvature], 1) / curvature.clamp_min(0.1).sqrt()
    found = fv.metrics.learning_coefficient(lambda w: 0.5 * (curvature * w * w).sum(), torch.zeros(4).double(), draws, n=N)
    assert found == pytest.approx(3 / 2, rel=0.01)


def test_one_example_has_no_temperature():
    with pytest.raises(ValueError, match="n must be"):
        fv.metrics.learning_coefficient(lambda w: w.square().sum(), torch.zeros(1), torch.ones(2, 1), n=1)
