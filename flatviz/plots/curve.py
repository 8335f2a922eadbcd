"""Values along lines and paths, with the barrier between the ends."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import torch

from flatviz.core.boundary import public
from flatviz.plots.ground import capital, small_print, with_print
from flatviz.plots.nouns import one_or_several
from flatviz.plots.theme import COLORS, DASHES, INK, MUTED, ROUNDING, Figure, figure, room, scatter, short
from flatviz.results import Curve


@public
def plot_curve(curve: Curve | Sequence[Curve], *, barrier: bool = True, log: bool = False, title: str | None = None) -> Figure:
    """One or more curves over t, with the barrier: the highest rise above the line between the ends.

    Args:
        curve: what `slice_line` or `slice_path` returned, or several of them, on common axes.
        barrier: whether each curve's barrier is drawn where it is highest.
        log: whether the values' axis is logarithmic.
        title: default: the first curve's value and name.

    Raises:
        ValueError: For no curve.

    Example:
        >>> curve = fv.slice_line(lambda w: 1 - (w ** 2).sum(), -torch.ones(3), torch.ones(3), resolution=5)
        >>> fig = fv.plot_curve(curve)
        >>> fig.data[1].text[1]
        'barrier 3'
    """
    curves = one_or_several(curve)
    first = curves[0]
    alt = "; ".join(f"{c.name or c.y_label}: barrier {short(c.barrier)}" for c in curves)
    title = title or f"{capital(first.y_label)} along {first.name or 'the line'}"
    y = dict(title=first.y_label, type="log" if log else "linear")
    fig = figure(title, alt, xaxis_title=with_print(first.x_label, small_print(*curves)), yaxis=y)
    values = torch.cat([c.values for c in curves])
    flat = values[values.isfinite()]
    if not log and len(flat) and float(flat.max() - flat.min()) <= ROUNDING * float(flat.abs().max()):
        fig.update_yaxes(range=room(flat))  # rounding is no landscape
    for i, c in enumerate(curves):
        color = COLORS[(i + 1) % len(COLORS)]
        name = c.name or f"curve {i + 1}"
        look = dict(
            marker=dict(size=4, color=color), line=dict(color=color, width=2, dash=DASHES[(i + i // len(COLORS)) % len(DASHES)])
        )
        hover = f"{name}<br>{c.x_label} %{{x:.3g}}: %{{y:.4g}}"
        fig.add_trace(scatter(c.t, c.values, "lines+markers", name, legend=len(curves) > 1, hover=hover, **look))
        if barrier and c.barrier > ROUNDING * float(c.values.abs().max()):
            fig.add_trace(_barrier(c))
    return fig


def _barrier(c: Curve) -> go.Scatter:
    """An upright line from the straight line between the ends to the curve, where the gap is widest."""
    share = (c.t - c.t[0]) / (c.t[-1] - c.t[0])
    line = torch.lerp(c.values[0], c.values[-1], share)
    top = int((c.values - line).nan_to_num(-torch.inf).argmax())
    text = dict(text=["", f"barrier {short(c.barrier)}"], textposition="top center", textfont=dict(color=INK, size=12))
    x, y = [float(c.t[top])] * 2, [float(line[top]), float(c.values[top])]
    return scatter(x, y, "lines+text", "barrier", line=dict(color=MUTED, width=1.5, dash="dot"), **text)
