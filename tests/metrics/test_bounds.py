"""PAC-Bayes bounds: against a search over all errors, the formula's parts by simulation, and data whose error is known."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from torch.distributions import MultivariateNormal, kl_divergence

import flatviz as fv


@pytest.mark.parametrize("error", [0.0, 0.03, 0.4, 0.99])
def test_the_bound_is_the_largest_error_within_the_budget(error):
    for n, kl in ((50, 0.0), (400, 20.0), (100_000, 3.0)):
        e = np.linspace(0, 1, 200_001)[1:-1]
        inside = e[entropy([[error], [1 - error]], [e, 1 - e]) <= (kl + math.log(2 * math.sqrt(n) / 0.05)) / n]
        assert fv.metrics.pac_bayes_bound(error, kl, n) == pytest.approx(max(inside, default=error), abs=1e-5)
    assert fv.metrics.pac_bayes_bound(1.0, 0.0, 100) == fv.metrics.pac_bayes_bound(0.5, 1.0, 100, delta=0.0) == 1.0


def test_the_flat_bound_is_that_of_the_blurred_draws():
    W, center = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    center, n, radius = center[0], 400, 0.7
    z = torch.randn(400_000, 4, generator=torch.Generator().manual_seed(1)).norm(dim=1)
    s = radius / float(z.quantile(1 - 1 / math.sqrt(n)))  # a blur is longer than the radius once in sqrt(n) times
    blurred, prior = (MultivariateNormal(m, v**2 * torch.eye(4).double()) for m, v in ((W, s), (center, 1.5)))
    kl = float(kl_divergence(blurred, prior.expand((3,))).mean())
    theirs = fv.metrics.pac_bayes_bound(0.1 + 1 / math.sqrt(n), kl, n)
    assert fv.metrics.flat_bound(0.1, W, center, radius=radius, prior_std=1.5, n=n) == pytest.approx(theirs, rel=2e-3)


def test_the_flat_bound_holds_for_thresholds_that_were_chosen_on_the_examples():
    """x uniform on -1..1, label x > 0 with a tenth flipped: a threshold w errs on 0.1 + 0.4 |w| of new data."""
    n, radius, source, bounds, errors = 100, 0.3, np.random.default_rng(0), [], []
    grid = np.linspace(-1, 1, 401)
    for _ in range(100):
        x = source.uniform(-1, 1, n)
        wrong = ((x[:, None] > grid) != ((x > 0) ^ (source.uniform(size=n) < 0.1))[:, None]).mean(0)  # (401,)
        chosen = wrong.argsort()[:5]
        chosen = chosen[abs(grid[chosen]) < 1 - radius]
        worst = np.mean([wrong[abs(grid - grid[c]) <= radius].max() for c in chosen])
        W = torch.as_tensor(grid[chosen])[:, None]
        bounds.append(fv.metrics.flat_bound(float(worst), W, torch.zeros(1).double(), radius=radius, prior_std=0.5, n=n))
        errors.append(0.1 + 0.4 * abs(grid[chosen]).mean())
    assert np.mean(np.array(bounds) >= errors) > 0.95 and max(bounds) < 0.75
