"""The ground of every picture of a plane: contours, cells that diverged, axes that say their unit, small print."""

from __future__ import annotations

import plotly.graph_objects as go
import torch

from flatviz.plots._color import ColorScale
from flatviz.plots._theme import LOSS_SCALE, MUTED, numbers
from flatviz.results import Plane, Surface


def contour(surface: Surface, scale: ColorScale) -> go.Contour:
    """Filled contours; cells that diverged are left open."""
    start, end = scale.ends
    shown = torch.where(torch.isfinite(surface.values), surface.values, torch.nan)
    return go.Contour(
        x=numbers(surface.a),
        y=numbers(surface.b),
        z=numbers(scale(shown.T)),
        colorscale=LOSS_SCALE,
        zmin=start,
        zmax=end,
        contours=dict(start=start, end=end, size=max((end - start) / 18, 1e-9)),
        colorbar=scale.bar(surface.label),
        line=dict(width=0.6, color="rgba(255,255,255,0.45)"),
        customdata=numbers(shown.T),
        hovertemplate="(%{x:.3g}, %{y:.3g}): %{customdata:.3g}<extra></extra>",
        name="surface",
    )


def diverged(surface: Surface) -> go.Scatter:
    """A small cross on each cell without a finite value."""
    bad = ~torch.isfinite(surface.values)
    if surface.scattered:
        a, b = surface.a[bad], surface.b[bad]
    else:
        i, j = bad.nonzero(as_tuple=True)
        a, b = surface.a[i], surface.b[j]
    return go.Scatter(
        x=numbers(a),
        y=numbers(b),
        mode="markers",
        name="diverged",
        showlegend=False,
        hoverinfo="skip",
        marker=dict(symbol="x-thin", size=6, line=dict(color=MUTED, width=1)),
    )


def plane_axes(plane: Plane, below: str = "") -> dict:
    """Axis titles that say what a step is, `below` under them; equal aspect only where distance in the picture is distance."""
    share = [f" ({100 * s:.0f} % of variance)" for s in plane.explained] if plane.explained else ["", ""]
    titles = [f"axis {i + 1}{s}" for i, s in enumerate(share)]
    titles[0] += f"<br><span style='font-size:11px;color:{MUTED}'>{axis_note(plane)}{'<br>' if below else ''}{below}</span>"
    y = dict(title=titles[1], constrain="domain")
    if plane.orthonormal:
        y |= dict(scaleanchor="x", scaleratio=1)
    return dict(xaxis=dict(title=titles[0], constrain="domain"), yaxis=y)


def axis_note(plane: Plane) -> str:
    """The unit, and for oblique or scaled axes their lengths and angle."""
    if plane.orthonormal:
        return f"unit: {plane.unit}"
    first, second = plane.lengths
    return f"unit: {plane.unit}; axes {first:.3g} and {second:.3g} long, {plane.angle:.0f}° apart"


def small_print(surface: Surface) -> str:
    """Examples, BatchNorm statistics, diverged cells."""
    parts = [f"mean over {surface.n} examples"] if surface.n else []
    parts += [f"BatchNorm {surface.batchnorm}"] if surface.batchnorm else []
    parts += [f"{surface.n_diverged} cells diverged (×)"] if surface.n_diverged else []
    return " · ".join(parts)
