"""`plot(result)`: the figure that belongs to the type of a result; a notebook's cell shows its last value the same way."""

from collections.abc import Callable, Mapping
from typing import Any

from flatviz import plots, results
from flatviz.plots.theme import Figure
from flatviz.results import History, LayerCurvature, Prediction, Projection, Spectrum, Surface


def plot(result: object, *more: Any, **options: Any) -> Figure:
    """Draw the figure of a result, chosen by its type; `more` and `options` are those of the function that draws it.

    =====================================  =============================================================
    `Surface`                              `plot_surface`
    `Curve`, `Spectrum`, `Projection`      `plot_curve`, `plot_spectrum` or `plot_density`, `plot_projection`
    `Prediction`                           `plot_reliability`, of a regression `plot_predictive`; of several methods `plot_metrics`
    `Sharpness`, `Shift`, `Persistence`    `plot_sharpness`, `plot_severity`, `plot_persistence`
    `Mechanism`, `Family`                  `plot_mechanism`, `plot_radius`
    `History`                              `plot_history`; `layer_curvature`'s dict `plot_layers`
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
    elif isinstance(result, (list, tuple)):
        first, table = result[0] if result else None, SEVERAL
    else:
        first, table = result, ONE
    if type(first) not in table:
        names = [", ".join(kind.__name__ for kind in kinds) for kinds in (ONE, SEVERAL, BY_METHOD)]
        got = type(result).__name__ if first is result else f"a {type(result).__name__} of {type(first).__name__}"
        raise TypeError(f"plot takes a result ({names[0]}), a list ({names[1]}), or method -> result ({names[2]}), got {got}")
    return table[type(first)](result, *more, **options)


Draw = Callable[..., Figure]
ONE: dict[type, Draw] = {
    results.Curve: plots.plot_curve,
    results.Family: plots.plot_radius,
    History: plots.plot_history,
    results.Mechanism: plots.plot_mechanism,
    results.Persistence: plots.plot_persistence,
    Prediction: lambda p, *x, **options: (plots.plot_reliability if p.has_classes else plots.plot_predictive)(p, *x, **options),
    Projection: plots.plot_projection,
    results.Sharpness: plots.plot_sharpness,
    results.Shift: lambda shift, **options: plots.plot_severity({"posterior": shift}, **options),
    Spectrum: lambda s, **options: (plots.plot_spectrum if s.nodes is None else plots.plot_density)(s, **options),
    Surface: plots.plot_surface,
}
SEVERAL: dict[type, Draw] = {results.Curve: plots.plot_curve, Spectrum: plots.plot_spectrum}
BY_METHOD: dict[type, Draw] = {
    LayerCurvature: plots.plot_layers,
    Prediction: plots.plot_metrics,
    results.Sharpness: plots.plot_sharpness,
    results.Shift: plots.plot_severity,
}


def shown(result: Surface | Projection | Prediction) -> Figure | None:
    """Draw the figure of a cell's last value; None where its text is enough: no labels, no finite value."""
    empty = {
        Projection: lambda projection: not len(projection.coords),
        Prediction: lambda p: p.y is None or not (p.has_classes or bool(p.outputs.isfinite().all())),
        Surface: lambda surface: not bool(surface.values.isfinite().any()),
    }
    return None if empty[type(result)](result) else plot(result)
