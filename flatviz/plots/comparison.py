"""Methods against each other, any quantity over any other."""

from __future__ import annotations

from collections.abc import Mapping

from flatviz.core.boundary import public
from flatviz.plots.theme import Figure, figure, scatter, style

LABELS = {
    "accuracy": "accuracy (share)",
    "nll": "NLL (nats)",
    "ece": "ECE",
    "brier": "Brier score",
    "mi": "mutual information (nats)",
    "lambda1": "λ1 of the training loss",
    "ratio": "λ1/λ5",
    "agreement": "agreement with HMC (share)",
    "tv": "total variation to HMC",
    "mmd": "100 MMD² of weights to HMC's",
    "seconds": "seconds to fit",
    "gradients": "gradients a step",
}


@public
def plot_comparison(
    table: Mapping[str, Mapping[str, tuple[float, float]]],
    *,
    x: str = "lambda1",
    y: str = "nll",
    title: str = "Methods compared",
) -> Figure:
    """One marker a method at its means, with 95 % intervals; two menus choose what lies along the axes.

    Args:
        table: method -> quantity -> (mean, half width of its interval), each quantity in its own unit.  A flat-seeking
            version, `f-<method>`, is the same marker, open.
        x, y: quantities that lie along the axes first: curvature against the score that every method has.
        title: of the figure.

    Raises ValueError for a quantity that the table does not hold for every method.

    Example:
        >>> table = {"vi": {"nll": (0.4, 0.1), "lambda1": (3.0, 0.5)}, "f-vi": {"nll": (0.3, 0.1), "lambda1": (2.0, 0.5)}}
        >>> fig = fv.plot_comparison(table)
        >>> [(trace.name, trace.x[0]) for trace in fig.data]
        [('VI', 3.0), ('F-VI', 2.0)]
    """
    quantities = [q for q in LABELS if all(q in row for row in table.values())]
    for axis in (x, y):
        if axis not in quantities:
            raise ValueError(f"an axis must be one of {', '.join(map(repr, quantities))}, got {axis!r}")
    fig = figure(title, f"{LABELS[y]} over {LABELS[x]} of {len(table)} methods, with 95 % intervals")
    for name, row in table.items():
        flat = name.startswith("f-")
        label, color, _, symbol = style(name)
        plain = symbol.removesuffix("-open")
        marker = dict(color=color, size=11, symbol=f"{plain}-open" if flat else plain, line=dict(width=2, color=color))
        errors = {f"error_{axis}": dict(array=[row[q][1]], thickness=1) for axis, q in (("x", x), ("y", y))}
        look = dict(legendgroup=name.removeprefix("f-"), marker=marker, hover="%{fullData.name}: %{x:.4g}, %{y:.4g}", **errors)
        fig.add_trace(scatter([row[x][0]], [row[y][0]], "markers", label, legend=None, **look))
    menus = [_menu(table, quantities, axis, chosen, place) for axis, chosen, place in (("y", y, 0.0), ("x", x, 0.3))]
    legend = dict(orientation="v", x=1.02, xanchor="left", y=1.0, yanchor="top")
    fig.update_layout(updatemenus=menus, xaxis_title=LABELS[x], yaxis_title=LABELS[y])
    return fig.update_layout(margin=dict(t=110), legend=legend, height=620)


def _menu(table: Mapping, quantities: list[str], axis: str, chosen: str, place: float) -> dict:
    def change(quantity: str) -> list[dict]:
        means = [[row[quantity][0]] for row in table.values()]
        halves = [[row[quantity][1]] for row in table.values()]
        return [{axis: means, f"error_{axis}.array": halves}, {f"{axis}axis.title.text": LABELS[quantity]}]

    buttons = [dict(method="update", label=f"{axis}: {LABELS[q]}", args=change(q)) for q in quantities]
    where = dict(x=place, xanchor="left", y=1.03, yanchor="bottom")
    return dict(buttons=buttons, active=quantities.index(chosen), showactive=True, **where)
