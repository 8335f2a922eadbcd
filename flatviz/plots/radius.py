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

ROWS = {"lambda1": "λ₁", "nll": "NLL (nats)", "accuracy": "accuracy", "ece": "ECE", "rmse": "RMSE"}
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
    fig = figure(
        title,
        alt,
        height=HEIGHT,
        showlegend=False,
        margin=dict(t=66),
        **_axes(family, table, methods),
    )
    for j, name in enumerate(methods):
        for i, quantity in enumerate(table):
            _add_panel(fig, family, table[quantity], name, quantity, axes_of(i * len(methods) + j))
    if "sgd" in family.methods:  # a name beside its line
        single = float(table["nll"][family.index("sgd")].nanmean())
        on = axes_of(list(table).index("nll") * len(methods))
        fig.add_annotation(
            text=style("sgd").label,
            font=dict(size=11),
            showarrow=False,
            xref=f"{on['xaxis']} domain",
            yref=on["yaxis"],
            x=0.99,
            y=single,
            xanchor="right",
            yanchor="top",
        )
    if method is not None:
        _add_ring(fig, family, table, methods, method, radius)
    return fig


def values_of(family: Family, quantity: str) -> Tensor:
    """Return (M, S) of a quantity, members by seeds; without other seeds, that of the family."""
    if quantity in family[0].over_seeds:
        return torch.stack([m.over_seeds[quantity] for m in family]).double()
    if quantity == "lambda1":
        values = list(map(mean_lambda1, family.spectrum))
    else:
        values = [float(p.scores[quantity][-1]) for p in family.prediction]
    return torch.tensor(values, dtype=torch.float64)[:, None]


def table_of(family: Family, names: Iterable[str] = ROWS) -> dict[str, Tensor]:
    """Compute `values_of` for each of the names that this family has."""
    return {
        name: values_of(family, name)
        for name in names
        if name == "lambda1" or name in computed(family[0].prediction).scores
    }


def trend(family: Family, method: str) -> str:
    """Describe how a method changes from its smallest to its largest radius."""
    radii = family.radii(method)
    ends = [family.index(method, r) for r in (radii[0], radii[-1])]
    means = {
        name: [float(values[i].nanmean()) for i in ends]
        for name, values in table_of(family).items()
    }
    changes = {
        name: f"{ROWS[name]} {first:.3g} to {last:.3g}" for name, (first, last) in means.items()
    }
    if "accuracy" in changes:
        changes["accuracy"] = "accuracy {:.1f} to {:.1f} %".format(
            *(100 * share for share in means["accuracy"])
        )
    return (
        f"{style(method).label} from radius {radii[0]:g} to {radii[-1]:g}:"
        f" {', '.join(changes.values())}"
    )


def columns_of(family: Family) -> list[str]:
    """List the methods of several radii, but those over the temperature (`plot_frontier`)."""
    return [m for m in family.methods if len(family.radii(m)) > 1 and m not in OVER_T]


def place_of(radius: float, radii: tuple[float, ...]) -> float:
    """Return the place of a radius on the axis: its power of ten, 0 left of the smallest other."""
    if radius > 0:
        return math.log10(radius)
    return math.log10(min(r for r in radii if r > 0)) - ZERO


