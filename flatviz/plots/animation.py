"""Samples or a training path moving over a fixed surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from flatviz.core.boundary import public
from flatviz.plots.captions import title_of
from flatviz.plots.color import ColorScale, first_draws
from flatviz.plots.ground import ground
from flatviz.plots.nouns import check_on
from flatviz.plots.theme import Figure, scatter
from flatviz.results import Projection, Surface

FRAME_MS = 120


@public
def animate_projection(
    surface: Surface, projection: Projection, *, log: bool | None = None, title: str | None = None
) -> Figure:
    """A path that grows point by point over a surface that stands still, with a slider and a play button.

    The colour of a marker is the loss at its weights, on the surface's scale.

    Args:
        surface: values on a grid of two axes (A, B).
        projection: a training path, or draws one after the other.
        log: whether colours count in powers of ten; default: where all values are positive and span a decade.
        title: default: what is drawn over which plane.

    Raises:
        ValueError: For scattered values, or a projection onto another plane.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> surface = fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5)
        >>> fig = fv.plots.animate_projection(surface, fv.project(torch.rand(4, 3), plane, name="training path"))
        >>> len(fig.frames)
        4
    """
    if surface.values.ndim != 2:
        raise ValueError(f"an animation needs a surface on a grid of two axes, got shape {tuple(surface.values.shape)}")
    check_on(surface, projection)
    scale, n = ColorScale.of(surface, log=log), len(projection.coords)
    fig = ground(surface, scale, title or title_of(surface), f"{n} frames over {surface.label}")
    rows = [_markers(first_draws(projection, i + 1), scale) for i in range(n)]
    fig.frames = [go.Frame(name=str(i), data=[row], traces=[len(fig.data)]) for i, row in enumerate(rows)]
    fig.add_trace(rows[0])
    stops, now = [(str(i), str(i)) for i in range(n)], dict(currentvalue=dict(visible=True, xanchor="left"))
    fig.update_layout(**player(stops, FRAME_MS, t=96, left=110, **now))  # px: below the small print
    fig.update_layout(margin=dict(l=60, r=20, t=52, b=170), width=None)
    fig.update_xaxes(range=[float(surface.a.min()), float(surface.a.max())])
    fig.update_yaxes(range=[float(surface.b.min()), float(surface.b.max())])
    return fig


def _markers(p: Projection, scale: ColorScale) -> go.Scatter:
    white = dict(color="#ffffff", width=1.5)
    look = dict(line=white, marker=dict(size=9, line=white, **scale.marker(p.values)))
    return scatter(
        *p.coords.T, "lines+markers", "samples", customdata=p.distance, hover="%{customdata:.3g} off the plane", **look
    )


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
