"""SGLD, SGHMC, E-MCMC: their noise law on a Gaussian whose answer is known; their schedules; F-SGLD
on a double well."""

import math
from functools import partial

import torch
from cases import around, assert_exact, fitted_by, net_of, normals, refused, rng
from pytest import approx, fixture, mark
from torch import equal, float64, zeros
from torch.testing import assert_close

import flatviz as fv

N = 50
STD = 0.5
DECAY = 0.2


@fixture(scope="module")
def linear(of_weights):
    """500 weights that never meet: targets 0 = w_i + noise, 50 times.  The posterior variance of
    each is known exactly,
    1 / (N (1 / std^2 + wd)), and 500 weights are 500 chains."""
    x = torch.ones(N, 500, dtype=float64)
    net = of_weights(lambda w, x: x * w, zeros(500))
    return net, fv.Data(x, 0 * x)


H = 1 / STD**2
EXACT = 1 / (N * (H + DECAY))
SHORT = dict(seed=0, likelihood=STD)
FIELDS = dict(n_draws=12, burn_in=60, thin=25, weight_decay=DECAY)
FEW = SHORT
FEW_FIELDS = FIELDS | dict(n_draws=2, burn_in=3, thin=2, lr=0.02)


def test_sghmc_with_friction_one_is_sgld(linear):
    q = fv.fit(*linear, fv.SGHMC(friction=1.0, **FEW_FIELDS), **FEW)
    found = q.W
    want = fv.fit(*linear, fv.SGLD(**FEW_FIELDS), **FEW).W
    assert equal(found, want)


def test_a_thermostat_cools_noise_of_gradients_that_it_is_not_told_of():
    """White noise of gradients, whose heat a constant friction keeps; the chain's own law is known:
    variance T / (N h)."""
    h = 2.0
    sigma = 1.0
    n = 50
    source = rng()
    noise = lambda: normals(40, 500, source=source)

    def gradient(w, batch):
        loss = 0.5 * h * w.square().sum(-1)
        return loss, h * w + sigma * noise()

    widths = []
    how = dict(lr=0.02, friction=0.1, weight_decay=0, n=n)
    for chain in (fv.SGNHT(**how, gain=0.02), fv.SGHMC(**how)):
        state = chain.init(zeros(40, 500, dtype=float64))
        for _ in range(600):
            state, _ = chain.update(state, gradient, None, (noise(),))
        widths.append(float(state.w.var()) * n * h)
    cooled, heated = widths
    # 20,000 walkers: 1 %; heat sigma^2 N lr / (2 friction) = 5 times T beside T itself
    assert cooled == approx(1, rel=0.05)
    assert heated == approx(6, rel=0.1)


def test_entropy_mcmc_has_the_joint_law_of_chain_and_guide(linear):
    """Of w the posterior itself, of the guide the posterior widened by eta; the finite step adds a
    few percent."""
    eta = 2 * EXACT
    longer = SHORT
    fields = FIELDS | dict(n_draws=24, burn_in=150, thin=60)
    q = fv.fit(*linear, fv.EMCMC(eta=eta, lr=0.02, **fields), **longer)
    W = q.W
    found = float(W[0::2].var())
    assert found == approx(EXACT, rel=0.08)
    found = float(W[1::2].var())
    assert found == approx(EXACT + eta, rel=0.08)


def test_a_gaussian_prior_takes_the_place_of_weight_decay(linear):
    net, _ = linear
    same = around(net.at(0 * net.w), -0.5 * math.log(N * DECAY))
    fit = partial(fitted_by(fv.SGLD), *linear, **FEW_FIELDS, **FEW)
    assert_exact(fit(prior=same).W, fit().W)
    with refused("prior must cover the net's 500 treated weights, got 3"):
        q = fv.Gaussian(zeros(3), zeros(3))
        fit(prior=q)


def test_chains_run_together_and_the_first_is_the_one_run_alone(linear):
    fit = partial(
        fitted_by(fv.SGLD), *linear, burn_in=3, thin=2, seed=0, likelihood=STD, batch_size=20
    )
    two = fit(n_draws=4, chains=2).W
    one = fit(n_draws=2).W
    assert_close(two[:2], one)
    assert not equal(two[2:], one)


