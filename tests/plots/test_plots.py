"""Figures read as data: what is drawn where, in which colours, with which words."""

import dataclasses
import math

import torch
from cases import around, rng, wilson
from pytest import approx, fixture, importorskip, mark, raises
from scipy.interpolate import RegularGridInterpolator
from torch import float64, linspace, tensor, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz import plots, results
from flatviz.plots.theme import INK, even_ticks


@fixture
def prediction():
    g = rng()
    net = fv.Net.from_module(torch.nn.Linear(3, 4))
    data = fv.Data(torch.randn(40, 3, generator=g), torch.randint(0, 4, (40,), generator=g))
    return fv.predict(net, around(net, 0.0), data, 6, seed=0)


def test_the_surface_is_drawn_with_a_to_the_right_and_b_upwards(surface):
    fig = fv.plot_surface(surface)
    contour = fig.data[0]
    assert contour.type == "contour"
    assert list(contour.x) == surface.a.tolist()
    assert list(contour.y) == surface.b.tolist()
    assert_close(tensor(contour.customdata), surface.values.T)
    # Spans decades: logarithmic
    assert_close(tensor(contour.z), surface.values.T.log10())
    assert fig.layout.yaxis.scaleanchor == "x"
    assert fig.layout.meta["alt"]
    assert "50 % of variance" in fig.layout.xaxis.title.text
    assert "distance in weight space" in fig.layout.xaxis.title.text
    assert contour.colorbar.title.text == "mean NLL (nats)"
    lower = dataclasses.replace(surface, values=surface.values - 5)  # not positive: linear
    assert_close(tensor(fv.plot_surface(lower).data[0].z), lower.values.T)


def test_samples_are_ringed_by_their_own_loss_on_the_surfaces_scale_and_filled_by_method(
    surface, projection
):
    contour, key, rim, samples = fv.plot_surface(surface, projection, method="sabma").data
    assert_close(tensor(samples.marker.line.color), projection.values.log10())
    assert (samples.marker.line.cmin, samples.marker.line.cmax) == (contour.zmin, contour.zmax)
    assert samples.marker.color == key.marker.color == fv.METHODS["sabma"].look.color
    assert samples.marker.opacity == 1
    assert key.name == "SA-BMA"
    assert key.showlegend
    assert not samples.showlegend
    assert samples.marker.size[1] > samples.marker.size[0]  # farther off the plane
    assert_close(tensor(samples.customdata)[:, 1], tensor([3.0, 4.0]))


@mark.parametrize("draw", [fv.plot_surface, plots.plot_surface_3d])
def test_diverged_cells_are_open_marked_and_counted(draw, surface, projection):
    values = surface.values.clone()
    values[0, 2] = math.nan
    values[8, 6] = math.inf
    fig = draw(
        dataclasses.replace(surface, values=values, precision="bfloat16", error=0.0123), projection
    )
    ground, marks, *_ = fig.data
    assert list(zip(marks.x, marks.y)) == [
        (-2.0, approx(-1 / 3)),
        (2.0, 1.0),
    ]
    assert math.isnan(ground.z[2][0])
    said = " ".join(
        [fig.layout.xaxis.title.text or "", *(note.text for note in fig.layout.annotations)]
    )
    for part in (
        "over 100 examples",
        "BatchNorm frozen",
        "2 cells diverged (×)",
        "in bfloat16, off by at most 0.012",
    ):
        assert part in said
    with raises(
        ValueError,
        match="the surface must have a finite value, got 63 diverged cells: shrink the extent",
    ):
        draw(dataclasses.replace(surface, values=values * math.nan))


def test_the_projection_shows_what_the_plane_hides(projection):
    fig = fv.plot_projection(projection)
    samples = fig.data[-1]
    assert_close(tensor(samples.y), projection.distance)
    assert_close(tensor(samples.x), projection.coords.norm(dim=1))
    assert "distance in weight space" in fig.layout.xaxis.title.text


