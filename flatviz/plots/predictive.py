"""Prediction of a regression: its mean, what the draws differ in, and the band in which the next target is expected."""

from dataclasses import replace

import torch
from torch import Tensor

from flatviz.checks import Share, Whole
from flatviz.core import public
from flatviz.plots.theme import INK, Figure, band, figure, scatter, style
from flatviz.results import Prediction


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
    """Predictive mean of a regression over a one-dimensional input, with the band that holds the share `level` of new targets.

    A darker band holds as many of the draws' means: what the weights leave open, without the noise.  Draws that diverged are left out.

    Args:
        prediction: what `predict` returned with a likelihood of numbers; its targets, where it has some, are drawn as points.
        x: (N,) or (N, 1), the inputs; None, as for inputs of several dimensions: places in the order of the mean.
        target: number of the target, of those with several.
        level: share of the probability inside a band.
        method: whose colour it has; None: ink.
        title: of the figure.

    Raises:
        ValueError: For a prediction of classes, other inputs, a target that there is not, and where every draw diverged.

    Example:
        >>> x = torch.linspace(-1, 1, 20)
        >>> outputs = torch.stack([x - 0.1, x + 0.1])[..., None]  # of two draws
        >>> fig = fv.plots.plot_predictive(fv.Prediction(outputs, likelihood=0.5), x)
        >>> [trace.name for trace in fig.data]
        ['90 % of targets', '90 % of draws', 'mean']
    """
    if prediction.has_classes:
        raise ValueError(f"prediction must be one of numbers, got {prediction.likelihood!r}, of classes: use plot_reliability")
    kept = prediction.outputs[prediction.outputs.flatten(1).isfinite().all(1)]
    if not len(kept):
        raise ValueError(
            f"outputs must be finite, got none of {prediction.n_draws} draws that are: lower lr or radius of the fit"
        )
    n_lost = prediction.n_draws - len(kept)
    prediction = replace(prediction, outputs=kept, scores={}, bins=None)
    means = prediction.means.flatten(2) if prediction.means.ndim > 2 else prediction.means[..., None]
    n, n_targets = means.shape[1:]
    if x is not None and x.numel() != n:
        raise ValueError(f"x must hold {n} numbers, one for each input, got shape {tuple(x.shape)}: leave it out")
    if target >= n_targets:
        raise ValueError(f"target must be below {n_targets}, the number of targets, got {target}")
    ends, means = ((1 - level) / 2, (1 + level) / 2), means[..., target]
    mean, lo, hi = (v.reshape(n, -1)[:, target] for v in (prediction.mean, *map(prediction.quantile, ends)))
    order = (mean if x is None else x.flatten()).argsort()
    at = torch.arange(n) if x is None else x.flatten()[order]
    look, share = style(method, "mean"), f"{100 * level:g} %"
    alt = f"predictive mean from {float(mean.min()):.3g} to {float(mean.max()):.3g}, {share} bands of {float((hi - lo).mean()):.3g}"
    across = "x" if x is not None else "inputs in the order of the mean"
    fig = figure(title, alt, xaxis=dict(title=across), yaxis=dict(title="y"), legend=dict(y=-0.18, yanchor="top"))
    inner = torch.quantile(means, means.new_tensor(ends), dim=0)
    for low, high, opacity, name in ((lo, hi, 0.15, f"{share} of targets"), (*inner, 0.35, f"{share} of draws")):
        fig.add_trace(band(at, low[order], high[order], look.color, opacity, name, legend=True))
    fig.add_trace(scatter(at, mean[order], "lines", look.label, legend=True, line=look.line(2), hover="mean %{y:.3g}"))
    if prediction.y is not None:
        y = prediction.y.reshape(n, -1)[:, target][order]
        fig.add_trace(
            scatter(at, y, "markers", "targets", legend=True, marker=dict(color=INK, size=5), hover="target %{y:.3g}")
        )
    fig.note(f"{n_lost} draws diverged<br>and are left out" if n_lost else "")
    return fig
