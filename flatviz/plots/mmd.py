"""Distance of sets of draws from a pool of trained networks, before and after symmetries are removed."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from flatviz.core.boundary import public
from flatviz.plots.theme import INK, Figure, figure, style

COPIES = {"control": "ten networks copied (control)", "single": "one network copied"}
MODES = {"one": "one mode", "multi": "ten modes"}


def set_label(name: str) -> str:
    """What a set of draws is called: "swag/one" is "SWAG, one mode"."""
    method, _, mode = name.partition("/")
    return COPIES.get(name) or (f"{style(method)[0]}, {MODES[mode]}" if mode else style(method)[0])


@public
def plot_mmd(
    table: Mapping[str, Mapping[str, tuple[float, float]]], *, title: str = "Distance from the pool of trained networks"
) -> Figure:
    """variant -> set -> (mean, half of its 95 % interval) of 100 MMD^2: a row a set, a marker a variant.

    The thin line at each variant's control is what ten modes reach for nothing.  Sets: "<method>/one", "<method>/multi",
    "ensemble", "control", "single".  Raises ValueError for no variant.

    Example:
        >>> import flatviz as fv
        >>> fig = fv.plot_mmd({"as trained": {"swag/one": (63.3, 0.4), "swag/multi": (5.7, 0.2), "control": (5.8, 0.2)}})
        >>> list(fig.layout.yaxis.ticktext)
        ['SWAG, one mode', 'SWAG, ten modes', 'ten networks copied (control)']
    """
    if not table:
        raise ValueError("plot_mmd needs at least one variant, got none")
    names = list(next(iter(table.values())))
    symbols, colors = ("circle", "square", "diamond", "triangle-up"), (INK, "#0072B2", "#D55E00", "#009E73")
    first = next(iter(table))
    alt = "; ".join(f"{set_label(n)}: {table[first][n][0]:.3g}" for n in names)
    fig = figure(
        title,
        alt,
        xaxis=dict(title="100 MMD² (median over layers; 0: the same law; dotted: the control of each)", rangemode="tozero"),
        yaxis=dict(autorange="reversed", tickvals=list(range(len(names))), ticktext=[set_label(n) for n in names]),
        height=120 + 38 * len(names),
    )
    for i, (variant, row) in enumerate(table.items()):
        shift = 0.17 * (i - (len(table) - 1) / 2)
        fig.add_trace(
            go.Scatter(
                x=[row[n][0] for n in names], y=[k + shift for k in range(len(names))], mode="markers", name=variant,
                error_x=dict(array=[row[n][1] for n in names], thickness=1, width=3),
                marker=dict(symbol=symbols[i % 4], color=colors[i % 4], size=8),
                hovertemplate=f"%{{x:.3g}}<extra>{variant}</extra>",
            )
        )  # fmt: skip
        if "control" in row:
            x = row["control"][0]
            fig.add_shape(
                type="line", x0=x, x1=x, y0=-0.6, y1=len(names) - 0.4, line=dict(color=colors[i % 4], width=1, dash="dot")
            )
    return fig
