"""The grid: coarse to fine, to be cancelled and resumed, on disk and on a cluster."""

import pytest
import torch
from oracles import stopping_at
from torch import nn

import flatviz as fv


@pytest.fixture
def counted():
    """An objective that notes where it was asked; (f, plane)."""

    class Counted(fv.Objective):
        label, key, n = "counted", "a quadratic", None

        def __init__(self):
            self.asked = []

        def __call__(self, w):
            self.asked.append(tuple(w.tolist()))
            return (w * torch.tensor([1.0, 3.0, 0.0], dtype=w.dtype)).square().sum()

    eye = torch.eye(3, dtype=torch.float64)
    return Counted(), fv.Plane(torch.zeros(3, dtype=torch.float64), eye[:2], "distance", extent=((-1, 1), (-2, 2)))


def test_a_killed_run_goes_on_and_computes_no_point_twice(counted, tmp_path):
    f, plane = counted
    with pytest.raises(KeyboardInterrupt):
        fv.slice_plane(f, plane, resolution=11, cache=tmp_path, progress=stopping_at(3))
    before = len(f.asked)
    assert 0 < before < 121
    (store,) = tmp_path.glob("*.safetensors")
    with store.open("ab") as file:
        file.write(b"torn")  # half a record: what a kill in the middle of a write leaves
    surface = fv.slice_plane(f, plane, resolution=11, cache=tmp_path)
    assert len(f.asked) == 121 == len(set(f.asked))
    again = fv.slice_plane(f, plane, resolution=11, cache=tmp_path)
    assert len(f.asked) == 121 and torch.equal(again.values, surface.values)
    assert torch.equal(surface.values, fv.slice_plane(f, plane, resolution=11).values)


class Power(Exception):
    """Cut in the middle of a point: nothing of Python's runs to the end."""


def test_a_kill_costs_only_the_point_at_work(counted, tmp_path, monkeypatch):
    f, plane = counted
    told, f_of = [], type(f).__call__

    def dies(self, w):
        if len(told) == 24:  # in the middle of the second block
            told.append(None)
            raise Power
        told.append(tuple(w.tolist()))
        return f_of(self, w)

    monkeypatch.setattr(type(f), "__call__", dies)
    with pytest.raises(Power):
        fv.slice_plane(f, plane, resolution=11, cache=tmp_path)
    surface = fv.slice_plane(f, plane, resolution=11, cache=tmp_path)
    assert len(f.asked) == 121 == len(set(f.asked)) and surface.n_diverged == 0


def test_a_changed_setting_never_meets_a_stale_file(counted, tmp_path):
    f, plane = counted
    fv.slice_plane(f, plane, resolution=5, cache=tmp_path)
    other = fv.Plane(plane.origin + 1, plane.axes, "distance", extent=plane.extent)
    for change in (dict(extent=0.5), dict(resolution=6), dict(exact=True)):
        fv.slice_plane(f, plane, **{"resolution": 5, **change}, cache=tmp_path)
    fv.slice_plane(f, other, resolution=5, cache=tmp_path)
    f.key = "another objective"
    fv.slice_plane(f, plane, resolution=5, cache=tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) == 6 and len(f.asked) == 5 * 25 + 36


def test_the_key_of_a_network_is_all_its_values_depend_on(tmp_path):
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    x = torch.randn(8, 3)
    data = fv.Data(x, torch.arange(8) % 2)
    net = fv.Net.from_module(module, lambda name: name.startswith("2"))
    keys = {fv.nll(net, data).key, fv.nll(net, fv.Data(x + 1, data.y)).key, fv.quantity(net, data, "accuracy").key}
    keys.add(fv.nll(fv.Net.from_module(module, "all"), data).key)
    with torch.no_grad():
        module[0].weight[0, 0] += 1  # not treated, but the values depend on it
    keys.add(fv.nll(fv.Net.from_module(module, lambda name: name.startswith("2")), data).key)
    module[1].running_mean += 1
    keys.add(fv.nll(fv.Net.from_module(module, lambda name: name.startswith("2")), data).key)
    assert len(keys) == 6
    assert fv.nll(net, data).key == fv.nll(net.copy(), data).key
    with pytest.raises(ValueError, match="cache needs an objective that says what it depends on"):
        fv.slice_plane(lambda w: w.sum(), fv.plane_random(net, net.w, seed=0), cache=tmp_path)


def test_a_quick_look_states_its_error(task, conv):
    net, _ = conv
    away = net.w + 0.3 * torch.randn(net.dim, generator=torch.Generator().manual_seed(0))
    f, plane = fv.nll(net, task.train), fv.plane_random(net, away, seed=0)
    exact, quick = fv.slice_plane(f, plane, resolution=5), fv.slice_plane(f, plane, resolution=5, precision="bfloat16")
    true = float((exact.values - quick.values).abs().max())
    assert quick.precision == "bfloat16" and exact.error is None
    assert 0 < quick.error <= true * 1.01 + 1e-6 and true < 0.1 * float(exact.values.max())
    re_estimated = fv.quantity(net, task.train, "nll", batchnorm=task.train)
    for g in (re_estimated, lambda w: w.sum()):
        with pytest.raises(ValueError, match="precision='bfloat16' needs an objective of one network with frozen BatchNorm"):
            fv.slice_plane(g, plane, precision="bfloat16")


def test_a_float64_net_in_float32_states_its_error(tiny):
    net, data = tiny
    f, plane = fv.nll(net, data), fv.plane_random(net, net.w, seed=0)
    assert 0 < fv.slice_plane(f, plane, resolution=3, precision="float32").error < 1e-5
    assert fv.slice_plane(f, plane, resolution=3).error is None


def test_a_path_gives_the_values_at_its_points(quadratic):
    f, _, c = quadratic
    W = c + torch.arange(4, dtype=torch.float64)[:, None]
    path = fv.slice_path(f, W, name="training")
    torch.testing.assert_close(path.values, torch.stack([f(w) for w in W]))
    assert path.t.tolist() == [0, 1, 2, 3] and path.x_label == "step"
    with pytest.raises(ValueError, match=r"t must have shape \(4,\), got \(2,\)"):
        fv.slice_path(f, W, t=torch.zeros(2))
