"""How near methods come to the exact posterior: predictions and weights, plain and flat-seeking fits on one row."""

from __future__ import annotations

import math
from collections.abc import Mapping

from plotly.subplots import make_subplots

from flatviz.checks import Number
from flatviz.core.boundary import public
from flatviz.plots.ground import with_print
from flatviz.plots.theme import MUTED, Figure, figure, style

AXES = {
    "tv": "total variation of predictions",
    "mmd": "100 MMD² of weights",
}
ROW = 26  # pixels
LIFT = 0.16  # of a row, between its members
Values = Mapping[str, tuple[float, float]]  # quantity -> (mean, half of its interval)


@public
def plot_closeness(
    rows: Mapping[str, Mapping[str, Values]],
    *,
    floor: Mapping[str, Number] | None = None,
    title: str = "Is a flat posterior closer to the exact one?",
) -> Figure:
    """Distances to the exact posterior, a row a method: one marker each fit, left is closer.

    Args:
        rows: row -> method -> quantity ("tv", total variation of the averaged predictions; "mmd", 100 MMD^2 of the weights) ->
            (mean, half of its 95 % interval).  The methods of a row are joined, from the first to each other one: a plain fit
            and its flat-seeking version, or VI and SA-BMA.  Keys of `fv.METHODS` have their names and colours.
        floor: quantity -> distance of one half of the exact posterior's chains to the other: no difference below it is told.
        title: of the figure.

    Raises:
        ValueError: For no distance at all.

    Example:
        >>> rows = {"VI": {"vi": {"tv": (0.2, 0.01)}, "f-vi": {"tv": (0.1, 0.01)}}}
        >>> fig = fv.plots.plot_closeness(rows, floor={"tv": 0.01})
        >>> [(trace.name, trace.x) for trace in fig.data if trace.mode == "markers"]
        [('VI', (0.2,)), ('F-VI', (0.1,))]
    """
    shown = [axis for axis in AXES if any(axis in values for members in rows.values() for values in members.values())]
    if not shown:
        raise ValueError(f"plot_closeness needs at least one distance, got none: its distances are {', '.join(AXES)}")
    labels = list(rows)
    alt = f"{' and '.join(AXES[a] for a in shown)} to the exact posterior in {len(labels)} rows: {', '.join(labels)}"
    fig = figure(
        title,
        alt,
        explain="Left is closer to the exact posterior. A line joins a plain fit (filled) with the flat-seeking one (open) of the "
        "same row; bars are 95 % intervals of the mean over seeds. The dotted line is the distance between two halves of the "
        "exact posterior's own chains.",
    )
    grid = make_subplots(1, len(shown), shared_yaxes=True, horizontal_spacing=0.04)
    fig.update_layout({name: part for name, part in grid.layout.to_plotly_json().items() if name != "template"})
    for column, axis in enumerate(shown, 1):
        suffix = "" if column == 1 else str(column)
        for place, (label, members) in enumerate(rows.items()):
            _row(fig, label, members, axis, place, suffix, named=column == 1)
        if floor and math.isfinite(floor.get(axis, math.nan)):
            low = max(0.0, floor[axis])
            line = dict(color=MUTED, width=1.4, dash="dot")
            fig.add_shape(type="line", x0=low, x1=low, y0=-0.6, y1=len(labels) - 0.4, line=line, xref=f"x{suffix}", yref="y")
        fig.update_layout({f"xaxis{suffix}": dict(title=with_print(AXES[axis], "left is closer"), rangemode="tozero")})
    fig.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, range=[len(labels) - 0.4, -0.6])
    title_at = dict(x=0.01, xref="container")  # over the labels too, or it is cut at 800 px
    return fig.update_layout(height=160 + ROW * len(labels), showlegend=False, title=title_at)


def _row(fig: Figure, label: str, members: Mapping[str, Values], axis: str, place: int, suffix: str, *, named: bool) -> None:
    """The markers of one row in one column, and lines from the first of them to the others."""
    told = {method: values[axis] for method, values in members.items() if math.isfinite(values.get(axis, (math.nan,))[0])}
    lift = LIFT if len(told) > 1 else 0.0
    where = dict(xaxis=f"x{suffix}", yaxis="y")
    spots = {
        method: (mean, place + lift * (2 * i / max(len(told) - 1, 1) - 1)) for i, (method, (mean, _)) in enumerate(told.items())
    }
    for method in list(spots)[1:]:
        (x0, y0), (x1, y1) = next(iter(spots.values())), spots[method]
        line = dict(color=style(method).color, width=1.2)
        fig.add_scatter(
            x=[x0, x1], y=[y0, y1], mode="lines", line=line, opacity=0.5, hoverinfo="skip", showlegend=False, **where
        )
    for i, (method, (_, half)) in enumerate(told.items()):
        name, color, symbol = style(method).label, style(method).color, style(method).symbol
        plain = symbol.removesuffix("-open")
        error = dict(array=[half if math.isfinite(half) else 0.0], thickness=1.2, width=0, color=color)
        fig.add_scatter(
            x=[spots[method][0]],
            y=[spots[method][1]],
            error_x=error,
            mode="markers",
            name=name,
            marker=dict(color=color, symbol=plain if i == 0 else f"{plain}-open", size=9, line=dict(width=2, color=color)),
            hovertemplate=f"{label}, {name}: %{{x:.3g}}<extra></extra>",
            showlegend=False,
            **where,
        )
