"""One look for every figure: colours that colour-blind readers can tell apart, a template, and no button to any host."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

INK, MUTED, GRID = "#1f2933", "#6b7780", "#e4e7eb"
LOSS_SCALE = "Cividis"
CONFIG = {"displaylogo": False, "showSendToCloud": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}

# One colour, dash and marker per method everywhere (Okabe-Ito, those that reach 3:1 on white).
METHODS: dict[str, tuple[str, str, str, str]] = {
    "sgd": ("SGD (MAP)", "#1f2933", "dot", "x"),
    "vi": ("VI", "#0072B2", "dash", "square"),
    "sam_mu": ("SAM on the mean", "#D55E00", "dashdot", "triangle-up"),
    "sabma": ("SA-BMA", "#009E73", "solid", "circle"),
    "authors_code": ("released SA-BMA code", "#CC79A7", "longdash", "diamond"),
    "swag": ("SWAG", "#8a6d00", "longdashdot", "star"),
}


class Figure(go.Figure):
    """A plotly figure that shows without the button that sends it to a server."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, validate: bool = True, **kwargs: Any) -> dict:
        return super()._repr_mimebundle_(include, exclude, validate, **{"config": CONFIG, **kwargs})

    def _ipython_display_(self) -> None:
        self.show()

    def show(self, *args: Any, **kwargs: Any) -> Any:
        """Show with flatviz's settings; keywords as in plotly."""
        return super().show(*args, **{"config": CONFIG, **kwargs})


def style(method: str) -> tuple[str, str, str, str]:
    """Label, colour, dash and marker of a method; an unknown one is drawn in grey under its own name."""
    return METHODS.get(method, (method, MUTED, "solid", "circle"))


def figure(title: str, alt: str, **layout: Any) -> Figure:
    """An empty figure in the house style; `alt` is its description for those who do not see it."""
    fig = Figure()
    fig.update_layout(template=_template(), title=title, meta={"alt": alt}, **layout)
    return fig


def numbers(values: Tensor) -> Any:
    """A tensor as what plotly takes."""
    return values.detach().cpu().numpy()


def short(value: float) -> str:
    """A number in three digits."""
    return f"{value:.3g}"


def log_ticks(lo: float, hi: float) -> tuple[list[float], list[str]]:
    """Positions (log10) and texts of 1, 2, 5 steps between lo and hi."""
    steps = [m * 10.0**e for e in range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1) for m in (1, 2, 5)]
    inside = [s for s in steps if lo * 0.999 <= s <= hi * 1.001] or [lo, hi]
    if len(inside) > 9:
        inside = [s for s in inside if f"{s:e}".startswith("1")] or inside
    return [math.log10(s) for s in inside], [short(s) for s in inside]


def _template() -> go.layout.Template:
    axis = dict(
        showline=True,
        linecolor=MUTED,
        linewidth=1,
        ticks="outside",
        tickcolor=MUTED,
        gridcolor=GRID,
        zeroline=False,
        automargin=True,
        title=dict(standoff=8),
    )
    return go.layout.Template(
        layout=dict(
            font=dict(family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif", size=13, color=INK),
            title=dict(x=0, xref="paper", xanchor="left", y=0.97, yanchor="top", font=dict(size=15)),
            paper_bgcolor="#ffffff",
            plot_bgcolor="#ffffff",
            margin=dict(l=60, r=20, t=52, b=52),
            xaxis=axis,
            yaxis=axis,
            hoverlabel=dict(bgcolor="#ffffff", font=dict(color=INK)),
            legend=dict(orientation="h", x=0, xanchor="left", y=1.0, yanchor="bottom", bgcolor="rgba(255,255,255,0)"),
            colorway=[m[1] for m in METHODS.values()],
        )
    )
