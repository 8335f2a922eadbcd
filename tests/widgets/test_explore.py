"""explore_surface by its controls."""

import json

import numpy as np
import plotly.graph_objects as go

import flatviz as fv
from flatviz.plots.theme import CONFIG


def test_each_control_changes_the_figure_as_plot_surface_would(family):
    surface, projection = family.surface, family.projection[-1]
    view = fv.explore_surface(surface, projection)
    samples = next(t for t in view.figure.data if t.name == "samples")
    assert len(samples.x) == 6
    view.controls["samples"].value = 2
    np.testing.assert_allclose(samples.x, projection.coords[:2, 0], rtol=1e-6)
    contour = next(t for t in view.figure.data if t.name == "surface")
    before = np.array(contour.z)
    view.controls["log"].value = not view.controls["log"].value
    assert not np.allclose(before, np.array(contour.z))
    end = contour.zmax
    view.controls["ceiling"].value = 0.5
    assert contour.zmax < end


def test_the_ellipse_of_a_gaussian_stays_when_a_control_moves(family):
    projection = fv.project(family.posterior[-1], family.surface.plane)
    view = fv.explore_surface(family.surface, projection)
    before = [(t.name, list(t.x)) for t in view.figure.data]
    assert "95 % of its draws" in dict(before)
    view.controls["ceiling"].value = 0.5
    assert [(t.name, list(t.x)) for t in view.figure.data] == before


def test_a_surface_alone_is_shown_with_the_samples_control_off(family):
    view = fv.explore_surface(family.surface)
    assert view.controls["samples"].disabled
    view.controls["ceiling"].value = 0.5
    assert isinstance(view.figure, go.FigureWidget)


def test_no_button_sends_the_picture_to_a_server(family):
    view = fv.explore_surface(family.surface)
    assert {**view.figure._config} | CONFIG == {**view.figure._config}
    assert json.dumps(view.figure._config).count("false") >= 2
