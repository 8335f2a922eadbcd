"""A loss surface, with samples of a posterior on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.checks import Number
from flatviz.core.boundary import public
from flatviz.plots.color import ColorScale, values_of
from flatviz.plots.ground import check_on, ends_text, ground, is_path, title_of
from flatviz.plots.marks import LIGHT, add_crosses, add_key, add_samples
from flatviz.plots.theme import INK, Figure, numbers, scatter, style
from flatviz.results import Projection, Surface

SIZES = (7.0, 16.0)  # px, of a sample in the plane and of one far off it
PATH = 0.8  # size of the markers of a path, of which there are many
ELLIPSE = 0.95  # share of a Gaussian's draws whose shadows fall inside its ellipse


@public
def plot_surface(
    surface: Surface,
    projection: Projection | None = None,
    *,
    method: str | None = None,
    reference: Mapping[str, Projection] | None = None,
    color_range: tuple[Number, Number] | None = None,
    log: bool | None = None,
    path: bool | None = None,
    title: str | None = None,
) -> Figure:
    """Filled contours of `surface`, with the samples of `projection`: fill by method, ring by the loss at the sample.

    The picture shows a sample's shadow on the plane; its ring has the colour of its true loss on the surface's scale, and its
    marker grows with its distance from the plane, relative to how far the samples spread over it.
    The projection of a `Gaussian` also has the ellipse that holds 95 % of its draws' shadows.
    Cells that diverged are left open and marked.

    Args:
        surface: values on a grid (A, B), or scattered (P,), which are drawn as markers.
        projection: samples (S, 2) on the surface's plane, from `project`; None: the surface alone.
        method: whose the samples are, for their fill and the legend; None: they are drawn in ink.
        reference: method -> its samples, drawn as small crosses in the method's colour; not where it is `method` itself.
        color_range: (lowest, highest) value that the colours show, in the surface's unit, to share them with other figures;
            default: those of the surface, without the highest few where they would take much of the scale.  The bar marks an
            end beyond which there are values.
        log: whether colours count in powers of ten; default: where all values are positive and span a decade.
        path: whether samples follow each other, so that a line joins them; default: where their name says "path".
        title: default: what is drawn over which plane.

    Raises:
        ValueError: If projection and surface lie in different planes, or no value is finite.

    Example:
        >>> def f(w): return (w ** 2).sum() + 1
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> samples = fv.project(torch.ones(5, 3), plane, f)
        >>> fig = fv.plot_surface(fv.slice_plane(f, plane, resolution=5), samples)
        >>> [trace.name for trace in fig.data]
        ['surface', 'rim', 'samples']
    """
    check_on(surface, projection)
    scale = ColorScale.of(surface, color_range, log)
    alt = f"{surface.label} over the {surface.plane.name}, {ends_text(surface)}"
    fig = ground(surface, scale, title or title_of(surface), alt)
    for name, other in (reference or {}).items():
        check_on(surface, other)
        add_crosses(fig, other.coords, style(name), shown=name != method)
    if projection is not None:
        if projection.covariance is not None:
            fig.add_traces(_ellipse(projection))
        _add_projection(fig, projection, scale, method, is_path(projection, path))
    return fig


def _add_projection(fig: Figure, projection: Projection, scale: ColorScale, method: str | None, joined: bool) -> None:
    """The samples: place, true loss by ring, distance from the plane by size; of a path smaller, filled by loss, joined."""
    values = torch.stack([values_of(projection), projection.distance], dim=1)
    hover = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane"
    if not joined:
        if method is not None:
            add_key(fig, style(method))
        look, about = style(method), dict(customdata=values, hover=hover)
        add_samples(fig, *projection.coords.T, marker_size(projection), projection.values, scale, look, **about)
        return
    for line in (dict(color=INK, width=4), dict(color="#ffffff", width=1.5)):  # dark below light: seen on any ground
        fig.add_trace(scatter(*projection.coords.T, "lines", "path", line=line))
    sizes = numbers(PATH * marker_size(projection))
    marker = dict(size=sizes, line=dict(color=LIGHT, width=1.5), **scale.marker(projection.values))
    fig.add_trace(scatter(*projection.coords.T, "markers", "samples", marker=marker, customdata=values, hover=hover))
    _name_ends(fig, projection)


def _ellipse(projection: Projection) -> list[go.Scatter]:
    """Where 95 % of a Gaussian's draws fall: |L^-1 (c - mean)|^2 <= -2 log(1 - 0.95), L L^T the covariance in the plane."""
    angle = torch.linspace(0, 2 * math.pi, 121, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()]) * math.sqrt(-2 * math.log(1 - ELLIPSE))
    values, vectors = torch.linalg.eigh(projection.covariance.double())  # a flat ellipse has no Cholesky factor
    ring = projection.coords[:1].double() + ((vectors * values.clamp_min(0).sqrt()) @ circle).T
    ellipse = partial(scatter, *ring.T, "lines", f"{100 * ELLIPSE:.0f} % of its draws", legendgroup="ellipse", hoverinfo="name")
    seen = ellipse(legend=True, line=dict(color=INK, width=4))  # on a light surface and in the legend
    return [seen, ellipse(line=dict(color="#ffffff", width=1.5, dash="dash"))]


def _name_ends(fig: Figure, projection: Projection) -> None:
    """Labels of the first and last point, on the side away from the other."""
    first, last = projection.coords[0], projection.coords[-1]
    away = (first - last) / (first - last).norm().clamp_min(1e-12)
    look = dict(showarrow=True, arrowwidth=1, arrowcolor=INK, arrowhead=0, bgcolor="#ffffff", font=dict(size=11))
    for text, (x, y), (right, up) in (("start", first.tolist(), away.tolist()), ("end", last.tolist(), (-away).tolist())):
        fig.add_annotation(text=text, x=x, y=y, ax=26 * right, ay=-26 * up, **look)


def marker_size(projection: Projection) -> Tensor:
    """Marker sizes in px: area grows with the distance from the plane.

    The largest is for the farthest sample, if that lies as far off as the samples are spread over the plane.
    """
    inside = projection.coords @ projection.plane.axes
    spread = (inside - inside.mean(0)).norm(dim=1).max()
    most = torch.maximum(projection.distance.max(), spread.to(projection.distance))
    share = (projection.distance / most.clamp_min(1e-12)).clamp(0, 1)
    return (SIZES[0] ** 2 + share * (SIZES[1] ** 2 - SIZES[0] ** 2)).sqrt()
