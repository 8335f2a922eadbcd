"""What a result is drawn as where it is the last value of a notebook's cell: `results.drawn` names this module."""

from __future__ import annotations

import math

import torch

from flatviz.plots.captions import words
from flatviz.plots.ground import with_print
from flatviz.plots.projection import plot_projection
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.surface import plot_surface
from flatviz.plots.surface_3d import plot_surface_3d
from flatviz.plots.theme import COLORS, INK, Figure, figure, scatter, short
from flatviz.results import Plane, Prediction, Projection, Surface


def shown(result: Plane | Surface | Projection | Prediction) -> Figure | None:
    """The figure of a result; None where its text says all there is: more than three axes, no labels, no finite value."""
    if isinstance(result, Plane):
        return _plane(result)
    if isinstance(result, Projection):
        return plot_projection(result) if len(result.coords) else None
    if isinstance(result, Prediction):
        return plot_reliability(result) if result.bins is not None and "ece" in result.scores else None
    if result.values.ndim > 3 or not bool(result.values.isfinite().any()):
        return None
    return plot_surface_3d(result) if result.more else plot_surface(result)


def _plane(plane: Plane) -> Figure | None:
    """The first two axes at their lengths and angle, and the part of the plane to look at."""
    if not math.isfinite(plane.angle):
        return None
    angle = math.radians(plane.angle)
    first, second = plane.lengths[:2]
    ends = torch.tensor([[first, 0.0], [second * math.cos(angle), second * math.sin(angle)]], dtype=torch.float64)
    fig = figure(f"{plane.name[0].upper()}{plane.name[1:]}", words(plane), explain=words(plane), width=560)
    if plane.extent is not None:
        (a0, a1), (b0, b1) = plane.extent[:2]
        corners = torch.tensor([[a0, b0], [a1, b0], [a1, b1], [a0, b1], [a0, b0]], dtype=torch.float64) @ ends
        look = dict(fill="toself", fillcolor="rgba(0, 114, 178, 0.08)", line=dict(color=COLORS[1], width=1.5))
        fig.add_trace(scatter(*corners.T, "lines", "extent", legend=True, **look))
    for i, (x, y) in enumerate(ends.tolist()):
        side = "top left" if i == 0 and plane.extent is not None and plane.extent[0][1] < 2 else "top right"
        share = "" if not plane.explained else f", {100 * plane.explained[i]:.0f} %"
        arrow = dict(symbol="arrow", size=[0, 13], angleref="previous", color=INK, opacity=1)
        text = dict(text=["", f"axis {i + 1}: length {short(plane.lengths[i])}{share}"], textposition=side)
        fig.add_trace(
            scatter([0, x], [0, y], "lines+markers+text", f"axis {i + 1}", line=dict(color=INK), marker=arrow, **text)
        )
    origin = dict(symbol="circle", size=8, color=INK)
    fig.add_trace(scatter([0], [0], "markers", "origin", legend=True, marker=origin))
    equal = dict(title="distance in weight space", scaleanchor="x", scaleratio=1)
    return fig.update_layout(xaxis=dict(title=with_print("distance in weight space", f"one step: {plane.unit}")), yaxis=equal)
