"""How flat a posterior is, draw by draw, and how many draws it takes to know."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import torch
from plotly.colors import hex_to_rgb

from flatviz.checks import check_choice
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import Figure, figure, numbers, style
from flatviz.results import MEASURES, Sharpness


def plot_flatness(
    measured: Sharpness | Mapping[str, Sharpness], *, measure: str = "lambda1", title: str | None = None
) -> Figure:
    """One measure of flatness against ensemble size: a marker a draw, a line through the mean of the draws so far.

    measured: what `sharpness` returned (drawn in ink), or one of it a method.  The band is the 95 % interval of the mean (Student's t).
    measure: "lambda1", "ratio", "trace", "sam" or "adaptive".  Raises ValueError for another, or where there is none.
    """
    label = MEASURES[check_choice(measure, tuple(MEASURES), "measure")]
    groups = by_method(measured, Sharpness, "measured")
    if not groups:
        raise ValueError("plot_flatness needs at least one Sharpness, got none")
    last = {m: s.interval(measure) for m, s in groups.items()}
    sizes = ", ".join(f"{style(m)[0]} {len(s.lambda1)}" for m, s in groups.items())
    fig = figure(
        title or "Flatness against ensemble size",
        "; ".join(f"{style(m)[0]}: mean {value:.3g} ± {half:.2g}" for m, (value, half) in last.items()),
        explain=f"Each marker is one draw: its {label} (draws: {sizes}). The line at size M is the mean of the first M; "
        "the band is the 95 % interval of that mean, so it says how sure the line is and not how far draws scatter.",
        xaxis=dict(title="ensemble size, in draws"),
        yaxis=dict(title=label),
    )
    drawn = torch.cat([getattr(s, measure).double().cpu() for s in groups.values()])
    margin = 0.3 * float(drawn.max() - drawn.min()) or 0.1 * float(drawn.abs().max()) or 1.0
    fig.update_yaxes(range=[float(drawn.min()) - margin, float(drawn.max()) + margin])  # of two draws the band leaves it
    for method, found in groups.items():
        _add(fig, method, found, measure)
    return fig


def _add(fig: Figure, method: str, found: Sharpness, measure: str) -> None:
    label, color, dash, symbol = style(method)
    values = getattr(found, measure)
    mean, half = found.by_size(measure)
    sizes = torch.arange(1, len(values) + 1)
    known = torch.isfinite(half)  # of one draw there is no interval
    around, (lo, hi) = sizes[known], (mean[known] - half[known], mean[known] + half[known])
    fig.add_trace(
        go.Scatter(
            x=numbers(torch.cat([around, around.flip(0)])),
            y=numbers(torch.cat([lo, hi.flip(0)])),
            fill="toself",
            fillcolor=f"rgba{(*hex_to_rgb(color), 0.15)}",
            line=dict(width=0),
            mode="lines",
            name=label,
            legendgroup=method,
            showlegend=False,
            hoverinfo="skip",
        )
    )
    fig.add_trace(
        go.Scatter(
            x=numbers(sizes),
            y=numbers(values),
            mode="markers",
            name=f"{label}, draws",
            legendgroup=method,
            showlegend=False,
            marker=dict(color=color, symbol=symbol, size=7, opacity=0.65),
            hovertemplate=f"{label}, draw %{{x}}: %{{y:.4g}}<extra></extra>",
        )
    )
    fig.add_trace(
        go.Scatter(
            x=numbers(sizes),
            y=numbers(mean),
            mode="lines",
            name=label,
            legendgroup=method,
            showlegend=True,
            line=dict(color=color, dash=dash, width=2.5),
            hovertemplate=f"{label}, mean of %{{x}} draws: %{{y:.4g}}<extra></extra>",
        )
    )
