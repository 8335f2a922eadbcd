"""Hessian eigenvalues, of one weight vector or of several draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.ground import ends_of, matrix_of, small_print, with_print
from flatviz.plots.nouns import one_or_several
from flatviz.plots.theme import Figure, figure, numbers, scatter, style
from flatviz.results import Spectrum


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
    label, color, _, symbol = shown = style(method, spectra[0].name or "mean")
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
    look = dict(marker=dict(color=color, symbol=symbol, size=7, opacity=0.65))
    look |= dict(customdata=residual.reshape(-1), hover="λ = %{y:.4g}<br>residual %{customdata:.1e}")
    look |= dict(error_y=dict(type="data", array=numbers(residual.reshape(-1)), thickness=1, width=0))
    draws = scatter((ranks + jitter).reshape(-1), values.reshape(-1), "markers", "draws", **look)
    fig.add_live(draws, "x", "y", "error_y.array", "customdata", "marker.color", "marker.symbol")
    for other, other_mean in beside.items():
        look = dict(line=style(other).line(2), hover=f"{style(other).label}: mean λ = %{{y:.4g}}")
        look["visible"] = other != method  # the selected one is drawn once
        fig.add_live(scatter(ranks[0], other_mean, "lines", style(other).label, legend=None, **look), "visible")
    look = dict(line=shown.line(2.5), hover="mean λ = %{y:.4g}", legend=len(spectra) > 1 or bool(reference))
    line = scatter(ranks[0], mean, "lines", label, **look)
    fig.add_live(line, "y", "line.color", "line.dash", "name")
    return fig


def _range(*values: Tensor) -> list[float]:
    """From 0, or from the smallest where that is below, to just above the largest."""
    lo, hi = min(0.0, *(float(v.min()) for v in values)), max(0.0, *(float(v.max()) for v in values))
    return [1.08 * lo, 1.08 * hi or 1.0]
