"""A loss surface in relief; it can be turned."""

from __future__ import annotations

import plotly.graph_objects as go
import torch
from scipy.interpolate import RegularGridInterpolator
from torch import Tensor

from flatviz.checks import Number
from flatviz.core.boundary import public
from flatviz.plots.color import ColorScale
from flatviz.plots.ground import axis_note, axis_titles, check_on, diverged, ends_text, small_print, title_of
from flatviz.plots.theme import GRID, LOSS_SCALE, MUTED, Figure, Style, figure, numbers, style
from flatviz.results import Projection, Surface

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
    """`surface` in relief, its height on the colour scale of `plot_surface`; cells that diverged are marked.

    Args:
        surface: values on a grid of two axes (A, B).
        projection: samples on the same plane, each at the height of the loss at its weights; the gap to the surface is what the
            plane does not show, drawn as a line from it down, or up, to the surface.
        method: whose the samples are, for their colour and the legend; None: they are drawn in ink.
        color_range: (lowest, highest) height, in the surface's unit; heights beyond are cut off.  Default: all.
        log: whether heights count in powers of ten; default: where all values are positive and span a decade.
        title: default: what is drawn over which plane.

    Raises:
        ValueError: For scattered values, or no finite value.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> fig = fv.plots.plot_surface_3d(fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5))
        >>> fig.data[0].type, fig.data[0].z.shape
        ('surface', (5, 5))
    """
    check_on(surface, projection)
    if surface.scattered:
        raise ValueError(f"a relief needs values on a grid of two axes, got shape {tuple(surface.values.shape)}")
    scale = ColorScale.of(surface, color_range, log)
    lo, hi = scale.ends
    fig = _figure(surface, scale, title or title_of(surface))
    shown = torch.where(torch.isfinite(surface.values), scale(surface.values).clamp(lo, hi), torch.nan)
    fig.add_trace(_relief(surface, shown, scale))
    if surface.n_diverged:
        fig.add_trace(_diverged(surface, lo))
    if projection is not None and projection.values is not None:
        look = style(method, projection.name or "samples")
        fig.add_traces([_drops(surface, projection, scale, look), _points(projection, scale, look)])
        fig.update_traces(showlegend=method is not None, selector=dict(name=look.label))
    return fig


