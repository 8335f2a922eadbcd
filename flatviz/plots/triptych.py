"""Two weights of many networks: as trained, with scaling removed, with scaling and permutations removed; and marginals."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.core.boundary import public
from flatviz.plots.theme import INK, LOSS_SCALE, Figure, figure, numbers, scatter

PANELS = {"raw": "as trained", "scaled": "scaling removed", "sorted": "scaling and permutations removed"}
BINS = 60


@public
def plot_triptych(
    weights: Mapping[str, Tensor], *, window: float = 4.0, title: str = "Two output weights of the network 2-2-1"
) -> Figure:
    """Counts of pairs of weights, (S, 2) each under the names "raw", "scaled", "sorted", on three panels of one scale.

    window: both axes run from -window to window (4, as in the paper); what lies outside is counted in the text.

    Raises ValueError for another set of names.

    Example:
        >>> import torch, flatviz as fv
        >>> w = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
        >>> len(fv.plot_triptych({"raw": w, "scaled": w, "sorted": w.sort(1).values}).data)
        3
    """
    if set(weights) != set(PANELS):
        raise ValueError(f"weights must have the names {', '.join(map(repr, PANELS))}, got {', '.join(map(repr, weights))}")
    n = len(weights["raw"])
    reach, out = window, 1 - min(float((w.abs().amax(1) <= window).double().mean()) for w in weights.values())
    fig = _panels(list(PANELS.values()), title, f"{n} trained networks: a ring, a diamond, half of it")
    fig.update_layout(title=f"{title} ({n:,} networks, up to {100 * out:.0f} % outside the window)")
    edges = torch.linspace(-reach, reach, BINS + 1)
    middle = numbers((edges[1:] + edges[:-1]) / 2)
    for i, name in enumerate(PANELS):
        counts = torch.histogramdd(weights[name].float().cpu(), bins=[BINS, BINS], range=[-reach, reach] * 2)[0].T
        shown = torch.where(counts > 0, counts, torch.nan)
        heat = go.Heatmap(
            x=middle, y=middle, z=numbers(shown.log10()), colorscale=LOSS_SCALE, showscale=i == 2, name=PANELS[name],
            customdata=numbers(counts), hovertemplate="w₁ %{x:.2f}, w₂ %{y:.2f}: %{customdata} networks<extra></extra>",
            zmin=0, zmax=float(torch.tensor(n / 40.0).clamp_min(2).log10()),
            colorbar=dict(title="networks", tickvals=[0, 1, 2], ticktext=["1", "10", "100"], thickness=12),
        )  # fmt: skip
        axis = "" if i == 0 else str(i + 1)
        fig.add_trace(heat.update(xaxis=f"x{axis}", yaxis=f"y{axis}"))
        fig.update_layout({f"xaxis{axis}": dict(title="w₁", range=[-reach, reach], constrain="domain")})
        same = dict(title="w₂" if i == 0 else "", range=[-reach, reach], scaleanchor=f"x{axis}", constrain="domain")
        fig.update_layout({f"yaxis{axis}": same})
    return fig


@public
def plot_marginals(
    weights: Mapping[str, tuple[Tensor, Tensor]], *, title: str = "Weights of the first unit, by layer"
) -> Figure:
    """Histograms of weights (n,) of each layer, layer -> (as trained, symmetries removed).

    Before removal every unit of a layer has the same marginal; afterwards the first unit has one of its own.
    Raises ValueError for no layer.

    Example:
        >>> import torch, flatviz as fv
        >>> w = torch.randn(200, generator=torch.Generator().manual_seed(0))
        >>> [trace.name for trace in fv.plot_marginals({"0.weight": (w, w.abs())}).data]
        ['as trained', 'symmetries removed']
    """
    if not weights:
        raise ValueError("plot_marginals needs at least one layer, got none")
    fig = _panels(list(weights), title, f"densities of weights of {len(weights)} layers before and after removal")
    for i, (name, pair) in enumerate(weights.items()):
        axis = "" if i == 0 else str(i + 1)
        for values, label, color in zip(pair, ("as trained", "symmetries removed"), (INK, LOOKS["sabma"].color)):
            lo, hi = (float(torch.cat(pair).quantile(q)) for q in (0.002, 0.998))
            density, edges = torch.histogram(values.float().cpu(), bins=70, range=(lo, hi + 1e-6), density=True)
            look = dict(line=dict(color=color, width=2, shape="hvh", dash="dot" if color == INK else "solid"))
            look |= dict(legend=i == 0, legendgroup=label, xaxis=f"x{axis}", yaxis=f"y{axis}")
            hover = f"{name}, {label}<br>weight %{{x:.2f}}: density %{{y:.2f}}"
            fig.add_trace(scatter((edges[1:] + edges[:-1]) / 2, density, "lines", label, hover=hover, **look))
        fig.update_layout({f"xaxis{axis}": dict(title="weight")})
    fig.update_layout(yaxis_title="density")
    return fig.update_layout(legend=dict(y=-0.25, yanchor="top"))


def _panels(names: list[str], title: str, alt: str) -> Figure:
    """An empty figure of panels side by side, each under its name."""
    gap, n = 0.07, len(names)
    width = (1 - gap * (n - 1)) / n
    layout = {}
    for i in range(n):
        axis, left = "" if i == 0 else str(i + 1), i * (width + gap)
        layout[f"xaxis{axis}"] = dict(domain=[left, left + width], anchor=f"y{axis}")
        layout[f"yaxis{axis}"] = dict(anchor=f"x{axis}")
    fig = figure(title, alt, height=430, margin=dict(t=90), **layout)
    for i, name in enumerate(names):
        middle = i * (width + gap) + width / 2
        fig.add_annotation(x=middle, y=1.02, xref="paper", yref="paper", text=name, showarrow=False, yanchor="bottom")
    return fig
