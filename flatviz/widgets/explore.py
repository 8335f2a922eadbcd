"""`explore(surface)`: a surface with controls."""

from __future__ import annotations

import ipywidgets

from flatviz.core.boundary import public
from flatviz.plots.color import first_draws
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import Figure
from flatviz.results import Projection, Surface
from flatviz.widgets.figure import FigureView, LiveFigure


@public
def explore(surface: Surface, projection: Projection | None = None) -> ipywidgets.VBox:
    """A surface with controls in a notebook: how many samples are drawn, where the colours end, linear or logarithmic colours.

    Args:
        surface: What `slice_plane` returned.
        projection: Samples on its plane, from `project`.

    The parts of the box are `.figure` and `.controls`; `ipywidgets.interact` does the same for a plot of another result.

    Raises:
        ValueError: If projection and surface lie in different planes, or no value is finite.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    base = plot_surface(surface, projection)
    finite = surface.values[surface.values.isfinite()]
    low, high = float(finite.min()), float(finite.max())
    n = 0 if projection is None else len(projection.coords)
    samples = ipywidgets.IntSlider(n, min(n, 1), max(n, 1), description="samples", disabled=n == 0)
    ceiling = ipywidgets.FloatSlider(1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%")
    log = ipywidgets.Checkbox(low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0)

    def redraw(figure: LiveFigure) -> None:
        top = low * (high / low) ** ceiling.value if log.value else low + (high - low) * ceiling.value
        shown = None if projection is None else first_draws(projection, samples.value)
        _redraw_as(figure, plot_surface(surface, shown, color_range=(low, top), log=log.value))

    view, controls = FigureView(base), {"samples": samples, "ceiling": ceiling, "log": log}
    for control in controls.values():
        control.observe(lambda _: redraw(view.figure), names="value")
    redraw(view.figure)
    box = ipywidgets.VBox([ipywidgets.HBox(list(controls.values())), view])
    box.figure, box.controls = view.figure, controls
    return box


def _redraw_as(figure: LiveFigure, new: Figure) -> None:
    """The same traces with new values; the layout stays, as the reader's zoom does."""
    if [trace.name for trace in figure.data] != [trace.name for trace in new.data]:  # a path of one point has no line
        figure.data = []
        figure.add_traces(new.data)
    with figure.batch_update():
        for mine, its in zip(figure.data, new.data, strict=True):
            mine.update(its.to_plotly_json())  # overwriting would send each property as undefined first
