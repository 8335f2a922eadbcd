"""Planes: PCA, random with filter normalisation, through three points."""

import pytest
import torch
from torch import nn

import flatviz as fv


def test_pca_finds_the_directions_of_most_variance_and_states_their_share():
    g = torch.Generator().manual_seed(0)
    scales = torch.tensor([3.0, 2.0, 0.5, 0.1])
    W = torch.randn(4000, 4, generator=g) * scales + 7
    plane = fv.plane_pca(W)
    assert plane.orthonormal and plane.unit == "distance in weight space"
    assert abs(float(plane.axes[0, 0])) > 0.99 and abs(float(plane.axes[1, 1])) > 0.99
    share = scales.square() / scales.square().sum()
    assert plane.explained == pytest.approx(share[:2].tolist(), abs=0.02)
    torch.testing.assert_close(plane.origin, W.mean(0))
    coords = (W - plane.origin) @ plane.axes.T
    assert bool((coords.abs().amax(0) < torch.tensor([plane.extent[0][1], plane.extent[1][1]])).all())


def test_pca_does_not_flip_when_the_draws_are_reordered():
    W = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    a, b = fv.plane_pca(W), fv.plane_pca(W.flip(0))
    torch.testing.assert_close(a.axes, b.axes, rtol=1e-4, atol=1e-5)


def test_pca_needs_draws_that_span_a_plane():
    with pytest.raises(ValueError, match="at least 3 draws, got 2"):
        fv.plane_pca(torch.randn(2, 5))
    with pytest.raises(ValueError, match="draws on one line: use slice_line"):
        fv.plane_pca(torch.linspace(0, 1, 9)[:, None] * torch.ones(5))
    with pytest.raises(ValueError, match=r"draws must have shape \(S, D\), got \(5,\): one vector is draws\[None\]"):
        fv.plane_pca(torch.randn(5))


def test_filter_normalisation_is_the_written_definition():
    module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(3, 4))
    with torch.no_grad():
        module[0].weight[1] = 0.0  # a dead filter
        module[3].bias.zero_()
    net = fv.Net.from_module(module)
    plane = fv.plane_random(net, net.w, seed=0)
    raw = fv.plane_random(net, net.w, normalize="none", seed=0)
    for axis, drawn in zip(plane.axes, raw.axes):
        d, g, w = net.unflatten(axis), net.unflatten(drawn), net.unflatten(net.w)
        for name in w:
            if w[name].ndim >= 2:
                for i in range(len(w[name])):  # slice by slice, as written
                    want = g[name][i] * w[name][i].norm() / g[name][i].norm()
                    torch.testing.assert_close(d[name][i], want)
            else:
                torch.testing.assert_close(d[name], g[name] * w[name].norm() / g[name].norm())
        assert float(d["0.weight"][1].abs().max()) == 0 and float(d["3.bias"].abs().max()) == 0
    assert not plane.orthonormal and plane.unit == "filter-normalised step"


def test_a_plane_through_three_points_holds_them():
    a, b, c = torch.randn(3, 9, generator=torch.Generator().manual_seed(0))
    plane = fv.plane_through(a, b, c)
    seen = fv.project(torch.stack([a, b, c]), plane)
    assert float(seen.distance.max()) < 1e-5 and plane.orthonormal
    torch.testing.assert_close(
        seen.coords[1] - seen.coords[0], torch.tensor([float((b - a).norm()), 0.0]), rtol=1e-5, atol=1e-5
    )
    with pytest.raises(ValueError, match="not on one line"):
        fv.plane_through(a, b, 0.5 * (a + b))


def test_a_plane_of_many_large_vectors_comes_from_the_gram_matrix_and_is_the_same(monkeypatch):
    W = torch.randn(12, 40, generator=torch.Generator().manual_seed(0)) * torch.linspace(3, 0.1, 40)
    for make in (fv.plane_pca, fv.planes.plane_path):
        monkeypatch.setattr("flatviz.planes.pca.MOST", 2**24)
        whole = make(W)
        monkeypatch.setattr("flatviz.planes.pca.MOST", 100)  # 8 columns a block
        blocks = make(W)
        torch.testing.assert_close(blocks.axes, whole.axes, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(torch.tensor(blocks.extent), torch.tensor(whole.extent))
        torch.testing.assert_close(torch.tensor(blocks.explained), torch.tensor(whole.explained))
