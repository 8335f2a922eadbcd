"""A checkpoint on disk: damaged or foreign files cost the saved steps and nothing else, and a full disk costs no fit."""

import errno
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from oracles import stopping_at

import flatviz as fv
from flatviz.storage.checkpoints import load_state, save_state


@pytest.fixture
def fit(tiny):
    net, data = tiny
    return partial(fv.fit_sgd, net, data, seed=0, steps=4, batch_size=4)


def a_state():
    return {"w": torch.arange(3.0), "losses": [torch.tensor(1.0)], "kept": [], "noise": torch.Generator().manual_seed(1)}


@pytest.mark.parametrize(
    "damaged",
    [lambda c: b"", lambda c: b"hello", lambda c: b"flatviz checkpoint 00\n", lambda c: c[:40], lambda c: c[:-1] + b"?", lambda c: c[::-1]],
    ids=["empty", "text", "older", "cut", "changed", "reversed"],
)  # fmt: skip
def test_a_damaged_file_costs_the_saved_steps_and_never_the_values(fit, tmp_path, damaged):
    path = tmp_path / "run"
    want = fit(checkpoint=path).W
    path.write_bytes(content := damaged(path.read_bytes()))
    said = r"checkpoint .*run: expected a checkpoint .*set aside as .*run.damaged, starting anew"
    with pytest.warns(UserWarning, match=said):
        assert torch.equal(fit(checkpoint=path).W, want)
    assert (tmp_path / "run.damaged").read_bytes() == content
    assert torch.equal(fit(checkpoint=path).W, want)  # whole again, without a warning


def test_a_checkpoint_of_another_layout_is_refused_and_changes_nothing(tmp_path):
    save_state(a_state(), 7, tmp_path / "c", "a run")
    for other in ({"w": torch.zeros(4)}, {"velocity": torch.zeros(3)}, {"w": torch.zeros(3)}):
        with pytest.raises(ValueError, match="checkpoint must be of this run, .* got one of another version of flatviz in"):
            load_state(other, tmp_path / "c", "a run")
        assert not any(value.any() for value in other.values())


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_full_disk_loses_no_fit(fit, tmp_path, monkeypatch, cancelled):
    want = fit().W

    monkeypatch.setattr(Path, "open", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.warns(UserWarning, match=r"checkpoint not saved at step \d: .*No space left on device"):
        if cancelled:
            with pytest.raises(KeyboardInterrupt):
                fit(checkpoint=tmp_path / "run", progress=stopping_at(2))
        else:
            assert torch.equal(fit(checkpoint=tmp_path / "run").W, want)
    assert not list(tmp_path.iterdir())
