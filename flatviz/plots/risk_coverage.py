"""Risk against coverage: mistakes among the answers a method is most sure of."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import Figure, figure, scatter, style

FIRST = 0.05  # coverage from which on the curve is drawn: before, it is the risk of a few answers


@public
def plot_risk_coverage(risks: Mapping[str, Tensor], *, title: str = "Risk against coverage") -> Figure:
    """Share of mistakes among the surest answers, over the share of inputs answered; a line a method.

    Args:
        risks: method -> what `risk_coverage` returned, (N,).
        title: of the figure.

    A curve that rises from left to right belongs to a method that knows when it is wrong; a flat one guesses.

    Raises:
        ValueError: For nothing to draw.

    Example:
        >>> fig = fv.plots.plot_risk_coverage({"vi": torch.linspace(0, 0.3, 100)})
        >>> round(float(fig.data[-1].y[-1]), 2)  # answering all
        0.3
    """
    rows = by_method(risks, "curve of risks")
    alt = "; ".join(f"{style(m).label}: area {float(r.mean()):.3f}, all answered {float(r[-1]):.3f}" for m, r in rows.items())
    n = max(len(r) for r in rows.values())
    about = f"{n} test inputs, one seed, so no interval"
    x = dict(title=f"coverage: share of inputs answered, the surest first<br><sup>{about}</sup>", range=[0, 1.01])
    highest = max(float(r[int(FIRST * n) :].max()) for r in rows.values())
    y = dict(title="risk: share of wrong answers", range=[0, min(1.0, 1.2 * highest + 0.02)])
    fig = figure(title, alt, xaxis=x, yaxis=y)
    for method, r in rows.items():
        label, color, _, symbol = look = style(method)
        shown = torch.linspace(max(0, int(FIRST * len(r)) - 1), len(r) - 1, min(len(r), 120)).round().long().unique()
        marker = dict(color=color, symbol=symbol, size=8, maxdisplayed=9)
        drawn = dict(line=look.line(2), marker=marker, hover=f"{label}: risk %{{y:.3f}} at coverage %{{x:.2f}}")
        coverage = (shown + 1).double() / len(r)
        fig.add_trace(scatter(coverage, r[shown], "lines+markers", label, legend=True, legendgroup=method, **drawn))
    return fig.update_layout(height=470, margin=dict(t=95, b=80), title_y=0.98)
