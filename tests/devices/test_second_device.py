"""Everything that a user calls, with network, data and task on a device that is not the CPU."""

import dataclasses
from functools import partial

import pytest
import torch
from every_verb import calls, users_things

import flatviz as fv
from flatviz.engine.graphs import RECORDERS
from flatviz.results import FOR_READERS


@pytest.fixture
def there(device, tmp_path):
    """(module, data, task, metric) of every_verb's calls, on the device."""
    return users_things(tmp_path / "q.pt", device=device)


def tensors_for_readers(value, inside=False):
    """Every tensor of a noun for readers in `value`."""
    if isinstance(value, torch.Tensor):
        return [value] if inside else []
    if type(value) in (fv.Gaussian, fv.Draws):
        return tensors_for_readers(value.history, True)
    if isinstance(value, dict):
        value = list(value.values())
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, fv.Mixture)):
        value, inside = (
            [getattr(value, f.name) for f in dataclasses.fields(value)],
            inside or type(value) in FOR_READERS,
        )
    return (
        [t for item in value for t in tensors_for_readers(item, inside)]
        if isinstance(value, (list, tuple))
        else []
    )


def test_every_public_verb_runs_and_its_results_for_readers_lie_on_the_cpu(there):
    failed = {}
    seen = 0
    for name, call in calls(fv, *there).items():
        try:
            tensors = tensors_for_readers(call())
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            continue
        seen += len(tensors)
        if {t.device.type for t in tensors} - {"cpu"}:
            failed[name] = "a result for readers lies on the device"
    assert not failed, "\n".join(f"{name}: {error}" for name, error in failed.items())
    assert seen > 100  # the look found them


def test_a_verb_takes_results_from_the_cpu_beside_a_net_on_the_device(there, tmp_path):
    _, data, task, _ = there
    net = fv.Net.from_module(there[0])
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
    q = fv.fit_vi(net, data, prior, seed=0, steps=2)
    assert q.mean.device == net.w.device and q.history.loss.device.type == "cpu"
    loaded = fv.load(fv.save(q, tmp_path / "q.pt"))
    assert loaded.mean.device.type == "cpu"
    surface = fv.slice_plane(fv.nll(net, data), fv.plane_pca(q.sample(4, seed=0)), resolution=3)
    again = fv.slice_plane(fv.nll(net, data), surface.plane, resolution=3)  # the plane of a result
    assert torch.equal(again.values, surface.values)
    predict = partial(fv.predict, n_draws=3, seed=0, batchnorm="frozen")
    outputs = predict(net, q, data).outputs
    assert torch.equal(predict(net, loaded, data).outputs, outputs)
    on_cpu = predict(
        net.to("cpu"), q, data.to("cpu")
    ).outputs  # and weights from the device beside a net on the CPU
    torch.testing.assert_close(on_cpu, outputs, rtol=1e-5, atol=1e-5)  # roundings of float32


def test_a_fit_and_eigenpairs_that_are_replayed_on_the_device_are_those_of_plain_steps(
    device, monkeypatch
):
    """With a stand-in for a graph: buffers, minibatches of two sizes and noise are those of the
    device."""
    module = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    net = fv.Net.from_module(module).to(device)
    data = fv.Data(torch.randn(10, 3), torch.arange(10) % 2).to(device)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
    recorded = []
    fit = partial(fv.fit_sabma, net, data, prior, radius=0.5, seed=0, steps=6, batch_size=4)
    plain = fit()
    spectrum = fv.top_eigenpairs(fv.nll(net, data), net.w, 2)
    monkeypatch.setitem(RECORDERS, device.type, lambda warm, step: recorded.append(warm()) or step)
    replayed = fit()
    assert len(recorded) == 2 and replayed.history.notes == ()
    torch.testing.assert_close(
        fv.top_eigenpairs(fv.nll(net, data), net.w, 2).values, spectrum.values
    )
    assert len(recorded) == 3
    assert all(
        torch.equal(getattr(plain, name).cpu(), getattr(replayed, name).cpu())
        for name in ("mean", "log_std", "factor")
    )
