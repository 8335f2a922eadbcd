"""Figures that do not mislead: scales that say where they end, markers seen on any ground, captions
that follow from figures."""

import dataclasses
import math
import sys
from colorsys import rgb_to_hls
from importlib.util import find_spec

import plotly.graph_objects as go
import plotly.io as pio
import torch
from browsing import plain
from cases import close, refused, rng, wilson
from internals import views_of
from plotly.colors import hex_to_rgb, sample_colorscale, unlabel_rgb
from pytest import fixture, mark
from torch import tensor
from torch.testing import assert_close

import flatviz as fv
from flatviz.plots.theme import CONTRAST, DARK_PAPER, dark_colors, figure


def parts(color):
    """Red, green and blue of "#rrggbb" or "rgb(r, g, b)", from 0 to 1."""
    levels = hex_to_rgb(color) if color[0] == "#" else unlabel_rgb(color)
    return [level / 255 for level in levels]


def luminance(color):
    """WCAG 2: relative luminance."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts(color)]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def bowl(curvature, floor=0.0, resolution=21):
    """floor + curvature (a^2 + b^2) / 2 on a plane through its minimum."""
    plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance in weight space", "a plane")
    f = lambda w: floor + 0.5 * curvature * (w * w).sum()
    return fv.slice_plane(f, plane, extent=2.0, resolution=resolution)


def test_a_flatter_bowl_is_a_wider_one_however_high_its_floor():
    sharp = fv.plots.plot_basin(bowl(4.0)).data[0]
    flat = fv.plots.plot_basin(bowl(2.0, 3.0)).data[0]

    def below_a_half(trace):
        """Share of heights above the center: pi r^2 of 4 x 4, r^2 = 1 / c."""
        return float((tensor(trace.customdata) <= 0.5).double().mean())

    close(below_a_half(flat), math.pi * 0.5 / 16, 0.15)
    assert below_a_half(flat) > 1.7 * below_a_half(sharp)
    heights = tensor(flat.customdata)
    close(heights.max(), 8.0)
    assert_close(tensor(flat.z).square(), heights, atol=1e-4, rtol=1e-4)
    with refused("origin must be on the grid, .*: take a symmetric extent"):
        fv.plots.plot_basin(bowl(1.0, resolution=4))


@mark.long
def test_no_panel_is_mostly_one_colour(family):
    names = {view.name for view in views_of(family)} - {"images"}  # which the page draws
    for member in (family[0], family[-1]):
        how = dict(method=member.method, radius=member.radius)
        for name in names:
            for trace in fv.widgets.plot_view(family, name, **how).data:
                if isinstance(trace, go.Contour) and trace.contours.coloring != "none":
                    z = torch.as_tensor(plain(trace.z)) - trace.contours.start
                    bands = (z / trace.contours.size).ceil().clamp(0, 18)
                    _, counts = bands[~bands.isnan()].unique(return_counts=True)
                    assert counts.max() <= 0.5 * bands.numel(), (name, how)


def ends(surface, **how):
    """The scale's words, and its end."""
    trace = fv.plot_surface(surface, log=False, **how).data[0]
    return trace.colorbar.ticktext, trace.zmax


def test_a_scale_that_clips_marks_its_end():
    surface = bowl(1.0)
    words, _ = ends(surface, color_range=(0.5, 2.0))
    assert words[0] == "≤ 0.5"
    assert words[-1] == "≥ 2"
    words, _ = ends(surface)
    assert not {"≥", "≤"} & set("".join(words))
    values = surface.values.clone()
    values[0, 0] = 1e6  # one cell would take all colours
    words, end = ends(dataclasses.replace(surface, values=values))
    close(end, values.quantile(0.98), 1e-5)
    assert words[-1].startswith("≥")


@mark.parametrize("method", [m for m, record in fv.METHODS.items() if record.ascent is None])
def test_markers_stand_out_from_dark_and_light_ground(method):
    surface = bowl(1.0)
    shown = fv.project(torch.rand(5, 3), surface.plane, lambda w: (w * w).sum())
    fig = fv.plot_surface(surface, shown, method=method, reference={"vi": shown, "sgd": shown})
    outer, inner = (t.marker.color for t in fig.data if t.name == "VI, rim")
    by_name = {t.name: t for t in fig.data}
    rim = by_name["rim"].marker
    samples = by_name["samples"].marker
    white_around = [r - s for r, s in zip(rim.size, samples.size)]
    assert min(white_around) >= 3  # px
    scale = [list(stop) for stop in by_name["surface"].colorscale]
    for ground in sample_colorscale(scale, [i / 20 for i in range(21)]):
        for pair in ((rim.color, rim.line.color), (outer, inner)):
            assert max(contrast(color, ground) for color in pair) >= 3
    assert contrast(samples.color, rim.color) >= 3
    assert contrast(by_name["VI"].marker.color, "#ffffff") >= 3


