"""The simple view for one's own results: a surface and its samples, with a few switches."""

from __future__ import annotations

import ipywidgets
import plotly.graph_objects as go

from flatviz.core.boundary import public
from flatviz.plots.color import first_draws
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import CONFIG
from flatviz.results import Projection, Surface


@public
def explore_surface(surface: Surface, projection: Projection | None = None) -> ipywidgets.VBox:
    """`plot_surface` with controls: how many samples, linear or logarithmic colours, where the colours end.

    Args:
        surface: values on a grid (A, B), from `slice_plane`.
        projection: samples (S, 2) on the same plane, from `project`; None: the surface alone.

    Returns the box; `.figure` is its FigureWidget, `.controls` are its controls by name.
    Raises ValueError if projection and surface lie in different planes.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore_surface(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    base = plot_surface(surface, projection)
    figure = go.FigureWidget(base)
    figure._config = {**figure._config, **CONFIG}  # before display: afterwards plotly does not look at it
    finite = surface.values[surface.values.isfinite()]
    low, high = float(finite.min()), float(finite.max())
    n = 0 if projection is None else len(projection.coords)
    draws = ipywidgets.IntSlider(n, 0 if n == 0 else 1, max(n, 1), description="samples", disabled=n == 0)
    ceiling = ipywidgets.FloatSlider(1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%")
    log = ipywidgets.Checkbox(low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0)

    def redraw(_: object = None) -> None:
        top = low * (high / low) ** ceiling.value if log.value else low + (high - low) * ceiling.value
        shown = None if projection is None else first_draws(projection, draws.value)
        new = plot_surface(surface, shown, color_range=(low, top), log=log.value)
        with figure.batch_update():
            for mine, its in zip(figure.data, new.data):
                mine.update(its.to_plotly_json(), overwrite=True)

    for control in (draws, ceiling, log):
        control.observe(redraw, names="value")
    box = ipywidgets.VBox([ipywidgets.HBox([draws, ceiling, log]), figure])
    box.figure, box.controls = figure, {"samples": draws, "ceiling": ceiling, "log": log}
    return box