@mark.parametrize("friction", [None, 0.3])
def test_cyclical_chains_are_their_recursion_step_by_step(linear, friction):
    """The rate falls along half a cosine in each cycle of ten steps and starts again; only the last
    four get noise."""
    net, data = linear
    settings = dict(
        n_draws=4,
        cycles=2,
        cycle_steps=10,
        noisy_share=0.4,
        lr=0.02,
        temperature=0.7,
        weight_decay=DECAY,
    )
    if friction is not None:
        settings["friction"] = friction
    start = net.at(net.w + 1)
    found = fv.fit(start, data, fv.CSGLD(**settings), seed=3, likelihood=STD).W
    source = rng(3)
    w = net.w + 1
    v = 0.0
    kept = []
    friction = friction or 1.0
    for k in range(20):
        in_cycle = k % 10
        eta = 0.02 / 2 * (1 + math.cos(math.pi * in_cycle / 10))
        v = (1 - friction) * v - eta * (H + DECAY) * w
        if in_cycle >= 6:
            variance = 2 * eta * friction * 0.7 / N
            v = v + math.sqrt(variance) * normals(500, source=source)
        w = w + v
        if k in (7, 9, 17, 19):
            kept.append(w)
    assert_exact(found, torch.stack(kept))
    with refused("n_draws must be a multiple of cycles x chains = 4, got 6"):
        fv.fit(net, data, fv.CSGLD(n_draws=6), seed=0)
    with refused("friction must be above 0 and at most 1, got 0"):
        fv.fit(net, data, fv.CSGLD(friction=0), seed=0, likelihood=STD)


def walled(w):
    """A sharp well at -2 (width .15, depth 1) and a flat one at +2 (width .8, depth .93), between
    walls at -5 and 6."""
    sharp = torch.exp(-(((w + 2) / 0.15) ** 2) / 2)
    flat = torch.exp(-(((w - 2) / 0.8) ** 2) / 2)
    outside = w - w.clamp(-5, 6)
    return 1 - sharp - 0.93 * flat + 5 * outside**2


def test_flat_seeking_sgld_spends_less_time_in_the_sharp_well(of_weights):
    """600 particles as the weights of one net; SAM's norm is taken of each alone, so that each is a
    chain of its own."""

    # Whose squares, halved, are the well plus one: what noise 1 and targets 0 make of it
    def outputs(w, x):
        return (2 * (walled(w) + 1)).sqrt().expand(len(x), -1)

    def each_alone(w, g):
        return fv.SAM(rho)(w[..., None], g[..., None])[..., 0]

    is_sharp = lambda w: ((w + 2).abs() < 0.5).double()
    data = fv.Data(zeros(3, 1).double(), zeros(3, 600).double())
    grid = torch.linspace(-6.5, 7.5, 20_001).double()
    cumulative = torch.softmax(-3 * walled(grid), 0).cumsum(0)
    middles = (torch.arange(600).double() + 0.5) / 600
    start = grid[torch.searchsorted(cumulative, middles)]
    settings = dict(seed=0, likelihood=1.0)
    fields = dict(lr=0.01, n_draws=12, burn_in=300, thin=25, weight_decay=0.0)
    for rho in (0.0, 0.1, 0.2):  # all start at the posterior without an ascent
        net = of_weights(outputs, start)
        W = fv.fit(net, data, fv.SGLD(ascent=each_alone, **fields), **settings).W
        worst = torch.maximum(walled(grid + rho), walled(grid - rho))
        mass = torch.softmax(-3 * worst, 0)
        exact = float(mass @ is_sharp(grid))
        found = float(is_sharp(W).mean())
        assert found == approx(exact, abs=0.03)  # .154, .082, .051; 600 particles: sd .01


def test_a_thermostat_cools_too_far_where_few_examples_cancel_over_an_epoch():
    """Linear regression of 20 weights: the mean variance over the exact one, of 2,400 draws."""
    X = normals(60, 20)
    noise = STD * normals(60, 1, source=1)
    data = fv.Data(X, X.sum(-1, keepdim=True) + noise)
    layer = torch.nn.Linear(20, 1, bias=False)
    net = net_of(layer.double())
    precision = X.T @ X / STD**2 + 60 * DECAY * torch.eye(20)
    how = dict(seed=0, likelihood=STD)
    fields = dict(lr=0.002, weight_decay=DECAY, n_draws=2400, chains=40, burn_in=500, thin=20)

    def ratio(batch_size):
        W = fv.fit(net, data, fv.SGNHT(**fields), batch_size=batch_size, **how).W
        ratios = precision @ torch.cov(W.T)
        return float(ratios.trace() / 20)

    assert ratio(None) == approx(1, abs=0.04)  # 2,400 draws, and the finite step
    assert ratio(6) < 0.92  # .82 to .88 on six seeds
