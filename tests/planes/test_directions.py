"""Normalisations by their definitions, other tools' by their own code, planes along directions that mean something."""

from importlib.metadata import version

import pytest
import torch
from torch import nn

import flatviz as fv


@pytest.fixture
def net():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return fv.Net.from_module(nn.Sequential(nn.Conv2d(2, 3, 2), nn.Flatten(), nn.Linear(3, 4)))


def pieces(net, v):
    return net.unflatten(v)


def test_each_normalisation_is_the_written_definition(net):
    w = pieces(net, net.w)
    raw = fv.plane_random(net, net.w, normalize="none", seed=3).axes[0]
    g = pieces(net, raw)
    layer = pieces(net, fv.plane_random(net, net.w, normalize="layer", seed=3).axes[0])
    for name in w:
        torch.testing.assert_close(layer[name], g[name] * w[name].norm() / g[name].norm())
    model = fv.plane_random(net, net.w, normalize="model", seed=3).axes[0]
    torch.testing.assert_close(model, raw * net.w.norm() / raw.norm())
    weight = fv.plane_random(net, net.w, normalize="weight", seed=3)
    torch.testing.assert_close(weight.axes[0], raw.sign() * net.w.abs())
    assert weight.unit == "weight-normalised step"


def test_conventions_of_other_tools_by_name(net):
    w, raw = pieces(net, net.w), fv.plane_random(net, net.w, normalize="none", seed=3).axes[0]
    g = pieces(net, raw)
    li = pieces(net, fv.plane_random(net, net.w, convention="li2018", seed=3).axes[0])
    for name in w:
        if w[name].ndim == 1:
            assert float(li[name].abs().max()) == 0
        else:
            for row, drawn, own in zip(li[name], g[name], w[name]):
                torch.testing.assert_close(row, drawn * own.norm() / (drawn.norm() + 1e-10))
    tensors = fv.plane_random(net, net.w, convention="per-tensor", seed=3).axes[0]
    torch.testing.assert_close(tensors, fv.plane_random(net, net.w, normalize="layer", seed=3).axes[0])
    with pytest.raises(ValueError, match="convention='li2018' is a reading of normalize='filter', got normalize='layer'"):
        fv.plane_random(net, net.w, normalize="layer", convention="li2018", seed=0)


def test_the_loss_landscapes_convention_is_what_3_0_6_computes(net):
    pytest.importorskip("loss_landscapes")
    if version("loss-landscapes") != "3.0.6":
        pytest.skip("the convention is that of 3.0.6")
    library = pytest.importorskip("loss_landscapes.model_interface.model_wrapper")
    module = net.to_module().requires_grad_(False)
    reference = library.wrap_model(module).get_module_parameters()
    drawn = torch.rand(net.dim, generator=torch.Generator().manual_seed(5))
    direction = library.wrap_model(net.to_module(drawn).requires_grad_(False)).get_module_parameters()
    direction.filter_normalize_(reference)
    direction.mul_(reference.model_norm() / direction.model_norm())
    theirs = torch.cat([p.reshape(-1) for p in direction.parameters])
    ours = fv.plane_random(net, net.w, convention="loss-landscapes", seed=5)
    torch.testing.assert_close(ours.axes[0], theirs, rtol=1e-5, atol=1e-7)
    assert "loss-landscapes 3.0.6 convention" in ours.unit


def test_a_training_path_is_seen_from_its_end():
    g = torch.Generator().manual_seed(0)
    t = torch.linspace(3, 0, 20)[:, None]
    W = 5 + t * torch.randn(9, generator=g) + 0.3 * t**2 * torch.randn(9, generator=g)
    plane = fv.planes.plane_path(W)
    assert torch.equal(plane.origin, W[-1]) and plane.orthonormal
    assert sum(plane.explained) == pytest.approx(1, abs=1e-5)  # two directions made it
    seen = fv.project(W, plane)
    assert float(seen.distance.max()) < 1e-4 and float(seen.coords[-1].norm()) < 1e-6
    with pytest.raises(ValueError, match="at least 3 draws, got 2: draw more, or record more steps"):
        fv.planes.plane_path(W[:2])


def test_a_plane_of_ones_own_directions():
    w, u, v = torch.zeros(4), torch.tensor([2.0, 0, 0, 0]), torch.tensor([1.0, 1, 0, 0])
    plane = fv.plane_along(w, u, v)
    assert torch.equal(plane.axes, torch.stack([u, v])) and plane.angle == pytest.approx(45)
    square = fv.plane_along(w, u, v, orthonormal=True)
    torch.testing.assert_close(square.axes, torch.eye(4)[:2], rtol=0, atol=1e-6)
    assert fv.plane_along(w, u, v, torch.ones(4)).axes.shape == (3, 4)
    with pytest.raises(ValueError, match="directions must not be parallel"):
        fv.plane_along(w, u, 3 * u, orthonormal=True)
    with pytest.raises(ValueError, match="axes must have a length > 0, got 0 for number 2"):
        fv.plane_along(w, u, 0 * v)


def test_the_eigenvector_plane_shows_the_quadratic_in_its_own_axes(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c, 3, tol=1e-10)
    plane = fv.plane_eigen(c, spectrum, (0, 2))
    surface = fv.slice_plane(f, plane, resolution=5)
    want = 0.5 * (spectrum.values[0] * surface.a[:, None] ** 2 + spectrum.values[2] * surface.b[None] ** 2)
    torch.testing.assert_close(surface.values, want, rtol=1e-6, atol=1e-9)
    assert float(surface.values[0, 2]) == pytest.approx(1.0)  # the extent: where the loss has risen by 1
    with pytest.raises(ValueError, match=r"ranks must be two different ones of 0..2, got \(0, 3\)"):
        fv.plane_eigen(c, spectrum, (0, 3))
