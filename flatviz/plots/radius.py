"""Flatness and scores against the perturbation radius, in one figure."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from flatviz.catalog import OVER_T
from flatviz.checks import Radius, computed
from flatviz.core import public
from flatviz.plots.ground import mean_lambda1
from flatviz.plots.theme import (
    INK,
    MUTED,
    Figure,
    Properties,
    Property,
    axes_of,
    band,
    figure,
    layout_of,
    panels,
    room,
    scatter,
    short,
    style,
)
from flatviz.results import Family

ROWS = {
    "lambda1": "λ₁",
    "nll": "NLL (nats)",
    "accuracy": "accuracy",
    "ece": "ECE",
    "rmse": "RMSE",
}
GAP = 0.035  # share of the figure between rows
BETWEEN = 0.07  # share of the figure between columns
ZERO = 0.3  # powers of ten from radius 0, on the left, to the smallest positive one
APART = 0.14  # smallest distance of two labels, as a share of the axis
HEIGHT = 640  # px


@public
def plot_radius(
    family: Family,
    *,
    method: str | None = None,
    radius: Radius | None = None,
    title: str | None = None,
) -> Figure:
    """Draw λ₁ and scores against the radius, a row a quantity, a column a method.

    Methods have columns of their own because units differ.  Radius 0, where each method is VI, lies
    left of a gap in the logarithmic axis; SGD's single point is a dotted line. With `over_seeds`
    the line is the mean over seeds and the band runs from the lowest to the highest seed.  Scores
    are of the test split with the largest ensemble.

    Args:
        family: Result of `fv.families.measure`; bands need the seeds of a tour or of
            `lab.repeat()`.
        method: Method of the member that a ring marks; None: no ring.
        radius: Radius of that member.
        title: Default: over how many seeds.

    Raises:
        ValueError: For a family that was not measured, or in which no method has two radii.

    Example:
        >>> spectrum = fv.Spectrum(torch.tensor([2.0]), torch.eye(2)[:1], torch.zeros(1), 1)
        >>> names = dict(accuracy=0.7, nll=0.9, ece=0.1)
        >>> scores = {name: torch.tensor([value]) for name, value in names.items()}
        >>> y = torch.zeros(4, dtype=torch.long)
        >>> prediction = fv.Prediction(torch.zeros(1, 4, 2), y, scores=scores)
        >>> q = fv.Gaussian(torch.zeros(2), torch.zeros(2))
        >>> measured = dict(spectrum=(spectrum,), prediction=prediction)
        >>> plain = fv.results.Member("sabma", 0.0, "nats", q, **measured)
        >>> flat = fv.results.Member("sabma", 1.0, "nats", q, **measured)
        >>> fv.plots.plot_radius(fv.Family((plain, flat))).layout.title.text
        "Flatness and scores against radius<br><span style='font-size:0.8em'>one seed</span>"
    """
    methods = columns_of(family)
    if not methods or not all(m.prediction and m.spectrum for m in family):
        must = "must be measured and have a method of several radii"
        raise ValueError(f"the family {must}, got {family!r}: use fv.families.measure")
    table = table_of(family)
    n_seeds = table["lambda1"].shape[1]
    over = f"mean and range of {n_seeds} seeds" if n_seeds > 1 else "one seed"
    alt = "; ".join(trend(family, m) for m in methods)
    title = (
        title
        or f"Flatness and scores against radius<br><span style='font-size:0.8em'>{over}</span>"
    )
    axes = _axes(family, table, methods)
    fig = figure(title, alt, height=HEIGHT, showlegend=False, margin=dict(t=66), **axes)
    for j, name in enumerate(methods):
        for i, (quantity, values) in enumerate(table.items()):
            on = axes_of(i * len(methods) + j)
            _add_panel(fig, family, values, name, quantity, on)
    if "sgd" in family.methods:  # a name beside its line
        nll = table["nll"][family.index("sgd")]
        row = list(table).index("nll")
        on = axes_of(row * len(methods))
        fig.add_text(
            style("sgd").label,
            font=dict(size=11),
            x=0.99,
            xref=f"{on['xaxis']} domain",
            xanchor="right",
            y=float(nll.nanmean()),
            yref=on["yaxis"],
            yanchor="top",
        )
    if method is not None:
        _add_ring(fig, family, table, methods, method, radius)
    return fig


def values_of(family: Family, quantity: str) -> Tensor:
    """Return (M, S) of a quantity, members by seeds; without other seeds, that of the family."""
    if quantity in family[0].over_seeds:
        return torch.stack([m.over_seeds[quantity] for m in family]).double()
    values = []
    for member in family:
        if quantity == "lambda1":
            values.append(mean_lambda1(member.spectrum))
        else:
            score = computed(member.prediction).scores[quantity]
            values.append(float(score[-1]))
    return torch.tensor(values, dtype=torch.float64)[:, None]


def table_of(family: Family, names: Iterable[str] = ROWS) -> dict[str, Tensor]:
    """Compute `values_of` for each of the names that this family has."""
    there = {"lambda1", *computed(family[0].prediction).scores}
    return {name: values_of(family, name) for name in names if name in there}


def trend(family: Family, method: str) -> str:
    """Describe how a method changes from its smallest to its largest radius."""
    radii = family.radii(method)
    smallest = family.index(method, radii[0])
    largest = family.index(method, radii[-1])
    changes = []
    for name, values in table_of(family).items():
        first = float(values[smallest].nanmean())
        last = float(values[largest].nanmean())
        if name == "accuracy":
            changes.append(f"accuracy {100 * first:.1f} to {100 * last:.1f} %")
        else:
            changes.append(f"{ROWS[name]} {first:.3g} to {last:.3g}")
    who = style(method).label
    return f"{who} from radius {radii[0]:g} to {radii[-1]:g}: {', '.join(changes)}"


def columns_of(family: Family) -> list[str]:
    """List the methods of several radii, but those over the temperature (`plot_frontier`)."""
    methods = [m for m in family.methods if m not in OVER_T]
    return [m for m in methods if len(family.radii(m)) > 1]


def place_of(radius: float, radii: tuple[float, ...]) -> float:
    """Return the place of a radius on the axis: its power of ten, 0 left of the smallest other."""
    if radius > 0:
        return math.log10(radius)
    smallest = min(r for r in radii if r > 0)
    return math.log10(smallest) - ZERO


def _axes(family: Family, table: dict[str, Tensor], methods: list[str]) -> Properties:
    """Lay out panels, a column a method, a row a quantity with one scale."""
    axes: Properties = {}
    small = dict(size=12)
    columns = [_radius_axis(family, name) for name in methods]
    widths = panels(len(methods), BETWEEN)
    heights = reversed(panels(len(table), GAP))
    for i, (quantity, height) in enumerate(zip(table, heights)):
        last = i == len(table) - 1
        title = ROWS[quantity].replace(" (", "<br>(")
        scale = _scale_of(family, table[quantity], methods)
        for j, (column, width) in enumerate(zip(columns, widths)):
            foot = dict(text=column["title"] if last else "", font=small)
            x = column | dict(title=foot, domain=width, showticklabels=last)
            left = dict(text="" if j else title, font=small)
            y = dict(
                domain=height,
                title=left,
                range=scale,
                nticks=4,
                showticklabels=j == 0,
            )
            axes |= layout_of(i * len(methods) + j, x, y)
    return axes


def _radius_axis(family: Family, method: str) -> Properties:
    """Return the axis of a method's radii."""
    radii = family.radii(method)
    places = [place_of(r, radii) for r in radii]
    margin = 0.05 * (places[-1] - places[0])
    unit = family[family.index(method)].unit
    return dict(
        title=f"{style(method).label}:<br>radius, {unit}",
        range=[places[0] - margin, places[-1] + margin],
        tickvals=places,
        ticktext=_texts(places, radii),
        tickangle=0,
        tickfont=dict(size=11),
    )