@mark.parametrize("name", ["surface", "spectrum", "metrics"])
def test_no_legend_names_a_method_twice_and_each_names_the_selected(family, name):
    for method in family.methods:
        fig = fv.widgets.plot_view(family, name, method=method)
        named = [t.name for t in fig.data if t.showlegend is not False and t.visible is not False]
        assert len(named) == len(set(named))
        assert fv.METHODS[method].label in named


def test_the_accuracy_curve_carries_the_noise_of_its_test_set(family):
    prediction = family.prediction[-1]
    fig = fv.plot_metrics(prediction, method="sabma")
    right = prediction.scores["accuracy"]
    low, high = wilson(right, torch.full_like(right, len(prediction.y)))
    band = tensor(fig.data[0].y).double()
    assert_close(band, torch.cat([low, high.flip(0)]), rtol=1e-5, atol=1e-5)
    bottom, top = fig.layout.yaxis.range
    assert bottom <= low[-1]
    assert top >= high[-1]


def test_a_spread_of_rounding_noise_is_drawn_flat():
    t = torch.linspace(0, 1, 9)
    noise = 1 + 1e-7 * torch.randn(9, generator=rng())
    fig = fv.plot_curve(fv.Curve(t, noise, name="a line"))
    low, high = fig.layout.yaxis.range
    assert high - low > 0.1
    assert len(fig.data) == 1  # and no barrier of 1e-7
    assert fv.plot_curve(fv.Curve(t, t)).layout.yaxis.range is None


@mark.skipif(find_spec("kaleido") is not None, reason="kaleido writes it")
def test_an_image_file_without_kaleido_names_it_and_another_way(tmp_path):
    with refused(r"pip install kaleido, or write_html\(path\)", ImportError):
        figure("", "").write_image(tmp_path / "figure.png")


@fixture
def as_plotly(monkeypatch):
    """Results draw themselves as in JupyterLab."""
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")


@mark.parametrize(
    "noun, kind", [("surface", "contour"), ("projection", "scatter"), ("prediction", "bar")]
)
def test_results_draw_themselves_in_a_cell_without_a_button_to_a_server(
    family, as_plotly, noun, kind
):
    settings = dict(pio.renderers["plotly_mimetype"].config)
    result = getattr(family, noun)
    if isinstance(result, tuple):
        result = result[-1]
    bundle = result._repr_mimebundle_()
    assert bundle["text/plain"] == repr(result)
    drawn = bundle["application/vnd.plotly.v1+json"]
    assert drawn["data"][0]["type"] == kind
    assert drawn["layout"]["meta"]["alt"]
    config = drawn["config"]
    assert config["showSendToCloud"] is False
    assert config["displaylogo"] is False
    # JupyterLab resizes it; a responsive one has no height once the theme has changed
    assert "responsive" not in config
    assert pio.renderers["plotly_mimetype"].config == settings


def test_a_setting_of_the_users_changes_that_setting_alone(family, as_plotly, monkeypatch):
    settings = []
    record = lambda figure, *args, config, **kwargs: settings.append(config)
    monkeypatch.setattr(pio, "show", record)
    figure = fv.plot(family.surface)
    figure.show(config={"scrollZoom": True})
    bundle = figure._repr_mimebundle_(config={"scrollZoom": True})
    settings.append(bundle["application/vnd.plotly.v1+json"]["config"])
    for config in settings:
        assert config["scrollZoom"] is True
        assert config["showSendToCloud"] is False


def test_all_notes_of_a_figure_are_described(family):
    figure = fv.plot(family.surface)
    for text in ("", "one<br>thing", "", "and another"):
        figure.note(text)
    assert figure.layout.meta["note"] == "one thing and another"


def test_what_cannot_be_drawn_is_text(family, as_plotly, monkeypatch):
    bare = fv.Prediction(family.prediction[-1].outputs)  # without labels there is no picture
    assert set(bare._repr_mimebundle_()) == {"text/plain"}
    # As where plotly is not installed
    for package in (fv, fv.plots):  # where it stays once it was loaded
        monkeypatch.delitem(vars(package), "plot", raising=False)
    monkeypatch.setitem(sys.modules, "flatviz.plots.by_type", None)
    assert set(family.surface._repr_mimebundle_()) == {"text/plain"}


def test_on_dark_ground_every_methods_line_has_contrast_and_its_hue():
    for color, lighter in dark_colors().items():
        assert contrast(lighter, DARK_PAPER) >= CONTRAST - 1e-3
        hue, _, saturation = rgb_to_hls(*parts(color))
        other, _, _ = rgb_to_hls(*parts(lighter))
        assert saturation < 0.3 or abs(hue - other) < 0.02  # of rounding to bytes
    assert dark_colors()["#009e73"] == "#009e73"  # what is seen already stays
