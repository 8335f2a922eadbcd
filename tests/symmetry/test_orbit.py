"""Rescaling changes sharpness and not one prediction; which measures do not see it is computed, not believed."""

import pytest
import torch
from symmetric_networks import network

import flatviz as fv
from flatviz.symmetry import minmass
from flatviz.symmetry.minmass import NAMES, rescaled_orbit, sharpness_measures


def problem():
    net, _, x = network("mlp")
    return net, fv.Data(x, torch.arange(20) % 3)


def test_each_measure_is_that_of_the_dense_hessian(monkeypatch):
    net, data = problem()
    w, f, W1 = net.w, fv.nll(net, data), net.unflatten(net.w)["0.weight"]
    H = torch.autograd.functional.hessian(f, w)
    monkeypatch.setattr(minmass, "PROBES", 400)
    found = sharpness_measures(net, f, w[None])
    assert float(found["lambda1"]) == pytest.approx(float(torch.linalg.eigvalsh(H)[-1]), rel=1e-6)
    relative = torch.kron(W1 @ W1.T, torch.eye(6, dtype=torch.float64)) @ H[:30, :30]  # the first layer's, 5 x 6
    for name, matrix in {"trace": H, "weighted": H * torch.outer(w, w), "relative": relative}.items():
        error = 4 * float((2 * matrix.square().sum()).sqrt()) / 400**0.5  # of a mean over 400 random signs, at most so
        assert abs(float(found[name]) - float(matrix.trace())) < error, name


def test_rescaling_changes_sharpness_but_not_predictions():
    net, data = problem()
    found = rescaled_orbit(net, data, net.w, reach=2.0, resolution=9)
    assert float(found.difference.max()) < 1e-12 * max(1.0, found.scale)
    middle = len(found.t) // 2
    assert torch.allclose(found.W[middle], net.w)
    for name, values in found.measures.items():
        if name in ("lambda1", "trace", "sam", "filter"):
            assert float(values.max() / values.min()) > 1.5, name
        elif name in ("relative", "asam", "weighted"):
            assert torch.allclose(values, values[middle].expand_as(values), rtol=1e-8), name
    assert set(found.measures) == set(NAMES)
    assert all(float(c.values[middle]) == 1 and c.name in found.measures for c in found.curves)
