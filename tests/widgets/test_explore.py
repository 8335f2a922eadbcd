"""The views of `explore` by their controls: each figure is the one that its plot makes of what is
asked."""

import dataclasses

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

import flatviz as fv


def test_each_control_changes_the_figure_as_plot_surface_would(family):
    surface = family.surface
    projection = family.projection[-1]
    view = fv.explore(surface, projection)
    assert len(named(view, "samples").x) == 6
    control(view, "samples").value = 2
    np.testing.assert_allclose(named(view, "samples").x, projection.coords[:2, 0], rtol=1e-6)
    before = named(view, "surface")
    control(view, "log").value = not control(view, "log").value
    contour = named(view, "surface")
    assert not np.allclose(np.array(before.z), np.array(contour.z))
    control(view, "ceiling").value = 0.5
    assert named(view, "surface").zmax < contour.zmax


def test_the_ellipse_of_a_gaussian_stays_when_a_control_moves(family):
    view = fv.explore(family.surface, fv.project(family.posterior[-1], family.surface.plane))
    before = [(t.name, list(t.x)) for t in view.result.data]
    assert "95 % of its draws" in dict(before)
    control(view, "ceiling").value = 0.5
    assert [(t.name, list(t.x)) for t in view.result.data] == before


def test_a_surface_alone_is_shown_with_the_samples_control_off(family):
    view = fv.explore(family.surface)
    assert control(view, "samples").disabled
    control(view, "ceiling").value = 0.5
    assert isinstance(view.result, go.Figure)


def named(view, name):
    """The last trace of this name."""
    return [trace for trace in view.result.data if trace.name == name][-1]


def control(view, name):
    return next(widget for widget in view.kwargs_widgets if widget._kwarg == name)


def test_a_path_of_one_point_is_a_marker_without_a_line(family):
    view = fv.explore(family.surface, dataclasses.replace(family.projection[-1], name="path"))
    assert named(view, "path") is not None
    control(view, "samples").value = 1
    assert "path" not in [t.name for t in view.result.data]
    assert len(named(view, "samples").x) == 1
    control(view, "samples").value = 3
    assert len(named(view, "path").x) == 3


def test_eigenvalues_are_those_of_the_first_draws_and_the_first_ranks(family):
    spectra = family.spectrum[-1]  # two draws, three eigenvalues
    view = fv.explore(spectra, method="sabma")
    values = torch.stack([s.values for s in spectra])
    np.testing.assert_allclose(named(view, "SA-BMA").y, values.mean(0), rtol=1e-6)
    control(view, "largest").value = 2
    np.testing.assert_allclose(named(view, "SA-BMA").y, values[:, :2].mean(0), rtol=1e-6)
    assert view.result.layout.xaxis.range[1] == pytest.approx(2.4)
    control(view, "draws").value = 1
    np.testing.assert_allclose(named(view, "draws").y, values[0, :2], rtol=1e-6)


def test_draws_on_a_plane_are_the_first_n_and_the_axes_stand_still(family):
    projection = family.projection[-1]
    view = fv.explore(projection, method="sabma")
    ends = view.result.layout.xaxis.range
    control(view, "draws").value = 2
    np.testing.assert_allclose(named(view, "samples").y, projection.distance[:2], rtol=1e-6)
    assert len(named(view, "rim").x) == 2
    assert view.result.layout.xaxis.range == ends
    control(view, "draws").value = 6
    np.testing.assert_allclose(named(view, "samples").y, projection.distance, rtol=1e-6)


def test_the_mark_and_the_numbers_are_those_of_the_ensemble(family):
    prediction = family.prediction[-1]
    view = fv.explore(prediction)
    control(view, "draws").value = 4
    assert [shape.x0 for shape in view.result.layout.shapes] == [4]
    # One draw alone
    assert control(fv.explore(family.prediction[family.index("sgd")]), "draws").disabled
