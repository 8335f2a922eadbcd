"""Reliability diagram: how often a prediction of some confidence is right."""

from __future__ import annotations

import plotly.graph_objects as go

from flatviz.plots.nouns import check_noun
from flatviz.plots.theme import GRID, MUTED, Figure, figure, numbers, style
from flatviz.results import Prediction


def plot_reliability(
    prediction: Prediction, *, n_draws: int | None = None, method: str | None = None, title: str = "Reliability"
) -> Figure:
    """Accuracy in each confidence bin as bars, the diagonal of perfect calibration, and the counts below.

    `n_draws`: ensemble size (default all); `method`: whose colour the bars have, ink without one.
    Raises ValueError without labels or for a size that was not drawn.
    """
    check_noun(prediction, Prediction, "prediction")
    if prediction.bins is None:
        raise ValueError("prediction must carry calibration bins, got none: predict on a Data, which has labels")
    size = prediction.n_draws if n_draws is None else n_draws
    if not 1 <= size <= prediction.n_draws:
        raise ValueError(f"n_draws must be in 1..{prediction.n_draws}, got {size}: draw more")
    bins = prediction.bins[size - 1]
    count, confidence, right = bins.T
    n = len(bins)
    middle = [(i + 0.5) / n for i in range(n)]
    _, color, _, _ = style(method)
    ece = float(prediction.scores["ece"][size - 1])
    fig = figure(
        title,
        f"expected calibration error {ece:.3f} with {size} draws",
        xaxis=dict(title="confidence", range=[0, 1], anchor="y2"),
        yaxis=dict(title="accuracy", range=[0, 1], domain=[0.3, 1]),
        yaxis2=dict(title="count", domain=[0, 0.22], anchor="x", rangemode="tozero", nticks=3),
        bargap=0.08,
    )
    fig.add_trace(
        go.Bar(
            x=middle,
            y=numbers(right.nan_to_num(0)),
            name="accuracy",
            marker_color=color,
            opacity=0.85,
            width=0.92 / n,
            customdata=numbers(confidence),
            showlegend=False,
            hovertemplate="mean confidence %{customdata:.2f}<br>accuracy %{y:.2f}<extra></extra>",
        )
    )
    fig.add_trace(
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line=dict(color=MUTED, dash="dash", width=1.5),
            name="perfect",
            hoverinfo="skip",
            showlegend=False,
        )
    )
    fig.add_trace(
        go.Bar(
            x=middle,
            y=numbers(count),
            yaxis="y2",
            name="count",
            marker_color=MUTED,
            width=0.92 / n,
            showlegend=False,
            marker_line=dict(color=GRID, width=0),
            hovertemplate="%{y} inputs<extra></extra>",
        )
    )
    return fig
