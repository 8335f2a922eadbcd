"""Files spoiled at random: no kind of file this library writes ever gives a wrong value, or an error from the depths.

A short run by default; `pytest -m slow tests/storage/test_fuzz_files.py` runs it long.
"""

import tempfile
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import equal

import flatviz as fv
from flatviz.storage.cache import PointStore, cache_key, cached
from flatviz.storage.files import load_state, save_state

VALUES = [0.25 * i for i in range(8)]


def result():
    plane = fv.Plane(torch.zeros(4), torch.eye(4)[:2], "step", extent=((-1.0, 1.0), (0.0, 2.0)))
    return {"surface": fv.Surface(plane, torch.arange(2.0), torch.arange(3.0), torch.arange(6.0).view(2, 3)), "seeds": (0, 1)}


def state(scale=1.0):
    noise = torch.Generator().manual_seed(int(scale))
    return {"w": scale * torch.arange(3.0), "losses": [scale * torch.ones(2)], "kept": [], "noise": noise}


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
        assert equal(cached("fuzz", result, seed=0)[0], result())
        assert cached("fuzz", result, seed=0)[1]


class Checkpoint:
    """A run's state: what is read is all of it, or nothing."""

    def write(self, folder):
        save_state(state(), 7, folder / "c", "a run")
        return folder / "c"

    def check(self, path):
        read = state(2.0)
        assert equal(read, state(1.0 if load_state(read, path, "a run") == 7 else 2.0))
        save_state(state(), 7, path, "a run")
        assert load_state(read, path, "a run") == 7 and equal(read, state())


class Points:
    """A store of points: every value read is the one written; then the rest is computed and all of it is read."""

    def write(self, folder):
        store = PointStore(folder, 8, objective="f")
        store.write(torch.tensor(VALUES, dtype=torch.float64), torch.ones(8, dtype=torch.bool))
        return store.path

    def check(self, path):
        values, done = torch.full((8,), -1.0, dtype=torch.float64), torch.zeros(8, dtype=torch.bool)
        store = PointStore(path.parent, 8, objective="f")
        store.read(values, done)
        assert (values.tolist(), bool(done.all())) in ((VALUES, True), ([-1.0] * 8, False))
        store.write(torch.tensor(VALUES, dtype=torch.float64), ~done | done)
        store.read(values, done)
        assert done.all() and values.tolist() == VALUES


@st.composite
def damages(draw):
    """A function from a file's content to another content."""
    where, length = draw(st.floats(0, 1, exclude_max=True)), draw(st.integers(1, 64))
    other = draw(st.binary(min_size=1, max_size=64))
    kinds = {
        "flip": lambda c, i: c[:i] + bytes([c[i] ^ (1 << length % 8)]) + c[i + 1 :],
        "cut": lambda c, i: c[:i],
        "overwrite": lambda c, i: c[:i] + other + c[i + len(other) :],
        "insert": lambda c, i: c[:i] + other + c[i:],
        "delete": lambda c, i: c[:i] + c[i + length :],
        "zero": lambda c, i: c[:i] + bytes(length) + c[i + length :],
        "append": lambda c, i: c + other,
        "replace": lambda c, i: other,
    }
    kind = draw(st.sampled_from([*["flip"] * 4, *kinds]))
    return lambda content: kinds[kind](content, int(where * len(content)))


KINDS = pytest.mark.parametrize("kind", [Result(), Entry(), Checkpoint(), Points()], ids=lambda k: type(k).__name__)


def spoiled(kind, change):
    """Write a file, change its content, read it; in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("FLATVIZ_CACHE", folder)
        path = kind.write(Path(folder))
        path.write_bytes(change(path.read_bytes()))
        kind.check(path)


@KINDS
@settings(max_examples=80, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(change=damages())
def test_a_file_spoiled_in_any_way_gives_the_right_values_or_one_clear_error(kind, change):
    spoiled(kind, change)
