"""The spectral density of a Hessian, and its largest eigenvalues."""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import kind
from flatviz.core.boundary import public
from flatviz.plots.ground import matrix_of, small_print, with_print
from flatviz.plots.theme import COLORS, INK, Figure, figure, numbers, scatter
from flatviz.results import Spectrum

POINTS = 600
FLOOR = 1e-5  # of the highest density: below it a log axis shows nothing but the kernel's tail


Density = Annotated[Spectrum, kind(Spectrum, "a Spectrum", "fv.spectral_density makes one")]


@public
def plot_density(spectrum: Density, *, title: str | None = None) -> Figure:
    """Density of eigenvalues on a log axis, and a mark at each of the k largest, with its residual.

    The curve is sum_i weights[i] N(lambda; nodes[i], width^2); the width is 1/150 of the range, a few pixels.

    Args:
        spectrum: what `spectral_density` returned.
        title: default: of which matrix.

    Raises:
        ValueError: For a Spectrum without a density.

    Example:
        >>> scale = torch.linspace(0.0, 4.0, 20)
        >>> density = fv.spectral_density(lambda w: 0.5 * (scale * w * w).sum(), torch.ones(20), runs=2, steps=8, k=2)
        >>> fig = fv.plot_density(density)
        >>> [trace.name for trace in fig.data]
        ['density', '2 largest, with residuals']
    """
    if spectrum.nodes is None or spectrum.weights is None:
        raise ValueError("plot_density needs nodes and weights, got a Spectrum without: spectral_density makes one")
    nodes, weights = spectrum.nodes.double(), spectrum.weights.double()
    lo, hi = float(nodes.min()), float(nodes.max())
    width = max((hi - lo) / 150, 1e-12)
    at = torch.linspace(lo - 6 * width, hi + 6 * width, POINTS, dtype=torch.float64)
    density = _smooth(at, nodes, weights, width)
    trace = float((nodes * weights).sum())
    alt = f"eigenvalues from {lo:.3g} to {hi:.3g}, mean {trace:.3g}, largest {float(spectrum.values[0]):.3g}"
    top = float(density.max())
    floor = FLOOR * top
    x = dict(title=with_print("eigenvalue λ", small_print(spectrum)))
    y = dict(title="density", type="log", exponentformat="power", dtick=1, range=[math.log10(floor), math.log10(top) + 0.3])
    fig = figure(title or f"Density of {matrix_of(spectrum)} eigenvalues", alt, xaxis=x, yaxis=y)
    line = dict(color=COLORS[1], width=2)
    hover = "λ = %{x:.3g}<br>density %{y:.2g}"
    fig.add_trace(scatter(at, density.clamp_min(floor), "lines", "density", hover=hover, line=line))
    name = f"{len(spectrum.values)} largest, with residuals"
    error = dict(type="data", array=numbers(spectrum.residual), thickness=1, width=3)
    look = dict(marker=dict(symbol="triangle-up", size=10, color=INK), error_x=error, legend=True)
    look |= dict(customdata=spectrum.residual, hover="λ = %{x:.4g}<br>residual %{customdata:.1e}")
    fig.add_trace(scatter(spectrum.values, [floor * 3] * len(spectrum.values), "markers", name, **look))
    return fig


def _smooth(at: Tensor, nodes: Tensor, weights: Tensor, width: float) -> Tensor:
    z = (at[:, None] - nodes) / width
    return ((-0.5 * z.square()).exp() * weights).sum(1) / (width * math.sqrt(2 * math.pi))
