"""Figures read as data: what is drawn where, in which colours, with which words."""

import dataclasses
import math

import plotly.express as px
import torch
from cases import around, close, net_of, refused, rng, wilson
from pytest import approx, fixture, mark
from scipy.interpolate import RegularGridInterpolator
from torch import float64, linspace, stack, tensor, zeros
from torch.distributions import Normal
from torch.testing import assert_close

import flatviz as fv
from flatviz import plots, results

NAN = math.nan
COLOR = {name: method.look.color for name, method in fv.METHODS.items()}


def traces(fig):
    """The traces of a figure by name, the last of each."""
    return {trace.name: trace for trace in fig.data}


@fixture
def prediction():
    g = rng()
    net = net_of(torch.nn.Linear(3, 4))
    x = torch.randn(40, 3, generator=g)
    y = torch.randint(0, 4, (40,), generator=g)
    data = fv.Data(x, y)
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
    contour = fv.plot_surface(lower).data[0]
    assert_close(tensor(contour.z), lower.values.T)


def test_samples_are_ringed_by_their_own_loss_on_the_surfaces_scale_and_filled_by_method(
    surface, projection
):
    fig = fv.plot_surface(surface, projection, method="sabma")
    contour, key, rim, samples = fig.data
    marker = samples.marker
    assert_close(tensor(marker.line.color), projection.values.log10())
    assert (marker.line.cmin, marker.line.cmax) == (contour.zmin, contour.zmax)
    assert marker.color == key.marker.color == COLOR["sabma"]
    assert key.name == "SA-BMA"
    assert key.showlegend
    assert not samples.showlegend
    assert marker.size[1] > marker.size[0]  # farther off the plane
    assert_close(tensor(samples.customdata)[:, 1], tensor([3.0, 4.0]))


@mark.parametrize("draw", [fv.plot_surface, plots.plot_surface_3d])
def test_diverged_cells_are_open_marked_and_counted(draw, surface, projection):
    values = surface.values.clone()
    values[0, 2] = NAN
    values[8, 6] = math.inf
    some = dataclasses.replace(
        surface,
        values=values,
        precision="bfloat16",
        error=0.0123,
    )
    fig = draw(some, projection)
    ground, marks, *_ = fig.data
    assert list(marks.x) == [-2.0, 2.0]
    close(list(marks.y), [-1 / 3, 1.0])
    assert math.isnan(ground.z[2][0])
    notes = [note.text for note in fig.layout.annotations]
    said = " ".join([fig.layout.xaxis.title.text or "", *notes])
    for part in (
        "over 100 examples",
        "BatchNorm frozen",
        "2 cells diverged (×)",
        "in bfloat16, off by at most 0.012",
    ):
        assert part in said
    none = dataclasses.replace(surface, values=values * NAN)
    with refused("got 63 diverged cells: shrink the extent"):
        draw(none)


def test_the_projection_shows_what_the_plane_hides(projection):
    fig = fv.plot_projection(projection)
    samples = fig.data[-1]
    assert_close(tensor(samples.y), projection.distance)
    assert_close(tensor(samples.x), projection.coords.norm(dim=1))
    assert "distance in weight space" in fig.layout.xaxis.title.text


def eigenvalues(*values, name=""):
    vectors = zeros(2, 5)
    residual = tensor([0.1, 0.2])
    return fv.Spectrum(tensor(values), vectors, residual, 9, name)


def test_the_spectrum_shows_every_draw_with_its_residual():
    spectra = [eigenvalues(3.0, 1.0), eigenvalues(6.0, 2.0)]
    fig = fv.plot_spectrum(spectra, method="vi", reference={"sgd": spectra[:1]})
    draws, reference, mean = fig.data
    assert list(draws.y) == [3.0, 1.0, 6.0, 2.0]
    close(list(draws.error_y.array), [0.1, 0.2] * 2)
    assert list(mean.y) == [4.5, 1.5]
    assert mean.line.color == COLOR["vi"]
    assert reference.name == "SGD (MAP)"
    low, high = spectra
    above = fv.plot_spectrum([low], method="sabma", reference={"vi": [high]})
    top = above.layout.yaxis.range[1]
    assert max(traces(above)["VI"].y) < top


