"""`plot(result)`: the figure that belongs to the type of a result, as notebooks show it."""

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from flatviz import plots, results
from flatviz.plots.theme import Figure, Property
from flatviz.results import History, Prediction, Projection, Spectrum, Surface


def plot(result: object, *more: object, **options: object) -> Figure:
    """Draw the figure of a result, chosen by its type.

    `more` and `options` are those of the function that draws it:

    - `Surface`: `plot_surface`
    - `Curve`: `plot_curve`
    - `Spectrum`: `plot_spectrum`, or `plot_density` with a density
    - `Projection`: `plot_projection`
    - `Prediction`: `plot_reliability`, of a regression `plot_predictive`, of several methods
      `plot_metrics`
    - `Sharpness`, `Shift`: `plot_sharpness`, `plot_severity`
    - `Family`, `History`: `plot_radius`, `plot_history`

    Args:
        result: A result of flatviz; where the function draws several, a list of them or a dict
            method -> result.
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
    parts = (
        [*result.values()]
        if isinstance(result, Mapping)
        else result
        if isinstance(result, (list, tuple))
        else [result]
    )
    kind = type(next(iter(parts), None))
    if kind not in DRAW:
        names = ", ".join(kind.__name__ for kind in DRAW)
        got = type(result).__name__
        of = "" if kind is type(result) else f" of {kind.__name__}" if parts else " without entries"
        raise TypeError(
            f"plot takes a result ({names}), a list of them, or a dict method -> result, got"
            f" {got}{of}"
        )
    return DRAW[kind](result, *more, **options)


def _prediction(result: Prediction | Mapping, *more: Tensor, **options: Property) -> Figure:
    if not isinstance(result, Prediction):
        return plots.plot_metrics(result, *more, **options)
    return (plots.plot_reliability if result.has_classes else plots.plot_predictive)(
        result, *more, **options
    )


def _spectrum(result: Spectrum | Sequence[Spectrum], **options: Property) -> Figure:
    if isinstance(result, Spectrum) and result.nodes is not None:
        return plots.plot_density(result, **options)
    return plots.plot_spectrum(result, **options)


DRAW: dict[type, Callable[..., Figure]] = {
    results.Curve: plots.plot_curve,
    results.Family: plots.plot_radius,
    History: plots.plot_history,
    Prediction: _prediction,
    Projection: plots.plot_projection,
    results.Sharpness: plots.plot_sharpness,
    results.Shift: plots.plot_severity,
    Spectrum: _spectrum,
    Surface: plots.plot_surface,
}
