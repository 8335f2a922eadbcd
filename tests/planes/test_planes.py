"""Planes: PCA, random with filter normalisation, through three points."""

from importlib.metadata import version

import torch
from cases import close, net_of, refused, rng
from pytest import approx, fixture, importorskip, mark, skip
from torch import linspace, nn, ones, randn, stack, tensor, zeros
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
    assert_close(plane.axes.abs(), torch.eye(4)[:2], rtol=0, atol=0.1)
    share = scales.square() / scales.square().sum()
    assert plane.explained == approx(share[:2].tolist(), abs=0.02)
    assert_close(plane.origin, W.mean(0))
    coords = (W - plane.origin) @ plane.axes.T
    assert (coords.abs().amax(0) < tensor(plane.extent)[:, 1]).all()


@mark.parametrize(
    "draws, text",
    [
        (randn(2, 5), "at least 3 draws, got 2"),
        (linspace(0, 1, 9)[:, None] * ones(5), "draws on one line: use slice_line"),
        (randn(5), r"shape \(S, D\), got \(5,\): one vector is draws\[None\]"),
    ],
)
def test_pca_needs_draws_that_span_a_plane(draws, text):
    with refused(text):
        fv.plane_pca(draws)


def test_a_plane_through_three_points_holds_them():
    a, b, c = randn(3, 9, generator=rng())
    plane = fv.plane_through(a, b, c)
    seen = fv.project(stack([a, b, c]), plane)
    assert seen.distance.max() < 1e-5
    assert plane.orthonormal
    along_the_first = seen.coords[1] - seen.coords[0]
    assert along_the_first.tolist() == approx([float((b - a).norm()), 0], abs=1e-5)
    with refused("not on one line"):
        fv.plane_through(a, b, 0.5 * (a + b))


@mark.parametrize("plane_of", [fv.plane_pca, fv.planes.plane_path])
def test_a_plane_of_many_large_vectors_comes_from_the_gram_matrix_and_is_the_same(
    plane_of, monkeypatch
):
    W = randn(12, 40, generator=rng()) * linspace(3, 0.1, 40)
    whole = plane_of(W)
    monkeypatch.setattr("flatviz.planes.plane.MAX_AT_ONCE", 100)  # 8 columns a block
    parts = plane_of(W)
    assert_close(parts.axes, whole.axes, rtol=1e-5, atol=1e-6)
    close(tensor(parts.extent).flatten().tolist(), tensor(whole.extent).flatten())
    close(parts.explained, whole.explained)


@fixture
def net():
    """With a dead filter, and a dead bias."""
    module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), Linear(3, 4))
    with torch.no_grad():
        module[0].weight[1] = 0.0
        module[3].bias[:] = 0.0
    return net_of(module)


def onto(g, w, eps=0.0):
    """A direction with the length of the weights."""
    return g * w.norm() / (g.norm() + eps)


def by_slice(g, w, eps=0.0):
    """Of each filter by itself."""
    return stack([onto(*pair, eps) for pair in zip(g, w)])


def drawn(net, **how):
    """The first axis of a random plane."""
    return fv.plane_random(net, net.w, seed=3, **how).axes[0]


DEFINITIONS = {
    "filter": lambda g, w: onto(g, w) if w.ndim < 2 else by_slice(g, w),
    "layer": onto,
    "weight": lambda g, w: g.sign() * w.abs(),
}


@mark.parametrize("kind", DEFINITIONS)
def test_each_normalisation_is_the_written_definition(net, kind):
    raw = net.unflatten(drawn(net, normalize="none"))
    found = net.unflatten(drawn(net, normalize=kind))
    for name, w in net.unflatten(net.w).items():
        assert_close(found[name], DEFINITIONS[kind](raw[name], w))


def test_a_direction_of_the_models_length_is_normalised_as_a_whole(net):
    raw = drawn(net, normalize="none")
    assert_close(drawn(net, normalize="model"), onto(raw, net.w))


@mark.parametrize("kind", ["filter", "weight"])
def test_a_normalised_plane_says_its_unit(net, kind):
    plane = fv.plane_random(net, net.w, normalize=kind, seed=3)
    assert not plane.orthonormal
    assert plane.unit == f"{kind}-normalised step"


