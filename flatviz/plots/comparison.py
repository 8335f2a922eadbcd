"""Methods against each other, any quantity over any other, each with an arrow to its flat-seeking version."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flatviz.core.boundary import public
from flatviz.plots.theme import INK, Figure, figure, scatter, style

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
LOG = ("lambda1", "ratio", "seconds")  # quantities whose axis counts in powers of ten, where all means are positive
BESIDE = {"top right": (1, 1), "top left": (-1, 1), "bottom right": (1, -1), "bottom left": (-1, -1)}
BESIDE |= {"middle right": (1, 0), "middle left": (-1, 0), "top center": (0, 1), "bottom center": (0, -1)}
LETTER, LINE = 7.0, 17.0  # px, of a letter and of a line of a label
PLOT = (760.0, 440.0)  # px, of the plot at its default size, for which labels are placed


@public
def plot_comparison(
    table: Mapping[str, Mapping[str, tuple[float, float]]],
    *,
    x: str = "lambda1",
    y: str = "nll",
    title: str = "Methods compared",
) -> Figure:
    """One marker a method at its means, with 95 % intervals; two menus choose what lies along the axes.

    An arrow leads from a method to its flat-seeking version, whose marker is open; each method's name stands beside it.
    Curvature and time are on logarithmic axes.

    Args:
        table: method -> quantity -> (mean, half width of its interval), each quantity in its own unit.  A flat-seeking
            version, `f-<method>`, is the same marker, open.
        x, y: quantities that lie along the axes first: curvature against the score that every method has.
        title: of the figure.

    Raises ValueError for a quantity that the table does not hold for every method.

    Example:
        >>> table = {"vi": {"nll": (0.4, 0.1), "lambda1": (3.0, 0.5)}, "f-vi": {"nll": (0.3, 0.1), "lambda1": (2.0, 0.5)}}
        >>> fig = fv.plot_comparison(table)
        >>> [(trace.name, trace.x[-1]) for trace in fig.data]
        [('VI to F-VI', 2.0), ('VI', 3.0), ('F-VI', 2.0)]
    """
    if not table:
        raise ValueError("plot_comparison needs at least one method, got an empty table: {method: {quantity: (mean, half)}}")
    quantities = [q for q in LABELS if all(q in row for row in table.values())]
    for axis in (x, y):
        if axis not in quantities:
            raise ValueError(f"an axis must be one of {', '.join(map(repr, quantities))}, got {axis!r}")
    pairs = [(name, f"f-{name}") for name in table if f"f-{name}" in table]
    fig = figure(title, f"{LABELS[y]} over {LABELS[x]} of {len(table)} methods, with 95 % intervals", explain=_text(len(pairs)))
    for plain, flat in pairs:
        ends = [[table[name][q][0] for name in (plain, flat)] for q in (x, y)]
        arrow = dict(symbol="arrow", size=[0, 11], angleref="previous", color=style(plain).color, opacity=1)
        look = dict(line=dict(color=style(plain).color, width=1.3), marker=arrow, opacity=0.75)
        fig.add_trace(scatter(*ends, "lines+markers", f"{style(plain).label} to {style(flat).label}", **look))
    named = [name for name in table if name.removeprefix("f-") not in table or not name.startswith("f-")]
    places = _places(table, x, y, named)
    for name, row in table.items():
        fig.add_trace(_marker(name, row, x, y, places.get(name)))
    menus = [_menu(table, pairs, quantities, axis, chosen, place) for axis, chosen, place in (("y", y, 0.0), ("x", x, 0.32))]
    fig.update_layout(updatemenus=menus, xaxis=_axis(table, x), yaxis=_axis(table, y))
    return fig.update_layout(margin=dict(t=110, r=40), height=680, showlegend=False)


def _text(n_pairs: int) -> str:
    text = "Each marker is a method at its mean over seeds, its bars the 95 % intervals of those means."
    return f"{text} An arrow leads from each of {n_pairs} methods to its flat-seeking version." if n_pairs else text


def _marker(name: str, row: Mapping[str, tuple[float, float]], x: str, y: str, place: str | None):
    label, color, _, symbol = style(name)
    plain = symbol.removesuffix("-open")
    marker = dict(color=color, size=11, symbol=f"{plain}-open" if name.startswith("f-") else plain)
    marker["line"] = dict(width=2, color=color)
    errors = {f"error_{axis}": dict(array=[row[q][1]], thickness=0.8, width=0) for axis, q in (("x", x), ("y", y))}
    text = dict(text=[label if place else ""], textposition=place or "middle right", textfont=dict(color=INK, size=12))
    hover = "%{fullData.name}: %{x:.4g}, %{y:.4g}"
    mode = "markers+text" if place else "markers"
    return scatter([row[x][0]], [row[y][0]], mode, label, marker=marker, hover=hover, **errors, **text)


def _log(table: Mapping, quantity: str) -> bool:
    return quantity in LOG and all(row[quantity][0] > 0 for row in table.values())


def _axis(table: Mapping, quantity: str) -> dict:
    """The axis of a quantity, wide enough for every method's mean."""
    log = _log(table, quantity)
    return dict(title=LABELS[quantity], type="log" if log else "linear", range=_range(table, quantity))


