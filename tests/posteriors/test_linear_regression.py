"""Bayesian linear regression, whose posterior is known: how far each method is from it, and why;
fits of a Gaussian that arrive."""

import math
from functools import partial

import pytest
import torch
from oracles import dense_covariance
from torch import nn

import flatviz as fv

N = 40
NOISE = 0.5
DELTA = 2.0
ETA = 0.01
DECAY = dict(weight_decay=DELTA / N)
ROUGH = dict(**DECAY, snapshots=100, batch_size=8, lr=0.1, momentum=0.0)  # SGD at a constant rate
VARIATIONAL = dict(steps=600, mc_samples=3)
CHAINS = dict(**DECAY, n_draws=2000, chains=100, burn_in=150, thin=10)
CYCLES = dict(n_draws=800, chains=100, cycles=4, cycle_steps=120, noisy_share=0.3, lr=0.08)

# settings; |mean - exact| in exact sds, at most; sd over that of the reference, least and most;
# which reference; known bias
BAYES = dict(kl_weight=1.0, start_scale=1.0)  # the posterior itself, from the prior's own widths
CASES = {
    "sgd": (dict(**DECAY, steps=200), 0.01, 0, 0, "posterior", "a point, the mode"),
    "swa": (ROUGH, 0.35, 0, 0, "posterior", "a point; the mean of a noisy path"),
    "swag_diag": (
        ROUGH,
        0.35,
        0.55,
        1.6,
        "posterior",
        "as wide as SGD's noise, which rate and batch decide",
    ),
    "swag": (
        dict(**ROUGH, rank=20),
        0.35,
        0.55,
        1.6,
        "posterior",
        "as wide as SGD's noise, which rate and batch decide",
    ),
    "mfvi": (
        dict(**VARIATIONAL, prior_std=DELTA**-0.5, first_std=0.2),
        0.15,
        0.9,
        1.1,
        "conditional",
        "given the others: narrower",
    ),
    "moped": (
        dict(**VARIATIONAL, prior_std=DELTA**-0.5, moped=0.2),
        0.4,
        0.9,
        1.1,
        "conditional",
        "its prior stands where the net does",
    ),
    "vi": (
        dict(**VARIATIONAL, **BAYES),
        0.15,
        0.85,
        1.15,
        "posterior",
        "none beyond the shaking of the last steps",
    ),
    "vi_t": (dict(**VARIATIONAL, **BAYES, radius=1.0), 0.15, 0.85, 1.15, "posterior", "vi's"),
    "sabma": (
        dict(**BAYES, steps=600, mc_samples=4, radius=0.5),
        0.3,
        0.7,
        1.1,
        "posterior",
        "a flat posterior is narrower",
    ),
    "sabma_t": (
        dict(**VARIATIONAL, **BAYES, radius=1.0, ascent_radius=0.5),
        0.3,
        0.7,
        1.1,
        "posterior",
        "sabma's",
    ),
    "bsam": (
        dict(**DECAY, steps=200),
        0.2,
        1.2,
        2.7,
        "posterior",
        "s is the size of a gradient, not a curvature: too wide",
    ),
    "laplace": (
        dict(**DECAY, structure="full", prior_precision=None, steps=200),
        0.03,
        0.98,
        1.02,
        "posterior",
        "none: it is Gaussian",
    ),
    "sgld": (
        dict(**CHAINS, lr=0.02),
        0.15,
        0.93,
        1.12,
        "posterior",
        "wider by 1 / (1 - lr h / 2): at most 7 % here",
    ),
    "sghmc": (
        dict(**CHAINS, lr=0.01, friction=0.3),
        0.15,
        0.93,
        1.07,
        "posterior",
        "none beyond the step",
    ),
    "hmc": (
        dict(kl_weight=1.0, n_draws=2000, chains=100, burn_in=50),
        0.1,
        0.93,
        1.07,
        "posterior",
        "none",
    ),
    "csgld": (
        dict(**CYCLES, **DECAY),
        0.15,
        0.6,
        1.0,
        "posterior",
        "the noisy end of a cycle is short: too narrow where flat",
    ),
    "csghmc": (
        dict(**CYCLES | {"lr": 0.02}, **DECAY, friction=0.3),
        0.15,
        0.6,
        1.0,
        "posterior",
        "csgld's",
    ),
    "emcmc": (
        dict(**DECAY, eta=ETA, lr=0.03, n_draws=1600, burn_in=150, thin=3),
        0.5,
        0.8,
        1.2,
        "with the guide",
        "none",
    ),
    "svgd": (
        dict(**DECAY, n_draws=100, steps=1000, lr=0.5, momentum=0.9),
        0.05,
        0.85,
        1.0,
        "posterior",
        "too narrow",
    ),
    "ptl": (
        dict(fit=partial(fv.fit_csgld, **CYCLES), floor=0.0),
        0.15,
        0.6,
        1.0,
        "posterior",
        "csgld's",
    ),
    "dropout": (
        dict(**DECAY, steps=300, n_draws=500),
        3,
        0.7,
        2.3,
        "posterior",
        "another prior: sd |w| / 3, whatever the data",
    ),
    "ensemble": (
        dict(**DECAY, members=3, batch_size=None, steps=200),
        0.01,
        0,
        1e-3,
        "posterior",
        "one mode: all agree",
    ),
    "multiswag": (
        dict(**DECAY, fit=partial(fv.fit_swag, likelihood=NOISE, rank=20, **ROUGH)),
        0.35,
        0.55,
        1.6,
        "posterior",
        "swag's",
    ),
}
OTHER_MODES = {"sam_mu", "rank1_pinv", "authors_code"}  # of sabma, not meant to be the posterior


