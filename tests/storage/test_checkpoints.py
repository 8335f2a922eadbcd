"""Checkpoints are of one run; files that are damaged, foreign or spoiled at random give no wrong
value; a full disk costs no fit."""

import errno
import tempfile
import warnings
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from cases import fitted_by, refused, rng, warned
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from internals import PointStore, cache_key, cached
from oracles import equal, stopping_at
from pytest import fixture, mark, raises
from torch import arange, float64, ones, tensor, zeros

import flatviz as fv
from flatviz.storage.files import load_state, save_state


@fixture
def fit(tiny):
    return partial(fitted_by(fv.SGD), *tiny, seed=0, steps=4, batch_size=4)


DAMAGED = {
    "empty": lambda c: b"",
    "older": lambda c: b"flatviz checkpoint 00\n",
    "changed": lambda c: c[:-1] + bytes([c[-1] ^ 1]),
}


@mark.parametrize("name", DAMAGED)
def test_a_damaged_file_costs_the_saved_steps_and_never_the_values(fit, tmp_path, name):
    path = tmp_path / "run"
    want = fit(checkpoint=path).W
    path.write_bytes(content := DAMAGED[name](path.read_bytes()))
    with warned(
        "checkpoint .*run: expected a checkpoint .* aside as .*run.damaged, starting anew",
    ):
        assert torch.equal(fit(checkpoint=path).W, want)
    assert (tmp_path / "run.damaged").read_bytes() == content
    assert torch.equal(fit(checkpoint=path).W, want)  # whole again, without a warning


def test_a_checkpoint_of_another_layout_is_refused_and_changes_nothing(tmp_path):
    state = {
        "w": arange(3.0),
        "losses": [tensor(1.0)],
        "kept": [],
        "noise": rng(1),
    }
    save_state(state, 7, tmp_path / "c", "a run")
    for other in ({"w": zeros(4)}, {"velocity": zeros(3)}, {"w": zeros(3)}):
        with refused(
            "checkpoint must be of this run, .* got one of another version of flatviz in",
        ):
            load_state(other, tmp_path / "c", "a run")
        assert not any(value.any() for value in other.values())


@mark.parametrize("cancelled", [False, True])
def test_a_full_disk_loses_no_fit(fit, tmp_path, monkeypatch, cancelled):
    want = fit().W
    monkeypatch.setattr(
        Path, "open", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    )
    with warned(r"checkpoint not saved at step \d: .*No space left on device"):
        if cancelled:
            with raises(KeyboardInterrupt):
                fit(checkpoint=tmp_path / "run", progress=stopping_at(2))
        else:
            assert torch.equal(fit(checkpoint=tmp_path / "run").W, want)
    assert not list(tmp_path.iterdir())


FEW = dict(seed=0, batch_size=4, steps=3)
CASES = [
    (fitted_by(fv.SGD), FEW, dict(ascent=fv.SAM(0.1))),
    (fitted_by(fv.Dropout), FEW | dict(n_draws=2, rate=0.1), dict(rate=0.6)),
    (fitted_by(fv.MeanFieldVI), FEW, dict(prior_std=0.7)),
    (fitted_by(fv.Ensemble), FEW | dict(members=2), dict(weight_decay=0.1)),
    (fitted_by(fv.Laplace), FEW | dict(structure="diagonal"), dict(momentum=0.5)),
]


@mark.parametrize("fit, settings, other", CASES)
def test_the_file_of_a_run_with_another_argument_is_refused(fit, settings, other, tiny, tmp_path):
    net, data = tiny
    fit = partial(fit, checkpoint=tmp_path / "run", **settings)
    first = fit(net, data)
    same = fit(net, data)  # read and given back
    assert equal(first.center, same.center)
    for these, more in (
        ((net, data), other),
        ((net.at(net.w + 1), data), {}),
        ((net, fv.Data(data.x, 2 - data.y)), {}),
    ):
        with refused("checkpoint must be of this run"):
            fit(*these, **more)