def test_a_single_eigenvalue_is_titled_by_the_end_that_it_is_from():
    values = tensor([3.0, 2.0, -1.0])
    f = lambda w: 0.5 * (values * w * w).sum()
    for which in ("smallest", "largest"):
        spectrum = fv.top_eigenpairs(f, torch.ones(3), 1, which=which)
        assert f"{which} first" in fv.plot_spectrum(spectrum).layout.xaxis.title.text


def test_the_share_of_an_axis_is_of_variance_or_of_distance_whatever_the_planes_name():
    W = torch.randn(6, 4)
    of = {"variance": fv.plane_pca, "squared distance": fv.planes.plane_path}
    for what, plane_of in of.items():
        plane = plane_of(W, name="mine")
        surface = fv.slice_plane(lambda w: (w * w).sum(), plane, resolution=3)
        assert f"% of {what}" in fv.plot_surface(surface).layout.xaxis.title.text


def test_what_has_no_method_has_no_methods_colour_or_name(prediction):
    one = eigenvalues(3.0, 1.0, name="ResNet-18")
    spectrum = fv.plot_spectrum([one, one])
    assert traces(spectrum)["ResNet-18"].showlegend
    ink = spectrum.layout.template.layout.font.color  # of its texts
    assert spectrum.data[0].marker.color == ink
    sharpness = results.Sharpness(*[tensor([1.0, 2.0, 4.0])] * 7)
    scores = fv.plot_metrics(prediction)
    for fig in (spectrum, scores, plots.plot_sharpness(sharpness)):
        assert fig.data[-1].line.color == ink
        assert "SA-BMA" not in fig.to_json()
    assert plots.plot_reliability(prediction).data[0].marker.color == ink


def test_scores_are_curves_and_a_single_point_a_flat_line(prediction):
    single = fv.Prediction(prediction.outputs[:1], prediction.y)
    fig = fv.plot_metrics({"sgd": single, "vi": prediction}, n_draws=3)
    curves = [t for t in fig.data if t.name != "noise"]
    assert [t.name for t in curves] == ["SGD (MAP)", "VI"] * 3
    assert_close(tensor(curves[3].y), prediction.scores["nll"])
    assert list(curves[0].x) == [1, 6]
    assert curves[0].y[0] == curves[0].y[1]
    assert fig.layout.shapes[0].x0 == 3


@mark.parametrize("draw", [fv.plot_metrics, plots.plot_reliability])
def test_what_has_no_labels_has_no_scores_to_draw(draw, prediction):
    with refused("must carry .*, got none"):
        draw(fv.Prediction(prediction.outputs))
    with refused("at least one"):
        draw({})


def test_reliability_bars_are_the_bins_of_all_draws_with_intervals_and_fade_with_few_examples(
    family,
):
    prediction = family.prediction[-1]
    count, _, right = prediction.bins[-1].unbind(-1)
    bars, _, counts = plots.plot_reliability(prediction).data
    assert_close(tensor(bars.y), right.nan_to_num(0))
    assert_close(tensor(counts.y), count)
    opacity = tensor(bars.marker.opacity)
    by_count = opacity[count.argsort()]
    assert (by_count.diff() >= 0).all()
    assert opacity.max() == 1
    assert opacity.min() < 0.3
    shown = count > 0
    low, high = wilson(right[shown], count[shown])
    above = tensor(bars.error_y.array)[shown].double()
    below = tensor(bars.error_y.arrayminus)[shown].double()
    near = dict(rtol=1e-4, atol=1e-5)  # float32
    assert_close(above, high - right[shown], **near)
    assert_close(below, right[shown] - low, **near)