def _axes(family: Family, table: dict[str, Tensor], methods: list[str]) -> dict:
    """Lay out panels, a column a method, a row a quantity with one scale."""
    axes: dict[str, object] = {}
    points = [i for i, m in enumerate(family.method) if m == "sgd"]
    for i, (quantity, height) in enumerate(zip(table, reversed(panels(len(table), GAP)))):
        last = i == len(table) - 1
        members = [
            [k for k, m in enumerate(family.method) if m == name] + points for name in methods
        ]
        lows, highs = zip(*(room(table[quantity][rows], 0.1) for rows in members))
        for j, (name, domain) in enumerate(zip(methods, panels(len(methods), BETWEEN))):
            radii = family.radii(name)
            places = [place_of(r, radii) for r in radii]
            margin = 0.05 * (places[-1] - places[0])
            unit = next(m.unit for m in family if m.method == name)
            title = dict(
                text=f"{style(name).label}:<br>radius, {unit}" if last else "", font=dict(size=12)
            )
            x = dict(
                domain=domain,
                title=title,
                range=[places[0] - margin, places[-1] + margin],
                showticklabels=last,
            )
            x |= dict(
                tickvals=places, ticktext=_texts(places, radii), tickangle=0, tickfont=dict(size=11)
            )
            title = dict(
                text=ROWS[quantity].replace(" (", "<br>(") if j == 0 else "", font=dict(size=12)
            )
            y = dict(domain=height, title=title, range=[min(lows), max(highs)], nticks=4)
            axes |= layout_of(i * len(methods) + j, x, y | dict(showticklabels=j == 0))
    return axes


def _texts(places: list[float], radii: tuple[float, ...]) -> list[str]:
    """Label radii from the largest down where they are far enough apart; 0 always has a label."""
    texts = []
    last = math.inf
    far = APART * (places[-1] - places[0])
    for place, radius in zip(reversed(places), reversed(radii)):
        labelled = place == places[0] or (last - place >= far and place - places[0] >= far)
        texts.append(short(radius) if labelled else "")
        last = place if labelled else last
    return texts[::-1]


def _add_panel(
    fig: Figure, family: Family, values: Tensor, method: str, quantity: str, on: Properties
) -> None:
    radii = family.radii(method)
    rows = values[[family.index(method, r) for r in radii]]
    x = torch.tensor([place_of(r, radii) for r in radii], dtype=torch.float64)
    look = style(method)
    label = look.label
    mean = rows.nanmean(1)
    if "sgd" in family.methods:
        single = float(values[family.index("sgd")].nanmean())
        line = dict(color=style("sgd").color, dash="dot", width=1.5)
        ends = [float(x[0]) - 9, float(x[-1]) + 9]
        fig.add_trace(
            scatter(
                ends,
                [single] * 2,
                "lines",
                "SGD (MAP)",
                line=line,
                hover="SGD (MAP): %{y:.4g}",
                **on,
            )
        )
    if rows.shape[1] > 1:
        lo = rows.nan_to_num(torch.inf).amin(1)
        hi = rows.nan_to_num(-torch.inf).amax(1)
        fig.add_trace(band(x, lo, hi, look.color, 0.18, f"{label}, seeds", **on))
    if radii[0] == 0:  # a gap in the axis lies there
        dots = dict(color=MUTED, width=1, dash="dot")
        fig.add_trace(scatter(x[:2], mean[:2], "lines", f"{label}, gap", line=dots, **on))
    start = 1 if radii[0] == 0 else 0
    fig.add_trace(scatter(x[start:], mean[start:], "lines", label, line=look.line(2.2), **on))
    marker = look.marker(7, opacity=1) | dict(
        color=[style("vi").color if r == 0 else look.color for r in radii]
    )
    hover = f"{label}, radius %{{text}}: {ROWS[quantity]} %{{y:.4g}}"
    texts = ["0 (VI)" if r == 0 else short(r) for r in radii]
    fig.add_trace(
        scatter(x, mean, "markers", f"{label}, radii", marker=marker, text=texts, hover=hover, **on)
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
    for j, name in enumerate(methods):
        here = name == method or method == "vi"
        at = place_of(family[member].radius if name == method else 0.0, family.radii(name))
        for i, quantity in enumerate(table):
            y = float(table[quantity][member].nanmean())
            marker = dict(symbol="circle-open", size=15, color=INK, line=dict(width=2.5), opacity=1)
            ring = scatter(
                [at], [y], "markers", "selected", marker=marker, **axes_of(i * len(methods) + j)
            )
            fig.add_live(ring.update(visible=here), "x", "y", "visible")
