"""Figures read as data: what is drawn where, in which colours, with which words."""

import math

import plotly.graph_objects as go
import plotly.io as pio
import pytest
import torch

import flatviz as fv
from flatviz.plots.color import ColorScale
from flatviz.plots.theme import INK, even_ticks, style


@pytest.fixture
def surface():
    plane = fv.Plane(torch.zeros(4), torch.eye(4)[:2], "distance in weight space", "PCA plane", explained=(0.5, 0.2))
    a, b = torch.linspace(-2, 2, 5), torch.linspace(-1, 1, 3)
    return fv.Surface(plane, a, b, 0.01 + a[:, None] ** 2 + 10 * b[None] ** 2, "mean NLL (nats)", 100, "frozen")


@pytest.fixture
def projection(surface):
    W = torch.tensor([[1.0, 0.5, 0.0, 3.0], [0.0, 0.0, 4.0, 0.0]])
    return fv.project(W, surface.plane, lambda w: (w * w).sum() + 0.01)


@pytest.fixture
def prediction():
    g = torch.Generator().manual_seed(0)
    net = fv.Net.from_module(torch.nn.Linear(3, 4))
    data = fv.Data(torch.randn(40, 3, generator=g), torch.randint(0, 4, (40,), generator=g))
    return fv.predict(net, fv.Gaussian(net.w, torch.zeros_like(net.w)), data, 6, seed=0)


def test_the_surface_is_drawn_with_a_to_the_right_and_b_upwards(surface):
    fig = fv.plot_surface(surface)
    contour = fig.data[0]
    assert isinstance(fig, go.Figure) and contour.type == "contour"
    assert list(contour.x) == surface.a.tolist() and list(contour.y) == surface.b.tolist()
    torch.testing.assert_close(torch.tensor(contour.customdata), surface.values.T)
    torch.testing.assert_close(torch.tensor(contour.z), surface.values.T.log10())  # spans decades: logarithmic
    assert fig.layout.yaxis.scaleanchor == "x"
    assert "50 % of variance" in fig.layout.xaxis.title.text and "distance in weight space" in fig.layout.xaxis.title.text
    small_print = fig.layout.xaxis.title.text
    assert "mean over 100 examples" in small_print and "BatchNorm frozen" in small_print
    assert contour.colorbar.title.text == "mean NLL (nats)" and fig.layout.meta["alt"]


def test_samples_are_ringed_by_their_own_loss_on_the_surfaces_scale_and_filled_by_method(surface, projection):
    fig = fv.plot_surface(surface, projection, method="sabma")
    contour, key, rim, samples = fig.data
    torch.testing.assert_close(torch.tensor(samples.marker.line.color), projection.values.log10())
    assert (samples.marker.line.cmin, samples.marker.line.cmax) == (contour.zmin, contour.zmax)
    assert samples.marker.color == key.marker.color == fv.METHODS["sabma"].look.color and samples.marker.opacity == 1
    assert key.name == "SA-BMA" and key.showlegend and not samples.showlegend
    assert samples.marker.size[1] > samples.marker.size[0]  # farther off the plane
    torch.testing.assert_close(torch.tensor(samples.customdata)[:, 1], torch.tensor([3.0, 4.0]))


def test_values_that_are_not_positive_are_drawn_on_a_linear_scale(surface):
    shifted = fv.Surface(surface.plane, surface.a, surface.b, surface.values - 5)
    torch.testing.assert_close(torch.tensor(fv.plot_surface(shifted).data[0].z), shifted.values.T)


def test_diverged_cells_are_open_marked_and_counted(surface):
    values = surface.values.clone()
    values[0, 0], values[4, 2] = math.nan, math.inf
    fig = fv.plot_surface(fv.Surface(surface.plane, surface.a, surface.b, values))
    assert math.isnan(fig.data[0].z[0][0])
    marks = fig.data[1]
    assert sorted(zip(marks.x, marks.y)) == [(-2.0, -1.0), (2.0, 1.0)]
    assert "2 cells diverged" in fig.layout.xaxis.title.text
    with pytest.raises(ValueError, match="the surface must have a finite value, got 15 diverged cells: shrink the extent"):
        fv.plot_surface(fv.Surface(surface.plane, surface.a, surface.b, torch.full((5, 3), math.nan)))


def test_the_projection_shows_what_the_plane_hides(projection):
    fig = fv.plot_projection(projection)
    samples = fig.data[-1]
    torch.testing.assert_close(torch.tensor(samples.y), projection.distance)
    torch.testing.assert_close(torch.tensor(samples.x), projection.coords.norm(dim=1))
    assert "distance in weight space" in fig.layout.xaxis.title.text


