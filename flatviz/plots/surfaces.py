"""A loss surface as contours and in relief, with samples on it."""

import math
from collections.abc import Mapping
from functools import partial

import plotly.graph_objects as go
import torch
from scipy.interpolate import RegularGridInterpolator
from torch import Tensor

from flatviz.catalog import Look
from flatviz.checks import Number
from flatviz.core import public
from flatviz.plots.color import LIGHT, ColorScale, add_crosses, add_key, add_samples, true_losses
from flatviz.plots.ground import (
    VALUE,
    axis_note,
    axis_titles,
    check_on,
    diverged,
    ellipse,
    ends_text,
    ground,
    keys_of,
    small_print,
    title_of,
)
from flatviz.plots.theme import (
    GRID,
    INK,
    LOSS_SCALE,
    MUTED,
    Figure,
    Properties,
    Property,
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
HOVER = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane"  # at a sample


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
    fig: Figure,
    projection: Projection,
    scale: ColorScale,
    method: str | None,
    joined: bool,
) -> None:
    """Add the samples: place, true loss by ring, distance from the plane by size.

    Those of a path are smaller, filled by loss and joined.
    """
    losses = true_losses(projection)
    values = torch.stack([losses, projection.distance], dim=1)
    if not joined:
        if method is not None:
            add_key(fig, style(method))
        add_samples(
            fig,
            projection.coords,
            marker_size(projection),
            losses,
            scale,
            style(method),
            customdata=values,
            hover=HOVER,
        )
        return
    # A light line on a dark one is visible on any ground
    for line in (
        dict(color=INK, width=4),
        dict(color="#ffffff", width=1.5),
    ):
        fig.add_trace(points(projection.coords, "lines", "path", line=line))
    marker = scale.marker(projection.values)
    marker |= dict(
        size=numbers(PATH * marker_size(projection)),
        line=dict(color=LIGHT, width=1.5),
    )
    fig.add_trace(
        points(
            projection.coords,
            "markers",
            "samples",
            marker=marker,
            customdata=values,
            hover=HOVER,
        )
    )
    _name_ends(fig, projection)


def _ellipse(covariance: Tensor, center: Tensor) -> list[go.Scatter]:
    """Draw the ellipse that holds 95 % of a Gaussian's draws.

    |L^-1 (c - mean)|^2 <= -2 log(1 - 0.95), with L L^T the covariance in the plane
    """
    squared_radius = -2 * math.log(1 - ELLIPSE)
    ring = ellipse(squared_radius * covariance, center)
    line = partial(
        points,
        ring,
        "lines",
        f"{100 * ELLIPSE:.0f} % of its draws",
        legendgroup="ellipse",
        hoverinfo="name",
    )
    dark = dict(color=INK, width=4)  # on a light surface and in the legend
    light = dict(color="#ffffff", width=1.5, dash="dash")
    return [line(legend=True, line=dark), line(line=light)]


def _name_ends(fig: Figure, projection: Projection) -> None:
    """Label the first and last point, on the side away from the other."""
    first = projection.coords[0]
    last = projection.coords[-1]
    apart = first - last
    away = 26 * apart / apart.norm().clamp_min(1e-12)  # px
    ends = ("start", first, away), ("end", last, -away)
    for text, at, offset in ends:
        x, y = at.tolist()
        right, up = offset.tolist()
        fig.add_annotation(
            text=text,
            x=x,
            y=y,
            ax=right,
            ay=-up,
            showarrow=True,
            arrowwidth=1,
            arrowcolor=INK,
            arrowhead=0,
            bgcolor="#ffffff",
            font=dict(size=11),
        )


