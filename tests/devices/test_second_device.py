"""Everything that a user calls, with network, data and task on a device that is not the CPU."""

import dataclasses
from functools import partial

import torch
from cases import around, blobs, mlp, net_of
from every_verb import calls, users_things
from internals import NOT_REPLAYED, RECORDERS
from pytest import fixture, mark
from torch import equal, nn, randn
from torch.testing import assert_close

import flatviz as fv
from flatviz.engine.graphs import Replay, Single
from flatviz.results import FOR_READERS


@fixture
def there(device, tmp_path):
    """(module, data, task) of every_verb's calls, on the device."""
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
        inside = inside or type(value) in FOR_READERS
        value = [getattr(value, f.name) for f in dataclasses.fields(value)]
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
    _, data, task = there
    net = net_of(there[0])
    prior = around(net, -2.0)
    q = fv.fit(net, data, fv.VI(prior), seed=0, steps=2)
    assert q.mean.device == net.w.device
    assert q.history.loss.device.type == "cpu"
    loaded = fv.load(fv.save(q, tmp_path / "q.pt"))
    assert loaded.mean.device.type == "cpu"
    surface = fv.slice_plane(fv.nll(net, data), fv.plane_pca(q.sample(4, seed=0)), resolution=3)
    again = fv.slice_plane(fv.nll(net, data), surface.plane, resolution=3)  # the plane of a result
    assert equal(again.values, surface.values)
    predict = partial(fv.predict, n_draws=3, seed=0, batchnorm="frozen")
    outputs = predict(net, q, data).outputs
    assert equal(predict(net, loaded, data).outputs, outputs)
    # And weights from the device beside a net on the CPU
    on_cpu = predict(net.to("cpu"), q, data.to("cpu")).outputs
    assert_close(on_cpu, outputs, rtol=1e-5, atol=1e-5)  # roundings of float32


class Recorded:
    """A stand-in for graphs, which counts recordings."""

    def __init__(self, device, monkeypatch, spoil=None):
        self.count = 0
        self.spoil = spoil
        monkeypatch.setitem(RECORDERS, device.type, self.record)

    def record(self, warm, step):
        warm()
        self.count += 1
        return step if self.spoil is None else partial(self.spoil, step)


@fixture
def fit(device):
    """A fit of six steps, with minibatches of two sizes."""
    module = mlp(3, 5, 2, act=nn.ReLU)
    net = net_of(module).to(device)
    data = blobs(10, 3, 2).to(device)
    prior = around(net, -2.0)
    return partial(
        fv.fit,
        net,
        data,
        fv.SABMA(prior, radius=0.5),
        seed=0,
        steps=6,
        batch_size=4,
    )


def same(first, second):
    return all(
        equal(getattr(first, name).cpu(), getattr(second, name).cpu())
        for name in ("mean", "log_std", "factor")
    )


def test_a_fit_and_eigenpairs_that_are_replayed_on_the_device_are_those_of_plain_steps(
    device, fit, monkeypatch
):
    net, data = fit.args[:2]
    plain = fit()
    spectrum = fv.top_eigenpairs(fv.nll(net, data), net.w, 2)
    recorded = Recorded(device, monkeypatch)
    replayed = fit()
    assert recorded.count == 2
    assert replayed.history.notes == plain.history.notes
    assert same(plain, replayed)
    top = fv.top_eigenpairs(fv.nll(net, data), net.w, 2)
    found = top.values
    assert_close(found, spectrum.values)
    assert recorded.count == 3
    monkeypatch.setenv("FLATVIZ_GRAPHS", "0")
    assert same(plain, fit())
    assert recorded.count == 3


def out_of_memory(step):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


@mark.parametrize(
    "spoil, note",
    [
        (lambda step: (step(), step()), "a replayed step gives another result"),
        (out_of_memory, "CUDA out of memory. Tried to allocate 2 GiB"),
    ],
)
def test_a_replay_that_differs_or_fails_is_given_up_with_a_note(
    device, fit, monkeypatch, spoil, note
):
    plain = fit()
    recorded = Recorded(device, monkeypatch, spoil)
    launched = fit()
    assert f"{NOT_REPLAYED}: {note}" in launched.history.notes
    assert same(plain, launched)
    assert recorded.count == 1


def test_a_recording_ends_with_the_memory_type_and_size_that_it_was_recorded_for(
    device, monkeypatch
):
    """The stand-in reads the weights where they were at the recording, as a graph does."""
    recorded = Recorded(device, monkeypatch)
    weights = nn.Linear(3, 3, bias=False).requires_grad_(False).to(device)
    at = []

    def step(state, batch, noise):
        at.append(weights.weight.data_ptr())
        return Single(state.value + noise[0] @ weights.weight.to(noise[0].dtype)), Single(noise[0])

    replay = Replay(step, RECORDERS[device.type], [], [weights.weight])

    def agrees(rows, dtype=torch.float32):
        state = Single(randn(rows, 3).to(device, dtype))
        noise = (randn(rows, 3).to(device, dtype),)
        want = step(state, None, noise)[0].value.cpu()
        return equal(replay(state, None, noise)[0].value.cpu(), want)

    assert agrees(2)
    assert agrees(2)
    assert recorded.count == 1
    old = weights.weight.data_ptr()
    weights.weight.data = 2 * weights.weight.data  # what module.to(...) does
    assert replay.kept[0].data_ptr() == old  # the recording's memory is not given to others
    assert agrees(2)
    assert recorded.count == 2
    assert agrees(4)
    assert recorded.count == 3
    assert agrees(4, torch.float64)
    assert recorded.count == 4
    assert not replay.notes


def test_kept_activations_on_the_device_are_the_whole_networks(device, monkeypatch):
    monkeypatch.setattr("flatviz.engine.trunk.LEAST_MACS", 1)
    module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))
    net = fv.Net.from_module(module, lambda name: name.startswith("2.")).to(device)
    data = blobs(10, 3, 2).to(device)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))

    def results():
        q = fv.fit(net, data, fv.VI(prior, mc_samples=2), seed=0, steps=3, batch_size=5)
        f = fv.nll(net, data)
        scored = fv.predict(net, q, data, 2, seed=0).outputs
        return q, [q.mean.cpu(), f.many(q.mean[None]).cpu(), scored.cpu()]

    q, kept = results()
    assert any("activations before 2.weight are kept" in note for note in q.history.notes)
    monkeypatch.setenv("FLATVIZ_TRUNK", "0")
    _, whole = results()
    assert_close(kept, whole, atol=1e-5, rtol=1e-4)
