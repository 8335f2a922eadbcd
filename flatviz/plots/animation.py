"""Samples or a training path moving over a fixed surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from flatviz.core.boundary import public
from flatviz.plots.captions import title_of
from flatviz.plots.color import ColorScale, first_draws
from flatviz.plots.ground import add_contour, diverged, plane_axes, small_print
from flatviz.plots.nouns import check_on, one_or_several
from flatviz.plots.theme import Figure, figure, scatter
from flatviz.results import Projection, Surface

FRAME_MS = 120


@public
def animate_projection(
    surface: Surface,
    projections: Sequence[Projection] | Projection,
    labels: Sequence[str] | None = None,
    *,
    log: bool | None = None,
    title: str | None = None,
) -> Figure:
    """Frames with a slider and a play button over a surface that stands still.

    The colour of a marker is the loss at its weights, on the surface's scale.

    Args:
        surface: values on a grid of two axes (A, B).
        projections: several, a frame each (a growing radius); or a single one, a training path that grows point by point.
        labels: a text for each frame; default: the projections' names, or the steps.
        log: whether colours count in powers of ten; default: where all values are positive and span a decade.
        title: default: what is drawn over which plane.

    Raises:
        ValueError: For no projection, labels of another number, or a volume.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> surface = fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5)
        >>> fig = fv.plots.animate_projection(surface, fv.project(torch.rand(4, 3), plane, name="training path"))
        >>> len(fig.frames)
        4
    """
    if surface.values.ndim != 2:
        raise ValueError(f"an animation needs a surface on a grid of two axes, got shape {tuple(surface.values.shape)}")
    frames = one_or_several(projections)
    for shown in frames:
        check_on(surface, shown)
    path = isinstance(projections, Projection)
    if path:
        frames = [first_draws(projections, i + 1) for i in range(len(projections.coords))]
    labels = labels or [str(i) if path else p.name or str(i) for i, p in enumerate(frames)]
    if not frames or len(labels) != len(frames):
        raise ValueError(f"labels must name each of {len(frames)} frames, got {len(labels)}: one projection and label a frame")
    scale = ColorScale.of(surface, log=log)
    alt = f"{len(frames)} frames over {surface.label}"
    fig = figure(title or title_of(surface), alt)
    add_contour(fig, surface, scale)
    if surface.n_diverged:
        fig.add_trace(diverged(surface))
    fig.add_trace(_markers(frames[0], scale, path))
    moving = len(fig.data) - 1
    fig.frames = [go.Frame(name=label, data=[_markers(p, scale, path)], traces=[moving]) for p, label in zip(frames, labels)]
    fig.update_layout(**plane_axes(surface.plane, small_print(surface)), margin=dict(l=60, r=20, t=52, b=170))
    shown = dict(currentvalue=dict(visible=True, xanchor="left"))
    fig.update_layout(
        **player([(label, label) for label in labels], FRAME_MS, t=96, left=110, **shown)
    )  # px: below the small print
    fig.update_xaxes(range=[float(surface.a.min()), float(surface.a.max())])
    fig.update_yaxes(range=[float(surface.b.min()), float(surface.b.max())])
    return fig


def _markers(p: Projection, scale: ColorScale, path: bool) -> go.Scatter:
    mode = "lines+markers" if path else "markers"
    white = dict(color="#ffffff", width=1.5)
    look = dict(line=white, marker=dict(size=9, line=white, **scale.marker(p.values)))
    return scatter(*p.coords.T, mode, "samples", customdata=p.distance, hover="%{customdata:.3g} off the plane", **look)


def player(
    stops: Sequence[tuple[str, str]], duration: int, *, t: int, left: int, jump: int = 0, active: int = 0, **slider: Any
) -> dict:
    """A play and a pause button and a slider that stops at the frames (name, label), `left` and `t` px off; as parts of a layout.

    duration: Of a frame, in ms.  jump: Likewise, of a second play button that shows only the stops; 0: none.
    """
    # a surface is drawn again with each frame: plotly leaves it out while markers move by themselves
    settings = dict(frame=dict(duration=duration, redraw=True), mode="immediate", transition=dict(duration=0))
    steps = [dict(label=label, method="animate", args=[[name], settings]) for name, label in stops]
    button = lambda label, frames, more: dict(label=label, method="animate", args=[frames, settings | more])  # noqa: E731
    jumps = [button("▶ in steps", [name for name, _ in stops], dict(frame=dict(duration=jump, redraw=True)))] if jump else []
    buttons = [button("▶", None, dict(fromcurrent=True)), *jumps, button("❚❚", [None], {})]
    menu = dict(type="buttons", direction="left", buttons=buttons, showactive=False, x=0, y=0, xanchor="left", yanchor="top")
    moved = dict(steps=steps, active=active, x=0, y=0, len=1, pad=dict(l=left, t=t - 12, b=0, r=10), ticklen=0) | slider
    return dict(updatemenus=[menu | dict(pad=dict(t=t))], sliders=[moved])
