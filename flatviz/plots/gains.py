"""Where one method beats others: gains with intervals, a row a setting, a column a score."""

from __future__ import annotations

import math
from collections.abc import Mapping

from plotly.subplots import make_subplots

from flatviz.catalog import LOOKS
from flatviz.core.boundary import public
from flatviz.plots.theme import COLORS, INK, Figure, Style, figure, style

Rows = Mapping[str, Mapping[str, tuple[float, float]]]  # setting -> score -> (mean gain, half)
SCORES = {
    "lambda1": "log λ1",
    "nll": "NLL",
    "accuracy": "accuracy",
    "ece": "ECE",
    "shifted_nll": "shifted NLL",
    "tv": "TV to HMC",
    "mmd": "100 MMD² to HMC",
}
SYMBOLS = ("circle", "square", "diamond", "triangle-up")  # of baselines that are no methods
ROW, SPREAD = 24, 0.36  # pixels of a row; how much of it the baselines share
FAINT = 0.65  # opacity of what is not confirmed
INSIDE = 0.9  # of the intervals, that lie inside the axis


@public
def plot_gains(
    gains: Mapping[str, Rows], *, confirmed: Mapping[str, Rows] | None = None, title: str = "Where SA-BMA helps"
) -> Figure:
    """A dot a setting and baseline with its 95 % interval, right of zero where the method is better than the baseline.

    Args:
        gains: baseline -> setting -> score, a key of `SCORES` -> (mean gain, half of its interval),
            positive where the method is better.  A baseline that is a key of `fv.METHODS` has that method's name and colour.
        confirmed: the same for settings measured again on fresh seeds: filled dots; without it only open ones are drawn.
        title: of the figure.

    Raises:
        ValueError: For no gain at all.

    Example:
        >>> gains = {"vi": {"2 shots": {"nll": (0.1, 0.02)}, "50 shots": {"nll": (-0.05, 0.02)}}}
        >>> fig = fv.plots.plot_gains(gains)
        >>> fig.data[0].name, fig.data[0].x
        ('VI', (0.1, -0.05))
    """
    settings = list(dict.fromkeys(name for rows in gains.values() for name in rows))
    scores = [s for s in SCORES if any(s in row for rows in gains.values() for row in rows.values())]
    if not scores:
        raise ValueError(f"plot_gains needs at least one gain, got none: its scores are {', '.join(SCORES)}")
    names = ", ".join(style(b).label for b in gains)
    fig = figure(
        title,
        f"Gains over {names} in {len(settings)} settings, with 95 % intervals",
        explain="Each dot is the mean over seeds of a paired difference, its bar the 95 % interval of that mean. Right of the line "
        "the method is better than the baseline; an arrow at the edge lies beyond it. Filled dots, where there are any, "
        "were measured again on fresh seeds.",
    )
    grid = make_subplots(1, len(scores), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=[SCORES[s] for s in scores])
    fig.update_layout({name: part for name, part in grid.layout.to_plotly_json().items() if name != "template"})
    look = {baseline: _look(baseline, place) for place, baseline in enumerate(gains)}
    for column, score in enumerate(scores, 1):
        edge = _edge(gains, confirmed or {}, score)
        for place, (baseline, rows) in enumerate(gains.items()):
            offset = SPREAD * (place / max(len(gains) - 1, 1) - 0.5)
            _dots(fig, baseline, look[baseline], rows, score, settings, offset, column, edge, filled=False)
            if (confirmed or {}).get(baseline):
                _dots(
                    fig,
                    baseline,
                    look[baseline],
                    confirmed[baseline],
                    score,
                    settings,
                    offset + 0.12,
                    column,
                    edge,
                    filled=True,
                )
        unit = " (points)" if score == "accuracy" else ""
        fig.update_layout(
            {
                f"xaxis{column if column > 1 else ''}": dict(
                    range=[-1.06 * edge, 1.06 * edge],
                    title=f"gain{unit}, right is better" if len(scores) < 3 else f"gain{unit} →",
                )
            }
        )
    height = 190 + ROW * len(settings)
    fig.update_yaxes(tickvals=list(range(len(settings))), ticktext=settings, range=[len(settings) - 0.4, -0.6])
    fig.update_xaxes(zeroline=True, zerolinecolor=INK, zerolinewidth=1.2, nticks=5)
    legend = dict(orientation="h", x=0, xanchor="left", y=1 - 44 / height, yanchor="top", yref="container")
    title_at = dict(x=0.01, xref="container")  # over the labels too, or it is cut at 800 px
    return fig.update_layout(height=height, margin=dict(t=118), legend=legend, title=title_at)


def _look(baseline: str, place: int) -> Style:
    """Of a method its own; of another baseline the next colour and symbol."""
    return style(baseline) if baseline in LOOKS else Style(baseline, COLORS[place % 6], "solid", SYMBOLS[place % 4])


def _edge(gains: Mapping[str, Rows], confirmed: Mapping[str, Rows], score: str) -> float:
    """Where the axis ends: most intervals lie inside; without a bound one bad setting would hide all others."""
    rows = [row[score] for part in (gains, confirmed) for rows in part.values() for row in rows.values() if score in row]
    reach = sorted(abs(mean) + (half if math.isfinite(half) else 0) for mean, half in rows if math.isfinite(mean))
    return (100 if score == "accuracy" else 1) * (reach[math.ceil(INSIDE * (len(reach) - 1))] if reach else 1.0) or 1.0


def _dots(
    fig: Figure,
    baseline: str,
    look: Style,
    rows: Rows,
    score: str,
    settings: list[str],
    offset: float,
    column: int,
    edge: float,
    *,
    filled: bool,
) -> None:
    """The dots of one baseline in one column."""
    label, color, _, symbol = look
    factor, unit = (100, " points") if score == "accuracy" else (1, "")
    finite = {name: row[score] for name, row in rows.items() if score in row and math.isfinite(row[score][0])}
    means = [factor * mean for mean, _ in finite.values()]
    inside = [abs(mean) <= edge for mean in means]
    plain = symbol.removesuffix("-open")
    symbols = [plain if within else ("arrow-right" if mean > 0 else "arrow-left") for mean, within in zip(means, inside)]
    suffix = "" if column == 1 else str(column)
    fig.add_scatter(
        x=[max(-edge, min(edge, mean)) for mean in means],
        y=[settings.index(name) + offset for name in finite],
        error_x=dict(array=[factor * half if within else 0.0 for (_, half), within in zip(finite.values(), inside)], width=0),
        mode="markers",
        name=f"{label}, fresh seeds" if filled else label,
        legendgroup=f"{baseline}{filled}",
        showlegend=column == 1,
        opacity=1.0 if filled else FAINT,
        marker=dict(
            color=color,
            size=8 if filled else 7,
            symbol=symbols if filled else [f"{name}-open" for name in symbols],
            line=dict(width=1.6, color=color),
        ),
        customdata=means,
        text=list(finite),
        hovertemplate=f"%{{text}}: {SCORES[score]} better by %{{customdata:.3g}}{unit} than {label}<extra></extra>",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
    )
