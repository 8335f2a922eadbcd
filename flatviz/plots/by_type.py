"""`plot(result)`: the figure that belongs to the type of a result; a notebook's cell shows its last value the same way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from flatviz import plots, results
from flatviz.plots.captions import capital
from flatviz.plots.ground import axis_note, with_print
from flatviz.plots.theme import COLORS, INK, Figure, figure, scatter, short
from flatviz.results import Plane, Prediction, Projection, Spectrum, Surface


def plot(result: object, *more: Any, **options: Any) -> Figure:
    """The figure of a result, chosen by its type; `more` and `options` are those of the function that draws it.

    =====================================  =============================================================
    `Surface`                              `plot_surface`
    `Curve`, `Spectrum`, `Projection`      `plot_curve`, `plot_spectrum` or `plot_density`, `plot_projection`
    `Prediction`                           `plot_reliability`; of several methods `plot_metrics`
    `Sharpness`, `Shift`, `Persistence`    `plot_sharpness`, `plot_severity`, `plot_persistence`
    `Mechanism`, `Family`, `Plane`         `plot_mechanism`, `plot_radius`, the plane's two axes
    =====================================  =============================================================

    Args:
        result: A result of flatviz; where the function draws several, a list of them or a dict method -> result.
        *more: Further results, as a projection on a surface.
        **options: Keywords of the function that draws.

    Raises:
        TypeError: For anything else, with the types that have a figure.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> fig = fv.plot(fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5), log=False)
        >>> fig.data[0].name
        'surface'
    """
    if isinstance(result, Mapping):
        first, table = next(iter(result.values()), None), BY_METHOD
        first = first[0] if isinstance(first, list) and first else first
    elif isinstance(result, (list, tuple)):
        first, table = result[0] if result else None, SEVERAL
    else:
        first, table = result, ONE
    if type(first) not in table:
        names = [", ".join(kind.__name__ for kind in kinds) for kinds in (ONE, SEVERAL, BY_METHOD)]
        got = type(result).__name__ if first is result else f"a {type(result).__name__} of {type(first).__name__}"
        raise TypeError(f"plot takes a result ({names[0]}), a list ({names[1]}), or method -> result ({names[2]}), got {got}")
    return table[type(first)](result, *more, **options)


def _spectrum(spectrum: Spectrum, **options: Any) -> Figure:
    return (plots.plot_spectrum if spectrum.nodes is None else plots.plot_density)(spectrum, **options)


def _plane(plane: Plane) -> Figure:
    """The first two axes at their lengths and angle, and the part of the plane to look at."""
    if not math.isfinite(plane.angle):
        raise ValueError(f"a plane is drawn by two axes of some length, got lengths {plane.lengths}: take other directions")
    angle = math.radians(plane.angle)
    first, second = plane.lengths
    ends = torch.tensor([[first, 0.0], [second * math.cos(angle), second * math.sin(angle)]], dtype=torch.float64)
    alt = f"{plane.name}: {axis_note(plane).replace('<br>', '; ')}"
    fig = figure(capital(plane.name), alt, width=560)
    if plane.extent is not None:
        (a0, a1), (b0, b1) = plane.extent
        corners = torch.tensor([[a0, b0], [a1, b0], [a1, b1], [a0, b1], [a0, b0]], dtype=torch.float64) @ ends
        look = dict(fill="toself", fillcolor="rgba(0, 114, 178, 0.08)", line=dict(color=COLORS[1], width=1.5))
        fig.add_trace(scatter(*corners.T, "lines", "extent", legend=True, **look))
    for i, (x, y) in enumerate(ends.tolist()):
        side = "top left" if i == 0 and plane.extent is not None and plane.extent[0][1] < 2 else "top right"
        share = "" if not plane.explained else f", {100 * plane.explained[i]:.0f} %"
        arrow = dict(symbol="arrow", size=[0, 13], angleref="previous", color=INK, opacity=1)
        text = dict(text=["", f"axis {i + 1}: length {short(plane.lengths[i])}{share}"], textposition=side)
        fig.add_trace(
            scatter([0, x], [0, y], "lines+markers+text", f"axis {i + 1}", line=dict(color=INK), marker=arrow, **text)
        )
    origin = dict(symbol="circle", size=8, color=INK)
    fig.add_trace(scatter([0], [0], "markers", "origin", legend=True, marker=origin))
    equal = dict(title="distance in weight space", scaleanchor="x", scaleratio=1)
    return fig.update_layout(xaxis=dict(title=with_print("distance in weight space", f"one step: {plane.unit}")), yaxis=equal)


ONE = {
    results.Curve: plots.plot_curve,
    results.Family: plots.plot_radius,
    results.Mechanism: plots.plot_mechanism,
    results.Persistence: plots.plot_persistence,
    Plane: _plane,
    Prediction: plots.plot_reliability,
    Projection: plots.plot_projection,
    results.Sharpness: plots.plot_sharpness,
    results.Shift: lambda shift, **options: plots.plot_severity({"posterior": shift}, **options),
    Spectrum: _spectrum,
    Surface: plots.plot_surface,
}
SEVERAL = {kind: ONE[kind] for kind in (results.Curve, results.Mechanism)} | {Spectrum: plots.plot_spectrum}
BY_METHOD = {Prediction: plots.plot_metrics, results.Sharpness: plots.plot_sharpness, results.Shift: plots.plot_severity}


def shown(result: Plane | Surface | Projection | Prediction) -> Figure | None:
    """The figure of a cell's last value; None where its text says all: no labels, no finite value."""
    empty = {
        Plane: lambda plane: not math.isfinite(plane.angle),
        Projection: lambda projection: not len(projection.coords),
        Prediction: lambda prediction: prediction.bins is None or "ece" not in prediction.scores,
        Surface: lambda surface: not bool(surface.values.isfinite().any()),
    }
    return None if empty[type(result)](result) else plot(result)
