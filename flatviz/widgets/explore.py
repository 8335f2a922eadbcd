"""`explore(result)`: a picture with controls, chosen by the type of what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import ipywidgets

from flatviz.checks import check_choice
from flatviz.core.net import Net
from flatviz.results import Prediction, Projection, Spectrum, Surface
from flatviz.widgets.explore_draws import explore_calibration, explore_draws, explore_spectrum
from flatviz.widgets.explore_surface import explore_path, explore_surface
from flatviz.widgets.symmetry import explore_symmetry


@singledispatch
def explore(result: object, *more: Any, **options: Any) -> ipywidgets.VBox:
    """A result with controls in a notebook, chosen by its type; `.figure`, `.controls` and `.text` are the parts of the box.

    ====================================================  ========================================================
    `explore(surface, projection=None)`                   how many samples, linear or logarithmic colours
    `explore(surface, projection, steps=path.steps)`      a slider over time for a path on a `plane_path`
    `explore(projection, method=None)`                    the first n draws on the plane
    `explore(spectrum, method=None)`, or a list of them   how many draws, how many eigenvalues
    `explore(prediction, view="scores", method=None)`     scores, or "calibration", of the first n draws
    `explore(net, data, w=None, seed=0)`                  hidden units rescaled and permuted: the same function
    ====================================================  ========================================================

    Raises:
        TypeError: For anything else.

    Example:
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> view = fv.explore(fv.slice_plane(lambda w: (w ** 2).sum() + 1, plane, resolution=5))
        >>> sorted(view.controls)
        ['ceiling', 'log', 'samples']
    """
    raise TypeError(
        "explore takes a Surface, Projection, Prediction, Spectrum (or a list of them) or a Net with its data, "
        f"got {type(result).__name__}"
    )


explore.register(Projection, explore_draws)
explore.register(Spectrum, explore_spectrum)
explore.register(Net, explore_symmetry)


@explore.register(list)
@explore.register(tuple)
def _(spectra: Sequence[Spectrum], *, method: str | None = None) -> ipywidgets.VBox:
    return explore_spectrum(spectra, method=method)


@explore.register
def _(surface: Surface, projection: Projection | None = None, *, steps: Sequence[int] | None = None) -> ipywidgets.VBox:
    return explore_surface(surface, projection) if steps is None else explore_path(surface, projection, steps=steps)


@explore.register
def _(prediction: Prediction, *, view: str = "scores", method: str | None = None) -> ipywidgets.VBox:
    kinds = {"scores": explore_draws, "calibration": explore_calibration}
    return kinds[check_choice(view, tuple(kinds), "view")](prediction, method=method)
