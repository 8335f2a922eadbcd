"""One function at many weights: what a rescaling of hidden units does to each measure of flatness, with a slider."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import Vector
from flatviz.core.boundary import public
from flatviz.plots.theme import DASHES, INK, Figure, figure, scatter

COLORS = [LOOKS[m].color for m in ("vi", "sam_mu", "sabma", "authors_code", "swag", "laplace", "sgld")]


@public
def plot_orbit(
    t: Vector,
    measures: Mapping[str, Vector],
    difference: Vector,
    *,
    title: str = "The same function at other weights",
) -> Figure:
    """Each measure (T,) over that at t = 0, against t (T,), the logarithm of the units' factor; a slider moves along.

    `difference` (T,) is the largest change of a logit, written beside the slider: rounding, and no more.

    Raises:
        ValueError: Where lengths differ.

    Example:
        >>> import torch, flatviz as fv
        >>> t = torch.tensor([-1.0, 0.0, 1.0])
        >>> fig = fv.plots.plot_orbit(t, {"trace": torch.tensor([3.0, 1.0, 4.0])}, torch.zeros(3))
        >>> len(fig.layout.sliders[0].steps)
        3
    """
    if any(len(v) != len(t) for v in (*measures.values(), difference)):
        raise ValueError(f"measures and difference must hold {len(t)} values each, as t does")
    middle = int(t.abs().argmin())
    ratios = {name: (v / v[middle]).double() for name, v in measures.items()}
    fig = figure(
        title,
        "; ".join(f"{name} changes {float(r.max() / r.min()):.3g}-fold" for name, r in ratios.items()),
        xaxis=dict(title="t: half of the units times exp(t), the others by exp(-t)"),
        yaxis=dict(title="measure / its value at t = 0", type="log"),
        height=575,
        margin=dict(b=165),
        legend=dict(orientation="v", x=1.02, y=1.0, yanchor="top"),
    )
    for i, (name, r) in enumerate(ratios.items()):
        look = dict(marker=dict(size=4), line=dict(color=COLORS[i % 7], dash=DASHES[i % 7 % 6], width=2))
        hover = f"{name}<br>t = %{{x:.2f}}: %{{y:.3g}} times"
        fig.add_trace(scatter(t, r, "lines+markers", name, legend=None, hover=hover, **look))
    here = float(t[middle])
    fig.add_shape(type="line", x0=here, x1=here, y0=0, y1=1, yref="paper", line=dict(color=INK, width=2))
    return fig.update_layout(sliders=[_slider(t, ratios, difference, middle)])


def _slider(t: Tensor, ratios: Mapping[str, Tensor], difference: Tensor, middle: int) -> dict:
    """Moves the upright line; its label says what is seen there."""
    steps = []
    for i, x in enumerate(round(x, 6) + 0.0 for x in t.tolist()):  # 0, not -0
        seen = ", ".join(f"{name} × {float(r[i]):.3g}" for name, r in ratios.items() if abs(float(r[i]) - 1) > 0.005)
        text = f"largest change of a logit {float(difference[i]):.0e}<br>{seen or 'nothing else changes'}"
        move = {"shapes[0].x0": x, "shapes[0].x1": x, "xaxis.title.text": f"t = {x:.2f}: {text}"}
        steps.append(dict(method="relayout", label=f"{x:.1f}", args=[move]))
    return dict(active=middle, steps=steps, currentvalue=dict(prefix="t = "), pad=dict(t=85), len=1.0)
