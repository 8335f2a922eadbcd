"""Tuning: equal trials, the record first, the validation split small and apart, a diverged trial
counted and not chosen."""

import math

import torch
from cases import COARSE, fitted_by, refused
from internals import TourSettings, run_tour
from pytest import approx, fixture, mark
from torch import equal

import flatviz as fv
from flatviz.families import Choice, Fitting
from flatviz.families import tune as study
from flatviz.families.members import read_choices, with_head_std


@fixture
def quick(monkeypatch, transferred, task):
    """One case, the network that the other tests share, and short fits."""
    monkeypatch.setitem(study.SPACE, "steps", [4, 8])
    monkeypatch.setitem(study.SPACE, "snapshots", [5, 6])
    net, prior = transferred
    return [(net, task, task.validation, prior)]


@fixture
def choices_of(transferred):
    """Call it: the trials of a method, the first of which is its record."""
    net, _ = transferred
    return lambda name, n, **how: study.choices_of(fv.METHODS[name], net, n, **how)


@mark.parametrize(
    "name, with_radius, with_head",
    [
        ("sgd", False, False),
        ("vi", False, True),
        ("f-swag", True, False),
        ("sabma", True, True),
    ],
)
def test_the_record_is_the_first_trial_and_the_others_draw_what_it_has(
    name, with_radius, with_head, choices_of
):
    record = fv.METHODS[name].plain
    first, *others = choices = choices_of(name, 5)
    assert first.settings == record.settings
    assert first.radius in (None, record.radius)
    assert len({str(choice) for choice in choices}) == 5
    assert choices_of(name, 3) == choices[:3]  # more trials keep the first
    for choice in others:
        assert (choice.radius is not None) == with_radius
        assert (choice.head_std is not None) == with_head


def test_every_method_gets_the_same_trials(choices_of):
    def shared(name):
        names = "lr", "steps", "kl_weight", "weight_decay"
        trials = choices_of(name, 20)[1:]
        return [(c.head_std, *map(c.settings.get, names)) for c in trials]

    assert shared("vi") == shared("sabma") == shared("f-vi")
    rates = [rate for _, rate, *_ in shared("vi")]
    # Of natural gradients, whose record has 2
    assert 0.2 <= min(rates)
    assert max(rates) <= 2
    radii = sorted(choice.radius for choice in choices_of("sabma", 20)[1:])
    assert radii[0] == 0
    assert radii[5] < 1


def test_what_is_fixed_is_so_in_every_trial(choices_of):
    fixed = choices_of("vi", 4, fixed={"steps": 7}, head_std=0.7)
    assert {choice.settings["steps"] for choice in fixed} == {7}
    assert fixed[0].head_std == 0.7


def test_a_trial_is_scored_by_validation_nll_and_one_that_diverges_by_infinity(quick, monkeypatch):
    monkeypatch.setitem(study.SPACE, "lr", (1e20, 1e21))
    (net, task, validation, prior) = quick[0]
    method = fv.METHODS["sgd"]
    choices = study.choices_of(method, net, 3, fixed={"steps": 4})
    how = dict(prior=prior, seed=7)
    nlls = [study.nlls_of(method, c, net, task, [validation], **how)[0] for c in choices]
    assert [math.isfinite(nll) for nll in nlls] == [True, False, False]
    nll = nlls[0]
    choice = choices[0]
    q = Fitting(net, task, prior, seed=7, fit=choice.settings).member("sgd")
    assert nll == approx(float(fv.nll(net, validation)(q.center)), rel=1e-5)


def test_a_tuned_family_has_the_chosen_radius_settings_and_prior_of_each_method(transferred, task):
    net, prior = transferred
    wide = with_head_std(net, prior, 0.6)
    assert equal(wide.mean, prior.mean)
    for b in net.blocks:
        same = equal(wide.log_std[b.slice], prior.log_std[b.slice])
        assert same == (b.kind != "head")
    own = Choice({"steps": 4, "kl_weight": 0.5}, radius=0.7, head_std=0.6)
    tuned = {"vi": Choice({"steps": 5}), "sabma": own}
    radii = {"vi": (0.0,), "sabma": (0.0, 2.0)}
    family = fv.families.fit_family(
        net,
        task,
        prior,
        radii=radii,
        seed=0,
        tuned=tuned,
    )
    assert family.radius == (0.0, 0.0, 0.7, 2.0)
    of_vi, at_zero, at_own, _ = (q.mean for q in family.posterior)
    scale = fv.METHODS["sabma"].plain.settings["start_scale"]
    settings = dict(own.settings, seed=0, start_scale=scale)
    by_hand = fitted_by(fv.SABMA)(net, task.train, wide, radius=0.7, **settings)
    torch.testing.assert_close(at_own, by_hand.mean, rtol=1e-5, atol=1e-6)  # trained together
    # VI at the settings of SA-BMA, not VI's own
    zero = fitted_by(fv.VI)(net, task.train, wide, **settings)
    assert equal(at_zero, zero.mean)
    assert not equal(of_vi, zero.mean)


def test_methods_of_one_setting_share_their_vi(transferred, task):
    net, prior = transferred
    radii = {"vi": (0.0,), "sabma": (0.0,)}
    family = fv.families.fit_family(
        net,
        task,
        prior,
        radii=radii,
        seed=0,
        fit={"steps": 3},
    )
    assert family.posterior[0] is family.posterior[1]


def test_tour_and_lab_take_the_choices_and_a_file_of_something_else_is_one_clear_error(
    transferred, task, tmp_path, cache
):
    net, prior = transferred
    (tmp_path / "x.json").write_text("[1, 2]")
    with refused("a tuning must be a file that flatviz run tune wrote, got"):
        read_choices(tmp_path / "x.json")
    tuned = {"sabma": Choice({"steps": 3}, 0.7)}
    how = dict(radii={"sabma": (0.0, 2.0)}, tuned=tuned, fit={"steps": 2})
    lab = fv.lab(net, task, prior=prior, **how)
    assert lab.wait(300)
    assert lab.family.radius == (0.0, 0.7, 2.0)
    assert lab.radius == 0.7
    lab.close()
    settings = TourSettings(epochs=2, measured=COARSE, **how)
    tour = run_tour(seed=0, settings=settings)
    assert tour.family.radius == (0.0, 0.7, 2.0)
