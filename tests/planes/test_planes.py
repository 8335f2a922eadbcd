"""Planes: PCA, random with filter normalisation, through three points."""

from importlib.metadata import version

import torch
from cases import rng
from pytest import approx, fixture, importorskip, raises, skip
from torch import linspace, nn, randn, stack, tensor, zeros
from torch.nn import Linear
from torch.testing import assert_close

import flatviz as fv


def test_pca_finds_the_directions_of_most_variance_and_states_their_share():
    scales = tensor([3.0, 2.0, 0.5, 0.1])
    W = randn(4000, 4) * scales + 7
    plane = fv.plane_pca(W)
    # And does not flip
    assert_close(fv.plane_pca(W.flip(0)).axes, plane.axes, rtol=1e-4, atol=1e-5)
    assert plane.orthonormal
    assert plane.unit == "distance in weight space"
    assert abs(plane.axes[0, 0]) > 0.99
    assert abs(plane.axes[1, 1]) > 0.99
    share = scales.square() / scales.square().sum()
    assert plane.explained == approx(share[:2].tolist(), abs=0.02)
    assert_close(plane.origin, W.mean(0))
    coords = (W - plane.origin) @ plane.axes.T
    assert (coords.abs().amax(0) < tensor(plane.extent)[:, 1]).all()


def test_pca_needs_draws_that_span_a_plane():
    with raises(ValueError, match="at least 3 draws, got 2"):
        fv.plane_pca(randn(2, 5))
    with raises(ValueError, match="draws on one line: use slice_line"):
        fv.plane_pca(linspace(0, 1, 9)[:, None] * torch.ones(5))
    with raises(
        ValueError, match=r"draws must have shape \(S, D\), got \(5,\): one vector is draws\[None\]"
    ):
        fv.plane_pca(randn(5))


def test_a_plane_through_three_points_holds_them():
    a, b, c = randn(3, 9, generator=rng())
    plane = fv.plane_through(a, b, c)
    seen = fv.project(stack([a, b, c]), plane)
    assert seen.distance.max() < 1e-5
    assert plane.orthonormal
    assert (seen.coords[1] - seen.coords[0]).tolist() == approx(
        [float((b - a).norm()), 0], abs=1e-5
    )
    with raises(ValueError, match="not on one line"):
        fv.plane_through(a, b, 0.5 * (a + b))


def test_a_plane_of_many_large_vectors_comes_from_the_gram_matrix_and_is_the_same(monkeypatch):
    W = randn(12, 40, generator=rng()) * linspace(3, 0.1, 40)
    planes = []
    for most in (2**24, 100):  # whole, and 8 columns a block
        monkeypatch.setattr("flatviz.planes.plane.MAX_AT_ONCE", most)
        planes.append(
            [(p.axes, p.extent, p.explained) for p in (fv.plane_pca(W), fv.planes.plane_path(W))]
        )
    assert_close(*planes, rtol=1e-5, atol=1e-6)


@fixture
def net():
    """With a dead filter, and a dead bias."""
    module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), Linear(3, 4))
    with torch.no_grad():
        module[0].weight[1] = 0.0
        module[3].bias[:] = 0.0
    return fv.Net.from_module(module)


def onto(g, w, eps=0.0):
    """A direction with the length of the weights."""
    return g * w.norm() / (g.norm() + eps)


def test_each_normalisation_is_the_written_definition(net):
    kinds = ("none", "filter", "layer", "model", "weight")
    planes = {kind: fv.plane_random(net, net.w, normalize=kind, seed=3) for kind in kinds}
    for raw, by_filter, by_layer, by_model, by_weight in zip(
        *(plane.axes for plane in planes.values())
    ):
        w, g, filters, layer = map(net.unflatten, (net.w, raw, by_filter, by_layer))
        for name in w:
            whole = onto(g[name], w[name])
            assert_close(layer[name], whole)
            by_slice = (
                whole
                if w[name].ndim < 2
                else stack([onto(*pair) for pair in zip(g[name], w[name])])
            )
            assert_close(filters[name], by_slice)
        assert not filters["0.weight"][1].any()
        assert not filters["3.bias"].any()
        assert_close((by_model, by_weight), (onto(raw, net.w), raw.sign() * net.w.abs()))
    assert not planes["filter"].orthonormal
    assert [planes[kind].unit for kind in ("filter", "weight")] == [
        "filter-normalised step",
        "weight-normalised step",
    ]


