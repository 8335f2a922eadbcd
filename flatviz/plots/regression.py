"""A regression on one input with a gap in its data: predictive mean, bands and single draws, methods side by side."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from flatviz.plots.inputs import side_by_side
from flatviz.plots.live import LINES, Live
from flatviz.plots.theme import INK, MUTED, Figure, axes_of, figure, numbers, room, scatter, short, style, tinted
from flatviz.results import Family

BANDS = (("with noise", 0.12), ("two standard deviations", 0.25))


def plot_gap(family: Family, i: int) -> Figure:
    """Mean, bands and ten single draws of VI, of member i and of HMC; the first two follow the ensemble size."""
    shown = family.inputs
    vi = family.index("vi") if "vi" in family.methods else i
    alt = "predictive mean, bands and single draws of a regression with a gap in its data: VI, the selected posterior and HMC"
    fig = figure("A regression with a gap in its data", alt, showlegend=False)
    panels = [("vi", family[vi].maps["curves"], "VI's curves"), (family[i].method, family[i].maps["curves"], "curves")]
    panels.append(("hmc", shown["curve reference"], ""))
    noise = float(shown["curve noise"][0])
    for k, (method, curves, key) in enumerate(panels):
        color = MUTED if method == "hmc" else style(method).color  # ink is lost on dark ground
        _add_posterior(fig, k, color, shown["curve x"], curves, noise, key)
        marker = dict(color="#fefefe", size=6, line=dict(color=INK, width=1.3))
        fig.add_trace(scatter(*shown["curve data"].T, "markers", "data", marker=marker, **axes_of(k)))
    names = [style(method).label for method, *_ in panels]
    side_by_side(fig, names, room(shown["curve data"][:, 1], 0.6), follows=1)
    fig.note(_undrawn(panels[1][1], tuple(fig.layout.yaxis.range)), x="x2 domain", y="y2 domain")
    return fig


def _undrawn(curves: Tensor, ends: tuple[float, float]) -> str:
    """Why a panel is empty: no draw has finite values, or the mean of the draws lies off the scale; "" where it is not."""
    drawn = curves[curves.isfinite().all(1)]
    if not len(drawn):
        return "diverged:<br>no draw has<br>finite values"
    mean = drawn.double().mean(0)
    inside = ((mean >= ends[0]) & (mean <= ends[1])).double().mean()
    span = f"from {short(float(mean.min()))} to {short(float(mean.max()))}".replace("-", "\N{MINUS SIGN}")
    return "" if inside > 0 else f"off the scale:<br>the mean runs<br>{span}"


def _add_posterior(fig: Figure, panel: int, color: str, x: Tensor, curves: Tensor, noise: float, key: str = "") -> None:
    """One posterior's bands, single draws and mean; key: of its draws, where they follow the controls."""
    ticks, values = numbers(x), numbers(curves.double())
    around = np.concatenate([ticks, ticks[::-1]])
    single = dict(line=dict(color=color, width=0.8), opacity=0.6)
    rows = [
        (around, "band", wide, dict(fill="toself", line=dict(width=0)), name) for (name, _), wide in zip(BANDS, (noise, 0.0))
    ]
    rows += [(np.tile([*ticks, np.nan], LINES), "lines", 0.0, single, "draws")]
    rows += [(ticks, "mean", 0.0, dict(line=dict(color=INK, width=2.2), hover="x = %{x:.2f}: %{y:.3g}"), "mean")]
    painted = {name: {"fillcolor": tinted(color, opacity)} for name, opacity in BANDS} | {"draws": {"line.color": color}}
    for at, kind, wide, look, name in rows:
        drawn, path = Live(name, "", values, kind, noise=wide).at(len(values)), f"data.{len(fig.data)}."
        if key:
            fig.follow({f"{path}y": values}, rows=kind, trace=name, key=key, noise=wide)
        if key == "curves":
            fig.follow({path + part: value for part, value in painted.get(name, {}).items()}, rows="all")
        trace = scatter(at, drawn, "lines", name, connectgaps=False, **look, **axes_of(panel))
        fig.add_trace(trace.update(fillcolor=painted.get(name, {}).get("fillcolor")))