def test_reliability_of_several_predictions_has_a_line_of_each_with_its_calibration_error():
    """By hand: 100 answers of confidence 0.75 that are right 60 times, and 90 times."""
    logits = tensor([math.log(3.0), 0.0]).expand(1, 100, 2)
    number = torch.arange(100)
    given = {
        "mine": fv.Prediction(logits, (number >= 60).long()),
        "theirs": fv.Prediction(logits, (number >= 90).long()),
    }
    perfect, mine, theirs = plots.plot_reliability(given).data
    assert perfect.name == "perfect"
    assert mine.name == "mine, ECE 0.150"
    assert theirs.name == "theirs, ECE 0.150"
    close(list(mine.x), [0.75])
    close(list(theirs.y), [0.9])
    assert mine.line.color != theirs.line.color


@mark.parametrize(
    "low, high",
    [
        (0.368, 0.523),
        (-3.0, 12.0),
        (0.0, 1.0),
        (1e-6, 9e-6),
    ],
)
def test_the_ticks_of_a_colour_bar_are_round_even_and_inside(low, high, bowl):
    values = linspace(low, high, bowl.values.numel())
    surface = dataclasses.replace(bowl, values=values.view_as(bowl.values))
    contour = fv.plot_surface(surface, log=False).data[0]
    places = contour.colorbar.tickvals
    assert 3 <= len(places) <= 6
    assert low - 1e-9 <= places[0]
    assert places[-1] <= high + 1e-9
    step, *others = tensor(places).diff().tolist()
    close(others, [step] * len(others))
    assert f"{step:.0e}"[0] in "1235"


def drops(bowl, W):
    """Both ends of each line (S, 2, 3): a point at its loss, and the relief below it."""
    seen = fv.project(W, bowl.plane, lambda w: (w * w).sum())
    lines = plots.plot_surface_3d(bowl, seen, log=False).data[1]
    places = stack([tensor(lines.x), tensor(lines.y), tensor(lines.z)], 1)
    lines = places.unflatten(0, (-1, 3))
    return lines[:, :2]  # two ends and a gap


def paraboloid(plane, ticks):
    """a^2 + b^2 on a plane."""
    squares = ticks**2
    return fv.Surface(plane, ticks, ticks, squares[:, None] + squares)


@fixture
def bowl(surface):
    """a^2 + b^2 on a grid with a step of 0.2."""
    return paraboloid(surface.plane, linspace(-2, 2, 21))


def test_a_relief_has_the_surfaces_heights_and_samples_in_their_methods_colour(surface, projection):
    fig = plots.plot_surface_3d(surface, projection, method="sabma")
    relief, lines, points = fig.data
    # Spans decades: logarithmic
    assert_close(tensor(relief.z), surface.values.T.log10())
    assert_close(tensor(points.z), projection.values.log10())
    assert lines.line.color == points.marker.color == COLOR["sabma"]
    assert points.name == "SA-BMA"
    assert points.showlegend
    assert fig.layout.scene.zaxis.ticktext
    cut = plots.plot_surface_3d(surface, log=False, color_range=(0.0, 2.0))
    assert tensor(cut.data[0].z).max() == 2.0  # and said so by the scale
    line = fv.Surface(surface.plane, *[zeros(5)] * 3)
    with refused(r"needs values on a grid of two axes, got shape \(5,\)"):
        plots.plot_surface_3d(line)


def test_lines_fall_from_each_sample_to_the_relief_as_scipy_interpolates_it(bowl):
    places = torch.empty(200, 2).double().uniform_(-2, 2, generator=rng())
    places[0] = tensor([2.0, -2.0])  # a corner
    places[1] = 9.0  # beside the grid there is no surface
    W = bowl.plane.points(places.float())
    W[:, 2] = 1.0  # off the plane
    found = drops(bowl, W)
    near = dict(rtol=1e-4, atol=1e-4, equal_nan=True, check_dtype=False)
    assert_close(found[:, 0, :2], places, **near)
    assert_close(found[:, 0, 2], W.square().sum(1), **near)
    grid = bowl.a.double(), bowl.b.double()
    heights = RegularGridInterpolator(grid, bowl.values.double(), bounds_error=False)
    foot = torch.from_numpy(heights(places))
    assert_close(found[:, 1, 2], foot, **near)