def test_the_spectrum_shows_every_draw_with_its_residual():
    spectra = [
        fv.Spectrum(tensor([3.0, 1.0]) * s, zeros(2, 5), tensor([0.1, 0.2]), 9) for s in (1, 2)
    ]
    draws, reference, mean = fv.plot_spectrum(
        spectra, method="vi", reference={"sgd": spectra[:1]}
    ).data
    assert list(draws.y) == [3.0, 1.0, 6.0, 2.0]
    assert list(draws.error_y.array) == approx([0.1, 0.2] * 2)
    assert list(mean.y) == [4.5, 1.5]
    assert mean.line.color == fv.METHODS["vi"].look.color
    assert reference.name == "SGD (MAP)"
    assert fv.plot_spectrum(spectra[0]).data[0].y[0] == 3.0
    above = fv.plot_spectrum(spectra[:1], method="sabma", reference={"vi": spectra[1:]})
    assert (
        max(next(trace for trace in above.data if trace.name == "VI").y)
        < above.layout.yaxis.range[1]
    )


def test_what_has_no_method_has_no_methods_colour_or_name(prediction):
    one = fv.Spectrum(tensor([3.0, 1.0]), zeros(2, 5), tensor([0.1, 0.2]), 9, "ResNet-18")
    spectrum = fv.plot_spectrum([one, one])
    sharpness = results.Sharpness(*[tensor([1.0, 2.0, 4.0])] * 7)
    assert spectrum.data[1].name == "ResNet-18"
    assert spectrum.data[1].showlegend
    assert spectrum.data[0].marker.color == INK
    for fig in (spectrum, fv.plot_metrics(prediction), plots.plot_sharpness(sharpness)):
        assert fig.data[-1].line.color == INK
        assert "SA-BMA" not in fig.to_json()
    assert plots.plot_reliability(prediction).data[0].marker.color == INK


def test_scores_are_curves_and_a_single_point_a_flat_line(prediction):
    single = fv.Prediction(
        prediction.outputs[:1],
        prediction.y,
        scores={k: v[:1] for k, v in prediction.scores.items()},
    )
    fig = fv.plot_metrics({"sgd": single, "vi": prediction}, n_draws=3)
    curves = [t for t in fig.data if t.name != "noise"]
    assert [t.name for t in curves] == ["SGD (MAP)", "VI"] * 3
    assert_close(tensor(curves[3].y), prediction.scores["nll"])
    assert list(curves[0].x) == [1, 6]
    assert curves[0].y[0] == curves[0].y[1]
    assert fig.layout.shapes[0].x0 == 3
    for draw, said in (
        (fv.plot_metrics, "scores, got none: predict on a Data"),
        (plots.plot_reliability, "bins, got none"),
    ):
        with raises(ValueError, match=f"must carry .*{said}"):
            draw(fv.Prediction(prediction.outputs))


def test_reliability_bars_are_the_bins_of_all_draws_with_intervals_and_fade_with_few_examples(
    family,
):
    prediction = family.prediction[-1]
    count, _, right = prediction.bins[-1].unbind(-1)
    bars, _, counts = plots.plot_reliability(prediction).data
    assert_close(tensor(bars.y), right.nan_to_num(0))
    assert_close(tensor(counts.y), count)
    order = count.argsort()
    assert all(bars.marker.opacity[i] <= bars.marker.opacity[j] for i, j in zip(order, order[1:]))
    assert bars.marker.opacity[int(count.argmax())] == 1
    assert bars.marker.opacity[int(count.argmin())] < 0.3
    shown = count > 0
    lo, hi = wilson(right[shown], count[shown])
    above, below = (tensor(e)[shown] for e in (bars.error_y.array, bars.error_y.arrayminus))
    near = dict(rtol=1e-4, atol=1e-5)  # float32
    assert_close(above.double(), hi - right[shown], **near)
    assert_close(below.double(), right[shown] - lo, **near)