def test_conventions_of_other_tools_by_name(net):
    raw = net.unflatten(drawn(net, normalize="none"))
    li = net.unflatten(drawn(net, convention="li2018"))
    for name, w in net.unflatten(net.w).items():
        want = zeros(len(w)) if w.ndim == 1 else by_slice(raw[name], w, 1e-10)
        assert_close(li[name], want)
    assert_close(drawn(net, convention="per-tensor"), drawn(net, normalize="layer"))
    with refused("'li2018' is a reading of normalize='filter', got .*'layer'"):
        drawn(net, normalize="layer", convention="li2018")


@mark.parametrize("convention", ["flatviz", "li2018", "per-tensor", "loss-landscapes"])
def test_a_parameter_without_numbers_is_passed_over(convention):
    module = Linear(3, 2)
    module.empty = nn.Parameter(zeros(0, 2))
    net = net_of(module)
    assert drawn(net, convention=convention).isfinite().all()


def test_the_loss_landscapes_convention_is_what_3_0_6_computes():
    importorskip("loss_landscapes")
    if version("loss-landscapes") != "3.0.6":
        skip("the convention is that of 3.0.6")
    library = importorskip("loss_landscapes.model_interface.model_wrapper")
    # it divides by 0 where a filter is dead
    net = net_of(nn.Sequential(nn.Conv2d(2, 3, 2), nn.Flatten(), Linear(3, 4)))

    def theirs_at(w):
        module = net.to_module(w).requires_grad_(False)
        return library.wrap_model(module).get_module_parameters()

    reference = theirs_at(net.w)
    direction = theirs_at(torch.rand(net.dim, generator=rng(5)))
    direction.filter_normalize_(reference)
    direction.mul_(reference.model_norm() / direction.model_norm())
    theirs = torch.cat([p.flatten() for p in direction.parameters])
    ours = fv.plane_random(net, net.w, convention="loss-landscapes", seed=5)
    assert_close(ours.axes[0], theirs, rtol=1e-5, atol=1e-7)
    assert "loss-landscapes 3.0.6 convention" in ours.unit


def test_a_training_path_is_seen_from_its_end():
    t = linspace(3, 0, 20)[:, None]
    W = 5 + t * randn(9) + 0.3 * t**2 * randn(9)
    plane = fv.planes.plane_path(W, name="a path")
    assert plane.share_of == "squared distance"
    assert torch.equal(plane.origin, W[-1])
    assert plane.orthonormal
    assert sum(plane.explained) == approx(1, abs=1e-5)  # two directions made it
    seen = fv.project(W, plane)
    assert seen.distance.max() < 1e-4
    assert seen.coords[-1].norm() < 1e-6
    with refused("at least 3 draws, got 2: draw more, or record more steps"):
        fv.planes.plane_path(W[:2])


def test_a_plane_of_ones_own_directions():
    w = zeros(4)
    u = tensor([2.0, 0, 0, 0])
    v = tensor([1.0, 1, 0, 0])
    plane = fv.plane_along(w, u, v)
    assert torch.equal(plane.axes, stack([u, v]))
    close(plane.angle, 45)
    square = fv.plane_along(w, u, v, orthonormal=True)
    assert_close(square.axes, torch.eye(4)[:2], rtol=0, atol=1e-6)
    with refused("directions must not be parallel"):
        fv.plane_along(w, u, 3 * u, orthonormal=True)
    with refused(r"direction 1 must have shape \(4,\)"):
        fv.plane_along(w, u[:3], v)
    with refused(r"b must have shape \(4,\)"):
        fv.plane_through(w, u[:3], v)


def test_the_eigenvector_plane_shows_the_quadratic_in_its_own_axes(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c, 3, tol=1e-10)
    surface = fv.slice_plane(f, fv.plane_eigen(c, spectrum), resolution=5)
    first, second, _ = spectrum.values
    want = 0.5 * (first * surface.a[:, None] ** 2 + second * surface.b**2)
    close(surface.values, want, 1e-6)
    # The extent: where the loss has risen by 1
    close(surface.values[0, 2], 1.0)
    low = fv.top_eigenpairs(lambda w: 1e-3 * f(w), c, 2, tol=1e-10)
    (left, _), _ = fv.plane_eigen(c, low).extent
    close(0.5e-3 * first * left**2, 1.0)
    one = fv.top_eigenpairs(f, c, 1)
    with refused("spectrum must hold two eigenvectors, got one"):
        fv.plane_eigen(c, one)