def marker_size(projection: Projection) -> Tensor:
    """Compute marker sizes in px, whose area grows with the distance from the plane.

    The farthest sample gets the largest size if it lies as far off as the samples spread in the
    plane.
    """
    distance = projection.distance
    inside = projection.coords @ projection.plane.axes
    from_center = (inside - inside.mean(0)).norm(dim=1)
    farthest = torch.maximum(distance.max(), from_center.max().to(distance))
    share = (distance / farthest.clamp_min(1e-12)).clamp(0, 1)
    smallest, largest = [size**2 for size in SIZES]
    area = smallest + share * (largest - smallest)
    return area.sqrt()


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
    heights = scale(surface.finite).clamp(lo, hi)
    fig.add_trace(_relief(surface, heights, scale))
    if surface.n_diverged:
        cells = diverged(surface)
        n = len(cells.x)
        fig.add_trace(
            _scatter3d(
                cells.x,
                cells.y,
                [lo] * n,
                "text",
                cells.name,
                text=["×"] * n,  # few fonts have the markers' cross
                textfont=dict(size=11, color=MUTED),
                hoverinfo="skip",
            )
        )
    if projection is not None and projection.values is not None:
        look = style(method, projection.name or "samples")
        _add_samples_3d(fig, surface, projection, scale, look)
        fig.update_traces(showlegend=method is not None, selector=dict(mode="markers"))
    return fig


