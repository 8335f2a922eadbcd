"""How much each pair of networks differs in what it predicts, in and out of distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.core.boundary import public
from flatviz.plots.theme import MUTED, Figure, figure, scatter

COLORS = [LOOKS[m].color for m in ("vi", "sam_mu", "sabma", "authors_code")]


@public
def plot_pairs(information: Mapping[str, Tensor], *, title: str = "Mutual information of every pair of networks") -> Figure:
    """Densities over pairs: inputs -> mutual information (P,) in nats, from 0 (one function) to ln 2 (never agree).

    Raises ValueError for no inputs.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.plot_pairs({"test digits": torch.linspace(0.01, 0.1, 50)}).data[0].name
        'test digits (50 pairs)'
    """
    if not information:
        raise ValueError("plot_pairs needs at least one set of inputs, got none: pair_diversity makes one")
    alt = "; ".join(f"{k}: mean {float(v.mean()):.3g}, least {float(v.min()):.3g} nats" for k, v in information.items())
    x = dict(title="mutual information of a pair (nats)", type="log")
    fig = figure(title, alt, xaxis=x, yaxis=dict(title="density in log₁₀"), height=430)
    for i, (name, values) in enumerate(information.items()):
        logs = values.double().cpu().clamp_min(1e-12).log10()
        ends = float(logs.min()) - 0.05, float(logs.max()) + 0.05
        density, edges = torch.histogram(logs, bins=60, range=ends, density=True)
        middle = 10 ** ((edges[1:] + edges[:-1]) / 2)
        look = dict(fill="tozeroy", line=dict(color=COLORS[i % 4], width=2, shape="hvh"))
        look |= dict(hover=f"{name}<br>%{{x:.3g}} nats: density %{{y:.2f}}")
        fig.add_trace(scatter(middle, density, "lines", f"{name} ({len(values):,} pairs)", legend=None, **look))
    fig.add_vline(x=math.log(2), line=dict(color=MUTED, dash="dot", width=1))
    at = dict(x=math.log10(math.log(2)), xref="x", y=1, yref="paper", xanchor="left")  # on a log axis a place is its logarithm
    fig.add_annotation(**at, text="ln 2: never agree", showarrow=False, font=dict(color=MUTED, size=12))
    return fig