def _range(table: Mapping, quantity: str) -> list[float]:
    means = [row[quantity][0] for row in table.values()]
    values = [math.log10(v) for v in means] if _log(table, quantity) else means
    lo, hi = min(values), max(values)
    room = 0.08 * (hi - lo) or 0.1 * abs(lo) or 1.0
    return [lo - room, hi + room]


def _places(table: Mapping, x: str, y: str, named: list[str]) -> dict[str, str]:
    """Where each name stands beside its marker: the first of eight places that no marker and no other name has."""
    spots = {}
    for name, row in table.items():
        spots[name] = tuple(_share(table, q, row[q][0]) * size for q, size in zip((x, y), PLOT))
    taken = [(px - 7, py - 7, px + 7, py + 7) for px, py in spots.values()]
    for name, row in table.items():  # and the intervals
        low, high = (
            [_share(table, q, max(row[q][0] + s * row[q][1], 1e-12)) * size for q, size in zip((x, y), PLOT)] for s in (-1, 1)
        )
        px, py = spots[name]
        taken += [(low[0], py - 2, high[0], py + 2), (px - 2, low[1], px + 2, high[1])]
    places = {}
    for name in named:
        (px, py), wide = spots[name], LETTER * len(style(name).label)
        boxes = {}
        for place, (right, up) in BESIDE.items():
            middle_x = px + right * (wide / 2 + (9 if up == 0 else 6))
            middle_y = py + up * (LINE / 2 + 6)
            boxes[place] = (middle_x - wide / 2, middle_y - LINE / 2, middle_x + wide / 2, middle_y + LINE / 2)
        inside = {place: sum(_overlap(box, other) for other in taken) + _outside(box) for place, box in boxes.items()}
        places[name] = min(inside, key=inside.get)
        taken.append(boxes[places[name]])
    return places


def _share(table: Mapping, quantity: str, value: float) -> float:
    lo, hi = _range(table, quantity)
    return ((math.log10(value) if _log(table, quantity) else value) - lo) / (hi - lo)


def _overlap(a: tuple, b: tuple) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _outside(box: tuple) -> float:
    """Area of a box outside the plot, which counts more than an overlap: a name there is cut off."""
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return 4 * (whole - _overlap(box, (0.0, 0.0, *PLOT)))


def _menu(table: Mapping, pairs: list, quantities: list[str], axis: str, chosen: str, place: float) -> dict:
    def change(quantity: str) -> list[dict]:
        ends = [[table[name][quantity][0] for name in pair] for pair in pairs]
        means = [[row[quantity][0]] for row in table.values()]
        halves = [[0.0]] * len(pairs) + [[row[quantity][1]] for row in table.values()]
        layout = {f"{axis}axis.{key}": v for key, v in _axis(table, quantity).items() if key != "title"}
        return [{axis: ends + means, f"error_{axis}.array": halves}, layout | {f"{axis}axis.title.text": LABELS[quantity]}]

    buttons = [dict(method="update", label=f"{axis}: {LABELS[q]}", args=change(q)) for q in quantities]
    where = dict(x=place, xanchor="left", y=1.03, yanchor="bottom")
    return dict(buttons=buttons, active=quantities.index(chosen), showactive=True, **where)
