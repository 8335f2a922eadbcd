"""The gap of a fit: large where it was stopped early or its widths are wrong, below its noise where
it arrived."""

import torch
from cases import normals, refused, rng
from pytest import approx, fixture, mark
from torch import float64, nn, zeros_like

import flatviz as fv

pytestmark = mark.long

LONG = {"kl_weight": 1.0, "start_scale": 1.0, "steps": 800}


@fixture(scope="module")
def problem():
    """A classifier of three classes on 60 points, all of its weights treated."""
    g = rng()
    y = torch.arange(60) % 3
    x = normals(60, 2, source=g) + torch.eye(3, 2, dtype=float64)[y]
    module = nn.Linear(2, 3).double()
    net = fv.Net.from_module(module)
    data = fv.Data(x, y)
    factor = torch.full((1, net.dim), 0.3, dtype=float64)
    prior = fv.Gaussian(
        zeros_like(net.w),
        zeros_like(net.w),
        factor,
    )
    return net.at(prior.mean), fv.Task(data, data, data, n_classes=3), prior


@mark.parametrize("method, radius", [("sabma", 0.5), ("sam_mu", 0.1), ("f-vi", 0.1)])
def test_a_long_fit_has_arrived_and_a_short_one_has_not(problem, method, radius):
    net, task, prior = problem
    record = fv.METHODS[method]
    gaps = {}
    for steps in (10, 800):
        fit = LONG | {"steps": steps}
        q = record.fit(
            net, task.train, prior, seed=0, **record.keywords(net, radius=radius, settings=fit)
        )
        gaps[steps] = fv.families.convergence_gap(
            net, task, prior, q, method, seed=0, radius=radius, fit=fit, n_draws=400
        )
    assert gaps[10].gap > 10 * gaps[10].gap_noise
    assert gaps[10].widths > 0.3
    assert abs(gaps[800].gap) < 0.003
    assert gaps[800].widths < 0.1
    assert str(gaps[10]).startswith(f"objective {gaps[10].objective:.3f} after 10 steps")


def test_widths_off_by_a_known_factor_are_reported_as_such(problem):
    """With the data left at a weight of 0.001 q is nearly the prior, whose variances times 1.5 are
    50 % off."""
    net, task, prior = problem
    fit = LONG | {"kl_weight": 1000.0, "steps": 200}
    wide = fv.Gaussian(
        prior.mean, prior.log_std + 0.5 * torch.tensor(1.5).log(), prior.factor * 1.5**0.5
    )
    gap = fv.families.convergence_gap(
        net,
        task,
        prior,
        wide,
        "vi",
        seed=0,
        fit=fit,
        n_draws=2000,
    )
    assert gap.widths == approx(0.5, rel=0.1)
    for method, kl_weight, text in (
        ("vi", 0.0, "kl_weight must be > 0, got 0"),
        ("swag", 1.0, "method must be one of"),
    ):
        with refused(text):
            fv.families.convergence_gap(
                net, task, prior, wide, method, seed=0, fit=fit | {"kl_weight": kl_weight}
            )


def test_the_objective_is_the_mean_loss_plus_the_weighted_divergence_from_the_prior(problem):
    net, task, prior = problem
    fit = LONG | {"kl_weight": 10.0, "steps": 5}
    q = fv.Gaussian(prior.mean + 1.0, prior.log_std, prior.factor)
    gap = fv.families.convergence_gap(net, task, prior, q, "vi", seed=0, fit=fit, n_draws=2000)
    losses = fv.nll(net, task.train).many(q.sample(4000, seed=9))
    divergence = 10 / 60 * float(q.kl(prior))
    noise = float(losses.std()) / 2000**0.5
    assert divergence > 10 * noise  # or it could not be told
    assert gap.objective == approx(float(losses.mean()) + divergence, abs=4 * noise)
