"""Where one method beats others: gains with intervals, a row a setting, a column a score."""

from __future__ import annotations

import math
from collections.abc import Mapping

from plotly.subplots import make_subplots

from flatviz.core.boundary import public
from flatviz.plots.theme import GRID, INK, Figure, figure, style

Gains = Mapping[str, Mapping[str, Mapping[str, tuple[float, float]]]]
SCORES = {"nll": "NLL", "accuracy": "accuracy", "ece": "ECE", "shifted_nll": "shifted NLL"}
ROW, SPREAD = 24, 0.36  # pixels of a row; how much of it the baselines share
OPEN = 0.45  # opacity of what is not confirmed


@public
def plot_gains(gains: Gains, *, confirmed: Gains | None = None, title: str = "Where SA-BMA helps") -> Figure:
    """A dot a setting and baseline with its 95 % interval, right of zero where the method is better than the baseline.

    Args:
        gains: baseline -> setting -> score ("nll", "accuracy", "ece", "shifted_nll") -> (mean gain, half of its interval),
            positive where the method is better.  A baseline that is a key of `METHODS` has that method's name and colour.
        confirmed: the same for settings measured again on fresh seeds: filled dots; without it only open ones are drawn.
        title: of the figure.

    Raises ValueError for no gain at all.

    Example:
        >>> found = {"vi": {"2 shots": {"nll": (0.1, 0.02)}, "50 shots": {"nll": (-0.05, 0.02)}}}
        >>> fig = fv.plot_gains(found)
        >>> fig.data[0].name, fig.data[0].x.tolist()
        ('VI', [0.1, -0.05])
    """
    settings = list(dict.fromkeys(name for rows in gains.values() for name in rows))
    scores = [s for s in SCORES if any(s in row for rows in gains.values() for row in rows.values())]
    if not scores:
        raise ValueError(f"plot_gains needs at least one gain, got none: its scores are {', '.join(SCORES)}")
    names = ", ".join(style(b).label for b in gains)
    fig = figure(
        title,
        f"Gains over {names} in {len(settings)} settings, with 95 % intervals",
        explain="Each dot is the mean over seeds of a paired difference, its bar the 95 % interval of that mean. Right of the "
        "line the method is better than the baseline. Open dots are the search; filled ones were measured again on fresh seeds.",
    )
    grid = make_subplots(
        1, len(scores), shared_yaxes=True, horizontal_spacing=0.025, subplot_titles=[SCORES[s] for s in scores]
    )
    fig.update_layout(grid.layout.to_plotly_json())
    for column, score in enumerate(scores, 1):
        for place, (baseline, rows) in enumerate(gains.items()):
            offset = SPREAD * (place / max(len(gains) - 1, 1) - 0.5)
            again = (confirmed or {}).get(baseline, {})
            _dots(fig, baseline, rows, score, settings, offset, column, filled=False)
            if again:
                _dots(fig, baseline, again, score, settings, offset + 0.09, column, filled=True)
    axis = dict(tickvals=list(range(len(settings))), ticktext=settings, range=[len(settings) - 0.4, -0.6], gridcolor=GRID)
    fig.update_yaxes(**axis)
    fig.update_xaxes(zeroline=True, zerolinecolor=INK, zerolinewidth=1.5, nticks=5, title="gain")
    fig.update_layout(
        height=170 + ROW * len(settings),
        margin=dict(t=112, l=210),
        legend=dict(orientation="h", x=0, y=1.0, yanchor="bottom", yref="container", xanchor="left"),
        title=title,
    )
    return fig


def _dots(
    fig: Figure,
    baseline: str,
    rows: Mapping[str, Mapping[str, tuple[float, float]]],
    score: str,
    settings: list[str],
    offset: float,
    column: int,
    *,
    filled: bool,
) -> None:
    """The dots of one baseline in one column."""
    label, color, _, symbol = style(baseline)
    told = {name: row[score] for name, row in rows.items() if score in row and math.isfinite(row[score][0])}
    factor, unit = (100, " points") if score == "accuracy" else (1, "")
    suffix = "" if column == 1 else str(column)
    plain = symbol.removesuffix("-open")
    fig.add_scatter(
        x=[factor * mean for mean, _ in told.values()],
        y=[settings.index(name) + offset for name in told],
        error_x=dict(array=[factor * half for _, half in told.values()], thickness=1.6 if filled else 1, width=0),
        mode="markers",
        name=f"{label}, fresh seeds" if filled else label,
        legendgroup=f"{baseline}{filled}",
        showlegend=column == 1,
        opacity=1.0 if filled else 1 - OPEN,
        marker=dict(color=color, size=9 if filled else 7, symbol=plain if filled else f"{plain}-open", line=dict(width=1.6)),
        text=list(told),
        hovertemplate=f"%{{text}}: {SCORES[score]} better by %{{x:.3g}}{unit} than {label}<extra></extra>",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
    )
