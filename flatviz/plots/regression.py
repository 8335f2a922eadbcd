"""The regression with a gap as page and lab show it: VI, the selected posterior and HMC side by side, under both sliders."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from flatviz.plots.inputs import side_by_side
from flatviz.plots.live import LINES, Live
from flatviz.plots.theme import INK, MUTED, Figure, figure, numbers, scatter, short, style, tinted
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
        _add_panel(fig, k, method, shown["curve x"], curves, noise, key)
        marker = dict(color="#fefefe", size=6, line=dict(color=INK, width=1.3))
        fig.add_trace(scatter(*shown["curve data"].T, "markers", "data", marker=marker, **_axes(k)))
    names = [style(method).label for method, *_ in panels]
    y = shown["curve data"][:, 1]
    room = float(y.max() - y.min())
    side_by_side(fig, names, [float(y.min()) - 0.6 * room, float(y.max()) + 0.6 * room])
    fig.follow({"layout.annotations.1.text": names[1]}, rows="all")
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


def _axes(k: int) -> dict[str, str]:
    return dict(xaxis=f"x{k + 1 if k else ''}", yaxis=f"y{k + 1 if k else ''}")


def _add_panel(fig: Figure, k: int, method: str, x: Tensor, curves: Tensor, noise: float, key: str) -> None:
    """One posterior's bands, single draws and mean; key: of its draws, where they follow the controls."""
    ticks, values, axes = numbers(x), numbers(curves.double()), _axes(k)
    color, size = MUTED if method == "hmc" else style(method).color, len(values)  # ink is lost on dark ground
    around = np.concatenate([ticks, ticks[::-1]])
    rows = [
        (around, "band", noise, dict(fill="toself", fillcolor=tinted(color, BANDS[0][1]), line=dict(width=0)), BANDS[0][0]),
        (around, "band", 0.0, dict(fill="toself", fillcolor=tinted(color, BANDS[1][1]), line=dict(width=0)), BANDS[1][0]),
        (np.tile([*ticks, np.nan], LINES), "lines", 0.0, dict(line=dict(color=color, width=0.8), opacity=0.6), "draws"),
        (ticks, "mean", 0.0, dict(line=dict(color=INK, width=2.2)), "mean"),
    ]
    for at, kind, wide, look, name in rows:
        live = Live(name, "", values, kind, noise=wide)
        hover = "x = %{x:.2f}: %{y:.3g}" if kind == "mean" else ""
        trace = scatter(at, live.at(size), "lines", name, hover=hover, connectgaps=False, **look, **axes)
        if key:
            path = f"data.{len(fig.data)}."
            fig.follow({f"{path}y": values}, rows=kind, trace=name, key=key, noise=wide)
            if key == "curves" and kind != "mean":
                paint = "line.color" if kind == "lines" else "fillcolor"
                fig.follow({path + paint: color if kind == "lines" else look["fillcolor"]}, rows="all")
        fig.add_trace(trace)
