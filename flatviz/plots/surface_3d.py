"""A loss surface in relief, or a volume by its level sets; it can be turned."""

from __future__ import annotations

import plotly.graph_objects as go
import torch

from flatviz.plots._color import ColorScale
from flatviz.plots._nouns import check_on
from flatviz.plots._theme import INK, LOSS_SCALE, Figure, figure, numbers, short
from flatviz.plots._words import title_of, words_over
from flatviz.results import Projection, Surface


def plot_surface_3d(
    surface: Surface,
    projection: Projection | None = None,
    *,
    color_range: tuple[float, float] | None = None,
    log: bool | None = None,
    title: str | None = None,
) -> Figure:
    """`surface` in relief, its height on the colour scale of `plot_surface`; a volume of three axes as level sets.

    projection: samples or a training path, at the height of their own loss, above or below the surface: what the plane
    does not show is the gap.  Heights beyond `color_range` are cut off; log: heights in powers of ten (default: where
    all values allow it).  Raises ValueError for scattered values, more than three axes, or none finite.
    """
    check_on(surface, projection)
    finite = surface.values[torch.isfinite(surface.values)]
    if surface.scattered or surface.values.ndim > 3:
        raise ValueError(f"a relief needs values on a grid of 2 or 3 axes, got shape {tuple(surface.values.shape)}")
    if finite.numel() == 0:
        raise ValueError(f"the surface must have a finite value, got {surface.n_diverged} diverged cells: shrink the extent")
    scale = ColorScale.over(finite, color_range, log)
    alt = f"{surface.label} in relief, from {short(float(finite.min()))} to {short(float(finite.max()))}"
    fig = figure(title or title_of(surface), alt, explain=words_over(surface, projection))
    lo, hi = scale.ends
    shown = torch.where(torch.isfinite(surface.values), scale(surface.values).clamp(lo, hi), torch.nan)
    if surface.more:
        fig.add_trace(_levels(surface, shown, scale))
    else:
        fig.add_trace(_relief(surface, shown, scale))
    if projection is not None and projection.values is not None and not surface.more:
        fig.add_trace(_points(projection, scale))
    axis = dict(showbackground=False, gridcolor="#e4e7eb", zeroline=False)
    height = dict(title=surface.label, **axis)
    if scale.log:
        bar = scale.bar(surface.label)
        height |= dict(tickvals=bar["tickvals"], ticktext=bar["ticktext"])
    names = ["axis 1", "axis 2", "axis 3"]
    scene = dict(xaxis=dict(title=names[0], **axis), yaxis=dict(title=names[1], **axis))
    scene["zaxis"] = dict(title=names[2], **axis) if surface.more else height
    camera = dict(eye=dict(x=1.45, y=-1.45, z=0.85), center=dict(x=0, y=0, z=-0.12))
    fig.update_layout(scene=scene | dict(aspectmode="cube", camera=camera), margin=dict(l=10, r=10, t=52, b=10))
    return fig


def _relief(surface: Surface, shown: torch.Tensor, scale: ColorScale) -> go.Surface:
    lo, hi = scale.ends
    step = max((hi - lo) / 12, 1e-9)
    return go.Surface(
        x=numbers(surface.a),
        y=numbers(surface.b),
        z=numbers(shown.T),
        colorscale=LOSS_SCALE,
        cmin=lo,
        cmax=hi,
        colorbar=scale.bar(surface.label),
        contours=dict(z=dict(show=True, start=lo, end=hi, size=step, color="rgba(255,255,255,0.5)", width=1)),
        customdata=numbers(surface.values.T),
        hovertemplate="(%{x:.3g}, %{y:.3g}): %{customdata:.3g}<extra></extra>",
        name="surface",
    )


def _levels(surface: Surface, shown: torch.Tensor, scale: ColorScale) -> go.Isosurface:
    lo, hi = scale.ends
    places = torch.meshgrid(surface.a, surface.b, *surface.more, indexing="ij")
    x, y, z = (numbers(p.reshape(-1)) for p in places)
    return go.Isosurface(
        x=x,
        y=y,
        z=z,
        value=numbers(shown.nan_to_num(hi).reshape(-1)),
        isomin=lo + 0.1 * (hi - lo),
        isomax=lo + 0.7 * (hi - lo),
        surface_count=4,
        opacity=0.35,
        colorscale=LOSS_SCALE,
        cmin=lo,
        cmax=hi,
        colorbar=scale.bar(surface.label),
        caps=dict(x_show=False, y_show=False, z_show=False),
        name="volume",
    )


def _points(projection: Projection, scale: ColorScale) -> go.Scatter3d:
    return go.Scatter3d(
        x=numbers(projection.coords[:, 0]),
        y=numbers(projection.coords[:, 1]),
        z=numbers(scale(projection.values)),
        mode="markers+lines" if "path" in projection.name else "markers",
        marker=dict(size=4, color=INK, line=dict(color="#ffffff", width=1)),
        line=dict(color=INK, width=3),
        customdata=numbers(torch.stack([projection.values, projection.distance], dim=1)),
        hovertemplate="true loss %{customdata[0]:.3g}<br>%{customdata[1]:.3g} off the plane<extra></extra>",
        name=projection.name or "samples",
        showlegend=False,
    )
