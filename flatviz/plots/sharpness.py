"""Flatness of a posterior's draws, and the interval of their mean against ensemble size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch

from flatviz.core.boundary import public
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import Figure, band, figure, scatter, style
from flatviz.results import MEASURES, Sharpness

Measure = Literal["lambda1", "ratio", "trace", "sam", "adaptive"]


@public
def plot_sharpness(
    measured: Sharpness | Mapping[str, Sharpness], *, measure: Measure = "lambda1", title: str | None = None
) -> Figure:
    """One measure of flatness against ensemble size: a marker a draw, a line through the mean of the draws so far.

    The band is the 95 % interval of the mean (Student's t): it says how sure the line is, not how far draws scatter.

    Args:
        measured: what `sharpness` returned, drawn in ink, or method -> Sharpness.
        measure: "lambda1", "ratio", "trace", "sam" or "adaptive".
        title: of the figure.

    Raises:
        ValueError: For another measure, or nothing measured.

    Example:
        >>> lambda1 = torch.tensor([3.0, 5.0, 4.0])
        >>> measured = fv.results.Sharpness(lambda1, *[lambda1] * 6)  # as `fv.sharpness` gives it
        >>> fig = fv.plots.plot_sharpness({"vi": measured})
        >>> fig.data[2].y.tolist()  # the mean of 1, 2 and 3 draws
        [3.0, 4.0, 4.0]
    """
    label = MEASURES[measure]
    groups = by_method(measured, "Sharpness")
    last = {m: s.interval(measure) for m, s in groups.items()}
    alt = "; ".join(f"{style(m).label}: mean {value:.3g} ± {half:.2g}" for m, (value, half) in last.items())
    drawn = torch.cat([getattr(s, measure).double().cpu() for s in groups.values()])
    margin = 0.3 * float(drawn.max() - drawn.min()) or 0.1 * float(drawn.abs().max()) or 1.0
    y = dict(title=label, range=[float(drawn.min()) - margin, float(drawn.max()) + margin])  # of two draws the band leaves it
    x = dict(title="ensemble size, in draws")
    fig = figure(title or "Flatness against ensemble size", alt, xaxis=x, yaxis=y)
    for method, sharpness in groups.items():
        label, color, _, symbol = look = style(method)
        values, (mean, half) = getattr(sharpness, measure), sharpness.by_size(measure)
        sizes, known = torch.arange(1, len(values) + 1), torch.isfinite(half)  # of one draw there is no interval
        lo, hi = (mean - half)[known], (mean + half)[known]
        fig.add_trace(band(sizes[known], lo, hi, color, 0.15, label, legendgroup=method))
        draw = dict(marker=dict(color=color, symbol=symbol, size=7, opacity=0.65), hover=f"{label}, draw %{{x}}: %{{y:.4g}}")
        fig.add_trace(scatter(sizes, values, "markers", f"{label}, draws", legendgroup=method, **draw))
        line = dict(line=look.line(2.5), hover=f"{label}, mean of %{{x}} draws: %{{y:.4g}}")
        fig.add_trace(scatter(sizes, mean, "lines", label, legend=True, legendgroup=method, **line))
    return fig
