"""A checkpoint is of one run; damaged or foreign files cost the saved steps and nothing else, and a full disk costs no fit."""

import errno
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from oracles import stopping_at

import flatviz as fv
from flatviz.storage.digest import arguments_digest
from flatviz.storage.files import load_state, save_state


@pytest.fixture
def fit(tiny):
    return partial(fv.fit_sgd, *tiny, seed=0, steps=4, batch_size=4)


DAMAGED = {
    "empty": lambda c: b"", "text": lambda c: b"hello", "older": lambda c: b"flatviz checkpoint 00\n",
    "cut": lambda c: c[:40], "changed": lambda c: c[:-1] + b"?", "reversed": lambda c: c[::-1],
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_costs_the_saved_steps_and_never_the_values(fit, tmp_path, name):
    path = tmp_path / "run"
    want = fit(checkpoint=path).W
    path.write_bytes(content := DAMAGED[name](path.read_bytes()))
    with pytest.warns(UserWarning, match="checkpoint .*run: expected a checkpoint .* aside as .*run.damaged, starting anew"):
        assert torch.equal(fit(checkpoint=path).W, want)
    assert (tmp_path / "run.damaged").read_bytes() == content
    assert torch.equal(fit(checkpoint=path).W, want)  # whole again, without a warning


def test_a_checkpoint_of_another_layout_is_refused_and_changes_nothing(tmp_path):
    state = {"w": torch.arange(3.0), "losses": [torch.tensor(1.0)], "kept": [], "noise": torch.Generator().manual_seed(1)}
    save_state(state, 7, tmp_path / "c", "a run")
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


SHORT = dict(seed=0, batch_size=4)
CHAIN = SHORT | dict(burn_in=2, thin=2, n_draws=2, lr=1e-3)
FEW = SHORT | dict(steps=3)
CASES = [
    ("fit_sgd", FEW, dict(batch_size=6)),
    ("fit_sgd", FEW, dict(ascent=fv.SAM(0.1))),
    ("fit_dropout", FEW | dict(n_draws=2, rate=0.1), dict(rate=0.6)),
    ("fit_sgld", CHAIN, dict(burn_in=3, n_draws=4, thin=1)),
    ("fit_sgld", CHAIN, dict(temperature=0.5)),
    ("fit_emcmc", CHAIN, dict(eta=0.02)),
    ("fit_csgld", SHORT | dict(cycles=2, cycle_steps=6, n_draws=2, lr=1e-3), dict(noisy_share=0.9)),
    ("fit_mfvi", FEW, dict(prior_std=0.7)),
    ("fit_bsam", FEW, dict(damping=0.5)),
    ("fit_swag", SHORT | dict(rank=2, snapshots=3), dict(rank=3)),
    ("fit_ensemble", FEW | dict(members=2), dict(weight_decay=0.1)),
    ("fit_laplace", FEW | dict(structure="diagonal"), dict(momentum=0.5)),
]


@pytest.mark.parametrize(("name", "settings", "other"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_the_file_of_a_run_with_another_argument_is_refused(name, settings, other, tiny, tmp_path):
    net, data = tiny
    fit = partial(getattr(fv, name), checkpoint=tmp_path / "run", **settings)
    first = fit(net, data)
    assert torch.equal(first.center, fit(net, data).center)  # of the same run: read and given back
    for given, more in (((net, data), other), ((net.at(net.w + 1), data), {}), ((net, fv.Data(data.x, 2 - data.y)), {})):
        with pytest.raises(ValueError, match="checkpoint must be of this run"):
            fit(*given, **more)


def test_without_a_checkpoint_nothing_is_hashed():
    assert arguments_digest(dict(checkpoint=None, fit=len)) == ""
