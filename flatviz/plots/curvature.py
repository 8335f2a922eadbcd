"""Curvature: eigenvalues by rank, their density, and flatness of a posterior's draws against ensemble size."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import torch
from torch import Tensor

from flatviz.checks import kind
from flatviz.core import public
from flatviz.plots.ground import by_method, ends_of, matrix_of, one_or_several, small_print, with_print
from flatviz.plots.theme import COLORS, INK, Figure, band, figure, numbers, scatter, style
from flatviz.results import MEASURES, Sharpness, Spectrum


@public
def plot_spectrum(
    spectrum: Spectrum | Sequence[Spectrum],
    *,
    method: str | None = None,
    reference: Mapping[str, Sequence[Spectrum]] | None = None,
    title: str | None = None,
) -> Figure:
    """Largest eigenvalues by rank: a marker a draw with its residual as error bar, and a line through the means.

    Args:
        spectrum: what `top_eigenpairs` returned, k eigenvalues of one weight vector, or one of it for each draw.
        method: whose they are, for label and colour; None: they are drawn in ink, under the name of the spectrum.
        reference: method -> its spectra, drawn as a line through their means.
        title: default: of which matrix, of how many draws.

    Raises:
        ValueError: For no spectrum.

    Example:
        >>> scale = torch.tensor([3.0, 2.0, 1.0])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (scale * w * w).sum(), torch.ones(3), 2)
        >>> fig = fv.plot_spectrum(spectrum, method="vi")
        >>> fig.data[0].y.round(3).tolist(), fig.data[1].name
        ([3.0, 2.0], 'VI')
    """
    spectra = one_or_several(spectrum)
    shown = style(method, spectra[0].name or "mean")
    values = torch.stack([s.values for s in spectra])
    residual = torch.stack([s.residual for s in spectra])
    mean, k = values.mean(0), values.shape[1]
    of = f"{len(spectra)} draws" if len(spectra) > 1 else spectra[0].name or "one weight vector"
    end = ends_of(spectra[0])
    alt = f"{end} eigenvalue {mean[0]:.3g}, number {k} {mean[-1]:.3g}, mean of {of}"
    x = dict(title=with_print(f"eigenvalue, {end} first", small_print(*spectra)), dtick=1, range=[0.6, k + 0.4])
    beside = {m: torch.stack([s.values for s in others]).mean(0) for m, others in (reference or {}).items()}
    y = dict(title="λ (curvature of the loss)", range=_range(values - residual, values + residual, *beside.values()))
    title = title or f"{matrix_of(spectra[0])} eigenvalues, {of}"
    fig = figure(title, alt, xaxis=x, yaxis=y)
    ranks = torch.arange(1, k + 1).expand(len(spectra), k)
    jitter = torch.linspace(-0.16, 0.16, len(spectra))[:, None] if len(spectra) > 1 else torch.zeros(1, 1)
    look = dict(
        marker=shown.marker(7, opacity=0.65),
        customdata=residual.reshape(-1),
        hover="λ = %{y:.4g}<br>residual %{customdata:.1e}",
    )
    look |= dict(error_y=dict(type="data", array=numbers(residual.reshape(-1)), thickness=1, width=0))
    draws = scatter((ranks + jitter).reshape(-1), values.reshape(-1), "markers", "draws", **look)
    fig.add_live(draws, "x", "y", "error_y.array", "customdata", "marker.color", "marker.symbol")
    for other, other_mean in beside.items():
        look = dict(line=style(other).line(2), hover=f"{style(other).label}: mean λ = %{{y:.4g}}")
        look["visible"] = other != method  # the selected one is drawn once
        fig.add_live(scatter(ranks[0], other_mean, "lines", style(other).label, legend=None, **look), "visible")
    look = dict(line=shown.line(2.5), hover="mean λ = %{y:.4g}", legend=len(spectra) > 1 or bool(reference))
    fig.add_live(scatter(ranks[0], mean, "lines", shown.label, **look), "y", "line.color", "line.dash", "name")
    return fig


def _range(*values: Tensor) -> list[float]:
    """From 0, or from the smallest where that is below, to just above the largest."""
    lo, hi = min(0.0, *(float(v.min()) for v in values)), max(0.0, *(float(v.max()) for v in values))
    return [1.08 * lo, 1.08 * hi or 1.0]


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
    floor = FLOOR * (top := float(density.max()))
    x = dict(title=with_print("eigenvalue λ", small_print(spectrum)))
    y = dict(title="density", type="log", exponentformat="power", dtick=1, range=[math.log10(floor), math.log10(top) + 0.3])
    fig = figure(title or f"Density of {matrix_of(spectrum)} eigenvalues", alt, xaxis=x, yaxis=y)
    look = dict(hover="λ = %{x:.3g}<br>density %{y:.2g}", line=dict(color=COLORS[1], width=2))
    fig.add_trace(scatter(at, density.clamp_min(floor), "lines", "density", **look))
    name = f"{len(spectrum.values)} largest, with residuals"
    error = dict(type="data", array=numbers(spectrum.residual), thickness=1, width=3)
    look = dict(marker=dict(symbol="triangle-up", size=10, color=INK), error_x=error, legend=True)
    look |= dict(customdata=spectrum.residual, hover="λ = %{x:.4g}<br>residual %{customdata:.1e}")
    fig.add_trace(scatter(spectrum.values, [floor * 3] * len(spectrum.values), "markers", name, **look))
    return fig


def _smooth(at: Tensor, nodes: Tensor, weights: Tensor, width: float) -> Tensor:
    z = (at[:, None] - nodes) / width
    return ((-0.5 * z.square()).exp() * weights).sum(1) / (width * math.sqrt(2 * math.pi))


Measure = Literal["lambda1", "ratio", "trace", "sam", "adaptive"]


@public
def plot_sharpness(
    measured: Sharpness | Mapping[str, Sharpness], *, measure: Measure = "lambda1", title: str | None = None
) -> Figure:
    """One measure of flatness against ensemble size: a marker a draw, a line through the mean of the draws so far.

    The band is the 95 % interval of the mean (Student's t): it says how sure the line is, not how far draws scatter.

    Args:
        measured: what `sharpness` returned, drawn in ink, or method -> Sharpness.
        measure: "lambda1", "ratio", "trace", "sam" or "adaptive".
        title: of the figure.

    Raises:
        ValueError: For another measure, or nothing measured.

    Example:
        >>> lambda1 = torch.tensor([3.0, 5.0, 4.0])
        >>> measured = fv.results.Sharpness(lambda1, *[lambda1] * 6)  # as `fv.sharpness` gives it
        >>> fig = fv.plots.plot_sharpness({"vi": measured})
        >>> fig.data[2].y.tolist()  # the mean of 1, 2 and 3 draws
        [3.0, 4.0, 4.0]
    """
    label = MEASURES[measure]
    groups = by_method(measured, "Sharpness")
    last = {m: s.interval(measure) for m, s in groups.items()}
    alt = "; ".join(f"{style(m).label}: mean {value:.3g} ± {half:.2g}" for m, (value, half) in last.items())
    drawn = torch.cat([getattr(s, measure).double().cpu() for s in groups.values()])
    margin = 0.3 * float(drawn.max() - drawn.min()) or 0.1 * float(drawn.abs().max()) or 1.0
    y = dict(title=label, range=[float(drawn.min()) - margin, float(drawn.max()) + margin])  # of two draws the band leaves it
    x = dict(title="ensemble size, in draws")
    fig = figure(title or "Flatness against ensemble size", alt, xaxis=x, yaxis=y)
    for method, sharpness in groups.items():
        look, label = style(method), style(method).label
        values, (mean, half) = getattr(sharpness, measure), sharpness.by_size(measure)
        sizes, known = torch.arange(1, len(values) + 1), torch.isfinite(half)  # of one draw there is no interval
        lo, hi = (mean - half)[known], (mean + half)[known]
        fig.add_trace(band(sizes[known], lo, hi, look.color, 0.15, label, legendgroup=method))
        draw = dict(marker=look.marker(7, opacity=0.65), hover=f"{label}, draw %{{x}}: %{{y:.4g}}")
        fig.add_trace(scatter(sizes, values, "markers", f"{label}, draws", legendgroup=method, **draw))
        line = dict(line=look.line(2.5), hover=f"{label}, mean of %{{x}} draws: %{{y:.4g}}")
        fig.add_trace(scatter(sizes, mean, "lines", label, legend=True, legendgroup=method, **line))
    return fig
