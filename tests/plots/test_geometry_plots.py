"""Relief, density, curves, valleys, animations: read as data."""

import dataclasses
import math

import pytest
import torch

import flatviz as fv


@pytest.fixture
def surface():
    plane = fv.Plane(torch.zeros(4), torch.eye(4)[:2], "distance in weight space", "PCA plane", explained=(0.5, 0.2))
    a, b = torch.linspace(-2, 2, 9), torch.linspace(-1, 1, 7)
    values = 0.11 + (a[:, None] ** 2 - 1) ** 2 + 5 * b[None] ** 2 + 0.1 * a[:, None]
    return fv.Surface(plane, a, b, values, "mean NLL (nats)", 100, "frozen")


@pytest.fixture
def path(surface):
    W = torch.tensor([[1.0, 0.5, 0.0, 3.0], [0.5, 0.2, 0.0, 1.0], [0.0, 0.0, 0.5, 0.0]])
    return fv.project(W, surface.plane, lambda w: (w * w).sum() + 0.01, name="training path")


@pytest.fixture
def spectrum():
    scale = torch.cat([torch.linspace(-0.1, 1, 37), torch.tensor([4.0, 6.0, 9.0])]).double()
    return fv.spectral_density(lambda w: 0.5 * (scale * w * w).sum(), torch.ones(40).double(), runs=3, steps=16, k=3)


def test_a_relief_has_the_surfaces_heights_and_the_samples_own(surface, path):
    fig = fv.plots.plot_surface_3d(surface, path)
    relief, drops, points = fig.data
    assert relief.type == "surface" and drops.type == points.type == "scatter3d" and points.mode == "markers"
    torch.testing.assert_close(torch.tensor(relief.z), surface.values.T.log10())  # spans decades: logarithmic
    torch.testing.assert_close(torch.tensor(points.z), path.values.log10())
    assert fig.layout.scene.zaxis.ticktext
    flat = fv.plots.plot_surface_3d(surface, log=False, color_range=(0.0, 2.0))
    assert float(torch.tensor(flat.data[0].z).max()) == 2.0  # cut off, and said so by the scale


def test_a_relief_marks_its_diverged_cells_and_prints_what_it_knows(surface, path):
    values = surface.values.clone()
    values[0, 2], values[8, 6] = math.nan, math.inf
    broken = dataclasses.replace(surface, values=values, precision="bfloat16", error=0.01)
    fig = fv.plots.plot_surface_3d(broken, path)
    relief, marks, *_ = fig.data
    assert list(zip(marks.x, marks.y)) == [(-2.0, pytest.approx(-1 / 3)), (2.0, 1.0)] and math.isnan(relief.z[2][0])
    for part in (
        "mean over 100 examples",
        "BatchNorm frozen",
        "2 cells diverged (×)",
        "computed in bfloat16, off by at most 0.01",
    ):
        assert part in fig.layout.annotations[0].text, part
    with pytest.raises(ValueError, match=r"a relief needs values on a grid of two axes, got shape \(5,\)"):
        fv.plots.plot_surface_3d(fv.Surface(surface.plane, *[torch.zeros(5)] * 3))


def test_the_density_integrates_to_one_and_marks_the_outliers(spectrum):
    fig = fv.plot_density(spectrum)
    curve, marks = fig.data
    x, y = torch.tensor(curve.x), torch.tensor(curve.y)
    assert float(torch.trapezoid(y, x)) == pytest.approx(1, abs=0.02)
    torch.testing.assert_close(torch.tensor(marks.x), spectrum.values)
    torch.testing.assert_close(torch.tensor(marks.error_x.array), spectrum.residual)
    assert fig.layout.yaxis.type == "log"
    with pytest.raises(ValueError, match="plot_density needs nodes and weights, got a Spectrum without"):
        fv.plot_density(fv.top_eigenpairs(lambda w: (w * w).sum(), torch.ones(4), 1))


def test_a_path_shows_its_barrier_where_it_is_highest():
    t = torch.linspace(0, 1, 5)
    straight, curve = fv.Curve(t, torch.tensor([1.0, 2.0, 4.0, 3.0, 3.0]), name="straight line"), fv.Curve(t, 1 + 2 * t)
    fig = fv.plot_curve([straight, curve])
    line, barrier, other = fig.data
    assert list(line.y) == straight.values.tolist() and other.name == "curve 2"
    assert list(barrier.x) == [0.5, 0.5] and list(barrier.y) == [2.0, 4.0] and barrier.text[1] == "barrier 2"
    assert len(fv.plot_curve(straight, barrier=False).data) == 1


