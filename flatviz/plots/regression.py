"""A regression on one input: predictive mean, bands and single draws, methods side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import Count
from flatviz.core.boundary import public
from flatviz.plots.inputs import side_by_side
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import INK, Figure, Style, axes_of, figure, numbers, scatter, style, tinted
from flatviz.results import Prediction

if TYPE_CHECKING:
    from flatviz.core.data import Data

LINES = 10  # single draws that are drawn
BANDS = (("with noise", 0.12), ("two standard deviations", 0.25))


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
        ['with noise', 'two standard deviations', 'draws', 'mean']
    """
    x = x.reshape(-1)
    for name, p in by_method(predictions, "Prediction").items():
        if p.outputs.shape[1:] != (len(x), 1):
            raise ValueError(f"outputs of {name!r} must have shape (S, {len(x)}, 1), got {tuple(p.outputs.shape)}")
    spread = {name: float(p.outputs[: p.size(n_draws), :, 0].std(0).mean()) for name, p in predictions.items()}
    alt = "; ".join(f"{_style(name).label}: mean standard deviation of draws {s:.2g}" for name, s in spread.items())
    fig = figure(title, alt)
    for k, (name, p) in enumerate(predictions.items()):
        noise, color = p.likelihood if isinstance(p.likelihood, float) else 0.0, _style(name).color
        _add_posterior(fig, k, color, x, p.outputs[: p.size(n_draws), :, 0], noise)
        if data is not None:
            marker = dict(color="#fefefe", size=6, line=dict(color=INK, width=1.3))
            fig.add_trace(scatter(data.x.reshape(-1), data.y.reshape(-1), "markers", "data", marker=marker, **axes_of(k)))
    outer = np.concatenate([trace.y for trace in fig.data if trace.name == BANDS[0][0]])
    side_by_side(fig, [_style(name).label for name in predictions], [float(outer.min()), float(outer.max())])
    return fig


def _add_posterior(fig: Figure, panel: int, color: str, x: Tensor, curves: Tensor, noise: float) -> None:
    """One posterior's bands, single draws and mean, of those of its draws that are finite."""
    ticks, kept = numbers(x), numbers(curves.double())
    kept = kept[np.isfinite(kept).all(1)]
    mean = kept.mean(0) if len(kept) else np.full(len(ticks), np.nan)
    variance, on = kept.var(0, ddof=1) if len(kept) > 1 else 0 * mean, axes_of(panel)
    for (name, opacity), wide in zip(BANDS, (noise, 0.0)):
        half = 2 * np.sqrt(variance + wide**2)
        outline = np.concatenate([ticks, ticks[::-1]]), np.concatenate([mean - half, (mean + half)[::-1]])
        fig.add_trace(
            scatter(*outline, "lines", name, fill="toself", fillcolor=tinted(color, opacity), line=dict(width=0), **on)
        )
    single = np.pad(kept[:LINES], [(0, 0), (0, 1)], constant_values=np.nan).reshape(-1)
    look = dict(line=dict(color=color, width=0.8), opacity=0.6, connectgaps=False)
    fig.add_trace(scatter(np.tile([*ticks, np.nan], LINES)[: len(single)], single, "lines", "draws", **look, **on))
    fig.add_trace(scatter(ticks, mean, "lines", "mean", line=dict(color=INK, width=2.2), hover="x = %{x:.2f}: %{y:.3g}", **on))


def _style(name: str) -> Style:
    """The look of the method with whose key the name begins, its label in that key's place; ink for another name."""
    first, comma, rest = name.partition(",")
    return style(first)._replace(label=f"{style(first).label}{comma}{rest}") if first in LOOKS else style(None, name)