@pytest.fixture(scope="module")
def problem(linear_regression):
    """Build net, data, prior, exact mean, reference -> covariance; two inputs correlate."""
    net, data, mean, cov = linear_regression(N, [1.0, -0.5, 0.2], NOISE, DELTA)
    # A rank for VI to use
    tilt = 1e-3 * torch.tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=torch.float64)
    prior = fv.Gaussian(torch.zeros_like(mean), torch.full_like(mean, -0.5 * math.log(DELTA)), tilt)
    alone = torch.diag(1 / torch.linalg.inv(cov).diagonal())
    covs = {
        "posterior": cov,
        "conditional": alone,
        "with the guide": cov + ETA / 2 * torch.eye(3, dtype=torch.float64),
    }
    return net, data, prior, mean, covs


def test_every_method_has_a_case():
    assert {
        name for name, method in fv.METHODS.items() if method.ascent is None
    } - OTHER_MODES <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_mean_and_width_are_those_of_the_exact_posterior_up_to_the_known_bias(name, problem):
    net, data, prior, mean, covs = problem
    settings, off, least, most, reference, bias = CASES[name]
    given = (prior,) if fv.METHODS[name].needs_prior else ()
    trained = settings is ROUGH or name in ("swag", "moped")  # these begin where SGD ended
    start = net.at(mean if trained else torch.zeros_like(mean))
    q = fv.METHODS[name].fit(start, data, *given, seed=0, likelihood=NOISE, **settings)
    W = q.W if isinstance(q, fv.Draws) else q.sample(20_000, seed=1)  # a width to half a percent
    assert W.dtype == torch.float64
    apart = (W.mean(0) - mean).abs() / covs["posterior"].diagonal().sqrt()
    assert float(apart.max()) <= off, bias
    ratio = W.std(0, correction=0) / covs[reference].diagonal().sqrt()
    assert least <= float(ratio.min()) and float(ratio.max()) <= most, bias


SMALL_NOISE = 0.3


@pytest.fixture(scope="module")
def regression(linear_regression):
    """(net, data, X^T X / noise^2, X^T y / noise^2); two of the three inputs go together."""
    net, data, _, _ = linear_regression(40, [1.0, -0.5, 0.2], SMALL_NOISE, 1.0)
    return net, data, data.x.T @ data.x / SMALL_NOISE**2, (data.x.T @ data.y)[:, 0] / SMALL_NOISE**2


def standard(dim, *factor):
    """N(0, I), or with a factor N(0, I + factor^T factor), in float64."""
    return fv.Gaussian(torch.zeros(dim).double(), torch.zeros(dim).double(), *factor)


@pytest.mark.parametrize("kl_weight", [1.0, 0.03])
def test_a_posterior_inside_the_family_is_found_to_the_last_digits(regression, kl_weight):
    """The path gradient is 0 at every draw there, so no noise is left: mean, widths and factor are
    exact."""
    net, data, hessian, pull = regression
    prior = standard(
        3, 0.3 * torch.tensor([[1.0, 2.0, 3.0], [3.0, -1.0, 1.0]], dtype=torch.float64)
    )
    q = fv.fit_vi(
        net,
        data,
        prior,
        likelihood=SMALL_NOISE,
        kl_weight=kl_weight,
        start_scale=1.0,
        steps=3000,
        seed=0,
    )
    precision = hessian / kl_weight + torch.linalg.inv(dense_covariance(prior))
    root = torch.linalg.cholesky(precision)
    torch.testing.assert_close(
        root.T @ dense_covariance(q) @ root, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-3
    )
    assert (
        float((root.T @ (q.mean - torch.linalg.solve(precision, pull / kl_weight))).norm()) < 1e-3
    )


@pytest.mark.parametrize("kl_weight", [1.0, 1e-3])
def test_the_pull_of_the_kl_on_widths_does_not_depend_on_temperature_or_examples(kl_weight):
    """Without curvature q's widths return to the prior's: from a tenth of them, in as many steps at
    any T / N."""
    net = fv.Net.from_module(nn.Linear(2, 1, bias=False).double())
    nothing = fv.Data(
        torch.zeros(1000, 2, dtype=torch.float64), torch.zeros(1000, 1, dtype=torch.float64)
    )
    prior = fv.Gaussian(
        torch.zeros(2, dtype=torch.float64), torch.full((2,), math.log(0.1), dtype=torch.float64)
    )
    q = fv.fit_vi(
        net, nothing, prior, likelihood=1.0, start_scale=0.1, kl_weight=kl_weight, steps=300, seed=0
    )
    assert (q.std / prior.std).tolist() == pytest.approx([1, 1], rel=0.02)
