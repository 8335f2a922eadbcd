"""Accuracy, NLL and ECE against the severity of a corruption, one line a method."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import Figure, axes_of, columns, figure, layout_of, scatter, style
from flatviz.results import Shift

LABELS = {"accuracy": "accuracy (share)", "nll": "NLL (nats)", "ece": "ECE"}
GAP = 0.09  # between panels, as a share of the width
SPREAD = 0.07  # severities between two methods


@public
def plot_severity(shifts: Mapping[str, Shift], *, title: str | None = None) -> Figure:
    """A panel a score over severities 0 (clean) to 5, mean over the kinds of corruption; a line a method, a little apart.

    Args:
        shifts: method -> what `shifted_scores` returned, all of the same kinds and severities.
        title: default: over which kinds of corruption the scores are means.

    Raises:
        ValueError: For nothing to draw, or results of several kinds or severities.

    Example:
        >>> scores = {name: torch.tensor([[0.9, 0.8, 0.6]]) for name in ("accuracy", "nll", "ece")}
        >>> shift = fv.results.Shift(("fog",), (0, 1, 3), scores, n=100, n_draws=5)
        >>> fig = fv.plots.plot_severity({"vi": shift})
        >>> [round(float(trace.y[-1]), 2) for trace in fig.data]  # at severity 3
        [0.6, 0.6, 0.6]
    """
    axes = {(s.kinds, s.severities) for s in by_method(shifts, "Shift").values()}
    if len(axes) > 1:
        raise ValueError(f"all results must be of the same kinds and severities, got {len(axes)} different: measure them alike")
    first = next(iter(shifts.values()))
    over = ", ".join(kind.replace("_", " ") for kind in first.kinds)
    curves = {m: {q: s.mean(q) for q in LABELS} for m, s in shifts.items()}
    worst = {style(m).label: float(c["nll"][-1]) for m, c in curves.items()}
    alt = f"NLL at severity {first.severities[-1]}: " + "; ".join(f"{m} {v:.3g}" for m, v in worst.items())
    about = f"{first.n} test images, one seed, so no interval"
    fig = figure(title or f"Scores by severity: mean over {over}", alt, **_axes(first.severities, curves))
    at = torch.tensor(first.severities)
    for panel, score in enumerate(LABELS):
        for i, method in enumerate(shifts):
            label, color, _, symbol = look = style(method)
            x = at.double() + SPREAD * (i - (len(shifts) - 1) / 2)
            drawn = dict(
                line=look.line(2), marker=dict(color=color, symbol=symbol, size=8), legendgroup=method, **axes_of(panel)
            )
            drawn |= dict(customdata=at, hover=f"{label}, severity %{{customdata}}: %{{y:.4g}}")
            fig.add_trace(scatter(x, curves[method][score], "lines+markers", label, legend=panel == 0, **drawn))
    fig.add_text(about, y=-0.36, yanchor="auto", font_size=12)
    return fig.update_layout(height=440, margin=dict(t=95, b=110), title_y=0.98)


def _axes(severities: tuple[int, ...], curves: Mapping[str, Mapping[str, Tensor]]) -> dict:
    """Panels side by side, one a score, each as high as the means of its lines with half their span to either side."""
    axes = {}
    ticks = dict(tickvals=list(severities), ticktext=["clean" if s == 0 else str(s) for s in severities])
    for i, ((score, label), domain) in enumerate(zip(LABELS.items(), columns(len(LABELS), GAP))):
        means = torch.stack([c[score] for c in curves.values()])
        lo, hi = float(means.min()), float(means.max())
        margin = 0.5 * (hi - lo) or 0.1
        top = hi + margin
        span = [max(0.0, lo - margin), top if score == "nll" else min(1.0, top)]
        axes |= layout_of(i, dict(domain=domain, title="severity", **ticks), dict(title=label, range=span))
    return axes
