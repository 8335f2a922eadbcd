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
    axes_of,
    figure,
    layout_of,
    log_ticks,
    panels,
    room,
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
    loss = torch.tensor(
        [float(computed(computed(p).values).double().mean()) for p in family.projection],
        dtype=torch.float64,
    )
    table = {name: values.nanmean(1) for name, values in table_of(family, FRONTIER).items()}
    cold = sorted(
        (i for i, m in enumerate(family.method) if m == "vi_t"), key=lambda i: float(loss[i])
    )
    lines = {m: [family.index(m, r) for r in family.radii(m)] for m in family.methods}
    lines["vi_t"] = line = sorted(
        (i for m in ("vi", "vi_t") for i in lines.get(m, [])), key=lambda i: float(loss[i])
    )
    ends = room(loss.log10(), 0.06)
    ticks = log_ticks(10 ** ends[0], 10 ** ends[1])
    axes: dict[str, object] = {}
    for i, (quantity, height) in enumerate(zip(table, reversed(panels(len(table), GAP)))):
        last = i == len(table) - 1
        words = dict(text="training loss (nats)" if last else "")
        x = dict(
            type="log",
            range=ends,
            title=words,
            showticklabels=last,
            tickvals=ticks,
            ticktext=[short(t) for t in ticks],
        )
        y = dict(domain=height, title=dict(text=ROWS[quantity].replace(" (", "<br>(")), nticks=5)
        axes |= layout_of(i, x, y | dict(range=room(table[quantity], 0.1)))
    alt = (
        f"{len(cold)} temperatures of VI from {short(float(loss[cold[0]]))} to"
        f" {short(float(loss[cold[-1]]))} nats of training loss"
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
        for name, rows in lines.items():
            _add_line(fig, family, rows, loss, table[quantity], name, i)
    if method is not None:
        _add_equal(fig, loss, table, family, family.index(method, radius), line, cold)
    return fig


def has_frontier(family: Family) -> bool:
    """Tell whether a family is measured and has VI at several temperatures."""
    measured = all(
        m.prediction and m.spectrum and m.projection and m.projection.values is not None
        for m in family
    )
    return measured and "vi_t" in family.methods and len(family.radii("vi_t")) > 1


def dial(method: str) -> str:
    """Return the name of the control that a method's members differ in."""
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
    look = style(name)
    texts = [
        (
            f"{dial(name)}{short(family[i].radius)}, "
            if len(rows) > 1 and family[i].method == name
            else ""
        )
        for i in rows
    ]
    mode = "lines+markers" if len(rows) > 1 else "markers"
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


def _add_equal(
    fig: Figure,
    loss: Tensor,
    table: dict[str, Tensor],
    family: Family,
    member: int,
    line: list[int],
    cold: list[int],
) -> None:
    """Add ring, cross and text for a member and VI at its training loss.

    They follow the controls.
    """
    at = float(loss[member].log())
    beyond = dict(left=math.nan, right=math.nan)
    share = [
        float(np.interp(at, loss[line].log(), values[line], **beyond)) for values in table.values()
    ]
    log_t = np.log([family[i].radius for i in cold])
    t = float(np.interp(at, loss[cold].log(), log_t, **beyond))
    for i, (quantity, equal) in enumerate(zip(table, share)):
        for name, y, symbol, size in (
            ("selected", float(table[quantity][member]), "circle-open", 16),
            ("VI at T*", equal, "x-thin", 11),
        ):
            marker = dict(
                symbol=symbol, size=size, color=INK, line=dict(color=INK, width=2.5), opacity=1
            )
            fig.add_live(
                scatter([float(loss[member])], [y], "markers", name, marker=marker, **axes_of(i)),
                "x",
                "y",
            )
    has_equal = math.isfinite(t)
    selected = family[member]
    who = style(selected.method).label
    if selected.radius:
        who += f", {dial(selected.method)}{short(selected.radius)}"
    result = (
        f"VI at T* = {short(math.exp(t))} (×) has its training loss"
        if has_equal
        else "no T of these gives VI its training loss"
    )
    path = fig.add_text(f"{who} (○):<br>{result}", y=1.01, font=dict(size=12), align="left")
    fig.follow({f"{path}.text": fig.layout.annotations[-1].text}, rows="all")
