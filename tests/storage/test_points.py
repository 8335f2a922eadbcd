"""The store of evaluated points: what damage, a kill and a full disk cost."""

from functools import partial

import pytest
import torch

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