def test_reliability_of_several_predictions_has_a_line_of_each_with_its_calibration_error():
    """By hand: 100 answers of confidence 0.75 that are right 60 times, and 90 times."""
    logits = tensor([[[math.log(3.0), 0.0]] * 100])
    sixty = fv.Prediction(logits, (torch.arange(100) >= 60).long())
    ninety = fv.Prediction(logits, (torch.arange(100) >= 90).long())
    given = {"mine": sixty, "theirs": ninety}
    perfect, mine, theirs = plots.plot_reliability(given).data
    assert [perfect.name, mine.name, theirs.name] == [
        "perfect",
        "mine, ECE 0.150",
        "theirs, ECE 0.150",
    ]
    assert [list(mine.x), list(theirs.y)] == [[approx(0.75)], [approx(0.9)]]
    assert mine.line.color != theirs.line.color
    curves = [t for t in fv.plot_metrics(given).data if t.name in given]
    assert len({t.line.color for t in curves}) == 2
    with raises(ValueError, match="needs at least one Prediction, got none"):
        plots.plot_reliability({})


@mark.parametrize("lo, hi", [(0.368, 0.523), (-3.0, 12.0), (0.0, 1.0), (1e-6, 9e-6), (99.9, 100.1)])
def test_even_ticks_are_round_even_and_inside(lo, hi):
    places = even_ticks(lo, hi)
    steps = [b - a for a, b in zip(places, places[1:])]
    assert 3 <= len(places) <= 6
    assert lo - 1e-9 <= places[0]
    assert places[-1] <= hi + 1e-9
    assert steps == approx([steps[0]] * len(steps))
    assert f"{steps[0]:.0e}"[0] in "1235"
    assert even_ticks(2.0, 2.0) == [2.0]


@fixture
def spectrum():
    scale = torch.cat([linspace(-0.1, 1, 37), tensor([4.0, 6.0, 9.0])]).double()
    return fv.spectral_density(
        lambda w: 0.5 * (scale * w * w).sum(), torch.ones(40).double(), runs=3, steps=16, k=3
    )


def test_a_relief_has_the_surfaces_heights_and_samples_on_lines_to_it_in_their_methods_colour(
    surface, projection
):
    fig = plots.plot_surface_3d(surface, projection, method="sabma")
    relief, drops, points = fig.data
    # Spans decades: logarithmic
    assert_close(tensor(relief.z), surface.values.T.log10())
    assert_close(tensor(points.z), projection.values.log10())
    assert drops.line.color == points.marker.color == fv.METHODS["sabma"].look.color
    assert points.name == "SA-BMA"
    assert points.showlegend
    assert points.mode == "markers"
    assert fig.layout.scene.zaxis.ticktext
    ticks = linspace(-2, 2, 21)
    bowl = fv.Surface(surface.plane, ticks, ticks, ticks[:, None] ** 2 + ticks**2)
    W = tensor([[0.31, -0.77, 2.0, 0.0], [1.05, 0.0, 0.0, 0.0], [9.0, 0.0, 0.0, 0.0]])
    drops = plots.plot_surface_3d(
        bowl, fv.project(W, bowl.plane, lambda w: (w * w).sum()), log=False
    ).data[1]
    assert drops.x[0] == drops.x[1] == approx(0.31)
    assert drops.z[0] == approx(float(W[0].square().sum()))
    # The grid's step is 0.2: bilinear is off by 0.01
    assert drops.z[1] == approx(0.31**2 + 0.77**2, abs=0.02)
    assert math.isnan(drops.z[7])  # beside the grid there is no surface
    places = 4 * torch.rand(200, 2, dtype=float64, generator=rng()) - 2
    places[0] = tensor([bowl.a[0], bowl.b[-1]])  # a corner
    grid = [bowl.a.double().numpy(), bowl.b.double().numpy()], bowl.values.double().numpy()
    oracle = RegularGridInterpolator(*grid, bounds_error=False)(places.numpy())
    W = bowl.plane.points(places.float())
    shadow = fv.project(W, bowl.plane, lambda w: (w * w).sum())
    drops = plots.plot_surface_3d(bowl, shadow, log=False).data[1]
    foot = torch.tensor(drops.z).double()[1::3]  # a line is two ends and a gap
    assert_close(foot, torch.from_numpy(oracle), equal_nan=True, rtol=1e-4, atol=1e-4)
    cut = plots.plot_surface_3d(surface, log=False, color_range=(0.0, 2.0))
    assert tensor(cut.data[0].z).max() == 2.0  # and said so by the scale
    with raises(ValueError, match=r"a relief needs values on a grid of two axes, got shape \(5,\)"):
        plots.plot_surface_3d(fv.Surface(surface.plane, *[zeros(5)] * 3))


