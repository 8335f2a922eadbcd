"""Predictions over the inputs: class probabilities over a plane, bands of a regression."""

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.checks import Share, Whole, computed
from flatviz.core import public
from flatviz.plots.theme import (
    INK,
    Figure,
    axes_of,
    band,
    figure,
    layout_of,
    numbers,
    panels,
    points,
    room,
    scatter,
    style,
)
from flatviz.results import Family, Prediction

CLASSES = {"#0072B2": "circle", "#D55E00": "square"}  # colour and symbol of each class's points
# Colours of the probability of class 1, white at 1/2
MAP = [
    [0.0, "#2b6ca3"],
    [0.5, "#f7f7f7"],
    [1.0, "#c2571a"],
]
GAP = 0.04


def plot_input_maps(family: Family, i: int) -> Figure:
    """Draw class probabilities over the plane of inputs: VI, member i, HMC, with training points.

    They follow the ensemble size.
    """
    inputs = family.inputs
    selected = family[i]
    vi = family[family.index("vi")] if "vi" in family.methods else selected
    by_size = selected.maps["probs"]
    drawn = [
        ("vi", vi.maps["probs"][-1], False),
        (selected.method, by_size[-1], True),
    ]
    if "reference" in inputs:
        drawn.append(("hmc", inputs["reference"], False))
    classes = class_words(family)
    alt = (
        f"probability of {classes[1]} over the plane of inputs: VI, the selected posterior, and HMC"
        " as reference"
    )
    fig = figure(f"Probability of {classes[1]} over the inputs", alt, showlegend=False)
    widths = panels(len(drawn), GAP)
    for k, (method, probs, follows) in enumerate(drawn):
        on = axes_of(k)
        name = style(method).label
        is_last = k == len(drawn) - 1
        trace = _map(family, probs, name, bar=is_last).update(on)
        if follows:
            fig.add_live(trace, sizes={"z": by_size})
        else:
            fig.add_trace(trace)
        for c, (color, symbol) in enumerate(CLASSES.items()):
            at = inputs["x"][inputs["y"] == c]
            rim = dict(color="#fefefe", width=1.5)
            marker = dict(color=color, size=8, symbol=symbol, line=rim)
            fig.add_trace(points(at, "markers", classes[c], marker=marker, **on))
        x = dict(domain=widths[k], title="input 1", constrain="domain")
        y = dict(
            showticklabels=k == 0,
            constrain="domain",
            scaleanchor=on["xaxis"],
        )
        fig.update_layout(layout_of(k, x, y))
        path = fig.add_text(
            name,
            font=dict(color=INK),
            x=0.5,
            xanchor="center",
            xref=f"{on['xaxis']} domain",
            yref=f"{on['yaxis']} domain",
            yshift=6,
        )
        if follows:
            fig.follow({f"{path}.text": name}, rows="all")
    fig.update_layout(yaxis_title="input 2")
    has_finite = bool(by_size.isfinite().any())
    note = "" if has_finite else "diverged:<br>no probability<br>is a number"
    fig.note(note, x="x2 domain", y="y2 domain")
    return fig


def _map(family: Family, probs: Tensor, name: str, *, bar: bool) -> go.Contour:
    """Draw the probabilities of class 1 (A, B) over the plane of inputs."""
    title = dict(text="probability", side="right")
    return go.Contour(
        x=numbers(family.inputs["a"]),
        y=numbers(family.inputs["b"]),
        z=numbers(probs),
        zmin=0,
        zmax=1,
        colorscale=MAP,
        showscale=bar,
        colorbar=dict(title=title, thickness=14, outlinewidth=0),
        name=name,
        contours=dict(start=0.05, end=0.95, size=0.1),
        line=dict(width=0.5, color="rgba(255,255,255,0.6)"),
        hovertemplate="(%{x:.2f}, %{y:.2f}): %{z:.2f}<extra></extra>",
    )


def class_words(family: Family) -> tuple[str, ...]:
    """Name the task's classes in a sentence: their names, or "class 1"."""
    prediction = computed(family[0].prediction)
    return tuple(
        name if c < len(prediction.class_names) else f"class {name}"
        for c, name in enumerate(prediction.classes)
    )


