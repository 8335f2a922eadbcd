"""flatviz: Bayesian flatness, trained, measured, seen.

Names load when first used (PEP 562), so a machine without plotly, torchvision, scikit-learn, ipywidgets or
loss-landscapes still imports flatviz and computes on tensors.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "flatviz.results": (
        "Curve Draws Family Gaussian History Mixture Objective Plane Posterior Prediction Projection Spectrum Surface"
    ),
    "flatviz.core.net": "Net",
    "flatviz.core.data": "Data Task",
    "flatviz.core.nll": "nll",
    "flatviz.core.hvp": "hvp",
    "flatviz.core.batchnorm": "refresh_batchnorm",
    "flatviz.core.cache": "load save",
    "flatviz.training.pretrain": "pretrain",
    "flatviz.posteriors": "FITS",
    "flatviz.posteriors.transfer": "transfer",
    "flatviz.posteriors.sgd": "fit_sgd",
    "flatviz.posteriors.swag": "fit_swag",
    "flatviz.posteriors.vi": "fit_vi",
    "flatviz.posteriors.sabma": "fit_sabma",
    "flatviz.posteriors._perturb": "perturb",
    "flatviz.planes.pca": "plane_pca",
    "flatviz.planes.random": "plane_random",
    "flatviz.planes.through": "plane_through",
    "flatviz.landscape.slices": "slice_plane slice_line",
    "flatviz.landscape.lanczos": "top_eigenpairs",
    "flatviz.landscape.projection": "project",
    "flatviz.metrics.predict": "predict",
    "flatviz.metrics.scores": "accuracy nll_score brier",
    "flatviz.metrics.calibration": "ece reliability",
    "flatviz.studies.family": "fit_family measure",
    "flatviz.plots.surface": "plot_surface",
    "flatviz.plots.spectrum": "plot_spectrum",
    "flatviz.plots.projection": "plot_projection",
    "flatviz.plots.metrics": "plot_metrics",
    "flatviz.plots.reliability": "plot_reliability",
    "flatviz.widgets.lab": "FlatnessLab",
    "flatviz.widgets.explore": "explore_surface",
}
_MODULES = "bridges core datasets landscape metrics models pages planes plots posteriors studies training widgets".split()
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_WHERE, *_MODULES])


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"flatviz.{name}")
    raise AttributeError(f"module 'flatviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
