"""The store of evaluated points: what damage, a kill and a full disk cost."""

from functools import partial

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.storage.cache import PointStore

resource = pytest.importorskip("resource")


def stored(folder):
    """(which of its points a store has, their values)."""
    values, done = torch.full((6,), torch.nan, dtype=torch.float64), torch.zeros(6, dtype=torch.bool)
    PointStore(folder, 6, objective="f").read(values, done)
    return done, values


def filled(folder):
    store = PointStore(folder, 6, objective="f")
    store.write(torch.tensor([0.5, 1.5, float("inf"), 3.5, torch.nan, 9.0]), torch.tensor([True] * 4 + [False] * 2))
    return store.path


def test_points_come_back_and_a_damaged_file_is_said_and_set_aside(tmp_path):
    path = filled(tmp_path)
    done, values = stored(tmp_path)
    assert done.tolist() == [True] * 4 + [False] * 2 and values[:4].tolist() == [0.5, 1.5, float("inf"), 3.5]
    damaged = bytearray(path.read_bytes())
    damaged[-20] ^= 1
    path.write_bytes(damaged)
    with pytest.warns(UserWarning, match="damaged, so computed again: .*; set aside as .*safetensors.damaged"):
        assert not stored(tmp_path)[0].any()
    assert path.with_name(f"{path.name}.damaged").read_bytes() == damaged
    filled(tmp_path)
    assert stored(tmp_path)[0].sum() == 4


def test_a_full_disk_stops_the_storing_and_not_the_slice(tiny, tmp_path):
    f = fv.nll(*tiny)
    run = partial(fv.slice_plane, f, fv.plane_random(f.net, f.net.w, seed=0), resolution=5, exact=True)
    want = run(cache=tmp_path / "whole").values
    (whole,) = (tmp_path / "whole").iterdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole.stat().st_size - 1, limits[1]))
    try:
        with pytest.warns(UserWarning, match="points not stored in .*; they are computed all the same"):
            values = run(cache=tmp_path / "full").values
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert torch.equal(values, want)
    assert torch.equal(run(cache=tmp_path / "full").values, want)


def test_stored_values_are_computed_again_where_one_of_them_is_another_now(tmp_path, tiny, monkeypatch):
    """Whatever makes it another: here a class of torch was patched while they were stored."""
    f = fv.nll(*tiny)
    slice_ = partial(fv.slice_plane, f, fv.plane_random(f.net, f.net.w, seed=0), resolution=3)
    with monkeypatch.context() as patched:
        patched.setattr(nn.Tanh, "forward", lambda self, x: x.relu())
        slice_(cache=tmp_path)
    with pytest.warns(UserWarning, match="stored values differ from those computed now"):
        got = slice_(cache=tmp_path)
    assert torch.equal(got.values, slice_().values)
    assert torch.equal(slice_(cache=tmp_path).values, got.values)  # without a warning: they are stored in their place
