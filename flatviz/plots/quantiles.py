"""Calibration of a regression's quantiles."""

from collections.abc import Mapping

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.core import public
from flatviz.plots.calibration import LABELLED
from flatviz.plots.ground import by_method
from flatviz.plots.theme import (
    MUTED,
    Figure,
    axes_of,
    band,
    diagonal,
    figure,
    layout_of,
    numbers,
    scatter,
    style,
)
from flatviz.results import Prediction

SURE = 1.358  # sqrt(N) times the largest distance of N uniform numbers' shares, 95 % (Kolmogorov)
N_BARS = 20


@public
def plot_calibration(
    predictions: Prediction | Mapping[str, Prediction], *, title: str = "Calibration of quantiles"
) -> Figure:
    """Draw the share of targets below each predicted quantile, and the histogram of F(y).

    On the diagonal a quantile holds the share that it promises; the band holds the whole curve of
    calibrated predictions 95 times in 100 (Kolmogorov).  F is the mixture of all draws.

    Args:
        predictions: Result of `predict` on data with targets, or method -> Prediction.
        title: Title of the figure.

    Raises:
        ValueError: For classes, and without targets.

    Example:
        >>> y = torch.linspace(-3, 3, 50)[:, None]
        >>> fig = fv.plots.plot_calibration(fv.Prediction(torch.zeros(1, 50, 1), y, likelihood=1.0))
        >>> [trace.name for trace in fig.data]
        ['calibrated, 95 %', 'perfect', 'posterior', 'F(y)']
    """
    named = by_method(predictions, "Prediction")
    curves = {}
    for name, p in named.items():
        if p.y is None or p.has_classes:
            advice = "use plot_reliability for classes" if p.has_classes else LABELLED
            raise ValueError(f"prediction must be a regression with targets: {advice}")
        below = p.below(p.y).mean(0).flatten()  # F(y) of each target
        curves[name] = below.double().sort().values
    n = min(map(len, curves.values()))
    axes = layout_of(
        0,
        {},
        dict(
            title="share of targets below",
            range=[0, 1],
            domain=[0.34, 1],
        ),
    )
    axes |= layout_of(
        1,
        dict(title="predicted probability F(y)", range=[0, 1], matches="x"),
        dict(title="density of F(y)", rangemode="tozero", domain=[0, 0.26]),
    )
    distances = []
    for name, at in curves.items():
        distance = float((at - _ranks(at)).abs().mean())
        distances.append(f"{style(name).label}: mean distance {distance:.3f}")
    fig = figure(title, "; ".join(distances), barmode="overlay", **axes)
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64)
    half = SURE / n**0.5
    inside = band(ends, ends - half, ends + half, MUTED, 0.15, "calibrated, 95 %", legend=True)
    fig.add_trace(inside)
    fig.add_trace(diagonal().update(showlegend=True))
    for name, at in curves.items():
        look = style(name)
        hover = f"{look.label}: %{{y:.2f}} of targets lie below the quantile of %{{x:.2f}}"
        fig.add_trace(
            scatter(
                at,
                _ranks(at),
                "lines",
                look.label,
                line=look.line(2),
                legend=True,
                hover=hover,
            )
        )
        density = torch.histc(at, N_BARS, 0, 1) * N_BARS / len(at)
        middle = (torch.arange(N_BARS) + 0.5) / N_BARS
        fig.add_trace(
            go.Bar(
                x=numbers(middle),
                y=numbers(density),
                width=0.92 / N_BARS,
                name="F(y)",
                marker=dict(color=look.color, opacity=1 / len(curves) ** 0.5),
                showlegend=False,
                hovertemplate="density %{y:.2f}<extra></extra>",
                **axes_of(1),
            )
        )
    return fig.update_layout(width=640)


def _ranks(sorted_values: Tensor) -> Tensor:
    """Share of the values up to each, (N,)."""
    n = len(sorted_values)
    return torch.arange(1, n + 1).double() / n