def test_valleys_are_drawn_from_minimum_to_saddle(surface):
    found = fv.landscape.persistence(surface)
    fig = fv.plots.plot_persistence(found)
    joins, valleys, minima = fig.data
    assert list(minima.y) == pytest.approx(found.birth.tolist()) and len(minima.y) == 2
    assert valleys.y[1] == pytest.approx(float(surface.values.max())) and valleys.y[4] == pytest.approx(float(found.death[1]))
    assert list(joins.x[:2]) == [2, 1]
    assert math.isinf(float(found.death[0]))


def test_every_picture_says_its_data_its_batchnorm_and_its_precision(surface, path, spectrum):
    known = dict(n=100, batchnorm="re-estimated")
    curve = fv.Curve(surface.a, surface.a**2, **known)
    pictures = [fv.plot_curve([curve, curve]), fv.plot_spectrum(dataclasses.replace(spectrum, **known)),
                fv.plot_density(dataclasses.replace(spectrum, **known)),
                fv.plots.plot_persistence(fv.landscape.persistence(dataclasses.replace(surface, **known)))]  # fmt: skip
    for fig in pictures:
        assert fig.layout.xaxis.title.text.count("mean over 100 examples · BatchNorm re-estimated") == 1
    other = fv.plot_curve([curve, dataclasses.replace(curve, n=1)]).layout.xaxis.title.text
    assert "mean over 100 examples · BatchNorm re-estimated / mean over 1 example · BatchNorm re-estimated" in other
    quick = dataclasses.replace(surface, precision="bfloat16", error=0.0123)
    said = "computed in bfloat16, off by at most 0.012 where checked"
    assert said in fv.plot_surface(quick).layout.xaxis.title.text
    assert "<br>" not in fv.plot_curve(fv.Curve(surface.a, surface.a)).layout.xaxis.title.text


def test_the_ellipse_holds_95_percent_of_a_gaussians_draws(gaussians):
    q, _ = gaussians
    axes = torch.tensor([[1.0, 0.2, 0, 0, 0, 0, 0], [0.7, 0, 1, 0, 0, 0, 0]], dtype=torch.float64)  # oblique
    plane = fv.Plane(q.mean + 0.3, axes, "distance")
    ticks = torch.linspace(-3, 3, 5)
    surface = fv.Surface(plane, ticks, ticks, ticks[:, None] ** 2 + ticks**2 + 1)
    fig = fv.plot_surface(surface, fv.project(q, plane))
    ring = next(t for t in fig.data if t.name == "95 % of its draws")
    corners = torch.stack([torch.tensor(ring.x), torch.tensor(ring.y)], 1)
    draws = fv.project(q.sample(20_000, seed=0), plane).coords.double()
    share = _inside(draws, corners).double().mean()
    assert abs(float(share) - 0.95) < 0.006  # 4 standard errors
    assert "95 % of its draws" not in [t.name for t in fv.plot_surface(surface, fv.project(q.sample(3, seed=0), plane)).data]


def _inside(points, corners):
    """Whether points lie in a polygon, by the crossings of a ray: another path than the quadratic form."""
    (x, y), (ax, ay) = points.T[:, :, None], corners.T[:, None]
    bx, by = ax.roll(-1, 1), ay.roll(-1, 1)
    crosses = ((ay > y) != (by > y)) & (x < ax + (bx - ax) * (y - ay) / (by - ay + 1e-300))
    return crosses.sum(1) % 2 == 1


def test_flatness_is_drawn_against_ensemble_size_with_the_interval_of_its_mean():
    rows = torch.tensor([3.0, 5.0, 4.0, 8.0], dtype=torch.float64)
    found = fv.results.Sharpness(rows, *[2 * rows] * 6)
    fig = fv.plots.plot_sharpness({"vi": found, "sabma": found}, measure="trace")
    band, draws, line = fig.data[:3]
    assert list(draws.y) == [6, 10, 8, 16] and list(line.y) == [6, 8, 8, 10] and list(line.x) == [1, 2, 3, 4]
    half = 12.706204736 * math.sqrt(8) / math.sqrt(2)  # t of one degree of freedom, as tables print it; std of 6 and 10
    assert band.y[0] == pytest.approx(8 - half) and band.y[-1] == pytest.approx(8 + half) and band.x[0] == 2
    assert line.line.color != fig.data[5].line.color and "Hessian" in fig.layout.yaxis.title.text
    assert found.interval("lambda1")[0] == 5 and math.isnan(fv.results.Sharpness(*[rows[:1]] * 7).interval("sam")[1])


def test_a_reference_above_the_selected_spectrum_is_inside_the_picture(spectrum):
    higher = dataclasses.replace(spectrum, values=3 * spectrum.values)
    fig = fv.plot_spectrum([spectrum], method="sabma", reference={"vi": [higher]})
    line = next(trace for trace in fig.data if trace.name == "VI")
    assert max(line.y) < fig.layout.yaxis.range[1]
