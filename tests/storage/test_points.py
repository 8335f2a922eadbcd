"""The store of evaluated points: what damage, a kill and a full disk cost."""

from functools import partial

import pytest
import torch
from torch import nn

import flatviz as fv
from flatviz.storage.cache import PointStore

resource = pytest.importorskip("resource")
PLAN = {"kind": "stacked", "sizes": [4, 2]}


def stored(folder):
    """(store, which of its points it has, their values)."""
    store, values = PointStore(folder, 6, objective="f"), torch.full((6,), torch.nan, dtype=torch.float64)
    return store, store.read(values), values


def filled(folder):
    store, *_ = stored(folder)
    store.begin(PLAN)
    store.append([0, 1, 2], [0.5, 1.5, float("inf")])
    store.append([3], [3.5])
    return store.path


def test_points_and_plan_come_back_and_a_damaged_header_is_said_and_its_file_set_aside(tmp_path):
    path = filled(tmp_path)
    store, done, values = stored(tmp_path)
    assert store.plan == PLAN and done.tolist() == [True] * 4 + [False] * 2
    assert values[:4].tolist() == [0.5, 1.5, float("inf"), 3.5]
    path.write_bytes(damaged := path.read_bytes().replace(b"4, 2]", b"4, 3]"))
    with pytest.warns(UserWarning, match="damaged, so computed again: .*; set aside as .*safetensors.damaged"):
        store, done, _ = stored(tmp_path)
    assert store.plan is None and not done.any()
    assert path.with_name(f"{path.name}.damaged").read_bytes() == damaged
    filled(tmp_path)
    assert stored(tmp_path)[1].sum() == 4


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
