"""Curvature: eigenvalues by rank, their density, along a training, by ensemble size."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import torch
from torch import Tensor

from flatviz.catalog import Look
from flatviz.checks import kind
from flatviz.core import public
from flatviz.noun import History
from flatviz.plots.ground import (
    by_method,
    matrix_of,
    one_or_several,
    small_print,
    with_print,
)
from flatviz.plots.theme import (
    COLORS,
    INK,
    Figure,
    axes_of,
    band,
    figure,
    numbers,
    room,
    rows_of,
    scatter,
    span_of,
    style,
)
from flatviz.weight_space import MEASURES, Sharpness, Spectrum


@public
def plot_spectrum(
    spectrum: Spectrum | Sequence[Spectrum],
    *,
    method: str | None = None,
    reference: Mapping[str, Sequence[Spectrum]] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw eigenvalues by rank, one marker a draw, and a line through the means.

    Error bars are residuals.

    Args:
        spectrum: Result of `top_eigenpairs`, k eigenvalues of one weight vector, or one of it for
            each draw.
        method: Key in `fv.METHODS` that gives label and colour; None: ink, and the name of the
            spectrum.
        reference: Method -> its spectra, drawn as a line through their means.
        title: Default: of which matrix, of how many draws.

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
    mean = values.mean(0)
    k = values.shape[1]
    of = f"{len(spectra)} draws" if len(spectra) > 1 else spectra[0].name or "one weight vector"
    end = spectra[0].which
    alt = f"{end} eigenvalue {mean[0]:.3g}, number {k} {mean[-1]:.3g}, mean of {of}"
    x = dict(
        title=with_print(f"eigenvalue, {end} first", small_print(*spectra)),
        dtick=1,
        range=[0.6, k + 0.4],
    )
    means = {}
    for other, others in (reference or {}).items():
        means[other] = torch.stack([s.values for s in others]).mean(0)
    y = dict(
        title="λ (curvature of the loss)",
        range=_range(values - residual, values + residual, *means.values()),
    )
    title = title or f"{matrix_of(spectra[0])} eigenvalues, {of}"
    fig = figure(title, alt, xaxis=x, yaxis=y)
    _add_eigenvalues(fig, values, residual, shown)
    ranks = torch.arange(1, k + 1)
    for other, other_mean in means.items():
        look = style(other)
        line = scatter(
            ranks,
            other_mean,
            "lines",
            look.label,
            legend=None,
            line=look.line(2),
            hover=f"{look.label}: mean λ = %{{y:.4g}}",
            visible=other != method,  # the selected one is drawn once
        )
        fig.add_live(line, "visible")
    through = scatter(
        ranks,
        mean,
        "lines",
        shown.label,
        line=shown.line(2.5),
        hover="mean λ = %{y:.4g}",
        legend=len(spectra) > 1 or bool(reference),
    )
    fig.add_live(through, "y", "line.color", "line.dash", "name")
    return fig


def _add_eigenvalues(
    fig: Figure,
    values: Tensor,
    residual: Tensor,
    look: Look,
) -> None:
    """Add the eigenvalues (S, K) of draws by rank, side by side, with their residuals."""
    n, k = values.shape
    beside = torch.linspace(-0.16, 0.16, n) if n > 1 else torch.zeros(1)
    ranks = torch.arange(1, k + 1) + beside[:, None]
    error = residual.flatten()
    draws = scatter(
        ranks.flatten(),
        values.flatten(),
        "markers",
        "draws",
        marker=look.marker(7, opacity=0.65),
        hover="λ = %{y:.4g}<br>residual %{customdata:.1e}",
        customdata=error,
        error_y=dict(type="data", array=numbers(error), thickness=1, width=0),
    )
    fig.add_live(draws, "x", "y", "error_y.array", "customdata", "marker.color", "marker.symbol")


def _range(*values: Tensor) -> list[float]:
    """Return a range from 0, or the smallest where that is below, to just above the largest."""
    lo = min(0.0, *(float(v.min()) for v in values))
    hi = max(0.0, *(float(v.max()) for v in values))
    return [1.08 * lo, 1.08 * hi or 1.0]


POINTS = 600
FLOOR = 1e-5  # share of the highest density, below which a log axis shows the kernel's tail


Density = Annotated[Spectrum, kind(Spectrum, "a Spectrum", "fv.spectral_density makes one")]


@public
def plot_density(spectrum: Density, *, title: str | None = None) -> Figure:
    """Draw the density of eigenvalues on a log axis, with a mark at each of the k largest.

    Marks have their residuals.  The curve is sum_i weights[i] N(lambda; nodes[i], width^2); the
    width is 1/150 of the range, a few pixels.

    Args:
        spectrum: Result of `spectral_density`.
        title: Default: of which matrix.

    Raises:
        ValueError: For a Spectrum without a density.

    Example:
        >>> scale = torch.linspace(0.0, 4.0, 20)
        >>> f = lambda w: 0.5 * (scale * w * w).sum()
        >>> density = fv.spectral_density(f, torch.ones(20), runs=2, steps=20, k=2)
        >>> fig = fv.plot_density(density)
        >>> [trace.name for trace in fig.data]
        ['density', '2 largest, with residuals']
    """
    if spectrum.nodes is None or spectrum.weights is None:
        raise ValueError(
            "plot_density needs nodes and weights, got a Spectrum without: spectral_density"
            " makes one"
        )
    nodes = spectrum.nodes.double()
    weights = spectrum.weights.double()
    lo, hi = span_of(nodes)
    width = max((hi - lo) / 150, 1e-12)
    tail = 6 * width
    at = torch.linspace(lo - tail, hi + tail, POINTS, dtype=torch.float64)
    density = _smooth(at, nodes, weights, width)
    mean = float((nodes * weights).sum())
    alt = (
        f"eigenvalues from {lo:.3g} to {hi:.3g}, mean {mean:.3g}, largest"
        f" {float(spectrum.values[0]):.3g}"
    )
    top = float(density.max())
    floor = FLOOR * top
    x = dict(title=with_print("eigenvalue λ", small_print(spectrum)))
    y = dict(
        title="density",
        type="log",
        exponentformat="power",
        dtick=1,
        range=[math.log10(floor), math.log10(top) + 0.3],
    )
    fig = figure(title or f"Density of {matrix_of(spectrum)} eigenvalues", alt, xaxis=x, yaxis=y)
    fig.add_trace(
        scatter(
            at,
            density.clamp_min(floor),
            "lines",
            "density",
            hover="λ = %{x:.3g}<br>density %{y:.2g}",
            line=dict(color=COLORS[1], width=2),
        )
    )
    k = len(spectrum.values)
    fig.add_trace(
        scatter(
            spectrum.values,
            [floor * 3] * k,
            "markers",
            f"{k} largest, with residuals",
            marker=dict(symbol="triangle-up", size=10, color=INK),
            error_x=dict(
                type="data",
                array=numbers(spectrum.residual),
                thickness=1,
                width=3,
            ),
            legend=True,
            customdata=spectrum.residual,
            hover="λ = %{x:.4g}<br>residual %{customdata:.1e}",
        )
    )
    return fig


def _smooth(
    at: Tensor,
    nodes: Tensor,
    weights: Tensor,
    width: float,
) -> Tensor:
    """Compute the density of a mixture of Gaussians of one width."""
    z = (at[:, None] - nodes) / width
    heights = (-0.5 * z.square()).exp() * weights
    area = width * math.sqrt(2 * math.pi)
    return heights.sum(1) / area


Measure = Literal["lambda1", "ratio", "trace", "sam", "adaptive"]


@public
def plot_sharpness(
    measured: Sharpness | Mapping[str, Sharpness],
    *,
    measure: Measure = "lambda1",
    title: str | None = None,
) -> Figure:
    """Draw one measure of flatness against ensemble size, for each draw and on average.

    The band is the 95 % interval of the mean (Student's t), not the scatter of draws.

    Args:
        measured: Result of `sharpness`, drawn in ink, or method -> Sharpness.
        measure: "lambda1", "ratio", "trace", "sam" or "adaptive".
        title: Title of the figure.

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
    means = []
    drawn = []
    for method, sharpness in groups.items():
        value, half_width = sharpness.interval(measure)
        means.append(f"{style(method).label}: mean {value:.3g} ± {half_width:.2g}")
        drawn.append(getattr(sharpness, measure).double().cpu())
    alt = "; ".join(means)
    lowest, highest = span_of(torch.cat(drawn))
    margin = 0.3 * (highest - lowest) or 0.1 * abs(highest) or 1.0
    # With two draws the band is wider than the axis
    y = dict(title=label, range=[lowest - margin, highest + margin])
    x = dict(title="ensemble size, in draws")
    fig = figure(title or "Flatness against ensemble size", alt, xaxis=x, yaxis=y)
    for method, sharpness in groups.items():
        look = style(method)
        label = look.label
        values = getattr(sharpness, measure)
        mean, half = sharpness.by_size(measure)
        # of one draw there is no interval
        sizes = torch.arange(1, len(values) + 1)
        finite = torch.isfinite(half)
        lo = (mean - half)[finite]
        hi = (mean + half)[finite]
        interval = band(sizes[finite], lo, hi, look.color, 0.15, label, legendgroup=method)
        fig.add_trace(interval)
        fig.add_trace(
            scatter(
                sizes,
                values,
                "markers",
                f"{label}, draws",
                legendgroup=method,
                marker=look.marker(7, opacity=0.65),
                hover=f"{label}, draw %{{x}}: %{{y:.4g}}",
            )
        )
        fig.add_trace(
            scatter(
                sizes,
                mean,
                "lines",
                label,
                legend=True,
                legendgroup=method,
                line=look.line(2.5),
                hover=f"{label}, mean of %{{x}} draws: %{{y:.4g}}",
            )
        )
    return fig


HISTORY = {
    "loss": "loss (nats)",
    "validation": "validation loss",
    "kl": "KL (nats)",
    "sharpness": "sharpness (nats)",
    "reach": "reach, √(2 KL)",
    "lambda1": "λ₁",
    "trace": "trace",
}


@public
def plot_history(history: History, *, title: str = "Training") -> Figure:
    """Draw the history of a fit, or of a loop that `record_path` watched, a row a quantity.

    Args:
        history: `posterior.history`, or `path.history`.
        title: Title of the figure.

    Example:
        >>> steps = torch.tensor([0, 10, 20])
        >>> loss, lambda1 = torch.tensor([2.0, 1.0, 0.5]), torch.tensor([9.0, 4.0, 5.0])
        >>> history = fv.results.History(loss, lambda1=lambda1, steps=steps)
        >>> [(trace.name, trace.x.tolist()) for trace in fv.plots.plot_history(history).data]
        [('loss (nats)', [0, 10, 20]), ('λ₁', [0, 10, 20])]
    """
    rows = {}
    for name, label in HISTORY.items():
        values = getattr(history, name)
        if values is not None:
            rows[label] = values
    scales = []
    ends = []
    for label, values in rows.items():
        scales.append(dict(title=label, range=room(values), nticks=5))
        ends.append(f"{label} {float(values[0]):.3g} to {float(values[-1]):.3g}")
    axes = rows_of(scales, {}, "step", 0.05)
    small = "".join(f"<br><span style='font-size:0.75em'>{note}</span>" for note in history.notes)
    height = 140 + 130 * len(rows)
    fig = figure(title + small, ", ".join(ends), height=height, **axes)
    for i, (label, values) in enumerate(rows.items()):
        steps = history.steps
        mode = "lines+markers"
        if steps is None:
            steps = torch.linspace(1, len(history.loss), len(values)).round().long()
            mode = "lines"
        fig.add_trace(
            scatter(
                steps,
                values,
                mode,
                label,
                hover="step %{x}: %{y:.4g}",
                line=dict(color=COLORS[1], width=1.8),
                **axes_of(i),
            )
        )
    return fig
