"""Accuracy, NLL and ECE against ensemble size."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from flatviz.plots.nouns import by_method
from flatviz.plots.theme import INK, Figure, figure, numbers, style
from flatviz.results import Prediction

SHOWN = {"accuracy": "accuracy", "nll": "NLL", "ece": "ECE"}


def plot_metrics(
    predictions: Prediction | Mapping[str, Prediction],
    *,
    n_draws: int | None = None,
    title: str = "Scores against ensemble size",
) -> Figure:
    """One row a score, one curve a method; a single point (MAP) is a horizontal line; `n_draws` is marked.

    predictions: one (drawn in ink), or a mapping from method to prediction, on labelled data.  Raises ValueError without scores.
    """
    named = by_method(predictions, Prediction, "predictions")
    if not named:
        raise ValueError("plot_metrics needs at least one Prediction, got none")
    for name, p in named.items():
        if not p.scores:
            raise ValueError(
                f"prediction {name or 'posterior'!r} must carry scores, got none: predict on a Data, which has labels"
            )
    longest = max(p.n_draws for p in named.values())
    final = {style(m)[0]: {k: float(p.scores[k][-1]) for k in SHOWN} for m, p in named.items()}
    alt = "; ".join(f"{m}: accuracy {s['accuracy']:.3f}, NLL {s['nll']:.3f}, ECE {s['ece']:.3f}" for m, s in final.items())
    fig = figure(title, alt, xaxis3=dict(title="draws averaged (ensemble size)"))
    for row, (score, label) in enumerate(SHOWN.items(), 1):
        top, axis = 1 - (row - 1) * 0.345, "" if row == 1 else str(row)
        fig.update_layout(
            {
                f"yaxis{axis}": dict(domain=[top - 0.29, top], title=label, anchor=f"x{axis}"),
                f"xaxis{axis}": dict(
                    anchor=f"y{axis}",
                    matches="x" if row > 1 else None,
                    range=[0.5, longest + 0.5],
                    showticklabels=row == len(SHOWN),
                ),
            }
        )
        for method, p in named.items():
            name, color, dash, _ = style(method)
            values = p.scores[score]
            flat = len(values) == 1
            x = [1, longest] if flat else list(range(1, len(values) + 1))
            y = numbers(values.expand(2) if flat else values)
            fig.add_trace(
                go.Scatter(
                    x=x,
                    y=y,
                    mode="lines",
                    name=name,
                    legendgroup=method,
                    showlegend=row == 1,
                    xaxis=f"x{axis}",
                    yaxis=f"y{axis}",
                    line=dict(color=color, dash=dash, width=2.2),
                    hovertemplate=f"{name}, %{{x}} draws: %{{y:.4f}}<extra></extra>",
                )
            )
    if n_draws is not None:
        fig.add_shape(type="line", x0=n_draws, x1=n_draws, xref="x3", y0=0, y1=1, yref="paper", line=dict(color=INK, width=1))
    return fig