VALUES = [0.25 * i for i in range(8)]


def result():
    plane = fv.Plane(zeros(4), torch.eye(4)[:2], "step", extent=((-1.0, 1.0), (0.0, 2.0)))
    return {
        "surface": fv.Surface(plane, arange(2.0), arange(3.0), arange(6.0).view(2, 3)),
        "seeds": (0, 1),
    }


def state(scale=1.0):
    noise = rng(int(scale))
    return {
        "w": scale * arange(3.0),
        "losses": [scale * ones(2)],
        "kept": [],
        "noise": noise,
    }


class Result:
    """A result of `fv.save`, read by `fv.load`."""

    def write(self, folder):
        return fv.save(result(), folder / "r.safetensors")

    def check(self, path):
        try:
            assert equal(fv.load(path), result())
        except ValueError as error:
            assert "a result must be a whole file that fv.save wrote" in str(error)


class Entry:
    """An entry of the cache."""

    def write(self, folder):
        cached("fuzz", result, seed=0)
        return folder / "fuzz" / f"{cache_key(seed=0)}.safetensors"

    def check(self, path):
        found = cached("fuzz", result, seed=0)[0]
        assert equal(found, result())
        assert cached("fuzz", result, seed=0)[1]


class Checkpoint:
    """A run's state: what is read is all of it, or nothing."""

    def write(self, folder):
        save_state(state(), 7, folder / "c", "a run")
        return folder / "c"

    def check(self, path):
        read = state(2.0)
        want = state(1.0 if load_state(read, path, "a run") == 7 else 2.0)
        assert equal(read, want)
        save_state(state(), 7, path, "a run")
        assert load_state(read, path, "a run") == 7
        assert equal(read, state())


class Points:
    """A store of points: every value read is the one written; then all are written and read."""

    def stored(self, folder):
        values = torch.full((8,), -1.0, dtype=float64)
        done = zeros(8, dtype=torch.bool)
        store = PointStore(folder, 8, objective="f")
        store.read(values, done)
        return store, values.tolist(), bool(done.all())

    def write(self, folder):
        store = PointStore(folder, 8, objective="f")
        store.write(tensor(VALUES, dtype=float64), torch.ones(8, dtype=torch.bool))
        return store.path

    def check(self, path):
        _, *found = self.stored(path.parent)
        assert found in ([VALUES, True], [[-1.0] * 8, False])
        self.write(path.parent)
        got = self.stored(path.parent)[1:]
        assert got == (VALUES, True)


@st.composite
def damages(draw):
    """A function from a file's content to another content."""
    where = draw(st.floats(0, 1, exclude_max=True))
    length = draw(st.integers(1, 64))
    other = draw(st.binary(min_size=1, max_size=64))
    kinds = {
        "flip": lambda c, i: c[:i] + bytes([c[i] ^ (1 << length % 8)]) + c[i + 1 :],
        "cut": lambda c, i: c[:i],
        "insert": lambda c, i: c[:i] + other + c[i:],
        "delete": lambda c, i: c[:i] + c[i + length :],
        "replace": lambda c, i: other,
    }
    kind = draw(st.sampled_from([*["flip"] * 4, *kinds]))
    return lambda content: kinds[kind](content, int(where * len(content)))


KINDS = mark.parametrize(
    "kind", [Result(), Entry(), Checkpoint(), Points()], ids=lambda k: type(k).__name__
)


def spoiled(kind, change):
    """Write a file, change its content, read it; in a folder of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        patch.setenv("FLATVIZ_CACHE", folder)
        path = kind.write(Path(folder))
        path.write_bytes(change(path.read_bytes()))
        kind.check(path)


@KINDS
@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(change=damages())
def test_a_file_spoiled_in_any_way_gives_the_right_values_or_one_clear_error(kind, change):
    spoiled(kind, change)
