"""Tuning: equal trials, the record first, the validation split small and apart, a diverged trial
counted and not chosen."""

import math
from dataclasses import replace

import torch
from cases import COARSE
from internals import Fitting, TourSettings, run_tour
from pytest import approx, fixture, raises

import flatviz as fv
from flatviz.families import tune as study
from flatviz.families.members import Choice, read_choices, with_head_std


@fixture
def quick(monkeypatch, transferred, task):
    """One case, the network that the other tests share, and short fits."""
    monkeypatch.setitem(study.SPACE, "steps", [4, 8])
    monkeypatch.setitem(study.SPACE, "snapshots", [5, 6])
    net, prior = transferred
    return [(net, task, task.validation, prior)]


def test_every_method_gets_the_same_trials_and_its_record_is_the_first(transferred):
    net, _ = transferred
    for name in ("sgd", "sabma", "f-swag", "vi"):
        record = fv.METHODS[name].plain
        choices = study.choices_of(fv.METHODS[name], net, 5)
        assert len(choices) == 5
        assert choices[0].settings == record.settings
        assert choices[0].radius in (None, record.radius)
        assert all((c.radius is not None) == (name in ("sabma", "f-swag")) for c in choices[1:])
        assert all((c.head_std is not None) == (name in ("sabma", "vi")) for c in choices)
        assert len({str(c) for c in choices}) == 5
        # More trials keep the first
        assert study.choices_of(fv.METHODS[name], net, 3) == choices[:3]
    lists = {
        name: study.choices_of(fv.METHODS[name], net, 20)[1:]
        for name in ("vi", "sabma", "sam_mu", "f-vi")
    }
    shared = ("lr", "steps", "kl_weight", "weight_decay")
    seen = {
        n: [(c.head_std, *(c.settings[k] for k in shared)) for c in theirs]
        for n, theirs in lists.items()
    }
    # One list of trials: what is shared has VI's values
    assert all(theirs == seen["vi"] for theirs in seen.values())
    # Of natural gradients, whose record has 2
    assert all(0.2 <= c.settings["lr"] <= 2 for c in lists["vi"])
    assert all(c.settings["lr"] <= 0.2 for c in study.choices_of(fv.METHODS["sgd"], net, 20))
    radii = [choice.radius for choice in lists["sabma"]]
    assert min(radii) == 0 < sorted(radii)[5] < 1
    fixed = study.choices_of(fv.METHODS["vi"], net, 4, fixed={"steps": 7}, head_std=0.7)
    assert {c.settings["steps"] for c in fixed} == {7}
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


def test_a_choice_keeps_its_meaning_when_the_record_changes(monkeypatch, transferred, task):
    net, prior = transferred
    tuned = {"vi": study.choices_of(fv.METHODS["vi"], net, 1)[0]}
    before = Fitting(net, task, prior, seed=0, tuned=tuned, fit={"steps": 4}).member("vi")
    plain = replace(fv.METHODS["vi"].plain, settings=fv.METHODS["vi"].plain.settings | {"lr": 0.5})
    monkeypatch.setitem(fv.METHODS, "vi", replace(fv.METHODS["vi"], plain=plain))
    after = Fitting(net, task, prior, seed=0, tuned=tuned, fit={"steps": 4}).member("vi")
    assert torch.equal(before.mean, after.mean)


def test_a_tuned_family_has_the_chosen_radius_settings_and_prior_of_each_method(transferred, task):
    net, prior = transferred
    wide = with_head_std(net, prior, 0.6)
    for b in net.blocks:
        assert torch.equal(wide.log_std[b.slice], prior.log_std[b.slice]) == (b.kind != "head")
    assert torch.equal(wide.mean, prior.mean)
    assert with_head_std(net, prior, None) is prior
    tuned = {"vi": Choice({"steps": 5}), "sabma": Choice({"steps": 4, "kl_weight": 0.5}, 0.7, 0.6)}
    family = fv.families.fit_family(
        net, task, prior, radii={"vi": (0.0,), "sabma": (0.0, 2.0)}, seed=0, tuned=tuned
    )
    assert family.radius == (0.0, 0.0, 0.7, 2.0)
    settings = dict(
        steps=4,
        kl_weight=0.5,
        seed=0,
        start_scale=fv.METHODS["sabma"].plain.settings["start_scale"],
    )
    by_hand = fv.fit_sabma(net, task.train, wide, radius=0.7, **settings)
    # Trained together
    torch.testing.assert_close(family.posterior[2].mean, by_hand.mean, rtol=1e-5, atol=1e-6)
    zero = fv.fit_vi(net, task.train, wide, **settings)
    # VI at the settings of SA-BMA, not VI's own
    assert torch.equal(family.posterior[1].mean, zero.mean)
    assert not torch.equal(family.posterior[0].mean, zero.mean)
    alike = fv.families.fit_family(
        net, task, prior, radii={"vi": (0.0,), "sabma": (0.0,)}, seed=0, fit={"steps": 3}
    )
    assert alike.posterior[0] is alike.posterior[1]


def test_tour_and_lab_take_the_choices_and_a_file_of_something_else_is_one_clear_error(
    transferred, task, tmp_path, cache
):
    net, prior = transferred
    (tmp_path / "x.json").write_text("[1, 2]")
    with raises(ValueError, match="a tuning must be a file that flatviz run tune wrote, got"):
        read_choices(tmp_path / "x.json")
    tuned = {"sabma": Choice({"steps": 3}, 0.7)}
    lab = fv.lab(net, task, prior=prior, radii={"sabma": (0.0, 2.0)}, tuned=tuned, fit={"steps": 2})
    assert lab.wait(300)
    assert lab.family.radius == (0.0, 0.7, 2.0)
    assert lab.radius == 0.7
    lab.close()
    tour = run_tour(
        seed=0,
        settings=TourSettings(
            epochs=2, radii={"sabma": (0.0, 2.0)}, tuned=tuned, fit={"steps": 2}, measured=COARSE
        ),
    )
    assert tour.family.radius == (0.0, 0.7, 2.0)