def _scale_of(family: Family, values: Tensor, methods: list[str]) -> list[float]:
    """Return a range that holds the values of each of the methods, and of SGD."""
    ends = []
    for name in methods:
        rows = [k for k, m in enumerate(family.method) if m in (name, "sgd")]
        ends += room(values[rows], 0.1)
    return [min(ends), max(ends)]


def _texts(places: list[float], radii: tuple[float, ...]) -> list[str]:
    """Label radii from the largest down where they are far enough apart; 0 always has a label."""
    texts = [""] * len(radii)
    texts[0] = short(radii[0])
    last = math.inf
    far = APART * (places[-1] - places[0])
    for i in reversed(range(1, len(radii))):
        if last - places[i] >= far and places[i] - places[0] >= far:
            texts[i] = short(radii[i])
            last = places[i]
    return texts


def _add_panel(
    fig: Figure,
    family: Family,
    values: Tensor,
    method: str,
    quantity: str,
    on: Properties,
) -> None:
    """Add the curve of a method over its radii, its band over seeds, and SGD's value."""
    radii = family.radii(method)
    rows = values[[family.index(method, r) for r in radii]]
    x = torch.tensor([place_of(r, radii) for r in radii], dtype=torch.float64)
    look = style(method)
    label = look.label
    mean = rows.nanmean(1)

    def draw(x: Property, y: Property, mode: str, name: str, **how: Property) -> None:
        fig.add_trace(scatter(x, y, mode, name, **how, **on))

    if "sgd" in family.methods:
        single = float(values[family.index("sgd")].nanmean())
        left, *_, right = x.tolist()
        draw(
            [left - 9, right + 9],  # beyond the panel
            [single, single],
            "lines",
            "SGD (MAP)",
            line=dict(color=style("sgd").color, dash="dot", width=1.5),
            hover="SGD (MAP): %{y:.4g}",
        )
    if rows.shape[1] > 1:
        lo = rows.nan_to_num(torch.inf).amin(1)
        hi = rows.nan_to_num(-torch.inf).amax(1)
        seeds = band(x, lo, hi, look.color, 0.18, f"{label}, seeds", **on)
        fig.add_trace(seeds)
    start = 0
    if radii[0] == 0:  # a gap in the axis lies there
        start = 1
        dots = dict(color=MUTED, width=1, dash="dot")
        draw(x[:2], mean[:2], "lines", f"{label}, gap", line=dots)
    draw(x[start:], mean[start:], "lines", label, line=look.line(2.2))
    marker = look.marker(7, opacity=1)
    marker["color"] = [look.color if r else style("vi").color for r in radii]
    texts = [short(r) if r else "0 (VI)" for r in radii]
    hover = f"{label}, radius %{{text}}: {ROWS[quantity]} %{{y:.4g}}"
    draw(
        x,
        mean,
        "markers",
        f"{label}, radii",
        marker=marker,
        text=texts,
        hover=hover,
    )


def _add_ring(
    fig: Figure,
    family: Family,
    table: dict[str, Tensor],
    methods: list[str],
    method: str,
    radius: float | None,
) -> None:
    """Add a ring round the selected member in its column, which follows the controls.

    VI and SGD have one in each column.
    """
    member = family.index(method, radius)
    marker = dict(
        symbol="circle-open",
        size=15,
        color=INK,
        line=dict(width=2.5),
        opacity=1,
    )
    for j, name in enumerate(methods):
        here = family[member].radius if name == method else 0.0
        at = [place_of(here, family.radii(name))]
        for i, values in enumerate(table.values()):
            y = [float(values[member].nanmean())]
            on = axes_of(i * len(methods) + j)
            ring = scatter(at, y, "markers", "selected", marker=marker, **on)
            ring.visible = name == method or method == "vi"
            fig.add_live(ring, "x", "y", "visible")
