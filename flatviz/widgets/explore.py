"""Figures with controls, `explore(result)` by type."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch

import ipywidgets

from flatviz.plots.calibration import plot_metrics
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.ground import one_or_several
from flatviz.plots.landscape import plot_projection
from flatviz.plots.surfaces import plot_surface
from flatviz.plots.theme import Figure, span_of
from flatviz.results import Prediction, Projection, Spectrum, Surface
from flatviz.widgets.view import kernel_shell


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

    def draw(samples: int, ceiling: float, log: bool) -> Figure:
        if log:
            top = low * (high / low) ** ceiling
        else:
            top = low + (high - low) * ceiling
        drawn = None if projection is None else first_draws(projection, samples)
        return plot_surface(surface, drawn, color_range=(low, top), log=log)

    if projection is None:
        samples = ipywidgets.IntSlider(0, 0, 1, description="samples", disabled=True)
    else:
        samples = _count(len(projection.coords), "samples")
    ceiling = ipywidgets.FloatSlider(
        1.0,
        min=0.05,
        max=1.0,
        step=0.05,
        description="colours to",
        readout_format=".0%",
    )
    decade = low > 0 and high / low > 10
    log = ipywidgets.Checkbox(decade, description="logarithmic", disabled=low <= 0)
    return _interactive(draw, samples=samples, ceiling=ceiling, log=log)


@explore.register
def _projection(projection: Projection, *, method: str | None = None) -> ipywidgets.interactive:
    axes = plot_projection(projection, method=method).layout  # hold all draws

    def draw(draws: int) -> Figure:
        fig = plot_projection(first_draws(projection, draws), method=method)
        return fig.update_layout(xaxis_range=axes.xaxis.range, yaxis_range=axes.yaxis.range)

    return _interactive(draw, draws=_count(len(projection.coords), "draws"))


@explore.register
def _prediction(prediction: Prediction, *, method: str | None = None) -> ipywidgets.interactive:
    def draw(draws: int) -> Figure:
        return plot_metrics(prediction, n_draws=draws, method=method)

    return _interactive(draw, draws=_count(prediction.n_draws, "draws"))


@explore.register(Spectrum)
@explore.register(list)
@explore.register(tuple)
def _spectra(
    spectrum: Spectrum | Sequence[Spectrum], *, method: str | None = None
) -> ipywidgets.interactive:
    plot_spectrum(spectrum, method=method)  # raises for another type
    spectra = one_or_several(spectrum)

    def first(s: Spectrum, k: int) -> Spectrum:
        return replace(
            s,
            values=s.values[:k],
            vectors=s.vectors[:k],
            residual=s.residual[:k],
        )

    def draw(draws: int, largest: int) -> Figure:
        drawn = [first(s, largest) for s in spectra[:draws]]
        return plot_spectrum(drawn, method=method)

    draws = _count(len(spectra), "draws")
    fewest = min(len(s.values) for s in spectra)
    largest = _count(fewest, "largest")
    return _interactive(draw, draws=draws, largest=largest)


def first_draws(projection: Projection, n: int) -> Projection:
    """Return the first n samples of a projection."""
    values = None if projection.values is None else projection.values[:n]
    coords = projection.coords[:n]
    return replace(
        projection,
        coords=coords,
        distance=projection.distance[:n],
        values=values,
    )


def _interactive(
    draw: Callable[..., Figure], **controls: ipywidgets.Widget
) -> ipywidgets.interactive:
    """Return the figure that `draw` makes of the controls' values, drawn again at each change."""
    values = {name: control.value for name, control in controls.items()}
    draw(**values)  # raises here what a widget would only log
    in_kernel = kernel_shell() is not None
    how = {"auto_display": in_kernel}
    return ipywidgets.interactive(draw, how, clear_output=in_kernel, **controls)


def _count(most: int, name: str) -> ipywidgets.IntSlider:
    """Return a slider from 1 to `most`, at `most`; disabled where there is only one."""
    return ipywidgets.IntSlider(most, 1, max(most, 2), description=name, disabled=most == 1)
