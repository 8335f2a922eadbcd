"""Rescaling changes sharpness and not one prediction; which measures do not see it is computed, not believed."""

import pytest
import torch
from symmetric_networks import network

import flatviz as fv
from flatviz.symmetry import orbit
from flatviz.symmetry.orbit import SHARPNESS_LABELS, rescaled_orbit, sharpness_measures


def problem():
    net, units, x = network("mlp")
    return net, units, fv.Data(x, torch.arange(20) % 3)


def dense(net, data, w):
    return torch.autograd.functional.hessian(fv.nll(net, data), w)


def test_each_measure_is_that_of_the_dense_hessian(monkeypatch):
    net, _, data = problem()
    H, w, f = dense(net, data, net.w), net.w, fv.nll(net, data)
    monkeypatch.setattr(orbit, "PROBES", 400)
    found = sharpness_measures(net, f, w[None])
    W1 = net.unflatten(w)["0.weight"]
    blocks = H[:30, :30].view(5, 6, 5, 6)
    exact = {
        "lambda1": torch.linalg.eigvalsh(H)[-1],
        "trace": H.diagonal().sum(),
        "weighted": (w.square() * H.diagonal()).sum(),
        "relative": torch.einsum("st,sjtj->", W1 @ W1.T, blocks),
    }
    spread = torch.einsum("st,ij->sitj", W1 @ W1.T, torch.eye(6, dtype=torch.float64)).reshape(30, 30) @ H[:30, :30]
    scale = {
        "trace": 2 * H.square().sum(),
        "weighted": 2 * (H * torch.outer(w, w)).square().sum(),
        "relative": 2 * spread.square().sum(),
    }
    assert float(found["lambda1"]) == pytest.approx(float(exact["lambda1"]), rel=1e-6)
    for name, variance in scale.items():
        error = 4 * float(variance.sqrt()) / 400**0.5  # of a mean over 400 random signs, at most so
        assert abs(float(found[name]) - float(exact[name])) < error, name


def test_rescaling_changes_sharpness_but_not_predictions():
    net, _, data = problem()
    found = rescaled_orbit(net, data, net.w, reach=2.0, resolution=9)
    assert float(found.difference.max()) < 1e-12 * max(1.0, found.scale)
    middle = len(found.t) // 2
    assert torch.allclose(found.W[middle], net.w)
    for name in ("lambda1", "trace", "sam", "filter"):
        values = found.measures[name]
        assert float(values.max() / values.min()) > 1.5, name
    for name in ("relative", "asam", "weighted"):
        values = found.measures[name]
        assert torch.allclose(values, values[middle].expand_as(values), rtol=1e-8), name
    assert set(found.measures) == set(SHARPNESS_LABELS)
    assert all(float(c.values[middle]) == 1 and c.name in found.measures for c in found.curves)


def test_a_network_of_tanh_has_no_such_orbit():
    net, _, x = network("tanh")
    with pytest.raises(ValueError, match="positively homogeneous functions"):
        rescaled_orbit(net, fv.Data(x, torch.arange(20) % 3), net.w)