@fixture
def spectrum():
    bulk = linspace(-0.1, 1, 37)
    scale = torch.cat([bulk, tensor([4.0, 6.0, 9.0])]).double()
    f = lambda w: 0.5 * (scale * w * w).sum()
    return fv.spectral_density(
        f,
        torch.ones(40).double(),
        runs=3,
        steps=16,
        k=3,
    )


def test_the_density_integrates_to_one_and_marks_the_outliers(spectrum):
    fig = fv.plot_density(spectrum)
    curve, marks = fig.data
    area = torch.trapezoid(tensor(curve.y), tensor(curve.x))
    assert area == approx(1, abs=0.02)
    assert_close(tensor(marks.x), spectrum.values)
    assert_close(tensor(marks.error_x.array), spectrum.residual)
    assert fig.layout.yaxis.type == "log"
    pairs = fv.top_eigenpairs(lambda w: (w * w).sum(), torch.ones(4), 1)
    with refused("plot_density needs nodes and weights, got a Spectrum without"):
        fv.plot_density(pairs)


def test_a_path_shows_its_barrier_where_it_is_highest():
    t = linspace(0, 1, 5)
    values = tensor([1.0, 2.0, 4.0, 3.0, 3.0])
    straight = fv.Curve(t, values, name="straight line")
    curve = fv.Curve(t, 1 + 2 * t)
    line, barrier, other = fv.plot_curve([straight, curve]).data
    assert list(line.y) == straight.values.tolist()
    assert other.name == "curve 2"
    assert list(barrier.x) == [0.5, 0.5]
    assert list(barrier.y) == [2.0, 4.0]
    assert barrier.text[1] == "barrier 2"
    assert len(fv.plot_curve(straight, barrier=False).data) == 1


def test_every_picture_says_its_data_and_its_batchnorm(surface, spectrum):
    known = dict(n=100, batchnorm="re-estimated")
    said = "mean over 100 examples · BatchNorm re-estimated"
    curve = fv.Curve(surface.a, surface.a**2, **known)
    for fig in (
        fv.plot_surface(dataclasses.replace(surface, **known)),
        fv.plot_curve([curve, curve]),
        fv.plot_spectrum(dataclasses.replace(spectrum, **known)),
        fv.plot_density(dataclasses.replace(spectrum, **known)),
    ):
        assert fig.layout.xaxis.title.text.count(said) == 1
    other = fv.plot_curve([curve, dataclasses.replace(curve, n=1)])
    assert f"{said} / mean over 1 example" in other.layout.xaxis.title.text
    plain = fv.plot_curve(fv.Curve(surface.a, surface.a))
    assert "<br>" not in plain.layout.xaxis.title.text


def inside(points, corners):
    """Whether points lie in a polygon, by the crossings of a ray: another path than the quadratic
    form."""
    x, y = points.T[:, :, None]
    ax, ay = corners.T[:, None]
    bx = ax.roll(-1, 1)
    by = ay.roll(-1, 1)
    spans = (ay > y) != (by > y)
    slope = (bx - ax) / (by - ay + 1e-300)
    is_left = x < ax + slope * (y - ay)
    return (spans & is_left).sum(1) % 2 == 1


