"""A loss surface as contours and in relief, with samples on it."""

import math
from collections.abc import Mapping
from functools import partial

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import Look
from flatviz.checks import Number
from flatviz.core import public
from flatviz.plots.color import LIGHT, ColorScale, add_crosses, add_key, add_samples, true_losses
from flatviz.plots.ground import (
    axis_note,
    axis_titles,
    check_on,
    diverged,
    ellipse,
    ends_text,
    ground,
    small_print,
    title_of,
)
from flatviz.plots.theme import (
    GRID,
    INK,
    LOSS_SCALE,
    MUTED,
    Figure,
    figure,
    numbers,
    points,
    span_of,
    style,
)
from flatviz.results import Projection, Surface

SIZES = (7.0, 16.0)  # px, of a sample in the plane and far off it
PATH = 0.8  # relative size of the many markers of a path
ELLIPSE = 0.95  # share of a Gaussian's draws whose projections lie inside its ellipse


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
    """Draw filled contours of `surface`, with the samples of `projection`.

    A sample is drawn at its projection on the plane and filled by method.  Its ring has the colour
    of its true loss on the surface's scale, and its marker grows with its distance from the plane,
    relative to the spread of the samples in it.  The projection of a `Gaussian` also has the
    ellipse that holds 95 % of its draws' projections.  Cells that diverged are left open and
    marked.

    Args:
        surface: Values on a grid (A, B), or scattered (P,), which are drawn as markers.
        projection: Samples (S, 2) on the surface's plane, from `project`; None: the surface alone.
        method: Key in `fv.METHODS` that gives the samples their fill and the legend its entry;
            None: ink.
        reference: Method -> its samples, drawn as small crosses in the method's colour; not where
            it is `method` itself.
        color_range: (lowest, highest) value that the colours show, in the surface's unit, to share
            them with other figures; default: those of the surface, without the highest few where
            they would take much of the scale.  The bar marks an end beyond which there are values.
        log: Whether colours count in powers of ten; default: where all values are positive and span
            a decade.
        path: Whether samples follow each other, so that a line joins them; default: where their
            name says "path".
        title: Default: what is drawn over which plane.

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
    scale = ColorScale.over(surface.values, color_range, log)
    alt = f"{surface.label} over the {surface.plane.name}, {ends_text(surface)}"
    fig = ground(surface, scale, title or title_of(surface), alt)
    for name, other in (reference or {}).items():
        check_on(surface, other)
        add_crosses(fig, other.coords, style(name), shown=name != method)
    if projection is not None:
        if projection.covariance is not None:
            fig.add_traces(_ellipse(projection.covariance, projection.coords[0]))
        is_path = "path" in projection.name if path is None else path
        joined = is_path and len(projection.coords) > 1
        _add_projection(fig, projection, scale, method, joined)
    return fig


def _add_projection(
    fig: Figure, projection: Projection, scale: ColorScale, method: str | None, joined: bool
) -> None:
    """Add the samples: place, true loss by ring, distance from the plane by size.

    Those of a path are smaller, filled by loss and joined.
    """
    values = torch.stack([true_losses(projection), projection.distance], dim=1)
    hover = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane"
    if not joined:
        if method is not None:
            add_key(fig, style(method))
        sizes = marker_size(projection)
        add_samples(
            fig,
            projection.coords,
            sizes,
            values[:, 0],
            scale,
            style(method),
            customdata=values,
            hover=hover,
        )
        return
    # A light line on a dark one is visible on any ground
    for line in (
        dict(color=INK, width=4),
        dict(color="#ffffff", width=1.5),
    ):
        fig.add_trace(points(projection.coords, "lines", "path", line=line))
    sizes = numbers(PATH * marker_size(projection))
    marker = dict(size=sizes, line=dict(color=LIGHT, width=1.5), **scale.marker(projection.values))
    fig.add_trace(
        points(
            projection.coords, "markers", "samples", marker=marker, customdata=values, hover=hover
        )
    )
    _name_ends(fig, projection)


def _ellipse(covariance: Tensor, center: Tensor) -> list[go.Scatter]:
    """Draw the ellipse that holds 95 % of a Gaussian's draws.

    |L^-1 (c - mean)|^2 <= -2 log(1 - 0.95), with L L^T the covariance in the plane
    """
    ring = ellipse(-2 * math.log(1 - ELLIPSE) * covariance, center)
    line = partial(
        points,
        ring,
        "lines",
        f"{100 * ELLIPSE:.0f} % of its draws",
        legendgroup="ellipse",
        hoverinfo="name",
    )
    seen = line(legend=True, line=dict(color=INK, width=4))  # on a light surface and in the legend
    return [seen, line(line=dict(color="#ffffff", width=1.5, dash="dash"))]


def _name_ends(fig: Figure, projection: Projection) -> None:
    """Label the first and last point, on the side away from the other."""
    first = projection.coords[0]
    last = projection.coords[-1]
    away = (first - last) / (first - last).norm().clamp_min(1e-12)
    look = dict(
        showarrow=True,
        arrowwidth=1,
        arrowcolor=INK,
        arrowhead=0,
        bgcolor="#ffffff",
        font=dict(size=11),
    )
    for text, (x, y), (right, up) in (
        ("start", first.tolist(), away.tolist()),
        ("end", last.tolist(), (-away).tolist()),
    ):
        fig.add_annotation(text=text, x=x, y=y, ax=26 * right, ay=-26 * up, **look)


def marker_size(projection: Projection) -> Tensor:
    """Compute marker sizes in px, whose area grows with the distance from the plane.

    The farthest sample gets the largest size if it lies as far off as the samples spread in the
    plane.
    """
    inside = projection.coords @ projection.plane.axes
    spread = (inside - inside.mean(0)).norm(dim=1).max()
    farthest = torch.maximum(projection.distance.max(), spread.to(projection.distance))
    share = (projection.distance / farthest.clamp_min(1e-12)).clamp(0, 1)
    return (SIZES[0] ** 2 + share * (SIZES[1] ** 2 - SIZES[0] ** 2)).sqrt()


WIDTH = 780  # px, so that the colour bar is beside the relief


@public
def plot_surface_3d(
    surface: Surface,
    projection: Projection | None = None,
    *,
    method: str | None = None,
    color_range: tuple[Number, Number] | None = None,
    log: bool | None = None,
    title: str | None = None,
) -> Figure:
    """Draw `surface` in relief, coloured as by `plot_surface`, with diverged cells marked.

    Args:
        surface: Values on a grid of two axes (A, B).
        projection: Samples on the same plane, each at the height of the loss at its weights; the
            gap to the surface, which the plane does not show, is drawn as an upright line.
        method: Key in `fv.METHODS` that gives the samples their colour and the legend its entry;
            None: ink.
        color_range: (lowest, highest) height, in the surface's unit; heights beyond are cut off.
            Default: all.
        log: Whether heights count in powers of ten; default: where all values are positive and span
            a decade.
        title: Default: what is drawn over which plane.

    Raises:
        ValueError: For scattered values, or no finite value.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> surface = fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5)
        >>> fig = fv.plots.plot_surface_3d(surface)
        >>> fig.data[0].type, fig.data[0].z.shape
        ('surface', (5, 5))
    """
    check_on(surface, projection)
    if surface.scattered:
        raise ValueError(
            f"a relief needs values on a grid of two axes, got shape {tuple(surface.values.shape)}"
        )
    scale = ColorScale.over(surface.values, color_range, log)
    lo, hi = scale.ends
    fig = _figure(surface, scale, title or title_of(surface))
    fig.add_trace(_relief(surface, scale(surface.finite).clamp(lo, hi), scale))
    if surface.n_diverged:
        # few fonts have the markers' cross
        flat = diverged(surface)
        as_text = dict(size=11, color=MUTED)
        fig.add_trace(
            go.Scatter3d(
                x=flat.x,
                y=flat.y,
                z=[lo] * len(flat.x),
                mode="text",
                text=["×"] * len(flat.x),
                textfont=as_text,
                name=flat.name,
                showlegend=False,
                hoverinfo="skip",
            )
        )
    if projection is not None and projection.values is not None:
        look_of_samples = style(method, projection.name or "samples")
        parts = surface, projection, projection.values, scale, look_of_samples
        for trace, color, rows, axes in (
            (_drops(*parts), "line.color", "segments", ("x", "y", "z")),
            (_points(*parts), "marker.color", "draws", ("x", "y", "z", "customdata")),
        ):
            fig.follow({f"data.{len(fig.data)}.{axis}": trace[axis] for axis in axes}, rows=rows)
            fig.add_live(trace, color, "name")
        fig.update_traces(showlegend=method is not None, selector=dict(name=look_of_samples.label))
    return fig


def plot_relief(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """Draw a surface in relief, with heights by the scale and cut off at its ends.

    The heights are the numbers that `add_contour` draws as colours; they follow the controls.
    """
    fig = _figure(surface, scale, title)
    trace = _relief(surface, scale(surface.finite), scale)
    lo, hi = scale.ends
    trace.customdata = numbers(surface.finite.T)
    keys = {"z": "ground", "customdata": "values" if scale.log or scale.root else "ground"}
    fig.add_live(trace, "z", "customdata", keys=keys)
    return fig.update_layout(scene_zaxis=dict(range=[lo, hi], title=""))  # the colour bar says it


def _figure(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """Draw the scene of a relief, with the unit of the axes and small print below it."""
    fig = figure(
        title,
        f"{surface.label} in relief, {ends_text(surface)}",
        scene=_scene(surface, scale),
        margin=dict(l=10, r=10, t=64, b=48),
        width=WIDTH,
    )
    below = "<br>".join(filter(None, [axis_note(surface.plane), small_print(surface)]))
    fig.add_text(below, y=0, yanchor="top", align="left", font=dict(size=11, color=MUTED))
    return fig


def _scene(surface: Surface, scale: ColorScale) -> dict:
    """Describe axes of few ticks, which do not overlap, to scale for an orthonormal plane."""
    axis = dict(
        showbackground=False, gridcolor=GRID, zeroline=False, nticks=5, tickfont=dict(size=11)
    )
    titles = [dict(text=title, font=dict(size=11)) for title in axis_titles(surface.plane)]
    ends = [span_of(t) for t in (surface.a, surface.b)]
    spans = [hi - lo for lo, hi in ends]
    # Otherwise labels overlap where axes meet
    scene = {}
    for letter, title, (lo, hi), span in zip("xy", titles, ends, spans):
        beside = 0.08 * span
        scene[f"{letter}axis"] = dict(title=title, range=[lo - beside, hi + beside], **axis)
    scene["zaxis"] = dict(title=surface.label, **axis)
    if scale.log or scale.root:
        bar = scale.bar(surface.label)
        scene["zaxis"] |= dict(tickvals=bar["tickvals"], ticktext=bar["ticktext"])
    sides = [s / max(spans) if surface.plane.orthonormal else 1.0 for s in spans] + [1.0]
    right, front = _low_corner(surface)
    eye = dict(x=1.3 * right, y=1.4 * front, z=1.0)
    camera = dict(eye=eye, center=dict(x=0, y=0, z=-0.16))
    return scene | dict(aspectmode="manual", aspectratio=dict(zip("xyz", sides)), camera=camera)


def _low_corner(surface: Surface) -> tuple[int, int]:
    """Return the signs of the lowest corner, from which the relief hides least of itself."""
    seen = surface.values.nan_to_num(torch.inf, posinf=torch.inf)
    i, j = (max(len(t) // 3, 1) for t in (surface.a, surface.b))
    corners = {
        (1, -1): seen[-i:, :j],
        (1, 1): seen[-i:, -j:],
        (-1, -1): seen[:i, :j],
        (-1, 1): seen[:i, -j:],
    }
    return min(corners, key=lambda c: float(corners[c].max()))


def _relief(surface: Surface, shown: torch.Tensor, scale: ColorScale) -> go.Surface:
    lo, hi = scale.ends
    step = max((hi - lo) / 12, 1e-9)
    lines = dict(
        z=dict(show=True, start=lo, end=hi, size=step, color="rgba(255,255,255,0.5)", width=1)
    )
    hover = "(%{x:.3g}, %{y:.3g}): %{customdata:.3g}<extra></extra>"
    return go.Surface(
        x=numbers(surface.a),
        y=numbers(surface.b),
        z=numbers(shown.T),
        customdata=numbers(surface.values.T),
        name="surface",
        contours=lines,
        colorbar=scale.bar(surface.label),
        colorscale=LOSS_SCALE,
        cmin=lo,
        cmax=hi,
        hovertemplate=hover,
    )


def _points(
    surface: Surface, projection: Projection, values: Tensor, scale: ColorScale, look: Look
) -> go.Scatter3d:
    place = dict(zip("xyz", map(numbers, (*projection.coords.T, scale(values)))))
    marker = dict(size=4.5, color=look.color, line=dict(color="#ffffff", width=1))
    hover = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane<extra></extra>"
    shown = numbers(torch.stack([values, projection.distance], dim=1))
    return go.Scatter3d(
        **place,
        mode="markers",
        name=look.label,
        showlegend=False,
        marker=marker,
        customdata=shown,
        hovertemplate=hover,
    )


def _drops(
    surface: Surface, projection: Projection, values: Tensor, scale: ColorScale, look: Look
) -> go.Scatter3d:
    """Draw upright lines from samples to the surface at their projections, inside the grid."""
    x, y = projection.coords.T.double()
    top = scale(values).double()
    foot = scale(height_at(surface, projection.coords)).double()
    gap = torch.full_like(x, torch.nan)
    ends = [
        torch.stack(columns, 1).reshape(-1)
        for columns in ((x, x, gap), (y, y, gap), (top, foot, gap))
    ]
    line = dict(color=look.color, width=3)
    places = dict(zip("xyz", map(numbers, ends)))
    return go.Scatter3d(
        **places, mode="lines", name="drop lines", showlegend=False, hoverinfo="skip", line=line
    )


def height_at(surface: Surface, coords: Tensor) -> Tensor:
    """Interpolate the surface at in-plane coordinates (S, 2), bilinearly; NaN outside the grid."""
    places = coords.double().unbind(1)
    i, s = _cell(surface.a.double(), places[0])
    j, t = _cell(surface.b.double(), places[1])
    values = surface.values.double()
    before = torch.lerp(values[i, j], values[i, j + 1], t)
    after = torch.lerp(values[i + 1, j], values[i + 1, j + 1], t)
    return torch.lerp(before, after, s)


def _cell(ticks: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
    """Find the cell of each place, and its position in it from 0 to 1; NaN outside the grid."""
    cell = (torch.searchsorted(ticks, at.contiguous()) - 1).clamp(0, len(ticks) - 2)
    share = (at - ticks[cell]) / (ticks[cell + 1] - ticks[cell])
    outside = (at < ticks[0]) | (at > ticks[-1])
    return cell, share.masked_fill(outside, torch.nan)
