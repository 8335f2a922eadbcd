"""Uncertainty where it matters: scores under corruption, and mistakes among the surest answers."""

from collections.abc import Mapping

import torch
from torch import Tensor

from flatviz.core import public
from flatviz.plots.ground import by_method
from flatviz.plots.theme import (
    Figure,
    Properties,
    axes_of,
    figure,
    layout_of,
    panels,
    scatter,
    span_of,
    style,
)
from flatviz.results import Shift

SHIFTED = {"accuracy": "accuracy (share)", "nll": "NLL (nats)", "ece": "ECE"}
GAP = 0.09  # between panels, as a share of the width
SPREAD = 0.07  # severities between two methods
FIRST = 0.05  # coverage at which the curve begins; below, it is the risk of a few answers
N_POINTS = 120


@public
def plot_severity(shifts: Shift | Mapping[str, Shift], *, title: str | None = None) -> Figure:
    """Draw each score against severity, 0 (clean) to 5, averaged over the kinds of corruption.

    Each score has a panel, each method a line.

    Args:
        shifts: Result of `shifted_scores`, drawn in ink, or method -> such results, all of the
            same kinds and severities.
        title: Default: over which kinds of corruption the scores are means.

    Raises:
        ValueError: For nothing to draw, or results of several kinds or severities.

    Example:
        >>> scores = {name: torch.tensor([[0.9, 0.8, 0.6]]) for name in ("accuracy", "nll", "ece")}
        >>> shift = fv.results.Shift(("fog",), (0, 1, 3), scores, n=100, n_draws=5)
        >>> fig = fv.plots.plot_severity({"vi": shift})
        >>> [round(float(trace.y[-1]), 2) for trace in fig.data]  # at severity 3
        [0.6, 0.6, 0.6]
    """
    groups = by_method(shifts, "Shift")
    grounds = {(s.kinds, s.severities) for s in groups.values()}
    if len(grounds) > 1:
        raise ValueError(
            f"all results must be of the same kinds and severities, got {len(grounds)} different:"
            " measure them alike"
        )
    ((kinds, severities),) = grounds
    n = next(iter(groups.values())).n
    worst = [f"{style(m).label} {s.mean('nll')[-1]:.3g}" for m, s in groups.items()]
    alt = f"NLL at severity {severities[-1]}: {'; '.join(worst)}"
    over = ", ".join(kinds).replace("_", " ")
    ticks = ["clean" if s == 0 else str(s) for s in severities]
    axis = dict(title="severity", tickvals=list(severities), ticktext=ticks)
    axes: Properties = {}
    for panel, (score, width) in enumerate(zip(SHIFTED, panels(len(SHIFTED), GAP))):
        means = torch.stack([shift.mean(score) for shift in groups.values()])
        scale = _room(means, share=score != "nll")
        y = dict(title=SHIFTED[score], range=scale)
        axes |= layout_of(panel, axis | dict(domain=width), y)
    fig = figure(title or f"Scores by severity: mean over {over}", alt, **axes)
    at = torch.tensor(severities)
    for panel, score in enumerate(SHIFTED):
        for i, (method, shift) in enumerate(groups.items()):
            look = style(method)
            beside = SPREAD * (i - (len(groups) - 1) / 2)
            line = scatter(
                at.double() + beside,
                shift.mean(score),
                "lines+markers",
                look.label,
                line=look.line(2),
                marker=look.marker(8),
                legendgroup=method,
                customdata=at,
                legend=panel == 0,
                hover=f"{look.label}, severity %{{customdata}}: %{{y:.4g}}",
                **axes_of(panel),
            )
            fig.add_trace(line)
    note = f"{n} test images, one seed, so no interval"
    fig.add_text(note, y=-0.36, yanchor="auto", font_size=12)
    return fig.update_layout(
        height=440,
        margin=dict(t=95, b=110),
        title_y=0.98,
    )


def _room(means: Tensor, share: bool) -> list[float]:
    """Return a range with half of the span of the means on either side; a share ends at 1."""
    lo, hi = span_of(means)
    margin = 0.5 * (hi - lo) or 0.1
    top = hi + margin
    return [max(0.0, lo - margin), min(1.0, top) if share else top]


@public
def plot_risk_coverage(
    risks: Mapping[str, Tensor], *, title: str = "Risk against coverage"
) -> Figure:
    """Draw the share of mistakes among the surest answers, over the share of inputs answered.

    Each method is a line.  A line that rises from left to right belongs to a method whose
    confidence tells right from wrong; a flat one guesses.

    Args:
        risks: Method -> result of `risk_coverage`, (N,).
        title: Title of the figure.

    Raises:
        ValueError: For nothing to draw.

    Example:
        >>> fig = fv.plots.plot_risk_coverage({"vi": torch.linspace(0, 0.3, 100)})
        >>> round(float(fig.data[-1].y[-1]), 2)  # answering all
        0.3
    """
    rows = by_method(risks, "curve of risks")
    ends = [
        f"{style(m).label}: area {risk.mean():.3f}, all answered {risk[-1]:.3f}"
        for m, risk in rows.items()
    ]
    n = max(map(len, rows.values()))
    first = int(FIRST * n)
    highest = max(float(risk[first:].max()) for risk in rows.values())
    top = min(1.0, 1.2 * highest + 0.02)
    about = f"<br><sup>{n} test inputs, one seed, so no interval</sup>"
    x = dict(title=f"coverage: share of inputs answered, the surest first{about}", range=[0, 1.01])
    y = dict(title="risk: share of wrong answers", range=[0, top])
    fig = figure(title, "; ".join(ends), xaxis=x, yaxis=y)
    for method, risk in rows.items():
        look = style(method)
        start = max(0, int(FIRST * len(risk)) - 1)
        evenly = torch.linspace(start, len(risk) - 1, min(len(risk), N_POINTS))
        at = evenly.round().long().unique()
        line = scatter(
            (at + 1).double() / len(risk),
            risk[at],
            "lines+markers",
            look.label,
            line=look.line(2),
            marker=look.marker(8, maxdisplayed=9),
            legendgroup=method,
            legend=True,
            hover=f"{look.label}: risk %{{y:.3f}} at coverage %{{x:.2f}}",
        )
        fig.add_trace(line)
    return fig.update_layout(height=470, margin=dict(t=95, b=80), title_y=0.98)
