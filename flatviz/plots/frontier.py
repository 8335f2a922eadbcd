"""Flatness and scores against the training loss: methods beside a lower temperature of VI."""

import math

import numpy as np
import torch
from torch import Tensor

from flatviz.catalog import OVER_T
from flatviz.checks import Radius, computed
from flatviz.core import public
from flatviz.plots.radius import GAP, HEIGHT, ROWS, table_of
from flatviz.plots.theme import (
    INK,
    Figure,
    Properties,
    axes_of,
    figure,
    log_ticks,
    room,
    rows_of,
    scatter,
    short,
    style,
)
from flatviz.results import Family

FRONTIER = ("lambda1", "nll", "ece", "rmse")  # drawn where the family has them


@public
def plot_frontier(
    family: Family,
    *,
    method: str | None = None,
    radius: Radius | None = None,
    title: str | None = None,
) -> Figure:
    """Draw λ₁ and scores against the training loss, of VI over T and methods over radii.

    The training loss is the mean over draws.  A ring marks the selected member; a cross marks VI at
    the temperature T* where its training loss is the same, interpolated between its members, linear
    in the logarithm of the loss.  The gap between them is the effect of the method beyond a
    temperature.

    Args:
        family: Result of `fv.families.measure`, with VI at several temperatures ("vi_t").
        method: Method of the member that the ring marks; None: no ring.
        radius: Radius of that member.
        title: Title of the figure.

    Raises:
        ValueError: For a family that was not measured, or without two temperatures of VI.

    Example:
        >>> plane = fv.plane_pca(torch.eye(3)[:, :2])
        >>> names = dict(nll=0.9, ece=0.1, accuracy=0.7)
        >>> scores = {name: torch.tensor([value]) for name, value in names.items()}
        >>> spectrum = fv.Spectrum(torch.tensor([2.0]), torch.eye(2)[:1], torch.zeros(1), 1)
        >>> y = torch.zeros(4, dtype=torch.long)
        >>> prediction = fv.Prediction(torch.zeros(1, 4, 2), y, scores=scores)
        >>> q = fv.Gaussian(torch.zeros(2), torch.zeros(2))
        >>> def member(method, radius, loss):
        ...     at = fv.Projection(plane, torch.zeros(1, 2), torch.zeros(1), torch.tensor([loss]))
        ...     measured = dict(projection=at, spectrum=(spectrum,), prediction=prediction)
        ...     return fv.results.Member(method, radius, "", q, **measured)
        >>> members = member("vi_t", 0.01, 0.1), member("vi_t", 0.1, 0.4), member("sabma", 1.0, 0.2)
        >>> fig = fv.plots.plot_frontier(fv.Family(members), method="sabma", radius=1.0)
        >>> fig.layout.annotations[-1].text
        'SA-BMA, radius 1 (○):<br>VI at T* = 0.0316 (×) has its training loss'
    """
    if not has_frontier(family):
        raise ValueError(
            f"the family must be measured and hold VI at two temperatures, got {family!r}: fit"
            " 'vi_t' at some"
        )
    losses = []
    for projection in family.projection:
        of_draws = computed(computed(projection).values)
        losses.append(of_draws.double().mean())
    loss = torch.stack(losses).cpu()
    table = {name: values.nanmean(1) for name, values in table_of(family, FRONTIER).items()}
    members = {}  # their numbers, by method
    for name in family.methods:
        members[name] = [family.index(name, radius) for radius in family.radii(name)]
    tempered = by_loss(members["vi_t"], loss)
    # VI at its usual temperature is a point of the line as well
    members["vi_t"] = by_loss(tempered + members.get("vi", []), loss)
    scales = []
    for quantity, values in table.items():
        label = ROWS[quantity].replace(" (", "<br>(")
        scales.append(dict(title=label, nticks=5, range=room(values, 0.1)))
    axes = rows_of(scales, _loss_axis(loss), "training loss (nats)", GAP)
    alt = (
        f"{len(tempered)} temperatures of VI from {short(float(loss[tempered[0]]))} to"
        f" {short(float(loss[tempered[-1]]))} nats of training loss"
    )
    legend = dict(y=-0.14, yanchor="top", font=dict(size=11))
    fig = figure(
        title or "Flatness and scores at equal fit",
        alt,
        height=HEIGHT,
        margin=dict(t=84),
        legend=legend,
        **axes,
    )
    for i, quantity in enumerate(table):
        for name, rows in members.items():
            _add_line(fig, family, rows, loss, table[quantity], name, i)
    if method is not None:
        chosen = family.index(method, radius)
        _add_comparison(fig, loss, table, family, chosen, members["vi_t"], tempered)
    return fig


