"""Tuning: equal trials, the record first, the validation split small and apart, a diverged trial counted and not chosen."""

import json
import math

import pytest
import torch

import flatviz as fv
from flatviz.cli import main
from flatviz.studies import tune as study


@pytest.fixture
def quick(monkeypatch, transferred, task, tmp_path):
    """The network that the other tests share, in place of one pre-trained for each seed."""
    monkeypatch.setattr(study, "prepare", lambda model, seed, epochs: (transferred[0], task, transferred[1]))
    monkeypatch.setitem(study.SPACE, "steps", study._one_of(4, 8))
    monkeypatch.setitem(study.SPACE, "snapshots", study._one_of(5, 6))
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "cache"))


def test_validation_is_as_small_as_the_shots_and_no_longer_in_the_test_split(task):
    whole = fv.datasets.digits_transfer(seed=0, validation=0)
    same, validation = study.with_validation(task, 0)
    assert same is task and validation is task.validation
    narrowed, taken = study.with_validation(whole, 0)  # a task without one
    assert torch.equal(taken.x, validation.x) and torch.equal(narrowed.test.x, task.test.x)
    assert torch.bincount(validation.y).tolist() == [10] * 10 == torch.bincount(task.train.y).tolist()
    assert len(narrowed.test) == len(whole.test) - 100
    rows = {tuple(row.tolist()) for row in narrowed.test.x.flatten(1)}
    assert not rows & {tuple(row.tolist()) for row in validation.x.flatten(1)}


def test_every_method_gets_the_same_trials_and_its_record_is_the_first(quick):
    results = study.tune(["sgd", "sabma", "f-swag"], trials=3, seeds=(7,))
    assert {len(t.trials) for t in results.values()} == {3}
    for name, tuning in results.items():
        assert tuning.trials[0].choice == study.Choice()
        assert tuning.best.score == min(t.score for t in tuning.trials) <= tuning.trials[0].score
        later = tuning.trials[1].choice
        assert ("radius" in study.space_of(fv.METHODS[name], fv.Net.from_module(torch.nn.Linear(2, 2)))) == (
            later.radius is not None
        )
    assert results["sabma"].trials[1].choice.head_std is not None and results["sgd"].trials[1].choice.head_std is None


def test_a_trial_that_diverges_is_counted_and_never_chosen(quick, monkeypatch):
    monkeypatch.setitem(study.SPACE, "lr", lambda u: 1e20)
    tuning = study.tune(["sgd"], trials=3, seeds=(7,))["sgd"]
    assert [math.isfinite(t.score) for t in tuning.trials] == [True, False, False]
    assert tuning.to_dict()["diverged"] == 2 and tuning.best is tuning.trials[0]


def test_the_width_of_the_head_changes_and_nothing_else(transferred):
    net, prior = transferred
    wide = study.with_head_std(net, prior, 0.5)
    for block in net.blocks:
        same = torch.equal(wide.log_std[block.slice], prior.log_std[block.slice])
        assert same == (block.kind != "head")
    assert torch.equal(wide.mean, prior.mean) and study.with_head_std(net, prior, None) is prior


def test_the_command_writes_what_was_chosen_and_how(quick, tmp_path, capsys):
    out = tmp_path / "tuned.json"
    assert main(["tune", "--methods", "sgd,vi", "--trials", "2", "--seeds", "7", "--out", str(out)]) == 0
    written = json.loads(out.read_text())
    assert "flatviz tune --methods sgd,vi --trials 2 --seeds 7" in written["about"]["command"]
    assert set(written["methods"]) == {"sgd", "vi"} and written["methods"]["vi"]["trials"] == 2
    assert study.read_choices(out)["vi"] == study.tune(["vi"], trials=2, seeds=(7,))["vi"].best.choice
    assert "SGD (MAP)" in capsys.readouterr().out


def test_an_unknown_method_is_refused(quick):
    with pytest.raises(ValueError, match="method must be one of"):
        study.tune(["adam"], trials=2)


def test_a_file_of_something_else_is_one_clear_error(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="a tuning must be a file that flatviz tune wrote, got"):
        study.read_choices(tmp_path / "x.json")
