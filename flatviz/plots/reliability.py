"""Reliability diagram: how often a prediction of some confidence is right."""

from __future__ import annotations

import plotly.graph_objects as go
import torch

from flatviz.core.boundary import public
from flatviz.plots.metrics import lost, wilson
from flatviz.plots.theme import GRID, INK, MUTED, Figure, figure, numbers, scatter, style
from flatviz.results import Prediction

FULL = 50  # examples in a bin whose bar is solid
FAINT = 0.15  # opacity of a bar without examples
WIDTH = 640  # px


@public
def plot_reliability(prediction: Prediction, *, method: str | None = None, title: str = "Reliability") -> Figure:
    """Accuracy in each confidence bin as bars, the diagonal of perfect calibration, and the counts below.

    Each bar has the 95 % interval of its accuracy (Wilson), and fades where it has few examples: at `FULL` it is solid.

    Args:
        prediction: what `predict` returned on labelled data; its bins are of equal width.
        method: whose colour the bars have; None: ink.
        title: of the figure.

    Raises:
        ValueError: Without labels.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> prediction = fv.predict(net, fv.Gaussian(net.w, torch.zeros(net.dim)), data, 5, seed=0)
        >>> fig = fv.plots.plot_reliability(prediction)
        >>> int(fig.data[2].y.sum())  # counts
        4
    """
    if prediction.bins is None:
        do = "use plot_predictive for a regression" if prediction.scores else "predict on a Data, which has labels"
        raise ValueError(f"prediction must carry calibration bins, got none: {do}")
    count, confidence, right = prediction.bins.nan_to_num(0).unbind(-1)  # (M, n) each: a row an ensemble size
    n = count.shape[1]
    middle = [(i + 0.5) / n for i in range(n)]
    ece = float(prediction.scores["ece"][-1])
    axes = dict(
        xaxis=dict(title="confidence", range=[0, 1], anchor="y2"),
        yaxis=dict(title="accuracy", range=[0, 1], domain=[0.3, 1]),
        yaxis2=dict(title="count", domain=[0, 0.22], anchor="x", range=[0, 1.05 * float(count.max())], nticks=3),
    )
    fig = figure(title, f"expected calibration error {ece:.3f} with {prediction.n_draws} draws", bargap=0.08, **axes)
    places = dict(x=middle, width=0.92 / n, showlegend=False)
    lo, hi = wilson(right, count)
    up, down = torch.where(count > 0, hi - right, 0.0), torch.where(count > 0, right - lo, 0.0)
    solid = (count / FULL).clamp(0, 1) * (1 - FAINT) + FAINT
    y, share, at, plus, minus = (numbers(values[-1]) for values in (right, solid, confidence, up, down))
    ends = dict(type="data", symmetric=False, color=INK, thickness=1.2, width=3, array=plus, arrayminus=minus)
    look = dict(marker=dict(color=style(method).color, opacity=share), error_y=ends)
    hover = "mean confidence %{customdata:.2f}<br>accuracy %{y:.2f}<extra></extra>"
    bars = go.Bar(places, y=y, name="accuracy", customdata=at, hovertemplate=hover, **look)
    sizes = {"y": right, "customdata": confidence, "error_y.array": up, "error_y.arrayminus": down, "marker.opacity": solid}
    fig.add_live(bars, "marker.color", sizes=sizes)
    fig.add_trace(scatter([0, 1], [0, 1], "lines", "perfect", line=dict(color=MUTED, dash="dash", width=1.5)))
    look = dict(marker=dict(color=MUTED, line=dict(color=GRID, width=0)), hovertemplate="%{y} inputs<extra></extra>")
    fig.add_live(go.Bar(places, y=numbers(count[-1]), yaxis="y2", name="count", **look), sizes={"y": count})
    fig.note(lost(prediction, method), y="y domain")
    return fig.update_layout(width=WIDTH)
