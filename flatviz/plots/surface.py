"""A loss surface, with samples of a posterior on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.captions import ends_text, title_of, words_over
from flatviz.plots.color import ColorScale, values_of
from flatviz.plots.ground import add_contour, diverged, is_path, plane_axes, small_print
from flatviz.plots.nouns import check_on
from flatviz.plots.theme import INK, Figure, figure, numbers, scatter, style
from flatviz.results import Projection, Surface

SIZES = (7.0, 16.0)  # px, of a sample in the plane and of one far off it
PATH = 0.8  # size of the markers of a path, of which there are many
LIVE = ("x", "y", "marker.color", "marker.size", "customdata")  # of the samples: what follows the ensemble size
ELLIPSE = 0.95  # share of a Gaussian's draws whose shadows fall inside its ellipse


@public
def plot_surface(
    surface: Surface,
    projection: Projection | None = None,
    *,
    reference: Mapping[str, Projection] | None = None,
    color_range: tuple[float, float] | None = None,
    log: bool | None = None,
    path: bool | None = None,
    title: str | None = None,
) -> Figure:
    """Filled contours of `surface`, with the samples of `projection` coloured by their own loss on the same scale.

    The picture shows a sample's shadow on the plane; its marker grows with its distance from the plane, relative to how far
    the samples spread over it.  The projection of a `Gaussian` also has the ellipse that holds 95 % of its draws' shadows.
    Cells that diverged are left open and marked.

    Args:
        surface: values on a grid (A, B), or scattered (P,), which are drawn as markers.
        projection: samples (S, 2) on the surface's plane, from `project`; None: the surface alone.
        reference: method -> its samples, drawn as small crosses in the method's colour.
        color_range: (lowest, highest) value that the colours show, in the surface's unit, to share them with other figures;
            default: those of the surface.
        log: whether colours count in powers of ten; default: where all values are positive and span a decade.
        path: whether samples follow each other, so that a line joins them; default: where their name says "path".
        title: default: what is drawn over which plane.

    Raises ValueError if projection and surface lie in different planes, or no value is finite.

    Example:
        >>> def f(w): return (w ** 2).sum() + 1
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> samples = fv.project(torch.ones(5, 3), plane, f)
        >>> fig = fv.plot_surface(fv.slice_plane(f, plane, resolution=5), samples)
        >>> [trace.name for trace in fig.data]
        ['surface', 'samples']
    """
    check_on(surface, projection)
    scale = ColorScale.of(surface, color_range, log)
    alt = f"{surface.label} over the {surface.plane.name}, {ends_text(surface)}"
    fig = figure(title or title_of(surface), alt, explain=words_over(surface, projection))
    if surface.scattered:
        fig.add_trace(_scattered(surface, scale))
    else:
        add_contour(fig, surface, scale)
    if surface.n_diverged:
        fig.add_trace(diverged(surface))
    for method, other in (reference or {}).items():
        check_on(surface, other)
        fig.add_trace(_crosses(method, other))
    if projection is not None:
        if projection.covariance is not None:
            fig.add_traces(_ellipse(projection))
        joined = is_path(projection, path)
        fig.add_traces(_line(projection) if joined else [])
        fig.add_live(_samples(projection, scale, joined), *LIVE, rows="draws")
        for note in _ends(projection) if joined else []:
            fig.add_annotation(note)
    fig.update_layout(**plane_axes(surface.plane, small_print(surface)))
    return fig


def _samples(projection: Projection, scale: ColorScale, joined: bool) -> go.Scatter:
    """The samples as markers: place, true loss by colour, distance from the plane by size; a path's are smaller."""
    size = marker_size(projection) * (PATH if joined else 1)
    outline = dict(color="#ffffff", width=1.5 if joined else 2)
    marker = dict(size=numbers(size), line=outline, **scale.marker(projection.values))
    values = torch.stack([values_of(projection), projection.distance], dim=1)
    hover = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane"
    return scatter(*projection.coords.T, "markers", "samples", marker=marker, customdata=values, hover=hover)


def _ellipse(projection: Projection) -> list[go.Scatter]:
    """Where 95 % of a Gaussian's draws fall: |L^-1 (c - mean)|^2 <= -2 log(1 - 0.95), L L^T the covariance in the plane."""
    angle = torch.linspace(0, 2 * math.pi, 121, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()]) * math.sqrt(-2 * math.log(1 - ELLIPSE))
    values, vectors = torch.linalg.eigh(projection.covariance.double())  # a flat ellipse has no Cholesky factor
    ring = projection.coords[:1].double() + ((vectors * values.clamp_min(0).sqrt()) @ circle).T
    ellipse = partial(scatter, *ring.T, "lines", f"{100 * ELLIPSE:.0f} % of its draws", legendgroup="ellipse", hoverinfo="name")
    seen = ellipse(legend=True, line=dict(color=INK, width=4))  # on a light surface and in the legend
    return [seen, ellipse(line=dict(color="#ffffff", width=1.5, dash="dash"))]


def _crosses(method: str, projection: Projection) -> go.Scatter:
    label, color, _, _ = style(method)
    marker = dict(symbol="cross", size=7, color=color, line=dict(color="#ffffff", width=0.8))
    return scatter(*projection.coords.T, "markers", label, legend=True, hoverinfo="name", marker=marker)


def _line(projection: Projection) -> list[go.Scatter]:
    """A path's line, dark below light: seen on any ground."""
    lines = dict(color=INK, width=4), dict(color="#ffffff", width=1.5)
    return [scatter(*projection.coords.T, "lines", "path", line=line) for line in lines]


def _ends(projection: Projection) -> list[dict]:
    """Labels of the first and last point, on the side away from the other."""
    first, last = projection.coords[0], projection.coords[-1]
    away = (first - last) / (first - last).norm().clamp_min(1e-12)
    look = dict(showarrow=True, arrowwidth=1, arrowcolor=INK, arrowhead=0, bgcolor="rgba(255,255,255,0.85)", font=dict(size=11))
    return [
        look | dict(x=float(at[0]), y=float(at[1]), ax=26 * float(side[0]), ay=-26 * float(side[1]), text=text)
        for text, at, side in (("start", first, away), ("end", last, -away))
    ]


def marker_size(projection: Projection) -> Tensor:
    """Marker sizes in px: area grows with the distance from the plane.

    The largest is for the farthest sample, if that lies as far off as the samples are spread over the plane.
    """
    inside = projection.coords @ projection.plane.axes
    spread = (inside - inside.mean(0)).norm(dim=1).max()
    most = torch.maximum(projection.distance.max(), spread.to(projection.distance))
    share = (projection.distance / most.clamp_min(1e-12)).clamp(0, 1)
    return (SIZES[0] ** 2 + share * (SIZES[1] ** 2 - SIZES[0] ** 2)).sqrt()


def _scattered(surface: Surface, scale: ColorScale) -> go.Scatter:
    marker = scale.marker(surface.values) | dict(showscale=True, colorbar=scale.bar(surface.label), size=8, symbol="square")
    values = dict(customdata=surface.values, hover="(%{x:.3g}, %{y:.3g}): %{customdata:.3g}")
    return scatter(surface.a, surface.b, "markers", "surface", marker=marker, **values)
