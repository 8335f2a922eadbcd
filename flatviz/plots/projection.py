"""How much of each sample a plane shows, and how much it hides."""

from __future__ import annotations

import torch

from flatviz.checks import Number
from flatviz.core.boundary import public
from flatviz.plots.color import ColorScale, values_of
from flatviz.plots.ground import with_print
from flatviz.plots.marks import add_color_bar, add_key, add_samples
from flatviz.plots.theme import MUTED, Figure, figure, scatter, style
from flatviz.results import Projection

SIZE, WIDTH = 9.0, 640  # px


@public
def plot_projection(
    projection: Projection,
    *,
    method: str | None = None,
    color_range: tuple[Number, Number] | None = None,
    log: bool | None = None,
    color_bar: bool = True,
    title: str = "What the plane hides",
) -> Figure:
    """Distance of each sample from the plane's origin, in the plane and off it: filled by method, ringed by its true loss.

    Above the dashed line more of the sample lies off the plane than in it.

    Args:
        projection: samples (S, 2) on a plane, from `project`; both axes have its unit of distance in weight space.
        method: whose the samples are, for their fill and the legend; None: they are drawn in ink.
        color_range: (lowest, highest) loss that the colours show, to share them with other figures; default: the samples'.
        log: whether colours count in powers of ten; default: where all values are positive and span a decade.
        color_bar: whether the bar is drawn; a figure beside another one with the same colours needs none.
        title: of the figure.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> fig = fv.plot_projection(fv.project(torch.tensor([[3.0, 4.0, 2.0]]), plane))
        >>> fig.data[-1].y.tolist()  # off the plane
        [2.0]
    """
    inside = (projection.coords @ projection.plane.axes).norm(dim=1)
    reach = 1.08 * float(torch.maximum(inside.max(), projection.distance.max()))
    alt = f"median distance off the plane {projection.distance.median():.3g}, within it {inside.median():.3g}"
    x = dict(title=with_print("in the plane", "both axes: distance in weight space"), range=[0, reach])
    y = dict(title="off the plane", range=[0, reach])
    fig = figure(title, alt, xaxis=x, yaxis=y)
    fig.add_trace(scatter([0, reach], [0, reach], "lines", "equal", line=dict(color=MUTED, dash="dash", width=1)))
    values = values_of(projection)
    finite = values[torch.isfinite(values)]
    scale = ColorScale.over(finite, color_range, log) if len(finite) else None
    if method is not None:
        add_key(fig, style(method))
    if scale is not None and color_bar:
        add_color_bar(fig, scale, f"{projection.label}, rings")
    hover = "in %{x:.3g}, off %{y:.3g}<br>true loss %{customdata:.3g}"
    where = inside, projection.distance
    add_samples(fig, *where, SIZE, values, scale, style(method), customdata=values, hover=hover)
    return fig.update_layout(width=WIDTH)
