"""Accuracy, NLL and ECE against the severity of a corruption, one line a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from plotly.colors import hex_to_rgb
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.nouns import one_or_several
from flatviz.plots.theme import Figure, figure, scatter, style
from flatviz.results import Shift, interval

SHOWN = {"accuracy": "accuracy (share)", "nll": "NLL (nats)", "ece": "ECE"}
GAP = 0.09  # between panels, as a share of the width


@public
def plot_severity(
    shifts: Mapping[str, Shift | Sequence[Shift]], *, kind: str | None = None, title: str | None = None
) -> Figure:
    """A panel a score over severities 0 (clean) to 5; a line a method, its band the 95 % interval over seeds.

    Args:
        shifts: method -> what `shifted_scores` returned, or one of a seed each; all of the same kinds and severities.
        kind: of corruption; None: the mean over all kinds.
        title: of the figure.

    The band is Student's interval of the mean over seeds; a single seed has none.  Raises ValueError for nothing to draw,
    a kind that is not there, or results of several kinds or severities.

    Example:
        >>> scores = {name: torch.tensor([[0.9, 0.8, 0.6]]) for name in ("accuracy", "nll", "ece")}
        >>> shift = fv.Shift(("fog",), (0, 1, 3), scores, n=100, n_draws=5)
        >>> fig = fv.plot_severity({"vi": shift})
        >>> [round(float(trace.y[-1]), 2) for trace in fig.data]  # at severity 3
        [0.6, 0.6, 0.6]
    """
    grouped = {method: one_or_several(of_seeds) for method, of_seeds in shifts.items()}
    first = _checked(grouped, kind)
    seeds = max(len(s) for s in grouped.values())
    over = kind.replace("_", " ") if kind else f"mean over {', '.join(k.replace('_', ' ') for k in first.kinds)}"
    curves = {m: {q: _curves(of_seeds, q, kind) for q in SHOWN} for m, of_seeds in grouped.items()}
    worst = {style(m).label: float(c["nll"][:, -1].mean()) for m, c in curves.items()}
    alt = f"NLL at severity {first.severities[-1]}: " + "; ".join(f"{m} {v:.3g}" for m, v in worst.items())
    about = f"{first.n} test images, " + (
        f"{seeds} seeds, bands: 95 % interval of the mean" if seeds > 1 else "one seed, so no interval"
    )
    text = f"Scores by severity of the corruption ({over}); severity 0 is the clean test split. {about}."
    fig = figure(title or f"Scores by severity: {over}", alt, explain=text, **_axes(first.severities))
    for panel, score in enumerate(SHOWN, 1):
        for method in grouped:
            _add(fig, method, first.severities, curves[method][score], panel)
    fig.add_annotation(text=about, x=0, y=-0.24, xref="paper", yref="paper", showarrow=False, xanchor="left", font_size=12)
    return fig.update_layout(height=430, margin=dict(t=95, b=95), title_y=0.98)


def _checked(grouped: Mapping[str, list[Shift]], kind: str | None) -> Shift:
    every = [s for of_seeds in grouped.values() for s in of_seeds]
    if not every:
        raise ValueError("plot_severity needs at least one Shift, got none")
    axes = {(s.kinds, s.severities) for s in every}
    if len(axes) > 1:
        raise ValueError(f"all results must be of the same kinds and severities, got {len(axes)} different: measure them alike")
    if kind is not None and kind not in every[0].kinds:
        raise ValueError(f"kind must be one of {', '.join(map(repr, every[0].kinds))}, got {kind!r}")
    return every[0]


def _curves(of_seeds: Sequence[Shift], score: str, kind: str | None) -> Tensor:
    """One row a seed, (seeds, V)."""
    return torch.stack([s.mean(score) if kind is None else s.scores[score][s.kinds.index(kind)] for s in of_seeds]).double()


def _axes(severities: tuple[int, ...]) -> dict:
    """Panels side by side, one a score."""
    width, axes = (1 - GAP * (len(SHOWN) - 1)) / len(SHOWN), {}
    ticks = dict(tickvals=list(severities), ticktext=["clean" if s == 0 else str(s) for s in severities])
    for i, label in enumerate(SHOWN.values()):
        number, left = str(i + 1) if i else "", i * (width + GAP)
        axes[f"xaxis{number}"] = dict(domain=[left, min(1.0, left + width)], anchor=f"y{number}", title="severity", **ticks)
        axes[f"yaxis{number}"] = dict(anchor=f"x{number}", title=label)
    return axes


def _add(fig: Figure, method: str, severities: tuple[int, ...], curves: Tensor, panel: int) -> None:
    label, color, dash, symbol = style(method)
    number = "" if panel == 1 else str(panel)
    place = dict(xaxis=f"x{number}", yaxis=f"y{number}", legendgroup=method)
    mean, half = (torch.tensor(v) for v in zip(*(interval(column) for column in curves.T)))
    if bool(torch.isfinite(half).all()):
        x = torch.tensor(severities, dtype=torch.float64)
        band = dict(fill="toself", fillcolor=f"rgba{(*hex_to_rgb(color), 0.12)}", line=dict(width=0))
        there_and_back = torch.cat([mean - half, (mean + half).flip(0)])
        fig.add_trace(scatter(torch.cat([x, x.flip(0)]), there_and_back, "lines", label, **place, **band))
    look = dict(line=dict(color=color, dash=dash, width=2.2), marker=dict(color=color, symbol=symbol, size=7))
    hover = f"{label}, severity %{{x}}: %{{y:.4g}}"
    fig.add_trace(scatter(list(severities), mean, "lines+markers", label, legend=panel == 1, hover=hover, **place, **look))