def test_the_density_integrates_to_one_and_marks_the_outliers(spectrum):
    fig = fv.plot_density(spectrum)
    curve, marks = fig.data
    x = tensor(curve.x)
    y = tensor(curve.y)
    assert torch.trapezoid(y, x) == approx(1, abs=0.02)
    assert_close(tensor(marks.x), spectrum.values)
    assert_close(tensor(marks.error_x.array), spectrum.residual)
    assert fig.layout.yaxis.type == "log"
    with raises(ValueError, match="plot_density needs nodes and weights, got a Spectrum without"):
        fv.plot_density(fv.top_eigenpairs(lambda w: (w * w).sum(), torch.ones(4), 1))


def test_a_path_shows_its_barrier_where_it_is_highest():
    t = linspace(0, 1, 5)
    straight = fv.Curve(t, tensor([1.0, 2.0, 4.0, 3.0, 3.0]), name="straight line")
    curve = fv.Curve(t, 1 + 2 * t)
    line, barrier, other = fv.plot_curve([straight, curve]).data
    assert list(line.y) == straight.values.tolist()
    assert other.name == "curve 2"
    assert list(barrier.x) == [0.5, 0.5]
    assert list(barrier.y) == [2.0, 4.0]
    assert barrier.text[1] == "barrier 2"
    assert len(fv.plot_curve(straight, barrier=False).data) == 1


def test_every_picture_says_its_data_its_batchnorm_and_its_precision(surface, spectrum):
    known = dict(n=100, batchnorm="re-estimated")
    curve = fv.Curve(surface.a, surface.a**2, **known)
    known_surface = dataclasses.replace(surface, **known)
    known_spectrum = dataclasses.replace(spectrum, **known)
    for fig in (
        *(
            fv.plot_surface(known_surface),
            fv.plot_curve([curve, curve]),
            fv.plot_spectrum(known_spectrum),
        ),
        *(fv.plot_density(known_spectrum),),
    ):
        assert (
            fig.layout.xaxis.title.text.count("mean over 100 examples · BatchNorm re-estimated")
            == 1
        )
    other = fv.plot_curve([curve, dataclasses.replace(curve, n=1)]).layout.xaxis.title.text
    assert (
        "mean over 100 examples · BatchNorm re-estimated / mean over 1 example · BatchNorm"
        " re-estimated" in other
    )
    assert "<br>" not in fv.plot_curve(fv.Curve(surface.a, surface.a)).layout.xaxis.title.text


def test_the_ellipse_holds_95_percent_of_a_gaussians_draws(gaussians):
    q, _ = gaussians
    # Oblique
    axes = tensor([[1.0, 0.2, 0, 0, 0, 0, 0], [0.7, 0, 1, 0, 0, 0, 0]], dtype=float64)
    plane = fv.Plane(q.mean + 0.3, axes, "distance")
    ticks = linspace(-3, 3, 5)
    surface = fv.Surface(plane, ticks, ticks, ticks[:, None] ** 2 + ticks**2 + 1)
    fig = fv.plot_surface(surface, fv.project(q, plane))
    ring = next(t for t in fig.data if t.name == "95 % of its draws")
    corners = torch.stack([tensor(ring.x), tensor(ring.y)], 1)
    draws = fv.project(q.sample(20_000, seed=0), plane).coords.double()
    share = _inside(draws, corners).double().mean()
    assert abs(float(share) - 0.95) < 0.006  # 4 standard errors
    assert "95 % of its draws" not in [
        t.name for t in fv.plot_surface(surface, fv.project(q.sample(3, seed=0), plane)).data
    ]


def _inside(points, corners):
    """Whether points lie in a polygon, by the crossings of a ray: another path than the quadratic
    form."""
    x, y = points.T[:, :, None]
    ax, ay = corners.T[:, None]
    bx = ax.roll(-1, 1)
    by = ay.roll(-1, 1)
    crosses = ((ay > y) != (by > y)) & (x < ax + (bx - ax) * (y - ay) / (by - ay + 1e-300))
    return crosses.sum(1) % 2 == 1


