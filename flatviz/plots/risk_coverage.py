"""Risk against coverage: mistakes among the answers a method is most sure of."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.nouns import by_method, over_seeds, said_of_seeds
from flatviz.plots.theme import Figure, band, figure, scatter, style

FIRST = 0.05  # coverage from which on the curve is drawn: before, it is the risk of a few answers


@public
def plot_risk_coverage(risks: Mapping[str, Tensor], *, title: str = "Risk against coverage") -> Figure:
    """Share of mistakes among the surest answers, over the share of inputs answered; a line a method.

    Args:
        risks: method -> what `risk_coverage` returned, (N,), or one row a seed, (seeds, N): then the line is their mean and
            the band its 95 % interval.
        title: of the figure.

    A curve that rises from left to right belongs to a method that knows when it is wrong; a flat one guesses.

    Raises:
        ValueError: For nothing to draw.

    Example:
        >>> fig = fv.plots.plot_risk_coverage({"vi": torch.linspace(0, 0.3, 100)})
        >>> round(float(fig.data[-1].y[-1]), 2)  # answering all
        0.3
    """
    rows = {method: r.double().reshape(-1, r.shape[-1]) for method, r in by_method(risks, "curve of risks").items()}
    ends = {style(m).label: (float(r.mean()), float(r[:, -1].mean())) for m, r in rows.items()}
    alt = "; ".join(f"{m}: area {area:.3f}, all answered {last:.3f}" for m, (area, last) in ends.items())
    seeds = max(len(r) for r in rows.values())
    n = max(r.shape[1] for r in rows.values())
    about = f"{n} test inputs, {said_of_seeds(seeds, 'bands')}"
    x = dict(title=f"coverage: share of inputs answered, the surest first<br><sup>{about}</sup>", range=[0, 1.01])
    highest = max(float(r.mean(0)[int(FIRST * n) :].max()) for r in rows.values())  # bands may leave the panel
    y = dict(title="risk: share of wrong answers", range=[0, min(1.0, 1.2 * highest + 0.02)])
    fig = figure(title, alt, xaxis=x, yaxis=y)
    for method, r in rows.items():
        _add(fig, method, r)
    return fig.update_layout(height=470, margin=dict(t=95, b=80), title_y=0.98)


def _add(fig: Figure, method: str, risks: Tensor) -> None:
    label, color, _, symbol = style(method)
    n = risks.shape[1]
    shown = torch.linspace(max(0, int(FIRST * n) - 1), n - 1, min(n, 120)).round().long().unique()
    coverage, risks = (shown + 1).double() / n, risks[:, shown]
    mean, half = over_seeds(risks)
    if bool(torch.isfinite(half).all()):
        lower, upper = (mean - half).clamp_min(0), (mean + half).clamp_max(1)
        fig.add_trace(band(coverage, lower, upper, color, 0.08, label, legendgroup=method))
    marker = dict(color=color, symbol=symbol, size=8, maxdisplayed=9)
    look = dict(line=style(method).line(2), marker=marker, legendgroup=method)
    hover = f"{label}: risk %{{y:.3f}} at coverage %{{x:.2f}}"
    fig.add_trace(scatter(coverage, mean, "lines+markers", label, legend=True, hover=hover, **look))