def test_the_ellipse_holds_95_percent_of_a_gaussians_draws(gaussians):
    q, _ = gaussians
    oblique = [[1.0, 0.2, 0, 0, 0, 0, 0], [0.7, 0, 1, 0, 0, 0, 0]]
    plane = fv.Plane(q.mean + 0.3, tensor(oblique).double(), "distance")
    surface = paraboloid(plane, linspace(-3, 3, 5))

    def drawn(samples):
        return traces(fv.plot_surface(surface, fv.project(samples, plane)))

    ring = drawn(q)["95 % of its draws"]
    corners = tensor([ring.x, ring.y]).T
    draws = fv.project(q.sample(20_000, seed=0), plane)
    is_inside = inside(draws.coords.double(), corners)
    share = float(is_inside.double().mean())
    assert share == approx(0.95, abs=0.006)  # 4 standard errors
    assert "95 % of its draws" not in drawn(q.sample(3, seed=0))


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
    assert band.x[0] == 2
    ends = band.y[0], band.y[-1]
    close(ends, (8 - half, 8 + half))
    assert line.line.color != fig.data[5].line.color
    assert "Hessian" in fig.layout.yaxis.title.text


X = tensor([2.0, 0.0, 1.0])
OUTPUTS = stack([X, X + 2, X + torch.inf])[..., None]


def test_a_regressions_bands_are_quantiles_of_mixture_and_means_without_diverged_draws():
    prediction = fv.Prediction(OUTPUTS, X[:, None], likelihood=0.5)
    fig = fv.plot(prediction, X, level=0.8)
    noisy, means, mean, targets = fig.data
    assert list(mean.x) == [0, 1, 2]
    assert list(mean.y) == [1, 2, 3]
    assert list(targets.y) == [0, 1, 2]
    mixture = Normal(tensor([0.0, 2.0]), 0.5)
    for end, level in ((noisy.y[0], 0.1), (noisy.y[-1], 0.9)):
        below = mixture.cdf(tensor(end)).mean()
        assert float(below) == approx(level, abs=1e-4)
    close((means.y[0], means.y[-1]), (0.2, 1.8))
    assert "1 draws diverged" in fig.layout.meta["note"]
    _, _, mean, targets = plots.plot_predictive(prediction).data  # against the mean
    assert list(mean.x) == list(mean.y) == list(targets.x) == [1, 2, 3]


def test_a_regression_of_which_all_draws_diverged_says_so():
    lost = plots.plot_predictive(fv.Prediction(OUTPUTS * NAN, likelihood=0.5))
    assert "3 draws diverged" in lost.layout.meta["note"]
    assert tensor(lost.data[2].y).isnan().all()


@mark.parametrize(
    "outputs, how, text",
    [
        (OUTPUTS, {"x": X[:2]}, "x must hold 3"),
        (OUTPUTS, {"target": 1}, "target must be below 1"),
        (None, {}, "use plot_reliability"),
    ],
)
def test_what_is_no_regression_with_these_inputs_is_refused(outputs, how, text):
    classes = fv.Prediction(zeros(2, 3, 2))
    prediction = classes if outputs is None else fv.Prediction(outputs, likelihood=0.5)
    with refused(text):
        plots.plot_predictive(prediction, **how)


def test_a_figure_of_plotly_express_takes_the_ground_of_the_house_and_keeps_its_data():
    rows = {"x": [1, 2, 1, 2], "y": [3, 4, 5, 6], "score": ["nll", "nll", "ece", "ece"]}
    fig = px.line(
        rows,
        x="x",
        y="y",
        facet_col="score",
    ).update_layout(legend_orientation="v")
    housed = plots.theme.in_house_style(fig).layout
    house = plots.theme.figure("", "").layout
    ground = housed.template.layout.plot_bgcolor
    assert ground == house.template.layout.plot_bgcolor != "#E5ECF6"
    assert [note.text for note in housed.annotations] == ["nll", "ece"]
    assert housed.legend == fig.layout.legend
    assert fig.layout.annotations[0].text == "score=nll"


def test_a_facet_of_a_column_of_two_words_is_named_by_its_value_and_other_texts_stay():
    rows = {"x": [1, 2], "y": [3, 4], "test score": ["nll", "ece"]}
    fig = px.scatter(rows, x="x", y="y", facet_col="test score")
    fig.add_annotation(text="best at x = 2")
    housed = plots.theme.in_house_style(fig).layout
    assert [note.text for note in housed.annotations] == ["nll", "ece", "best at x = 2"]
