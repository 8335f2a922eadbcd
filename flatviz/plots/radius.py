"""Flatness and scores against the perturbation radius: the whole story in one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz.checks import Radius
from flatviz.core.boundary import public
from flatviz.plots.nouns import mean_lambda1
from flatviz.plots.theme import (
    INK,
    MUTED,
    Figure,
    Style,
    axes_of,
    band,
    columns,
    figure,
    layout_of,
    room,
    scatter,
    short,
    style,
)
from flatviz.results import Family

ROWS = {"lambda1": "λ₁", "nll": "NLL (nats)", "accuracy": "accuracy", "ece": "ECE"}
GAP, BETWEEN = 0.035, 0.07  # shares of the figure between rows and between columns
ZERO = 0.3  # powers of ten from radius 0, on the left, to the smallest positive one
APART = 0.14  # of the axis: least distance of two labels
HEIGHT = 640  # px


@public
def plot_radius(
    family: Family,
    *,
    method: str | None = None,
    radius: Radius | None = None,
    title: str | None = None,
    previews: Sequence[int] | None = None,
) -> Figure:
    """λ₁, NLL, accuracy and ECE against the radius: a row a quantity, a column a method, because units differ by method.

    Radius 0, where each method is VI, lies left of a gap in the logarithmic axis; SGD's single point is a dotted line.
    With `over_seeds` the line is the mean over seeds and the band runs from the lowest to the highest seed.  Scores are of
    the test split with the largest ensemble.

    Args:
        family: what `fv.families.measure` returned; bands need `fv.families.repeat_family`.
        method: Of the member that a ring marks; None: none.
        radius: Of that member.
        title: default: over how many seeds.
        previews: members of short fits: the axes hold them, the curves leave them out.

    Raises:
        ValueError: For a family that was not measured, or in which no method has two radii.

    Example:
        >>> spectrum = fv.Spectrum(torch.tensor([2.0]), torch.eye(2)[:1], torch.zeros(1), 1)
        >>> scores = {"accuracy": torch.tensor([0.7]), "nll": torch.tensor([0.9]), "ece": torch.tensor([0.1])}
        >>> prediction = fv.Prediction(torch.zeros(1, 4, 2), torch.zeros(4, dtype=torch.long), scores=scores)
        >>> q, measured = fv.Gaussian(torch.zeros(2), torch.zeros(2)), dict(spectrum=(spectrum,), prediction=prediction)
        >>> family = fv.Family(tuple(fv.results.Member("sabma", r, "nats", q, **measured) for r in (0.0, 1.0)))
        >>> fv.plots.plot_radius(family).layout.title.text
        "Flatness and scores against radius<br><span style='font-size:0.8em'>one seed</span>"
    """
    methods, previews = columns_of(family), previews or ()
    if not methods or not all(m.prediction and m.spectrum for m in family):
        raise ValueError(
            f"the family must be measured and have a method of several radii, got {family!r}: use fv.families.measure"
        )
    table = {name: values_of(family, name) for name in ROWS}
    n_seeds = table["lambda1"].shape[1]
    over = f"mean and range of {n_seeds} seeds" if n_seeds > 1 else "one seed"
    alt = "; ".join(trend(family, m, previews) for m in methods)
    title = title or f"Flatness and scores against radius<br><span style='font-size:0.8em'>{over}</span>"
    look = dict(height=HEIGHT, showlegend=False, margin=dict(t=66))
    fig = figure(title, alt, **look, **_axes(family, table, methods))
    for j, name in enumerate(methods):
        radii = _curve(family, name, previews)
        rows = [family.index(name, r) for r in radii]
        beyond = [place_of(r, family.radii(name)) + far for r, far in ((radii[0], -9), (radii[-1], 9))]
        for i, (quantity, label) in enumerate(ROWS.items()):
            on = axes_of(i * len(methods) + j)
            if "sgd" in family.methods:
                _add_single(
                    fig, float(table[quantity][family.index("sgd")].nanmean()), beyond, on, quantity == "nll" and j == 0
                )
            _add_curve(fig, style(name), label, radii, family.radii(name), table[quantity][rows], on)
    if method is not None:
        _add_ring(fig, family, table, methods, method, radius)
    return fig


def values_of(family: Family, quantity: str) -> Tensor:
    """(M, S) of a quantity, a row a member, a column a seed; the seed of the family where there are no others."""
    if quantity in family[0].over_seeds:
        return torch.stack([m.over_seeds[quantity] for m in family]).double()
    if quantity == "lambda1":
        return torch.tensor([[mean_lambda1(spectra)] for spectra in family.spectrum]).double()
    return torch.tensor([[float(p.scores[quantity][-1])] for p in family.prediction]).double()


def trend(family: Family, method: str, previews: Sequence[int] = ()) -> str:
    """What happens from the smallest to the largest radius of a method, in words."""
    whole = _curve(family, method, previews)
    ends = [family.index(method, r) for r in (whole[0], whole[-1])]
    said = []
    for name, label in ROWS.items():
        first, last = (float(values_of(family, name)[i].nanmean()) for i in ends)
        percent = f"{100 * first:.1f} to {100 * last:.1f} %"
        said.append(f"{label} {percent if name == 'accuracy' else f'{first:.3g} to {last:.3g}'}")
    return f"{style(method).label} from radius {family[ends[0]].radius:g} to {family[ends[1]].radius:g}: {', '.join(said)}"


def columns_of(family: Family) -> list[str]:
    """Methods of several radii."""
    return [m for m in family.methods if len(family.radii(m)) > 1]


def _curve(family: Family, method: str, previews: Sequence[int]) -> tuple[float, ...]:
    """The radii of a method's curve."""
    left_out = [family[i].radius for i in previews if family[i].method == method]
    return tuple(r for r in family.radii(method) if r not in left_out)


