"""Pictures with controls: `explore(result)`, chosen by the type of what it shows, and the playground of the browser."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, Literal

import anywidget
import ipywidgets
import traitlets

from flatviz.core import public
from flatviz.pages.page import WORLDS, playground_code
from flatviz.plots.calibration import LABELS, plot_metrics
from flatviz.plots.color import first_draws
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.ground import mean_lambda1, one_or_several
from flatviz.plots.landscape import plot_projection
from flatviz.plots.surfaces import plot_surface
from flatviz.plots.theme import Figure, short
from flatviz.results import Prediction, Projection, Spectrum, Surface
from flatviz.widgets.view import FigureView


@singledispatch
def explore(result: object, *more: Any, **options: Any) -> ipywidgets.VBox:
    """A result with controls in a notebook, chosen by its type; `.figure`, `.controls` and `.text` are the parts of the box.

    ====================================================  ========================================================
    `explore(surface, projection=None)`                   how many samples, linear or logarithmic colours
    `explore(projection, method=None)`                    the first n draws on the plane
    `explore(spectrum, method=None)`, or a list of them   how many draws, how many eigenvalues
    `explore(prediction, method=None)`                    scores, with a mark at the first n draws
    ====================================================  ========================================================

    Args:
        result: What is shown.
        *more: What goes with it, as in the table.
        **options: The keywords of the table; `method` names whose result it is, for label and colour.

    Raises:
        TypeError: For a result of another type.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    raise TypeError(
        f"explore takes a Surface, Projection, Prediction or Spectrum (or a list of them), got {type(result).__name__}"
    )


@explore.register
def _surface(surface: Surface, projection: Projection | None = None) -> ipywidgets.VBox:
    finite = surface.values[surface.values.isfinite()]
    low, high = float(finite.min()), float(finite.max())
    n = 0 if projection is None else len(projection.coords)
    samples = ipywidgets.IntSlider(n, min(n, 1), max(n, 1), description="samples", disabled=n == 0)
    ceiling = ipywidgets.FloatSlider(1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%")
    log = ipywidgets.Checkbox(low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0)

    def draw() -> tuple[Figure, str]:
        top = low * (high / low) ** ceiling.value if log.value else low + (high - low) * ceiling.value
        shown = None if projection is None else first_draws(projection, samples.value)
        return plot_surface(surface, shown, color_range=(low, top), log=log.value), ""

    return _box({"samples": samples, "ceiling": ceiling, "log": log}, draw)


@explore.register
def _projection(projection: Projection, *, method: str | None = None) -> ipywidgets.VBox:
    base, slider = plot_projection(projection, method=method), _count(len(projection.coords), "draws")

    def draw() -> tuple[Figure, str]:
        n, figure = slider.value, Figure(base)  # its axes hold all draws
        for name in ("rim", "samples"):
            (whole,) = base.select_traces(dict(name=name))
            figure.update_traces(x=whole.x[:n], y=whole.y[:n], selector=dict(name=name))
        return figure, f"{n} draws: off the plane by {short(float(projection.distance[:n].median()))} (median)"

    return _box({"draws": slider}, draw)


@explore.register
def _prediction(prediction: Prediction, *, method: str | None = None) -> ipywidgets.VBox:
    slider = _count(prediction.n_draws, "draws")

    def draw() -> tuple[Figure, str]:
        n, figure = slider.value, plot_metrics(prediction, n_draws=slider.value, method=method)  # raises for what has no scores
        values = ", ".join(
            f"{label} {float(prediction.scores[name][n - 1]):.3f}"
            for name, label in LABELS.items()
            if name in prediction.scores
        )
        return figure, f"{n} draw{'s' if n > 1 else ''}: {values}"

    return _box({"draws": slider}, draw)


@explore.register(Spectrum)
@explore.register(list)
@explore.register(tuple)
def _spectra(spectrum: Spectrum | Sequence[Spectrum], *, method: str | None = None) -> ipywidgets.VBox:
    plot_spectrum(spectrum, method=method)  # raises for what is none
    spectra = one_or_several(spectrum)
    draws, largest = _count(len(spectra), "draws"), _count(min(len(s.values) for s in spectra), "largest")

    def draw() -> tuple[Figure, str]:
        k = largest.value
        kept = [replace(s, values=s.values[:k], vectors=s.vectors[:k], residual=s.residual[:k]) for s in spectra[: draws.value]]
        values = [float(s.values[0]) for s in kept]
        spread = f", {short(min(values))} to {short(max(values))}" if len(kept) > 1 else ""
        return plot_spectrum(kept, method=method), f"λ₁ {short(mean_lambda1(kept))}, mean of {len(kept)}{spread}"

    return _box({"draws": draws, "largest": largest}, draw)


def _box(controls: Mapping[str, ipywidgets.Widget], draw: Callable[[], tuple[Figure, str]]) -> ipywidgets.VBox:
    """Controls above the figure; `draw` runs at each change of them and returns the figure and the text below."""
    view, text = FigureView(), ipywidgets.HTML()
    box = ipywidgets.VBox([ipywidgets.HBox(list(controls.values())), view, text])
    box.controls, box.text = dict(controls), text

    def change(_: object = None) -> None:
        figure, text.value = draw()
        view.show(figure)
        box.figure = figure

    for control in controls.values():
        control.observe(change, names="value")
    change()
    return box


def _count(most: int, name: str) -> ipywidgets.IntSlider:
    """A slider from 1 to `most`, at `most`; off where there is one alone."""
    return ipywidgets.IntSlider(most, 1, max(most, 2), description=name, disabled=most == 1)


class Playground(anywidget.AnyWidget):
    """The playground; `worlds` names what it shows.  The page computes everything: nothing is sent but the module."""

    _esm = f"{playground_code()}\nexport default flatvizPlayground.default;"
    worlds = traitlets.List(traitlets.Unicode()).tag(sync=True)


@public
def playground(worlds: Sequence[Literal["weights", "step", "network", "gap"]] = WORLDS) -> Playground:
    """Training live in a cell: gradient descent, SAM, VI, SA-BMA, SGLD and HMC with flatviz's updates, in the browser.

    Args:
        worlds: "weights", six grounds of two weights; "step", one step of SA-BMA phase by phase; "network", a small
            network on points of the plane, two methods side by side; "gap", one on a regression with a gap, beside HMC.

    Raises:
        ValueError: For another word.

    Example:
        >>> view = fv.playground(worlds=["weights"])
        >>> view.worlds
        ['weights']
        >>> view.close()
    """
    return Playground(worlds=list(worlds))