def plot_relief(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """A surface in relief, heights as the scale counts them and cut off at its ends; the ground follows the controls.

    Its heights are those that `add_contour` draws as colours.
    """
    fig = _figure(surface, scale, title)
    shown = torch.where(torch.isfinite(surface.values), surface.values, torch.nan).T
    trace, (lo, hi) = _relief(surface, scale(shown).T, scale), scale.ends
    trace.customdata = numbers(shown)
    kept = {"z": "ground", "customdata": "values" if scale.log or scale.root else "ground"}
    fig.add_live(trace, "z", "customdata", keys=kept)
    return fig.update_layout(scene_zaxis=dict(range=[lo, hi], title=""))  # the colour bar says it


def _figure(surface: Surface, scale: ColorScale, title: str) -> Figure:
    """The scene of a relief, and below it the unit of the axes and the small print."""
    room = dict(margin=dict(l=10, r=10, t=64, b=48), width=WIDTH)
    fig = figure(title, f"{surface.label} in relief, {ends_text(surface)}", scene=_scene(surface, scale), **room)
    below = "<br>".join(filter(None, [axis_note(surface.plane), small_print(surface)]))
    fig.add_text(below, y=0, yanchor="top", align="left", font=dict(size=11, color=MUTED))
    return fig


def _scene(surface: Surface, scale: ColorScale) -> dict:
    """Axes of few ticks, which do not run into each other; in a plane of orthonormal axes distances are to scale."""
    axis = dict(showbackground=False, gridcolor=GRID, zeroline=False, nticks=5, tickfont=dict(size=11))
    titles = [dict(text=title, font=dict(size=11)) for title in axis_titles(surface.plane)]
    ends = [(float(t.min()), float(t.max())) for t in (surface.a, surface.b)]
    spans = [hi - lo for lo, hi in ends]
    room = [[lo - 0.08 * s, hi + 0.08 * s] for (lo, hi), s in zip(ends, spans)]  # or labels meet where axes do
    scene = {f"{letter}axis": dict(title=t, range=r, **axis) for letter, t, r in zip("xy", titles, room)}
    scene["zaxis"] = dict(title=surface.label, **axis)
    if scale.log or scale.root:
        bar = scale.bar(surface.label)
        scene["zaxis"] |= dict(tickvals=bar["tickvals"], ticktext=bar["ticktext"])
    sides = [s / max(spans) if surface.plane.orthonormal else 1.0 for s in spans] + [1.0]
    right, front = _low_corner(surface)
    camera = dict(eye=dict(x=1.3 * right, y=1.4 * front, z=1.0), center=dict(x=0, y=0, z=-0.16))
    return scene | dict(aspectmode="manual", aspectratio=dict(zip("xyz", sides)), camera=camera)


def _low_corner(surface: Surface) -> tuple[int, int]:
    """Signs of the lowest corner: seen from there the relief hides least of itself."""
    seen = surface.values.nan_to_num(torch.inf, posinf=torch.inf)
    i, j = (max(len(t) // 3, 1) for t in (surface.a, surface.b))
    corners = {(1, -1): seen[-i:, :j], (1, 1): seen[-i:, -j:], (-1, -1): seen[:i, :j], (-1, 1): seen[:i, -j:]}
    return min(corners, key=lambda c: float(corners[c].max()))


def _relief(surface: Surface, shown: torch.Tensor, scale: ColorScale) -> go.Surface:
    lo, hi = scale.ends
    step = max((hi - lo) / 12, 1e-9)
    lines = dict(z=dict(show=True, start=lo, end=hi, size=step, color="rgba(255,255,255,0.5)", width=1))
    hover = "(%{x:.3g}, %{y:.3g}): %{customdata:.3g}<extra></extra>"
    look = dict(contours=lines, colorbar=scale.bar(surface.label), colorscale=LOSS_SCALE, cmin=lo, cmax=hi, hovertemplate=hover)
    heights = dict(x=numbers(surface.a), y=numbers(surface.b), z=numbers(shown.T), customdata=numbers(surface.values.T))
    return go.Surface(**heights, name="surface", **look)


def _diverged(surface: Surface, floor: float) -> go.Scatter3d:
    """A small cross on each cell without a finite value, at the lowest level."""
    flat = diverged(surface)
    n = len(flat.x)
    text = dict(text=["×"] * n, textfont=dict(size=11, color=MUTED))  # as text: few fonts have the cross of markers
    about = dict(name=flat.name, showlegend=False, hoverinfo="skip")
    return go.Scatter3d(x=flat.x, y=flat.y, z=[floor] * n, mode="text", **text, **about)


def _points(projection: Projection, scale: ColorScale, look: Style) -> go.Scatter3d:
    x, y = (numbers(c) for c in projection.coords.T)
    drawn = dict(marker=dict(size=4.5, color=look.color, line=dict(color="#ffffff", width=1)))
    drawn["customdata"] = numbers(torch.stack([projection.values, projection.distance], dim=1))
    drawn["hovertemplate"] = "true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane<extra></extra>"
    place = dict(x=x, y=y, z=numbers(scale(projection.values)))
    return go.Scatter3d(**place, mode="markers", name=look.label, showlegend=False, **drawn)


def _drops(surface: Surface, projection: Projection, scale: ColorScale, look: Style) -> go.Scatter3d:
    """Upright lines from each sample to the surface at its shadow; none where the shadow is beside the grid."""
    (x, y), top = projection.coords.T.double(), scale(projection.values).double()
    foot = scale(height_at(surface, projection.coords)).double()
    gap = torch.full_like(x, torch.nan)
    ends = [torch.stack(columns, 1).reshape(-1) for columns in ((x, x, gap), (y, y, gap), (top, foot, gap))]
    line = dict(color=look.color, width=3)
    places = dict(zip("xyz", map(numbers, ends)))
    return go.Scatter3d(**places, mode="lines", name="drop lines", showlegend=False, hoverinfo="skip", line=line)


def height_at(surface: Surface, coords: Tensor) -> Tensor:
    """The surface between its grid points, bilinear, at in-plane coordinates (S, 2); NaN beside the grid."""
    ticks, values = [numbers(t.double()) for t in (surface.a, surface.b)], numbers(surface.values.double())
    heights = RegularGridInterpolator(ticks, values, bounds_error=False, fill_value=torch.nan)
    return torch.from_numpy(heights(numbers(coords.double())))