@public
def plot_predictive(
    prediction: Prediction,
    x: Tensor | None = None,
    *,
    target: Whole = 0,
    level: Share = 0.9,
    method: str | None = None,
    title: str = "Prediction of a regression",
) -> Figure:
    """Draw the predictive mean of a regression over its input, with a band of new targets.

    The band holds the share `level` of new targets.  A darker band holds as many of the draws'
    means: the uncertainty of the weights, without the noise.  With inputs of several dimensions the
    targets are drawn against the predictive mean. Draws that diverged are left out.

    Args:
        prediction: Result of `predict` with a likelihood of numbers; its targets, where it has
            some, are drawn as points.
        x: (N,) or (N, 1), the inputs; None, as for inputs of several dimensions: the predictive
            mean.
        target: Number of the target, of those with several.
        level: Share of the probability inside a band.
        method: Key in `fv.METHODS` that gives the colour; None: ink.
        title: Title of the figure.

    Raises:
        ValueError: For a prediction of classes, other inputs, and a target that there is not.

    Example:
        >>> x = torch.linspace(-1, 1, 20)
        >>> outputs = torch.stack([x - 0.1, x + 0.1])[..., None]  # of two draws
        >>> fig = fv.plots.plot_predictive(fv.Prediction(outputs, likelihood=0.5), x)
        >>> [trace.name for trace in fig.data]
        ['90 % of targets', '90 % of draws', 'mean']
    """
    if prediction.has_classes:
        raise ValueError(
            f"prediction must be one of numbers, got {prediction.likelihood!r}, of classes: use"
            " plot_reliability"
        )
    finite = prediction.outputs.flatten(1).isfinite().all(1)
    outputs = prediction.outputs[finite]
    if not len(outputs):
        outputs = torch.zeros_like(prediction.outputs[:1])
    finite_draws = prediction.changed(outputs=outputs, y=None)
    means = finite_draws.means
    means = means.reshape(*means.shape[:2], -1)
    n, n_targets = means.shape[1:]
    if x is not None and x.numel() != n:
        raise ValueError(
            f"x must hold {n} numbers, one for each input, got shape {tuple(x.shape)}: leave it out"
        )
    if target >= n_targets:
        raise ValueError(f"target must be below {n_targets}, the number of targets, got {target}")
    ends = ((1 - level) / 2, (1 + level) / 2)
    means = means[..., target]
    lines = [finite_draws.mean, *map(finite_draws.quantile, ends)]
    lines += torch.quantile(means, means.new_tensor(ends), dim=0)
    chosen = []
    for line in lines:
        columns = line.reshape(n, -1)
        column = columns[:, min(target, columns.shape[1] - 1)]
        chosen.append(column if finite.any() else torch.full_like(column, torch.nan))
    mean, lo, hi, inner_lo, inner_hi = chosen
    at = mean if x is None else x.flatten()
    order = at.argsort()
    at = at[order]
    look = style(method, "mean")
    share = f"{100 * level:g} %"
    alt = (
        f"predictive mean from {float(mean.min()):.3g} to {float(mean.max()):.3g}, {share} bands of"
        f" {float((hi - lo).mean()):.3g}"
    )
    across = "x" if x is not None else "predictive mean"
    heights = [lo, hi]
    y = prediction.y
    if y is not None:
        y = y.reshape(n, -1)[:, target][order]
        heights.append(y.to(lo))
    x_axis = dict(title=across, range=room(at, 0.02))
    y_axis = dict(title="y", range=room(torch.cat(heights)))
    legend = dict(y=-0.18, yanchor="top")
    fig = figure(title, alt, xaxis=x_axis, yaxis=y_axis, legend=legend)
    for low, high, opacity, name in (
        (lo, hi, 0.15, f"{share} of targets"),
        (inner_lo, inner_hi, 0.35, f"{share} of draws"),
    ):
        area = band(at, low[order], high[order], look.color, opacity, name, legend=True)
        fig.add_live(area, "x", "y", "fillcolor")
    line = scatter(
        at,
        mean[order],
        "lines",
        look.label,
        legend=True,
        line=look.line(2),
        hover="mean %{y:.3g}",
    )
    fig.add_live(line, "x", "y", "line.color", "line.dash", "name")
    if y is not None:
        points = scatter(
            at,
            y,
            "markers",
            "targets",
            legend=True,
            marker=dict(color=INK, size=5),
            hover="target %{y:.3g}",
        )
        fig.add_live(points, "x", "y")
    n_diverged = int((~finite).sum())
    fig.note(f"{n_diverged} draws diverged<br>and are left out" if n_diverged else "")
    return fig
