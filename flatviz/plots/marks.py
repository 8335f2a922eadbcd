"""Samples on a ground of colours: fill by method, ring by the loss at the sample, a rim that is visible on any ground."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.plots.color import ColorScale
from flatviz.plots.theme import LOSS_SCALE, Figure, Style, numbers, scatter

RING = 2.5  # px, of the ring that shows the loss
RIM = 4.0  # px, by which the white rim is wider than the marker; a line of ink runs round it
LIGHT, DARK = "#fefefe", "#1e2832"  # not the theme's: a page turns those round on dark paper, and the ground stays


def add_samples(
    fig: Figure,
    x: Tensor,
    y: Tensor,
    size: Tensor | float,
    values: Tensor | None,
    scale: ColorScale | None,
    look: Style,
    *,
    customdata: Tensor,
    hover: str,
) -> None:
    """Circles that follow the controls, a row a draw: fill by method, ring by true loss, on a white rim with a line of ink.

    White and ink contrast with each other, so one of the two stands out from whatever colour lies below.
    """
    at = size if isinstance(size, Tensor) else torch.full((len(x),), float(size))
    at = at.to(torch.float32)
    rim = dict(color=LIGHT, opacity=1, size=numbers(at + RIM), line=dict(color=DARK, width=1))
    fig.add_live(scatter(x, y, "markers", "rim", marker=rim), "x", "y", "marker.size", rows="draws")
    seen = values is not None and scale is not None and bool(values.isfinite().any())
    ring = dict(width=RING, **(scale.marker(values) if seen else dict(color=LIGHT)))
    marker = dict(color=look.color, opacity=1, size=numbers(at), line=ring)  # of sizes that differ plotly's own is 0.7
    samples = scatter(x, y, "markers", "samples", marker=marker, customdata=customdata, hover=hover)
    follows = ("x", "y", "marker.size", "customdata", *(("marker.line.color",) if seen else ()))
    fig.add_live(samples, *follows, rows="draws")
    fig.follow({f"data.{len(fig.data) - 1}.marker.color": look.color}, rows="all", trace="samples")


def add_key(fig: Figure, look: Style) -> None:
    """An entry of the legend for the selected method, which follows the controls."""
    marker = dict(color=look.color, size=11, line=dict(color=DARK, width=1))
    fig.add_live(scatter([None], [None], "markers", look.label, legend=True, marker=marker), "name", "marker.color")


def add_crosses(fig: Figure, coords: Tensor, look: Style, *, shown: bool) -> None:
    """Small crosses of a method drawn beside the selected one; not `shown` where it is that one itself."""
    for size, color in ((12, DARK), (10, LIGHT), (7, look.color)):
        rim = dict(name=f"{look.label}, rim") if size > 7 else dict(name=look.label, legend=True, hoverinfo="name")
        marker = dict(symbol="cross", size=size, color=color)
        fig.add_live(scatter(*coords.T, "markers", marker=marker, visible=shown, **rim), "visible")


def add_color_bar(fig: Figure, scale: ColorScale, label: str) -> None:
    """The colour bar of rings, for which plotly has none."""
    lo, hi = scale.ends
    marker = dict(color=[lo], colorscale=LOSS_SCALE, cmin=lo, cmax=hi, showscale=True, colorbar=scale.bar(label), size=0.1)
    fig.add_trace(scatter([None], [None], "markers", "colours", marker=marker))