def place_of(radius: float, radii: tuple[float, ...]) -> float:
    """The place of a radius on the axis: its power of ten; 0 left of the smallest positive one."""
    return math.log10(radius) if radius > 0 else math.log10(min(r for r in radii if r > 0)) - ZERO


def _axes(family: Family, table: dict[str, Tensor], methods: list[str]) -> dict:
    """A column a method, a row a quantity, whose panels have one scale."""
    axes, tall = {}, (1 - GAP * (len(ROWS) - 1)) / len(ROWS)
    shown = [[k for k, m in enumerate(family.method) if m in (name, "sgd")] for name in methods]
    for i, (quantity, label) in enumerate(ROWS.items()):
        top, last = 1 - i * (tall + GAP), i == len(ROWS) - 1
        lows, highs = zip(*(room(table[quantity][rows], 0.1) for rows in shown))
        for j, (name, domain) in enumerate(zip(methods, columns(len(methods), BETWEEN))):
            radii = family.radii(name)
            places = [place_of(r, radii) for r in radii]
            margin = 0.05 * (places[-1] - places[0])
            unit = next(m.unit for m in family if m.method == name)
            title = dict(text=f"{style(name).label}:<br>radius, {unit}" if last else "", font=dict(size=12))
            x = dict(domain=domain, title=title, range=[places[0] - margin, places[-1] + margin], showticklabels=last)
            x |= dict(tickvals=places, ticktext=_texts(places, radii), tickangle=0, tickfont=dict(size=11))
            title = dict(text=label.replace(" (", "<br>(") if j == 0 else "", font=dict(size=12))
            y = dict(domain=[max(top - tall, 0.0), top], title=title, range=[min(lows), max(highs)], nticks=4)
            axes |= layout_of(i * len(methods) + j, x, y | dict(showticklabels=j == 0))
    return axes


def _texts(places: list[float], radii: tuple[float, ...]) -> list[str]:
    """Labels of the radii, from the largest down, of those far enough from the last labelled one; 0 always has a label."""
    texts, last, far = [""] * len(radii), math.inf, APART * (places[-1] - places[0])
    for i, place in reversed(list(enumerate(places))):
        if i == 0 or (last - place >= far and place - places[0] >= far):
            texts[i], last = short(radii[i]), place
    return texts


def _add_single(fig: Figure, value: float, ends: list[float], on: dict[str, str], named: bool) -> None:
    """SGD's value as a line between `ends`, which lie outside the panel, with its name beside it."""
    label, color, *_ = style("sgd")
    line = dict(color=color, dash="dot", width=1.5)
    fig.add_trace(scatter(ends, [value] * 2, "lines", label, line=line, hover=f"{label}: %{{y:.4g}}", **on))
    if named:
        at = dict(xref=f"{on['xaxis']} domain", yref=on["yaxis"], x=0.99, y=value, xanchor="right", yanchor="top")
        fig.add_text(label, font=dict(size=11), **at)


def _add_curve(
    fig: Figure, look: Style, quantity: str, radii: Sequence[float], every: Sequence[float], rows: Tensor, on: dict[str, str]
) -> None:
    """A method's values (radii, seeds) in one panel, whose axis holds `every` radius."""
    x, mean, (label, color, _, symbol) = torch.tensor([place_of(r, every) for r in radii]), rows.nanmean(1), look
    if rows.shape[1] > 1:
        lo, hi = rows.nan_to_num(torch.inf).amin(1), rows.nan_to_num(-torch.inf).amax(1)
        fig.add_trace(band(x, lo, hi, color, 0.18, f"{label}, seeds", **on))
    if radii[0] == 0:  # a gap in the axis lies there
        gap = dict(line=dict(color=MUTED, width=1, dash="dot"))
        fig.add_trace(scatter(x[:2], mean[:2], "lines", f"{label}, gap", **gap, **on))
    start = int(radii[0] == 0)
    fig.add_trace(scatter(x[start:], mean[start:], "lines", label, line=look.line(2.2), **on))
    marker = dict(color=[style("vi").color if r == 0 else color for r in radii], symbol=symbol, size=7, opacity=1)
    hover = f"{label}, radius %{{text}}: {quantity} %{{y:.4g}}"
    texts = ["0 (VI)" if r == 0 else short(r) for r in radii]
    fig.add_trace(scatter(x, mean, "markers", f"{label}, radii", marker=marker, text=texts, hover=hover, **on))


def _add_ring(
    fig: Figure, family: Family, table: dict[str, Tensor], methods: list[str], method: str, radius: float | None
) -> None:
    """A ring round the selected member in its method's column, which follows the controls; of VI and SGD one in each."""
    member = family.index(method, radius)
    for j, name in enumerate(methods):
        at = place_of(family[member].radius if name == method else 0.0, family.radii(name))
        for i, quantity in enumerate(ROWS):
            y = float(table[quantity][member].nanmean())
            marker = dict(symbol="circle-open", size=15, color=INK, line=dict(width=2.5), opacity=1)
            ring = scatter([at], [y], "markers", "selected", marker=marker, **axes_of(i * len(methods) + j))
            fig.add_live(ring.update(visible=method in (name, "vi")), "x", "y", "visible")