def test_conventions_of_other_tools_by_name(net):
    raw = fv.plane_random(net, net.w, normalize="none", seed=3).axes[0]
    w, g, li = map(
        net.unflatten,
        (net.w, raw, fv.plane_random(net, net.w, convention="li2018", seed=3).axes[0]),
    )
    for name in w:
        by_slice = stack([onto(*pair, 1e-10) for pair in zip(g[name], w[name])])
        assert_close(li[name], 0 * w[name] if w[name].ndim == 1 else by_slice)
    tensors = fv.plane_random(net, net.w, convention="per-tensor", seed=3).axes[0]
    assert_close(tensors, fv.plane_random(net, net.w, normalize="layer", seed=3).axes[0])
    with raises(
        ValueError,
        match="convention='li2018' is a reading of normalize='filter', got normalize='layer'",
    ):
        fv.plane_random(net, net.w, normalize="layer", convention="li2018", seed=0)


def test_a_parameter_without_numbers_is_passed_over():
    module = Linear(3, 2)
    module.empty = nn.Parameter(zeros(0, 2))
    module.none = nn.Parameter(zeros(0))
    net = fv.Net.from_module(module)
    for convention in ("flatviz", "li2018", "per-tensor", "loss-landscapes"):
        assert fv.plane_random(net, net.w, convention=convention, seed=0).axes.isfinite().all()


def test_the_loss_landscapes_convention_is_what_3_0_6_computes():
    importorskip("loss_landscapes")
    if version("loss-landscapes") != "3.0.6":
        skip("the convention is that of 3.0.6")
    library = importorskip("loss_landscapes.model_interface.model_wrapper")
    # it divides by 0 where a filter is dead
    net = fv.Net.from_module(nn.Sequential(nn.Conv2d(2, 3, 2), nn.Flatten(), Linear(3, 4)))
    drawn = torch.rand(net.dim, generator=rng(5))
    modules = (net.to_module(w).requires_grad_(False) for w in (net.w, drawn))
    reference, direction = (
        library.wrap_model(module).get_module_parameters() for module in modules
    )
    direction.filter_normalize_(reference)
    direction.mul_(reference.model_norm() / direction.model_norm())
    theirs = torch.cat([p.reshape(-1) for p in direction.parameters])
    ours = fv.plane_random(net, net.w, convention="loss-landscapes", seed=5)
    assert_close(ours.axes[0], theirs, rtol=1e-5, atol=1e-7)
    assert "loss-landscapes 3.0.6 convention" in ours.unit


def test_a_training_path_is_seen_from_its_end():
    t = linspace(3, 0, 20)[:, None]
    W = 5 + t * randn(9) + 0.3 * t**2 * randn(9)
    plane = fv.planes.plane_path(W)
    assert torch.equal(plane.origin, W[-1])
    assert plane.orthonormal
    assert sum(plane.explained) == approx(1, abs=1e-5)  # two directions made it
    seen = fv.project(W, plane)
    assert seen.distance.max() < 1e-4
    assert seen.coords[-1].norm() < 1e-6
    with raises(ValueError, match="at least 3 draws, got 2: draw more, or record more steps"):
        fv.planes.plane_path(W[:2])


def test_a_plane_of_ones_own_directions():
    w = zeros(4)
    u = tensor([2.0, 0, 0, 0])
    v = tensor([1.0, 1, 0, 0])
    plane = fv.plane_along(w, u, v)
    assert torch.equal(plane.axes, stack([u, v]))
    assert plane.angle == approx(45)
    square = fv.plane_along(w, u, v, orthonormal=True)
    assert_close(square.axes, torch.eye(4)[:2], rtol=0, atol=1e-6)
    with raises(ValueError, match="directions must not be parallel"):
        fv.plane_along(w, u, 3 * u, orthonormal=True)


def test_the_eigenvector_plane_shows_the_quadratic_in_its_own_axes(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c, 3, tol=1e-10)
    plane = fv.plane_eigen(c, spectrum)
    surface = fv.slice_plane(f, plane, resolution=5)
    want = 0.5 * (
        spectrum.values[0] * surface.a[:, None] ** 2 + spectrum.values[1] * surface.b[None] ** 2
    )
    assert_close(surface.values, want, rtol=1e-6, atol=1e-9)
    # The extent: where the loss has risen by 1
    assert surface.values[0, 2] == approx(1.0)
    with raises(ValueError, match="spectrum must hold two eigenvectors, got one"):
        fv.plane_eigen(c, fv.top_eigenpairs(f, c, 1))
