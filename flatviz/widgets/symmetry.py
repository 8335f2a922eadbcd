"""One network, rescaled and permuted live: the same function, at another place, with another sharpness."""

from __future__ import annotations

import ipywidgets
import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import Seed, Vector
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.objectives.nll import nll
from flatviz.plots.theme import INK, figure, numbers
from flatviz.results import SHARPNESS_LABELS
from flatviz.symmetry.actions import permute, random_order, random_signs, rescale
from flatviz.symmetry.hidden import units_of
from flatviz.symmetry.orbit import sharpness_measures
from flatviz.widgets.figure import FigureView

PROBES = 32


@public
def explore_symmetry(net: Net, data: Data, w: Vector | None = None, *, seed: Seed = 0) -> ipywidgets.VBox:
    """A slider that rescales hidden units of a network and a choice that permutes them, with what that changes.

    w: weights (D,), the net's own by default; data: a few hundred inputs with labels, on which loss, sharpness and outputs
    are computed at each move.  Left: every weight, moved against as it was.  Right: each measure of flatness over
    what it was.  The line below says how far the weights moved and how much any output changed.
    `result.figure` is the figure, `result.controls` the slider and the choice.

    Raises:
        ValueError: For a network that scaling or permutations would change.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
        >>> data = fv.Data(x, (x[:, 0] > 0).long())
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> view = fv.explore(net, data)
        >>> view.controls["scale"].value = 2.0
        >>> view.text.value.startswith("moved by")
        True
    """
    w, units, f = net.w if w is None else w, units_of(net), nll(net, data)
    units.check("scale", w[None]), units.check("permute", w[None])
    up = random_signs(units, w, seed=seed)
    orders = torch.cat([torch.arange(units.n_permuted)[None], random_order(units, 5, seed=seed)])
    with torch.no_grad():
        outputs = net(w, data.x)
    start = torch.cat(list(sharpness_measures(net, f, w[None], probes=PROBES, iters=20).values()))
    view = FigureView(_figure(w, torch.ones(len(SHARPNESS_LABELS))))
    shown = view.figure
    scale = ipywidgets.FloatSlider(0.0, min=-3.0, max=3.0, step=0.25, description="log scale", continuous_update=False)
    names = ["as it is", *(f"permuted {i}" for i in range(1, len(orders)))]
    order = ipywidgets.Dropdown(options=list(zip(names, range(len(orders)))), value=0, description="units")
    said = ipywidgets.HTML()

    def redraw(_: object = None) -> None:
        moved = permute(units, rescale(units, w[None], (scale.value * up).exp()), orders[order.value])
        ratio = torch.cat(list(sharpness_measures(net, f, moved, probes=PROBES, iters=20).values())) / start
        with torch.no_grad():
            gap = float((net(moved[0], data.x) - outputs).abs().max())
        with shown.batch_update():
            shown.data[0].y = numbers(moved[0])
            shown.data[1].y = numbers(ratio)
        said.value = (
            f"moved by {float((moved[0] - w).norm()):.3g} in weight space (length {float(w.norm()):.3g}); "
            f"largest change of an output {gap:.1e} of {float(outputs.abs().max()):.3g}; λ₁ × {float(ratio[0]):.3g}"
        )

    for control in (scale, order):
        control.observe(redraw, names="value")
    redraw()
    box = ipywidgets.VBox([ipywidgets.HBox([scale, order]), view, said])
    box.figure, box.controls, box.text = shown, {"scale": scale, "order": order}, said
    return box


def _figure(w: Tensor, ratio: Tensor) -> go.Figure:
    fig = figure(
        "The same function at other weights",
        "each weight moved against as it was, and each measure of flatness over what it was",
        xaxis=dict(domain=[0, 0.46], title="weight as it was"),
        yaxis=dict(title="weight now"),
        xaxis2=dict(domain=[0.56, 1], anchor="y2"),
        yaxis2=dict(anchor="x2", type="log", title=f"flatness now / as it was (traces: {PROBES} random signs)", range=[-2, 4]),
        height=440,
    )
    dots = dict(size=4, color=INK, opacity=0.5)
    fig.add_trace(go.Scatter(x=numbers(w), y=numbers(w), mode="markers", name="weights", marker=dots, showlegend=False))
    color = LOOKS["sabma"].color
    bars = go.Scatter(
        x=list(SHARPNESS_LABELS.values()),
        y=numbers(ratio),
        mode="markers",
        name="flatness",
        xaxis="x2",
        yaxis="y2",
        showlegend=False,
    )
    fig.add_trace(bars.update(marker=dict(size=11, color=color)))
    return fig
