"""The views of `explore` by their controls: each figure is the one that its plot makes of what is asked."""

import dataclasses
import json

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from browsing import plain
from widgets.conftest import spied

import flatviz as fv
from flatviz.plots.theme import CONFIG


def test_each_control_changes_the_figure_as_plot_surface_would(family):
    surface, projection = family.surface, family.projection[-1]
    view = fv.explore(surface, projection)
    assert len(named(view, "samples").x) == 6
    view.controls["samples"].value = 2
    np.testing.assert_allclose(named(view, "samples").x, projection.coords[:2, 0], rtol=1e-6)
    before = named(view, "surface")
    view.controls["log"].value = not view.controls["log"].value
    contour = named(view, "surface")
    assert not np.allclose(np.array(before.z), np.array(contour.z))
    view.controls["ceiling"].value = 0.5
    assert named(view, "surface").zmax < contour.zmax


def test_the_ellipse_of_a_gaussian_stays_when_a_control_moves(family):
    view = fv.explore(family.surface, fv.project(family.posterior[-1], family.surface.plane))
    before = [(t.name, list(t.x)) for t in view.figure.data]
    assert "95 % of its draws" in dict(before)
    view.controls["ceiling"].value = 0.5
    assert [(t.name, list(t.x)) for t in view.figure.data] == before


def test_a_surface_alone_is_shown_with_the_samples_control_off(family):
    view = fv.explore(family.surface)
    assert view.controls["samples"].disabled
    view.controls["ceiling"].value = 0.5
    assert isinstance(view.figure, go.Figure) and view.children[1].figure is view.figure


def test_a_page_gets_the_figure_when_it_asks_and_again_at_each_change(family):
    view = fv.explore(family.surface, family.projection[-1])
    shown = view.children[1]
    sent = spied(shown)
    shown._answer(shown, {"want": "figure"}, [])
    view.controls["samples"].value = 2
    first, last = (json.loads(content["figure"]) for content, _ in (sent[0], sent[-1]))
    assert {**first["config"], **CONFIG} == first["config"]  # no button sends the picture to a server
    samples = [plain(next(t for t in figure["data"] if t["name"] == "samples")["x"]) for figure in (first, last)]
    assert [len(x) for x in samples] == [6, 2] and len(sent) == 2  # one message a change
    shown._answer(shown, {"want": "front end"}, [])
    assert sent[-1][1][0].startswith(b"var flatvizExplorer=") and len(sent[-1][1][1]) > 1e6


def named(view, name):
    """The last trace of this name."""
    return [trace for trace in view.figure.data if trace.name == name][-1]


def test_a_path_of_one_point_is_a_marker_without_a_line(family):
    view = fv.explore(family.surface, dataclasses.replace(family.projection[-1], name="path"))
    assert named(view, "path") is not None
    view.controls["samples"].value = 1
    assert "path" not in [t.name for t in view.figure.data] and len(named(view, "samples").x) == 1
    view.controls["samples"].value = 3
    assert len(named(view, "path").x) == 3


def test_eigenvalues_are_those_of_the_first_draws_and_the_first_ranks(family):
    spectra = family.spectrum[-1]  # two draws, three eigenvalues
    view = fv.explore(spectra, method="sabma")
    values = torch.stack([s.values for s in spectra])
    np.testing.assert_allclose(named(view, "SA-BMA").y, values.mean(0), rtol=1e-6)
    view.controls["largest"].value = 2
    np.testing.assert_allclose(named(view, "SA-BMA").y, values[:, :2].mean(0), rtol=1e-6)
    assert view.figure.layout.xaxis.range[1] == pytest.approx(2.4)
    view.controls["draws"].value = 1
    np.testing.assert_allclose(named(view, "draws").y, values[0, :2], rtol=1e-6)
    assert view.text.value == f"λ₁ {float(values[0, 0]):.3g}, mean of 1"


def test_draws_on_a_plane_are_the_first_n_and_the_axes_stand_still(family):
    projection = family.projection[-1]
    view = fv.explore(projection, method="sabma")
    ends = view.figure.layout.xaxis.range
    view.controls["draws"].value = 2
    np.testing.assert_allclose(named(view, "samples").y, projection.distance[:2], rtol=1e-6)
    assert len(named(view, "rim").x) == 2 and view.figure.layout.xaxis.range == ends
    assert f"{float(projection.distance[:2].median()):.3g}" in view.text.value
    view.controls["draws"].value = 6
    np.testing.assert_allclose(named(view, "samples").y, projection.distance, rtol=1e-6)


def test_the_mark_and_the_numbers_are_those_of_the_ensemble(family):
    prediction = family.prediction[-1]
    view = fv.explore(prediction)
    view.controls["draws"].value = 4
    assert [shape.x0 for shape in view.figure.layout.shapes] == [4]
    assert f"accuracy {float(prediction.scores['accuracy'][3]):.3f}" in view.text.value
    assert fv.explore(family.prediction[family.index("sgd")]).controls["draws"].disabled  # one draw alone
