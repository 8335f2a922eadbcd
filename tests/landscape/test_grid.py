"""The grid: to be cancelled and resumed, on disk."""

import pytest
import torch
from oracles import stopping_at
from torch import nn

import flatviz as fv
from flatviz.storage.cache import PointStore


class Counted(fv.Objective):
    """A quadratic that notes where it was asked; the power fails in the middle of call number `dies`."""

    label, key, n, dies = "counted", "a quadratic", None, None

    def __init__(self):
        self.asked = []

    def __call__(self, w):
        if len(self.asked) == self.dies:
            self.dies = None
            raise Power
        self.asked.append(tuple(w.tolist()))
        return (w * torch.tensor([1.0, 3.0, 0.0], dtype=w.dtype)).square().sum()


class Power(Exception):
    """Cut in the middle of a point: nothing of Python's runs to the end."""


@pytest.fixture
def counted():
    """(objective, plane)."""
    eye = torch.eye(3, dtype=torch.float64)
    return Counted(), fv.Plane(torch.zeros(3, dtype=torch.float64), eye[:2], "distance", extent=((-1, 1), (-2, 2)))


def test_a_killed_run_goes_on_and_computes_again_one_point_of_what_it_reads(counted, tmp_path):
    f, plane = counted
    with pytest.raises(KeyboardInterrupt):
        fv.slice_plane(f, plane, resolution=11, cache=tmp_path, progress=stopping_at(3))
    before = len(f.asked)
    assert 0 < before < 121
    (tmp_path / ".flatviz-0.part").write_bytes(b"torn")  # what a kill in the middle of a write leaves
    resumed, read = (fv.slice_plane(f, plane, resolution=11, cache=tmp_path).values for _ in range(2))
    assert len(f.asked) == 123 and len(set(f.asked)) == 121
    assert torch.equal(resumed, read) and torch.equal(resumed, fv.slice_plane(f, plane, resolution=11).values)


def test_a_kill_costs_the_block_at_work(counted, tmp_path, monkeypatch):
    f, plane = counted
    f.dies = 40  # in the middle of the third block
    monkeypatch.setattr("flatviz.landscape.grid.SAVE_EVERY", 0.0)
    writes, write = [], PointStore.write
    monkeypatch.setattr(PointStore, "write", lambda *given: writes.append(1) or len(writes) < 3 and write(*given))
    with pytest.raises(Power):
        fv.slice_plane(f, plane, resolution=11, cache=tmp_path)  # the last write, after the cut, is not there
    monkeypatch.undo()
    surface = fv.slice_plane(f, plane, resolution=11, cache=tmp_path)
    assert len(f.asked) == 40 + 121 - 32 + 1 and len(set(f.asked)) == 121 and surface.n_diverged == 0


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
    data, treated = fv.Data(torch.randn(8, 3), torch.arange(8) % 2), lambda name: name.startswith("2")
    net = fv.Net.from_module(module, treated)
    keys = {fv.nll(net, data).key, fv.nll(net, fv.Data(data.x + 1, data.y)).key, fv.quantity(net, data, "accuracy").key}
    keys.add(fv.nll(fv.Net.from_module(module, "all"), data).key)
    for tensor in (module[0].weight.data, module[1].running_mean):  # not treated, but the values depend on it
        tensor += 1
        keys.add(fv.nll(fv.Net.from_module(module, treated), data).key)
    assert len(keys) == 6
    assert fv.nll(net, data).key == fv.nll(net.copy(), data).key
    with pytest.raises(ValueError, match="cache needs an objective that says what it depends on"):
        fv.slice_plane(lambda w: w.sum(), fv.plane_random(net, net.w, seed=0), cache=tmp_path)


def test_a_quick_look_states_its_error(task, conv, tiny):
    net, _ = conv
    f, plane = fv.nll(net, task.train), fv.plane_random(net, net.w + 0.3 * torch.randn(net.dim), seed=0)
    exact, quick = fv.slice_plane(f, plane, resolution=5), fv.slice_plane(f, plane, resolution=5, precision="bfloat16")
    true = float((exact.values - quick.values).abs().max())
    assert quick.precision == "bfloat16" and exact.error is None
    assert 0 < quick.error <= true * 1.01 + 1e-6 and true < 0.1 * float(exact.values.max())
    for g in (fv.quantity(net, task.train, "nll", batchnorm=task.train), lambda w: w.sum()):
        with pytest.raises(ValueError, match="precision='bfloat16' needs an objective of one network with frozen BatchNorm"):
            fv.slice_plane(g, plane, precision="bfloat16")
    f = fv.nll(*tiny)  # float64
    quick = fv.slice_plane(f, fv.plane_random(f.net, f.net.w, seed=0), resolution=3, precision="float32")
    assert 0 < quick.error < 1e-5


def test_a_path_gives_the_values_at_its_points(quadratic):
    f, _, c = quadratic
    W = c + torch.arange(4, dtype=torch.float64)[:, None]
    path = fv.slice_path(f, W)
    torch.testing.assert_close(path.values, torch.stack([f(w) for w in W]))
    assert path.t.tolist() == [0, 1, 2, 3] and path.x_label == "step"
    with pytest.raises(ValueError, match=r"t must have shape \(4,\), got \(2,\)"):
        fv.slice_path(f, W, t=torch.zeros(2))
