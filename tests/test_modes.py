"""Every public verb gives the same values inside of `torch.no_grad` and `torch.inference_mode`, on nouns made there too."""

import dataclasses

import pytest
import torch
from every_verb import TaskWithPath, calls
from torch import Tensor, nn

import flatviz as fv


def tensors(value):
    """All tensors of a result, however deep; a figure has its traces for that."""
    if isinstance(value, Tensor):
        return [value.detach().double()]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors(item)]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors(item)]
    if isinstance(value, fv.Net):
        return [value.w.double(), *(b.double() for b in value.buffers().values())]
    if dataclasses.is_dataclass(value):
        return [t for f in dataclasses.fields(value) for t in tensors(getattr(value, f.name))]
    return []


def results(mode, path):
    """name -> tensors of every verb, module, data and calls made inside of `mode`."""
    import loss_landscapes.metrics

    with torch.random.fork_rng(), mode():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)).eval()
        nn.init.normal_(module[1].bias)
        x = torch.randn(20, 3)
        data = fv.Data(x, (x[:, 0] > 0).long())
        task = TaskWithPath(data, data, data, n_classes=2)
        object.__setattr__(task, "path", path)
        metric = loss_landscapes.metrics.Loss(nn.CrossEntropyLoss(), data.x, data.y)
        return {name: tensors(call()) for name, call in calls(fv, module, data, task, metric).items()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return results(torch.enable_grad, tmp_path_factory.mktemp("plain") / "q.pt")


@pytest.mark.long
@pytest.mark.parametrize("mode", [pytest.param(torch.no_grad, marks=pytest.mark.slow), torch.inference_mode])
def test_every_verb_gives_its_values_in_a_mode_without_gradients(mode, plain, tmp_path):
    got = results(mode, tmp_path / "q.pt")
    for name, want in plain.items():
        assert len(got[name]) == len(want), name
        for a, b in zip(got[name], want):  # the same operations in the same order: a few roundings of float32 at most
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, equal_nan=True, msg=lambda m: f"{name}: {m}")  # noqa: B023


def test_a_result_made_in_inference_mode_is_of_use_outside_of_it():
    with torch.inference_mode():
        net = fv.Net.from_module(nn.Linear(3, 2)).at(torch.ones(8))
        data, prior = fv.Data(torch.randn(12, 3), torch.arange(12) % 2), fv.Gaussian(net.w + 0, torch.zeros(8))
        draws, w = fv.Draws(torch.randn(4, 8)), torch.randn(8)
    q = fv.fit_vi(net, data, prior, seed=0, steps=2)
    assert not q.mean.is_inference()
    f = fv.nll(net, data)
    fv.top_eigenpairs(f, w, 1), fv.hvp(f, w, net.w), fv.sharpness(f, draws.W, iters=5)
    fv.landscape.connect(f, *draws.W[:2], steps=2, resolution=3)
    net(w.clone().requires_grad_(True), data.x).sum().backward()
