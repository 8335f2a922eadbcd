"""Uncertainty in input space: predictive mean, bands and single draws, methods side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import Count
from flatviz.core.boundary import public
from flatviz.plots.live import LINES
from flatviz.plots.theme import INK, MUTED, Figure, figure, numbers, scatter, style, tinted
from flatviz.results import Family, Prediction

if TYPE_CHECKING:
    from flatviz.core.data import Data

CLASSES = ("#0072B2", "#D55E00")  # of the two classes' points
MAP = [[0.0, "#2b6ca3"], [0.5, "#f7f7f7"], [1.0, "#c2571a"]]  # probability of class 1, white where it is open
GAP = 0.04


@public
def plot_predictive(
    x: Tensor,
    predictions: Mapping[str, Prediction],
    *,
    data: Data | None = None,
    n_draws: Count | None = None,
    title: str = "What each method predicts",
) -> Figure:
    """A regression on one input: the mean of the draws, two bands, ten single draws, and the data, a panel a method.

    The inner band is two standard deviations of the draws, what the posterior does not know; the outer one adds the noise of
    the likelihood.  Where there are no data a good posterior widens, as HMC does.

    Args:
        x: inputs (N, 1) or (N,), rising.
        predictions: name -> Prediction of outputs (S, N, 1), as `fv.families.predict_gap` returns; a name that begins with a key of
            `fv.METHODS` has its colour.
        data: the training points.
        n_draws: ensemble size, the first draws of each; None: all.
        title: of the figure.

    Raises:
        ValueError: For no prediction, or outputs of another shape.

    Example:
        >>> x = torch.linspace(0, 1, 5)
        >>> prediction = fv.Prediction(torch.randn(3, 5, 1), likelihood=0.1)
        >>> fig = fv.plots.plot_predictive(x, {"vi": prediction}, n_draws=2)
        >>> [trace.name for trace in fig.data]
        ['with noise', 'two standard deviations', 'draw 1', 'draw 2', 'mean']
    """
    if not predictions:
        raise ValueError("plot_predictive needs at least one Prediction, got none: fv.families.predict_gap makes some")
    x = x.reshape(-1)
    for name, p in predictions.items():
        if p.outputs.shape[1:] != (len(x), 1):
            raise ValueError(f"outputs of {name!r} must have shape (S, {len(x)}, 1), got {tuple(p.outputs.shape)}")
    spread = {name: float(p.outputs[: p.size(n_draws), :, 0].std(0).mean()) for name, p in predictions.items()}
    alt = "; ".join(f"{_label(name)}: mean standard deviation of draws {s:.2g}" for name, s in spread.items())
    fig = figure(title, alt)
    lows, highs = [], []
    for k, (name, p) in enumerate(predictions.items()):
        lo, hi = _add_panel(fig, x, p, name, p.size(n_draws), k, data)
        lows.append(lo), highs.append(hi)
    side_by_side(fig, [_label(name) for name in predictions], [min(lows), max(highs)])
    return fig


def plot_input_maps(family: Family, i: int) -> Figure:
    """Class probabilities over the plane of inputs: VI, member i, HMC, with the training points; follows the ensemble size."""
    shown = family.inputs
    vi = family.index("vi") if "vi" in family.methods else i
    panels = [("vi", family[vi].maps["probs"][-1], False), (family[i].method, family[i].maps["probs"][-1], True)]
    panels += [("hmc", shown["reference"], False)] if "reference" in shown else []
    classes = class_words(family)
    alt = f"probability of {classes[1]} over the plane of inputs: VI, the selected posterior, and HMC as reference"
    fig = figure(f"Probability of {classes[1]} over the inputs", alt, showlegend=False)
    for k, (method, probs, follows) in enumerate(panels):
        axis = dict(xaxis=f"x{k + 1 if k else ''}", yaxis=f"y{k + 1 if k else ''}")
        bar = dict(title=dict(text="probability", side="right"), thickness=14, outlinewidth=0)
        look = dict(zmin=0, zmax=1, colorscale=MAP, showscale=k == len(panels) - 1, colorbar=bar, name=style(method).label)
        place = dict(x=numbers(shown["a"]), y=numbers(shown["b"]), z=numbers(probs))
        lines = dict(contours=dict(start=0.05, end=0.95, size=0.1), line=dict(width=0.5, color="rgba(255,255,255,0.6)"))
        trace = go.Contour(**place, **look, **lines, **axis, hovertemplate="(%{x:.2f}, %{y:.2f}): %{z:.2f}<extra></extra>")
        if follows:
            fig.add_live(trace, sizes={"z": family[i].maps["probs"]})
        else:
            fig.add_trace(trace)
        for c, color in enumerate(CLASSES):
            points = shown["x"][shown["y"] == c]
            marker = dict(color=color, size=8, symbol=("circle", "square")[c], line=dict(color="#fefefe", width=1.5))
            fig.add_trace(scatter(*points.T, "markers", classes[c], marker=marker, **axis))
    names = [style(method).label for method, *_ in panels]
    side_by_side(fig, names, None)
    fig.follow({"layout.annotations.1.text": names[1]}, rows="all")
    for k in range(len(panels)):
        at = k + 1 if k else ""
        fig.update_layout(
            {f"yaxis{at}": dict(scaleanchor=f"x{at}", constrain="domain"), f"xaxis{at}": dict(constrain="domain")}
        )
    lost = "" if bool(family[i].maps["probs"].isfinite().any()) else "diverged:<br>no probability<br>is a number"
    fig.note(lost, x="x2 domain", y="y2 domain")
    return fig


def class_words(family: Family) -> tuple[str, ...]:
    """What a sentence calls the task's classes: their names, or "class 1"."""
    prediction = family[0].prediction
    return tuple(name if c < len(prediction.class_names) else f"class {name}" for c, name in enumerate(prediction.classes))


