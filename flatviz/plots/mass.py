"""Mass of trained networks against the least mass of an equal one."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.core.boundary import public
from flatviz.plots.theme import MUTED, Figure, figure, scatter

COLORS = [LOOKS[m].color for m in ("vi", "sam_mu", "sabma", "authors_code", "swag", "laplace")]
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")


@public
def plot_mass(masses: Mapping[str, Tensor], *, title: str = "Mass as trained, and the least of an equal network") -> Figure:
    """One point a network: recipe -> (S, 2) of mass as trained and least mass; below the diagonal scaling can remove some.

    The mass is the sum of squares of all weights but the shifts.  Raises ValueError for no recipe.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.plot_mass({"wd 1e-3": torch.tensor([[1.2, 1.0], [1.5, 1.0]])}).data[1].name
        'wd 1e-3: median excess 20 %'
    """
    if not masses:
        raise ValueError("plot_mass needs at least one recipe, got none: min_mass gives before and after")
    medians = {name: float((100 * (m[:, 0] / m[:, 1] - 1)).median()) for name, m in masses.items()}
    fig = figure(
        title,
        "; ".join(f"{name}: median excess {e:.2g} %" for name, e in medians.items()),
        xaxis=dict(title="mass as trained", type="log"),
        yaxis=dict(title="least mass of an equal network", type="log"),
        legend=dict(orientation="v", x=0.02, xanchor="left", y=0.98, yanchor="top", bgcolor="#ffffff"),
        height=520,
    )
    ends = [min(float(m.min()) for m in masses.values()) * 0.9, max(float(m.max()) for m in masses.values()) * 1.1]
    fig.add_trace(scatter(ends, ends, "lines", "equal", legend=None, line=dict(color=MUTED, dash="dot", width=1)))
    for i, (name, m) in enumerate(masses.items()):
        look = dict(marker=dict(color=COLORS[i % 6], symbol=SYMBOLS[i % 6], size=6, opacity=0.7))
        look |= dict(customdata=100 * (m[:, 0] / m[:, 1] - 1), hover="%{x:.4g} → %{y:.4g}: excess %{customdata:.3g} %")
        label = f"{name}: median excess {medians[name]:.2g} %"
        fig.add_trace(scatter(m[:, 0], m[:, 1], "markers", label, legend=None, **look))
    return fig