def _loss_axis(loss: Tensor) -> Properties:
    """Return an axis of training losses: logarithmic, except where a density's NLL is negative."""
    if float(loss.min()) <= 0:
        return dict(range=room(loss, 0.06))
    ends = room(loss.log10(), 0.06)
    ticks = log_ticks(10 ** ends[0], 10 ** ends[1])
    return dict(
        type="log",
        range=ends,
        tickvals=ticks,
        ticktext=[short(t) for t in ticks],
    )


def by_loss(members: list[int], loss: Tensor) -> list[int]:
    """Order members by their training loss."""
    return sorted(members, key=lambda i: float(loss[i]))


def has_frontier(family: Family) -> bool:
    """Tell whether a family is measured and has VI at several temperatures."""
    for m in family:
        if not (m.prediction and m.spectrum and m.projection):
            return False
        if m.projection.values is None:
            return False
    return "vi_t" in family.methods and len(family.radii("vi_t")) > 1


def dial(method: str) -> str:
    """Return the text before the number of a method's member, "T = " or "radius "."""
    return "T = " if method in OVER_T else "radius "


def _add_line(
    fig: Figure,
    family: Family,
    rows: list[int],
    loss: Tensor,
    values: Tensor,
    name: str,
    panel: int,
) -> None:
    """Add the members of a method to a panel, joined where they are several."""
    look = style(name)
    several = len(rows) > 1
    texts = []
    for i in rows:
        named = several and family[i].method == name  # VI is on the line of its temperatures
        texts.append(f"{dial(name)}{short(family[i].radius)}, " if named else "")
    mode = "lines+markers" if several else "markers"
    hover = f"{look.label}, %{{text}}training loss %{{x:.3g}}: %{{y:.4g}}"
    fig.add_trace(
        scatter(
            loss[rows],
            values[rows],
            mode,
            look.label,
            hover=hover,
            text=texts,
            line=look.line(2),
            marker=look.marker(8),
            legend=panel == 0,
            **axes_of(panel),
        )
    )


def _add_comparison(
    fig: Figure,
    loss: Tensor,
    table: dict[str, Tensor],
    family: Family,
    member: int,
    line: list[int],
    tempered: list[int],
) -> None:
    """Mark a member by a ring and VI of the same training loss by a cross, and name both above.

    The marks and the text change with the page's controls.

    line: VI, whose values are interpolated for the cross.
    tempered: those of `line` at a temperature of their own, which is interpolated for the text.
    """
    places = loss
    if float(loss.min()) > 0:
        places = loss.log()
    at = float(places[member])

    def interpolated(values: Tensor, members: list[int]) -> float:
        """Interpolate between members at the loss of `member`; NaN beyond them."""
        value = np.interp(at, places[members], values, left=math.nan, right=math.nan)
        return float(value)

    def add_mark(name: str, y: float, symbol: str, size: int, on: Properties) -> None:
        line = dict(color=INK, width=2.5)
        marker = dict(symbol=symbol, size=size, color=INK, line=line, opacity=1)
        x = float(loss[member])
        mark = scatter([x], [y], "markers", name, marker=marker, **on)
        fig.add_live(mark, "x", "y")

    temperatures = torch.tensor([family[i].radius for i in tempered], dtype=torch.float64)
    t = math.exp(interpolated(temperatures.log(), tempered))
    has_equal = math.isfinite(t)
    for i, values in enumerate(table.values()):
        on = axes_of(i)
        of_vi = interpolated(values[line], line) if has_equal else math.nan
        add_mark("selected", float(values[member]), "circle-open", 16, on)
        add_mark("VI at T*", of_vi, "x-thin", 11, on)
    selected = family[member]
    who = style(selected.method).label
    if selected.radius:
        who += f", {dial(selected.method)}{short(selected.radius)}"
    result = (
        f"VI at T* = {short(t)} (×) has its training loss"
        if has_equal
        else "no T of these gives VI its training loss"
    )
    text = f"{who} (○):<br>{result}"
    path = fig.add_text(text, y=1.01, font=dict(size=12), align="left")
    fig.follow({f"{path}.text": text}, rows="all")