def _add_panel(fig: Figure, x: Tensor, p: Prediction, name: str, n: int, k: int, data: Data | None) -> tuple[float, float]:
    """One method's bands, draws and mean; the ends of its outer band."""
    axis = dict(xaxis=f"x{k + 1 if k else ''}", yaxis=f"y{k + 1 if k else ''}")
    draws = p.outputs[:n, :, 0].double()
    mean, std = draws.mean(0), draws.std(0) if n > 1 else torch.zeros_like(draws[0])
    noise = p.likelihood if isinstance(p.likelihood, float) else 0.0
    color = style(_method(name)).color
    for wide, opacity, label in (((std**2 + noise**2).sqrt(), 0.12, "with noise"), (std, 0.25, "two standard deviations")):
        band = torch.cat([mean - 2 * wide, (mean + 2 * wide).flip(0)])
        look = dict(fill="toself", fillcolor=tinted(color, opacity), line=dict(width=0))
        fig.add_trace(scatter(torch.cat([x, x.flip(0)]), band, "lines", label, **look, **axis))
    for i, draw in enumerate(draws[:LINES], 1):
        line = dict(color=color, width=0.8)
        fig.add_trace(scatter(x, draw, "lines", f"draw {i}", line=line, opacity=0.6, **axis))
    hover = f"{_label(name)}<br>x = %{{x:.2f}}: %{{y:.3g}}"
    fig.add_trace(scatter(x, mean, "lines", "mean", line=dict(color=INK, width=2.2), hover=hover, **axis))
    if data is not None:
        marker = dict(color="#fefefe", size=6, line=dict(color=INK, width=1.3))
        fig.add_trace(scatter(data.x.reshape(-1), data.y.reshape(-1), "markers", "data", marker=marker, **axis))
    outer = 2 * (std**2 + noise**2).sqrt()
    return float((mean - outer).min()), float((mean + outer).max())


def side_by_side(fig: Figure, names: list[str], ends: list[float] | None) -> None:
    """Axes of the panels, one beside the other, each under its name; with `ends` they share the upright range."""
    wide = (1 - GAP * (len(names) - 1)) / len(names)
    for k, name in enumerate(names):
        at, left = k + 1 if k else "", k * (wide + GAP)
        y = dict(anchor=f"x{at}", showticklabels=k == 0, **({} if ends is None else dict(range=ends)))
        x = dict(domain=[left, min(left + wide, 1.0)], anchor=f"y{at}", title="input" if ends is not None else "input 1")
        fig.update_layout({f"xaxis{at}": x, f"yaxis{at}": y})
        where = dict(x=0.5, y=1, xref=f"x{at} domain", yref=f"y{at} domain", yanchor="bottom", showarrow=False, yshift=6)
        fig.add_annotation(text=name, font=dict(color=MUTED if name == LOOKS["hmc"].label else INK), **where)
    fig.update_layout(yaxis_title="prediction" if ends is not None else "input 2")


def _method(name: str) -> str | None:
    first = name.split(",")[0]
    return first if first in LOOKS else None


def _label(name: str) -> str:
    first = _method(name)
    return name if first is None else style(first).label + name[len(first) :]
