"""A regression on one input: predictive mean, bands and single draws, methods side by side; page and lab show one with a gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import Count
from flatviz.core.boundary import public
from flatviz.plots.inputs import side_by_side
from flatviz.plots.live import LINES, Live
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import INK, MUTED, Figure, Style, axes_of, figure, numbers, room, scatter, short, style, tinted
from flatviz.results import Family, Prediction

if TYPE_CHECKING:
    from flatviz.core.data import Data

BANDS = (("with noise", 0.12), ("two standard deviations", 0.25))


@public
def plot_predictive(
    x: Tensor,
    predictions: Mapping[str, Prediction],
    *,
    data: Data | None = None,
    n_draws: Count | None = None,
    title: str = "What each method predicts",
) -> Figure:
    """A regression on one input: the mean of the draws, two bands, ten single draws, and the data, a panel a method.

    The inner band is two standard deviations of the draws, what the posterior does not know; the outer one adds the noise of
    the likelihood.  Where there are no data a good posterior widens, as HMC does.

    Args:
        x: inputs (N, 1) or (N,), rising.
        predictions: name -> Prediction of outputs (S, N, 1), as `fv.families.predict_gap` returns; a name that begins with a key of
            `fv.METHODS` has its colour.
        data: the training points.
        n_draws: ensemble size, the first draws of each; None: all.
        title: of the figure.

    Raises:
        ValueError: For no prediction, or outputs of another shape.

    Example:
        >>> x = torch.linspace(0, 1, 5)
        >>> prediction = fv.Prediction(torch.randn(3, 5, 1), likelihood=0.1)
        >>> fig = fv.plots.plot_predictive(x, {"vi": prediction}, n_draws=2)
        >>> [trace.name for trace in fig.data]
        ['with noise', 'two standard deviations', 'draws', 'mean']
    """
    x = x.reshape(-1)
    for name, p in by_method(predictions, "Prediction").items():
        if p.outputs.shape[1:] != (len(x), 1):
            raise ValueError(f"outputs of {name!r} must have shape (S, {len(x)}, 1), got {tuple(p.outputs.shape)}")
    spread = {name: float(p.outputs[: p.size(n_draws), :, 0].std(0).mean()) for name, p in predictions.items()}
    alt = "; ".join(f"{_style(name).label}: mean standard deviation of draws {s:.2g}" for name, s in spread.items())
    fig = figure(title, alt)
    for k, (name, p) in enumerate(predictions.items()):
        noise, color = p.likelihood if isinstance(p.likelihood, float) else 0.0, _style(name).color
        _add_posterior(fig, k, color, x, p.outputs[: p.size(n_draws), :, 0], noise)
        if data is not None:
            _add_data(fig, k, data.x.reshape(-1), data.y.reshape(-1))
    outer = np.concatenate([trace.y for trace in fig.data if trace.name == BANDS[0][0]])
    side_by_side(fig, [_style(name).label for name in predictions], [float(outer.min()), float(outer.max())])
    return fig


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
        _add_data(fig, k, *shown["curve data"].T)
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


def _add_data(fig: Figure, panel: int, x: Tensor, y: Tensor) -> None:
    marker = dict(color="#fefefe", size=6, line=dict(color=INK, width=1.3))
    fig.add_trace(scatter(x, y, "markers", "data", marker=marker, **axes_of(panel)))


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


def _style(name: str) -> Style:
    """The look of the method with whose key the name begins, its label in that key's place; ink for another name."""
    first, comma, rest = name.partition(",")
    return style(first)._replace(label=f"{style(first).label}{comma}{rest}") if first in LOOKS else style(None, name)
