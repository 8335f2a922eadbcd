"""Simple views of one's own draws: their eigenvalues, their places, their predictions, over how many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import ipywidgets
import torch

from flatviz.core.boundary import public
from flatviz.plots.metrics import LABELS, plot_metrics
from flatviz.plots.nouns import one_or_several
from flatviz.plots.projection import plot_projection
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.theme import short
from flatviz.results import Prediction, Projection, Spectrum
from flatviz.widgets.controlled import box_of, count_slider, keep_first, redraw_as
from flatviz.widgets.figure import FigureView


@public
def explore_spectrum(spectrum: Spectrum | Sequence[Spectrum], *, method: str | None = None) -> ipywidgets.VBox:
    """`plot_spectrum` with controls: how many draws, how many eigenvalues, linear or logarithmic.

    Args:
        spectrum: what `top_eigenpairs` returned, k eigenvalues of one weight vector, or one of it for each draw.
        method: whose they are, for label and colour.

    Returns the box; `.figure` is its figure, `.controls` are its controls by name: "draws", "largest", and "log", which is
    off where an eigenvalue is not positive.  `.text` says mean and spread of the largest eigenvalue over the draws shown.

    Raises:
        ValueError: For no spectrum.

    Example:
        >>> scale = torch.tensor([3.0, 2.0, 1.0])
        >>> view = fv.explore(fv.top_eigenpairs(lambda w: 0.5 * (scale * w * w).sum(), torch.ones(3), 3))
        >>> view.controls["largest"].value = 2
        >>> view.figure.data[0].y.round(3).tolist()
        [3.0, 2.0]
    """
    spectra = one_or_several(spectrum)
    view, said = FigureView(plot_spectrum(spectra, method=method)), ipywidgets.HTML()
    figure = view.figure
    k = min(len(s.values) for s in spectra)
    draws, largest = count_slider(len(spectra), "draws"), count_slider(k, "largest")
    log = ipywidgets.Checkbox(False, description="logarithmic", disabled=any(float(s.values.min()) <= 0 for s in spectra))

    def redraw(_: object = None) -> None:
        kept = [replace(s, **_first_pairs(s, largest.value)) for s in spectra[: draws.value]]
        new = plot_spectrum(kept, method=method)
        values = torch.stack([s.values for s in kept])
        if log.value:
            ends = [math.log10(0.8 * float(values.min())), math.log10(1.25 * float(values.max()))]
            new.update_yaxes(type="log", range=ends)
        else:
            new.update_yaxes(type="linear")
        redraw_as(figure, new, "title", "meta", "xaxis", "yaxis")
        spread = f", {short(float(values[:, 0].min()))} to {short(float(values[:, 0].max()))}" if len(kept) > 1 else ""
        said.value = f"λ₁ {short(float(values[:, 0].mean()))}, mean of {len(kept)}{spread}"

    for control in (draws, largest, log):
        control.observe(redraw, names="value")
    redraw()
    return box_of(view, {"draws": draws, "largest": largest, "log": log}, said)


@public
def explore_draws(draws: Projection | Prediction, *, method: str | None = None) -> ipywidgets.VBox:
    """What each further draw adds, with a slider for the number of draws, on scales that stand still.

    Args:
        draws: samples on a plane, from `project`: `plot_projection` of the first n; or what `predict` returned on labelled data:
            `plot_metrics` with a mark at the ensemble of n.
        method: whose they are, for label and colour.

    Returns the box; `.figure` is its figure, `.controls["draws"]` the slider, `.text` says the numbers of the first n.

    Raises:
        ValueError: For a prediction without scores.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.project(torch.rand(4, 3), plane))
        >>> view.controls["draws"].value = 2
        >>> [len(trace.x) for trace in view.figure.data if trace.name == "samples"]
        [2]
    """
    on_plane = isinstance(draws, Projection)
    n = len(draws.coords) if on_plane else draws.n_draws
    base = plot_projection(draws, method=method) if on_plane else plot_metrics(draws, n_draws=n, method=method)
    view, slider, said = FigureView(base), count_slider(n, "draws"), ipywidgets.HTML()
    figure = view.figure

    def redraw(_: object = None) -> None:
        if on_plane:
            keep_first(figure, base, slider.value)
            off = draws.distance[: slider.value]
            said.value = f"{slider.value} draws: off the plane by {short(float(off.median()))} (median)"
        else:
            redraw_as(figure, plot_metrics(draws, n_draws=slider.value, method=method), "shapes")
            said.value = _scores(draws, slider.value)

    slider.observe(redraw, names="value")
    redraw()
    return box_of(view, {"draws": slider}, said)


@public
def explore_calibration(prediction: Prediction, *, method: str | None = None) -> ipywidgets.VBox:
    """`plot_reliability` with a slider for the ensemble size.

    Args:
        prediction: what `predict` returned on labelled data.
        method: whose colour the bars have.

    Returns the box; `.figure` is its figure, `.controls["draws"]` the slider, `.text` says the scores of the ensemble.

    Raises:
        ValueError: Without labels.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> view = fv.explore(fv.predict(net, fv.Gaussian(net.w, torch.zeros(net.dim)), data, 5, seed=0))
        >>> view.controls["draws"].value = 2
        >>> view.text.value.startswith("2 draws: accuracy")
        True
    """
    view, said = FigureView(plot_reliability(prediction, method=method)), ipywidgets.HTML()
    figure = view.figure
    draws = count_slider(prediction.n_draws, "draws")

    def redraw(_: object = None) -> None:
        redraw_as(figure, plot_reliability(prediction, n_draws=draws.value, method=method), "meta")
        said.value = _scores(prediction, draws.value)

    draws.observe(redraw, names="value")
    redraw()
    return box_of(view, {"draws": draws}, said)


def _scores(prediction: Prediction, n: int) -> str:
    values = ", ".join(f"{label} {float(prediction.scores[name][n - 1]):.3f}" for name, label in LABELS.items())
    return f"{n} draw{'s' if n > 1 else ''}: {values}"


def _first_pairs(spectrum: Spectrum, k: int) -> dict:
    return {name: getattr(spectrum, name)[:k] for name in ("values", "vectors", "residual")}
