"""The merge tree of a surface: minimum and depth of each valley, and which valley it joins."""

from __future__ import annotations

import torch

from flatviz.core.boundary import public
from flatviz.plots.ground import counted, small_print, with_print
from flatviz.plots.theme import COLORS, INK, MUTED, Figure, figure, scatter, short
from flatviz.results import Persistence

MOST = 20  # valleys that are drawn, the deepest; more are hard to tell apart


@public
def plot_persistence(persistence: Persistence, *, title: str | None = None) -> Figure:
    """The merge tree: each valley an upright line from its minimum to the saddle where it meets a deeper one.

    The deepest valley is on the left; it does not end, so its line goes on to the surface's highest value.

    Args:
        persistence: what `fv.landscape.persistence` returned.
        title: default: how many valleys of what.

    Example:
        >>> a = torch.linspace(-2, 2, 9)
        >>> plane = fv.Plane(torch.zeros(2), torch.eye(2), "distance in weight space")
        >>> two_wells = fv.Surface(plane, a, a, (a[:, None] ** 2 - 1) ** 2 + a ** 2 + 0.1 * a[:, None])
        >>> fig = fv.plots.plot_persistence(fv.landscape.persistence(two_wells))
        >>> len(fig.data[2].x)  # minima
        2
    """
    finite = persistence.surface.values[torch.isfinite(persistence.surface.values)]
    top = float(finite.max())
    order = persistence.depth.argsort(descending=True, stable=True)[:MOST]
    death = persistence.death.clamp_max(top)
    column = {int(m): i for i, m in enumerate(order, 1)}
    n = len(persistence.birth)
    alt = f"{counted(n, 'valley')}; the lowest minimum is {short(float(persistence.birth.min()))}"
    if n > 1:
        alt += f", the deepest of the others is {short(float(persistence.depth[torch.isfinite(persistence.depth)].max()))} deep"
    label = persistence.surface.label
    x = dict(title=with_print("valley, deepest first", small_print(persistence.surface, diverged="walls")))
    x["dtick"] = 1 if len(order) < 15 else 5
    title = title or f"Valleys of {label}, {n} in all"
    fig = figure(title, alt, xaxis=x, yaxis=dict(title=label))
    parent = persistence.parent.tolist()
    joins = [(place, column[parent[m]], *[float(death[m])] * 2) for m, place in column.items() if parent[m] in column]
    valleys = [(place, place, float(persistence.birth[m]), float(death[m])) for m, place in column.items()]
    for name, lines, look in (
        ("joins", joins, dict(color=MUTED, width=1)),
        ("valleys", valleys, dict(color=COLORS[1], width=4)),
    ):
        x, y = ([end for line in lines for end in (*line[k : k + 2], None)] for k in (0, 2))
        fig.add_trace(scatter(x, y, "lines", name, line=look))
    minima = dict(marker=dict(color=INK, size=8), hover="minimum %{y:.4g}<br>depth %{customdata:.3g}")
    depth = persistence.depth[order]
    fig.add_trace(scatter(list(column.values()), persistence.birth[order], "markers", "minima", customdata=depth, **minima))
    return fig