def test_the_spectrum_shows_every_draw_with_its_residual():
    spectra = [fv.Spectrum(torch.tensor([3.0, 1.0]) * s, torch.zeros(2, 5), torch.tensor([0.1, 0.2]), 9) for s in (1, 2)]
    fig = fv.plot_spectrum(spectra, method="vi", reference={"sgd": spectra[:1]})
    draws, reference, mean = fig.data
    assert list(draws.y) == [3.0, 1.0, 6.0, 2.0] and list(draws.error_y.array) == pytest.approx([0.1, 0.2] * 2)
    assert list(mean.y) == [4.5, 1.5] and mean.line.color == fv.METHODS["vi"].look.color and reference.name == "SGD (MAP)"
    assert fv.plot_spectrum(spectra[0]).data[0].y[0] == 3.0


def test_what_has_no_method_has_no_methods_colour_or_name(prediction):
    one = fv.Spectrum(torch.tensor([3.0, 1.0]), torch.zeros(2, 5), torch.tensor([0.1, 0.2]), 9, "ResNet-18")
    draws, mean = fv.plot_spectrum([one, one]).data
    assert mean.name == "ResNet-18" and mean.line.color == draws.marker.color == INK
    assert mean.showlegend and "SA-BMA" not in fv.plot_spectrum([one, one]).to_json()
    measured = fv.results.Sharpness(*[torch.tensor([1.0, 2.0, 4.0])] * 7)
    for fig in (fv.plot_metrics(prediction), fv.plots.plot_sharpness(measured)):
        assert fig.data[-1].line.color == INK and "SA-BMA" not in fig.to_json()
    assert fv.plots.plot_reliability(prediction).data[0].marker.color == INK


def test_scores_are_curves_and_a_single_point_a_flat_line(prediction):
    single = fv.Prediction(prediction.outputs[:1], prediction.y, scores={k: v[:1] for k, v in prediction.scores.items()})
    fig = fv.plot_metrics({"sgd": single, "vi": prediction}, n_draws=3)
    curves = [t for t in fig.data if t.name != "noise"]
    assert [t.name for t in curves] == ["SGD (MAP)", "VI"] * 3
    torch.testing.assert_close(torch.tensor(curves[3].y), prediction.scores["nll"])
    assert list(curves[0].x) == [1, 6] and curves[0].y[0] == curves[0].y[1]
    assert fig.layout.shapes[0].x0 == 3
    with pytest.raises(ValueError, match="must carry scores, got none: predict on a Data, which has labels"):
        fv.plot_metrics(fv.Prediction(prediction.outputs))


def test_reliability_draws_the_bins_of_all_draws(prediction):
    fig = fv.plots.plot_reliability(prediction)
    torch.testing.assert_close(torch.tensor(fig.data[0].y), prediction.bins[-1][:, 2].nan_to_num(0))
    torch.testing.assert_close(torch.tensor(fig.data[2].y), prediction.bins[-1][:, 0])
    with pytest.raises(ValueError, match="must carry calibration bins, got none"):
        fv.plots.plot_reliability(fv.Prediction(prediction.outputs))


def test_figures_offer_no_button_to_a_server_and_change_no_global_setting(surface, monkeypatch):
    template, renderer = pio.templates.default, dict(pio.renderers["plotly_mimetype"].config)
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    bundle = fv.plot_surface(surface)._repr_mimebundle_()["application/vnd.plotly.v1+json"]
    assert bundle["config"]["showSendToCloud"] is False and bundle["config"]["displaylogo"] is False
    assert pio.templates.default == template and pio.renderers["plotly_mimetype"].config == renderer


def test_every_method_has_a_colour_of_its_own():
    colors = [m.look.color for m in fv.METHODS.values() if m.ascent is None]
    assert len(set(colors)) == len(colors)
    assert style("swag")[1] == style("f-swag")[1] == fv.METHODS["swag"].look.color


@pytest.mark.parametrize(("lo", "hi"), [(0.368, 0.523), (-3.0, 12.0), (0.0, 1.0), (1e-6, 9e-6), (99.9, 100.1)])
def test_even_ticks_are_round_even_and_inside(lo, hi):
    places = even_ticks(lo, hi)
    steps = [b - a for a, b in zip(places, places[1:])]
    assert 3 <= len(places) <= 6 and lo - 1e-9 <= places[0] and places[-1] <= hi + 1e-9
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert f"{steps[0]:.0e}"[0] in "1235" and even_ticks(2.0, 2.0) == [2.0]
    texts = ColorScale(lo, hi).bar("loss")["ticktext"]
    assert [float(text) for text in texts] == pytest.approx(places)
