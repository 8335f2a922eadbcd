"""Figures with controls, `explore(result)` by type, and the playground of the browser."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch

import anywidget
import ipywidgets
import traitlets

from flatviz.core import public
from flatviz.pages.page import WORLDS, World, playground_code
from flatviz.plots.calibration import plot_metrics
from flatviz.plots.color import first_draws
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.ground import one_or_several
from flatviz.plots.landscape import plot_projection
from flatviz.plots.surfaces import plot_surface
from flatviz.plots.theme import Figure, span_of
from flatviz.results import Prediction, Projection, Spectrum, Surface
from flatviz.widgets.view import FixedLayout, kernel_shell


@singledispatch
def explore(result: object, *more: object, **options: object) -> ipywidgets.interactive:
    """Show a result with controls in a notebook, chosen by its type.

    `.result` is the figure, `.kwargs_widgets` are the controls:

    - `explore(surface, projection=None)`: number of samples, linear or logarithmic colours
    - `explore(projection, method=None)`: the first n draws on the plane
    - `explore(spectrum, method=None)`, or a list of them: number of draws and of eigenvalues
    - `explore(prediction, method=None)`: scores, with a mark at the first n draws

    Args:
        result: The result to show.
        *more: Further results, as in the list.
        **options: The keywords of the list; `method` gives label and colour.

    Raises:
        TypeError: For a result of another type.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> [control.description for control in view.kwargs_widgets]
        ['samples', 'colours to', 'logarithmic']
    """
    raise TypeError(
        "explore takes a Surface, Projection, Prediction or Spectrum (or a list of them), got"
        f" {type(result).__name__}"
    )


@explore.register
def _surface(surface: Surface, projection: Projection | None = None) -> ipywidgets.interactive:
    low, high = span_of(surface.values)
    n = 0 if projection is None else len(projection.coords)

    def draw(samples: int, ceiling: float, log: bool) -> Figure:
        top = low * (high / low) ** ceiling if log else low + (high - low) * ceiling
        samples_shown = None if projection is None else first_draws(projection, samples)
        return plot_surface(surface, samples_shown, color_range=(low, top), log=log)

    ceiling = ipywidgets.FloatSlider(
        1.0, min=0.05, max=1.0, step=0.05, description="colours to", readout_format=".0%"
    )
    log = ipywidgets.Checkbox(
        low > 0 and high / low > 10, description="logarithmic", disabled=low <= 0
    )
    samples = ipywidgets.IntSlider(
        n, min=min(n, 1), max=max(n, 1), description="samples", disabled=n == 0
    )
    return _moved(draw, samples=samples, ceiling=ceiling, log=log)


@explore.register
def _projection(projection: Projection, *, method: str | None = None) -> ipywidgets.interactive:
    axes = plot_projection(projection, method=method).layout  # hold all draws

    def draw(draws: int) -> Figure:
        fig = plot_projection(first_draws(projection, draws), method=method)
        return fig.update_layout(xaxis_range=axes.xaxis.range, yaxis_range=axes.yaxis.range)

    return _moved(draw, draws=_count(len(projection.coords), "draws"))


@explore.register
def _prediction(prediction: Prediction, *, method: str | None = None) -> ipywidgets.interactive:
    def draw(draws: int) -> Figure:
        return plot_metrics(prediction, n_draws=draws, method=method)

    return _moved(draw, draws=_count(prediction.n_draws, "draws"))


@explore.register(Spectrum)
@explore.register(list)
@explore.register(tuple)
def _spectra(
    spectrum: Spectrum | Sequence[Spectrum], *, method: str | None = None
) -> ipywidgets.interactive:
    plot_spectrum(spectrum, method=method)  # raises for another type
    spectra = one_or_several(spectrum)

    def draw(draws: int, largest: int) -> Figure:
        k = slice(largest)
        return plot_spectrum(
            [
                replace(s, values=s.values[k], vectors=s.vectors[k], residual=s.residual[k])
                for s in spectra[:draws]
            ],
            method=method,
        )

    return _moved(
        draw,
        draws=_count(len(spectra), "draws"),
        largest=_count(min(len(s.values) for s in spectra), "largest"),
    )


def _moved(draw: Callable[..., Figure], **controls: ipywidgets.Widget) -> ipywidgets.interactive:
    """Return the figure that `draw` makes of the controls' values, drawn again at each change."""
    # Raises here what a widget would only log
    draw(**{name: control.value for name, control in controls.items()})
    in_kernel = kernel_shell() is not None
    return ipywidgets.interactive(
        draw, {"auto_display": in_kernel}, clear_output=in_kernel, **controls
    )


def _count(most: int, name: str) -> ipywidgets.IntSlider:
    """Return a slider from 1 to `most`, at `most`; disabled where there is only one."""
    return ipywidgets.IntSlider(most, 1, max(most, 2), description=name, disabled=most == 1)


class Playground(anywidget.AnyWidget):
    """The playground in a notebook; `worlds` names its parts.

    The page computes everything: only the module is sent.
    """

    _esm = f"{playground_code()}\nexport default flatvizPlayground.default;"
    worlds = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def set_state(self, sync_data: dict) -> None:
        """Take nothing of a page."""


@public
def playground(worlds: Sequence[World] = WORLDS) -> Playground:
    """Show training live in a cell: SGD, SAM, VI, SA-BMA, SGLD and HMC in the browser.

    The updates are flatviz's.

    Args:
        worlds: "weights", six grounds of two weights; "step", one step of SA-BMA phase by phase;
            "network", a small network on points of the plane, two methods side by side; "gap", one
            on a regression with a gap, beside HMC.

    Raises:
        ValueError: For another word.

    Example:
        >>> view = fv.playground(worlds=["weights"])
        >>> view.worlds
        ['weights']
        >>> view.close()
    """
    return Playground(worlds=list(worlds), layout=FixedLayout())
