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
from cases import rng, wilson
from internals import views_of
from plotly.colors import sample_colorscale
from pytest import approx, mark, raises
from torch import tensor
from torch.testing import assert_close

import flatviz as fv
from flatviz.plots.theme import CONTRAST, DARK_PAPER, dark_colors, figure


def parts(color):
    """Red, green and blue of "#rrggbb" or "rgb(r, g, b)"."""
    return (
        [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        if color[0] == "#"
        else [float(c) for c in color[4:-1].split(",")]
    )


def luminance(color):
    """WCAG 2: relative luminance."""
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in parts(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def bowl(curvature, floor=0.0, resolution=21, reach=2.0):
    """floor + curvature (a^2 + b^2) / 2 on a plane through its minimum."""
    plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance in weight space", "a plane")
    return fv.slice_plane(
        lambda w: floor + 0.5 * curvature * (w * w).sum(),
        plane,
        extent=reach,
        resolution=resolution,
    )


def test_a_flatter_bowl_is_a_wider_one_however_high_its_floor():
    shown = [fv.plots.plot_basin(bowl(*given)).data[0] for given in ((4.0,), (2.0, 3.0))]
    # customdata: heights above the center, whose share below 0.5 is pi r^2 of 4 x 4, r^2 = 1 / c
    sharp, flat = (float((tensor(trace.customdata) <= 0.5).double().mean()) for trace in shown)
    assert flat == approx(math.pi * 0.5 / 16, rel=0.15)
    assert flat > 1.7 * sharp
    assert tensor(shown[1].customdata).max() == approx(8.0)
    assert_close(tensor(shown[1].z).square(), tensor(shown[1].customdata), atol=1e-4, rtol=1e-4)
    with raises(
        ValueError,
        match="the plane's origin must be on the grid, got one beside it: take a symmetric extent",
    ):
        fv.plots.plot_basin(
            fv.slice_plane(lambda w: (w * w).sum(), bowl(1.0).plane, extent=1.0, resolution=4)
        )


@mark.long
def test_no_panel_is_mostly_one_colour(family):
    drawn = [view for view in views_of(family) if view.name != "images"]  # which the page draws
    for view in drawn:
        for member in (family[0], family[len(family) - 1]):
            how = dict(method=member.method, radius=member.radius)
            for trace in fv.widgets.plot_view(family, view.name, **how).data:
                if isinstance(trace, go.Contour) and trace.contours.coloring != "none":
                    z = torch.as_tensor(plain(trace.z))
                    bands = ((z - trace.contours.start) / trace.contours.size).ceil().clamp(0, 18)
                    most = max(float((bands == k).double().mean()) for k in range(20))
                    assert most <= 0.5, (view.name, how)


def test_a_scale_that_clips_marks_its_end():
    surface = bowl(1.0)
    ends = fv.plot_surface(surface, color_range=(0.5, 2.0), log=False).data[0].colorbar.ticktext
    assert ends[0] == "≤ 0.5"
    assert ends[-1] == "≥ 2"
    assert not {"≥", "≤"} & set(
        "".join(fv.plot_surface(surface, log=False).data[0].colorbar.ticktext)
    )
    values = surface.values.clone()
    values[0, 0] = 1e6  # one cell would take all colours
    outlier = fv.plot_surface(dataclasses.replace(surface, values=values), log=False).data[0]
    assert outlier.zmax == approx(float(values.quantile(0.98)), rel=1e-5)
    assert outlier.colorbar.ticktext[-1].startswith("≥")


@mark.parametrize("method", [m for m, record in fv.METHODS.items() if record.ascent is None])
def test_markers_stand_out_from_dark_and_light_ground(method):
    surface = bowl(1.0)
    shown = fv.project(torch.rand(5, 3), surface.plane, lambda w: (w * w).sum())
    fig = fv.plot_surface(surface, shown, method=method, reference={"vi": shown, "sgd": shown})
    outer, inner = (t for t in fig.data if t.name == "VI, rim")
    traces = {t.name: t for t in fig.data}
    rim = traces["rim"]
    samples = traces["samples"]
    # Px of white around the ring
    assert all(r - s >= 3 for r, s in zip(rim.marker.size, samples.marker.size))
    scale = [list(stop) for stop in traces["surface"].colorscale]
    for ground in sample_colorscale(scale, [i / 20 for i in range(21)]):
        assert max(contrast(rim.marker.color, ground), contrast(rim.marker.line.color, ground)) >= 3
        assert max(contrast(outer.marker.color, ground), contrast(inner.marker.color, ground)) >= 3
    assert contrast(samples.marker.color, rim.marker.color) >= 3
    assert contrast(traces["VI"].marker.color, "#ffffff") >= 3


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
    lo, hi = wilson(right, torch.full_like(right, len(prediction.y)))
    assert_close(tensor(fig.data[0].y).double(), torch.cat([lo, hi.flip(0)]), rtol=1e-5, atol=1e-5)
    assert fig.layout.yaxis.range[0] <= lo[-1]
    assert fig.layout.yaxis.range[1] >= hi[-1]


def test_a_spread_of_rounding_noise_is_drawn_flat():
    t = torch.linspace(0, 1, 9)
    noise = 1 + 1e-7 * torch.randn(9, generator=rng())
    fig = fv.plot_curve(fv.Curve(t, noise, name="a line"))
    lo, hi = fig.layout.yaxis.range
    assert hi - lo > 0.1
    assert len(fig.data) == 1  # and no barrier of 1e-7
    assert fv.plot_curve(fv.Curve(t, t)).layout.yaxis.range is None


@mark.skipif(find_spec("kaleido") is not None, reason="kaleido writes it")
def test_an_image_file_without_kaleido_names_it_and_another_way(tmp_path):
    with raises(ImportError, match=r"pip install kaleido, or write_html\(path\)"):
        figure("", "").write_image(tmp_path / "figure.png")


def test_results_draw_themselves_in_a_cell_without_a_button_to_a_server(family, monkeypatch):
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    settings = dict(pio.renderers["plotly_mimetype"].config)
    for kind, result in {
        "contour": family.surface,
        "scatter": family.projection[-1],
        "bar": family.prediction[-1],
    }.items():
        bundle = result._repr_mimebundle_()
        assert bundle["text/plain"] == repr(result)
        drawn = bundle["application/vnd.plotly.v1+json"]
        assert drawn["data"][0]["type"] == kind
        assert drawn["layout"]["meta"]["alt"]
        assert drawn["config"]["showSendToCloud"] is False
        assert drawn["config"]["displaylogo"] is False
        # JupyterLab resizes it; a responsive one has no height once the theme has changed
        assert "responsive" not in drawn["config"]
    assert pio.renderers["plotly_mimetype"].config == settings
    bare = fv.Prediction(family.prediction[-1].outputs)  # without labels there is no picture
    assert set(bare._repr_mimebundle_()) == {"text/plain"}
    # As where plotly is not installed
    monkeypatch.setitem(sys.modules, "flatviz.plots.by_type", None)
    assert set(family.surface._repr_mimebundle_()) == {"text/plain"}


def test_on_dark_ground_every_methods_line_has_contrast_and_its_hue():
    for color, lighter in dark_colors().items():
        assert contrast(lighter, DARK_PAPER) >= CONTRAST - 1e-3
        (hue, _, saturation), (other, _, _) = (
            rgb_to_hls(*(byte / 255 for byte in parts(c))) for c in (color, lighter)
        )
        assert saturation < 0.3 or abs(hue - other) < 0.02  # of rounding to bytes
    assert dark_colors()["#009e73"] == "#009e73"  # what is seen already stays