def plot_relief(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """Draw a surface in relief, with heights by the scale and cut off at its ends.

    The heights are the numbers that `add_contour` draws as colours; they follow the controls.
    """
    fig = _figure(surface, scale, title)
    trace = _relief(surface, scale(surface.finite), scale)
    trace.customdata = numbers(surface.finite.T)
    fig.add_live(trace, "z", "customdata", keys=keys_of(scale))
    zaxis = dict(range=list(scale.ends), title="")  # the colour bar has it
    return fig.update_layout(scene_zaxis=zaxis)


def _figure(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """Draw the scene of a relief, with the unit of the axes and small print below it."""
    fig = figure(
        title,
        f"{surface.label} in relief, {ends_text(surface)}",
        scene=_scene(surface, scale),
        margin=dict(l=10, r=10, t=64, b=48),
        width=WIDTH,
    )
    notes = [axis_note(surface.plane), small_print(surface)]
    fig.add_text(
        "<br>".join(filter(None, notes)),
        y=0,
        yanchor="top",
        align="left",
        font=dict(size=11, color=MUTED),
    )
    return fig


def _scene(surface: Surface, scale: ColorScale) -> Properties:
    """Describe axes of few ticks, which do not overlap, to scale for an orthonormal plane."""
    small = dict(size=11)
    axis = dict(
        showbackground=False,
        gridcolor=GRID,
        zeroline=False,
        nticks=5,
        tickfont=small,
    )
    scene: Properties = {"zaxis": dict(title=surface.label, **axis)}
    spans = []
    names = "xaxis", "yaxis"
    titles = axis_titles(surface.plane)
    for name, title, ticks in zip(names, titles, (surface.a, surface.b)):
        lo, hi = span_of(ticks)
        beside = 0.08 * (hi - lo)  # otherwise labels overlap where axes meet
        scene[name] = dict(
            title=dict(text=title, font=small),
            range=[lo - beside, hi + beside],
            **axis,
        )
        spans.append(hi - lo)
    if scale.log or scale.root:
        bar = scale.bar(surface.label)
        scene["zaxis"] |= dict(tickvals=bar["tickvals"], ticktext=bar["ticktext"])
    x = y = 1.0
    if surface.plane.orthonormal:
        x, y = [span / max(spans) for span in spans]
    right, front = _low_corner(surface)
    eye = dict(x=1.3 * right, y=1.4 * front, z=1.0)
    center = dict(x=0, y=0, z=-0.16)
    scene["camera"] = dict(eye=eye, center=center)
    scene["aspectmode"] = "manual"
    scene["aspectratio"] = dict(x=x, y=y, z=1.0)
    return scene


def _low_corner(surface: Surface) -> tuple[int, int]:
    """Return the signs of the lowest corner, from which the relief hides least of itself."""
    heights = surface.values.nan_to_num(torch.inf, posinf=torch.inf)
    # a third of each axis
    i = max(len(surface.a) // 3, 1)
    j = max(len(surface.b) // 3, 1)
    corners = {
        (1, -1): heights[-i:, :j],
        (1, 1): heights[-i:, -j:],
        (-1, -1): heights[:i, :j],
        (-1, 1): heights[:i, -j:],
    }
    highest = {signs: float(corner.max()) for signs, corner in corners.items()}
    return min(highest, key=highest.__getitem__)


def _relief(surface: Surface, heights: Tensor, scale: ColorScale) -> go.Surface:
    lo, hi = scale.ends
    step = max((hi - lo) / 12, 1e-9)
    lines = dict(
        show=True,
        start=lo,
        end=hi,
        size=step,
        color="rgba(255,255,255,0.5)",
        width=1,
    )
    return go.Surface(
        x=numbers(surface.a),
        y=numbers(surface.b),
        z=numbers(heights.T),
        customdata=numbers(surface.values.T),
        name="surface",
        contours=dict(z=lines),
        colorbar=scale.bar(surface.label),
        colorscale=LOSS_SCALE,
        cmin=lo,
        cmax=hi,
        hovertemplate=f"{VALUE}<extra></extra>",
    )


def _add_samples_3d(
    fig: Figure,
    surface: Surface,
    projection: Projection,
    scale: ColorScale,
    look: Look,
) -> None:
    """Add each sample at the height of its loss, and the upright line from there to the surface.

    They follow the controls.
    """
    losses = true_losses(projection)
    heights = scale(losses)
    x, y = projection.coords.T.double()
    top = heights.double()
    foot = scale(height_at(surface, projection.coords)).double()
    drops = _scatter3d(
        _with_gaps(x, x),
        _with_gaps(y, y),
        _with_gaps(top, foot),
        "lines",
        "drop lines",
        hoverinfo="skip",
        line=dict(color=look.color, width=3),
    )
    _add_of_draws(fig, drops, "line.color", "segments", ("x", "y", "z"))
    values = torch.stack([losses, projection.distance], dim=1)
    x, y = projection.coords.T
    dots = _scatter3d(
        x,
        y,
        heights,
        "markers",
        look.label,
        marker=dict(
            size=4.5,
            color=look.color,
            line=dict(color="#ffffff", width=1),
        ),
        customdata=numbers(values),
        hovertemplate=f"{HOVER}<extra></extra>",
    )
    _add_of_draws(fig, dots, "marker.color", "draws", ("x", "y", "z", "customdata"))


def _with_gaps(start: Tensor, end: Tensor) -> Tensor:
    """Return starts and ends of lines in turn, (3 S,), NaN after each line."""
    gap = torch.full_like(start, torch.nan)
    lines = torch.stack([start, end.to(start), gap], 1)
    return lines.flatten()


def _add_of_draws(
    fig: Figure,
    trace: go.Scatter3d,
    color: str,
    rows: str,
    arrays: tuple[str, ...],
) -> None:
    """Add a trace: its arrays follow the ensemble size, its name and colour the method."""
    place = f"data.{len(fig.data)}"
    fig.follow({f"{place}.{name}": trace[name] for name in arrays}, rows=rows)
    fig.add_live(trace, color, "name")


def _scatter3d(
    x: Property,
    y: Property,
    z: Property,
    mode: str,
    name: str,
    **look: Property,
) -> go.Scatter3d:
    return go.Scatter3d(
        x=numbers(x),
        y=numbers(y),
        z=numbers(z),
        mode=mode,
        name=name,
        showlegend=False,
        **look,
    )


def height_at(surface: Surface, coords: Tensor) -> Tensor:
    """Interpolate the surface at in-plane coordinates (S, 2), bilinearly; NaN outside the grid."""
    a, b, values, places = [
        numbers(tensor.double()) for tensor in (surface.a, surface.b, surface.values, coords)
    ]
    interpolate = RegularGridInterpolator((a, b), values, bounds_error=False)
    return torch.from_numpy(interpolate(places))