def test_flatness_is_drawn_against_ensemble_size_with_the_interval_of_its_mean():
    rows = tensor([3.0, 5.0, 4.0, 8.0], dtype=float64)
    found = results.Sharpness(rows, *[2 * rows] * 6)
    fig = plots.plot_sharpness({"vi": found, "sabma": found}, measure="trace")
    band, draws, line = fig.data[:3]
    assert list(draws.y) == [6, 10, 8, 16]
    assert list(line.y) == [6, 8, 8, 10]
    assert list(line.x) == [1, 2, 3, 4]
    # T of one degree of freedom, as tables print it; std of 6 and 10
    half = 12.706204736 * math.sqrt(8) / math.sqrt(2)
    assert band.y[0] == approx(8 - half)
    assert band.y[-1] == approx(8 + half)
    assert band.x[0] == 2
    assert line.line.color != fig.data[5].line.color
    assert "Hessian" in fig.layout.yaxis.title.text
    assert found.interval("lambda1")[0] == 5
    assert math.isnan(results.Sharpness(*[rows[:1]] * 7).interval("sam")[1])


def test_a_regressions_bands_are_quantiles_of_mixture_and_means_without_diverged_draws():
    x = tensor([2.0, 0.0, 1.0])
    outputs = torch.stack([x, x + 2, x + torch.inf])[..., None]
    fig = fv.plot(fv.Prediction(outputs, x[:, None], likelihood=0.5), x, level=0.8)
    noisy, means, mean, targets = fig.data
    assert list(mean.x) == [0, 1, 2]
    assert list(mean.y) == [1, 2, 3]
    assert list(targets.y) == [0, 1, 2]
    mixture = lambda v: sum(
        0.5 * torch.distributions.Normal(m, 0.5).cdf(tensor(v)) for m in (0.0, 2.0)
    )
    assert abs(float(mixture(noisy.y[0])) - 0.1) < 1e-4
    assert abs(float(mixture(noisy.y[-1])) - 0.9) < 1e-4
    assert means.y[0] == approx(0.2)
    assert means.y[-1] == approx(1.8)
    assert "1 draws diverged" in fig.layout.meta["note"]
    for how, said in (({"x": x[:2]}, "x must hold 3"), ({"target": 1}, "target must be below 1")):
        with raises(ValueError, match=said):
            plots.plot_predictive(fv.Prediction(outputs, likelihood=0.5), **how)
    with raises(ValueError, match="use plot_reliability"):
        plots.plot_predictive(fv.Prediction(zeros(2, 3, 2)))
    lost = plots.plot_predictive(fv.Prediction(outputs * torch.nan, likelihood=0.5))
    assert "3 draws diverged" in lost.layout.meta["note"]
    assert not any(math.isfinite(v) for v in lost.data[2].y)
    against = plots.plot_predictive(fv.Prediction(outputs, x[:, None], likelihood=0.5))
    assert (
        list(against.data[2].x) == list(against.data[2].y) == list(against.data[3].x) == [1, 2, 3]
    )


def test_a_figure_of_plotly_express_takes_the_ground_of_the_house_and_keeps_its_data_and_legend():
    px = importorskip("plotly.express")
    rows = {"x": [1, 2, 1, 2], "y": [3, 4, 5, 6], "score": ["nll", "nll", "ece", "ece"]}
    fig = px.line(rows, x="x", y="y", facet_col="score").update_layout(legend_orientation="v")
    housed = plots.theme.in_house_style(fig)
    house = plots.theme.figure("", "").layout.template.layout
    assert housed.layout.template.layout.plot_bgcolor == house.plot_bgcolor != "#E5ECF6"
    assert [note.text for note in housed.layout.annotations] == ["nll", "ece"]
    assert housed.layout.legend == fig.layout.legend
    assert [list(trace.y) for trace in housed.data] == [[3, 4], [5, 6]]
    assert fig.layout.annotations[0].text == "score=nll"
