"""flatviz: Bayesian flatness, trained, measured, seen.

Names load when first used (PEP 562), so a machine without plotly, torchvision, scikit-learn, ipywidgets or
loss-landscapes still imports flatviz and computes on tensors.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "flatviz.results": (
        "Curve Draws Family History Mixture Persistence Plane Posterior Prediction Projection Sharpness Shift Spectrum Surface"
    ),
    "flatviz.gaussian": "Gaussian KroneckerGaussian PrecisionGaussian",
    "flatviz.core.net": "Net",
    "flatviz.core.data": "Data Task",
    "flatviz.objectives.nll": "nll",
    "flatviz.objectives.quantity": "quantity",
    "flatviz.objectives.bma": "bma_nll",
    "flatviz.core.objective": "Objective hvp",
    "flatviz.engine.batchnorm": "refresh_batchnorm",
    "flatviz.engine.trunk": "cache_trunk",
    "flatviz.storage.cache": "load save",
    "flatviz.training.pretrain": "pretrain",
    "flatviz.training.run": "Training",
    "flatviz.training.recording": "record_path",
    "flatviz.core.ascent": "SAM ASAM FisherSAM",
    "flatviz.posteriors": "METHODS",
    "flatviz.posteriors.transfer": "transfer moped_prior",
    "flatviz.posteriors.sgd": "fit_sgd",
    "flatviz.posteriors.swa": "fit_swa",
    "flatviz.posteriors.swag_diag": "fit_swag_diag",
    "flatviz.posteriors.swag": "fit_swag",
    "flatviz.posteriors.sgld": "fit_sgld",
    "flatviz.posteriors.sghmc": "fit_sghmc",
    "flatviz.posteriors.hmc": "fit_hmc",
    "flatviz.bridges.arviz": "diagnose_chains",
    "flatviz.bridges.xarray": "to_xarray from_xarray to_arviz from_arviz",
    "flatviz.posteriors.csgld": "fit_csgld",
    "flatviz.posteriors.emcmc": "fit_emcmc",
    "flatviz.posteriors.ptl": "fit_ptl",
    "flatviz.posteriors.mfvi": "fit_mfvi",
    "flatviz.posteriors.bsam": "fit_bsam",
    "flatviz.posteriors.laplace": "fit_laplace laplace_evidence laplace_precision",
    "flatviz.posteriors.dropout": "fit_dropout",
    "flatviz.posteriors.ensemble": "fit_ensemble",
    "flatviz.posteriors.multi": "fit_multi",
    "flatviz.posteriors.vi": "fit_vi",
    "flatviz.posteriors.sabma": "fit_sabma",
    "flatviz.training.perturb": "perturb",
    "flatviz.planes.pca": "plane_pca plane_path",
    "flatviz.planes.along": "plane_along plane_eigen plane_gradient",
    "flatviz.planes.random": "plane_random",
    "flatviz.planes.through": "plane_through",
    "flatviz.landscape.slices": "slice_plane slice_line slice_path",
    "flatviz.landscape.lanczos": "top_eigenpairs",
    "flatviz.landscape.density": "spectral_density",
    "flatviz.landscape.connect": "connect points_on",
    "flatviz.landscape.curvature_map": "map_curvature",
    "flatviz.landscape.topology": "persistence",
    "flatviz.landscape.trace": "hessian_trace",
    "flatviz.landscape.projection": "project",
    "flatviz.metrics.predict": "predict",
    "flatviz.metrics.scores": "accuracy nll_score brier",
    "flatviz.metrics.calibration": "ece ace reliability",
    "flatviz.metrics.uncertainty": "predictive_entropy aleatoric_entropy mutual_information",
    "flatviz.metrics.exactness": "agreement total_variation",
    "flatviz.metrics.diversity": "disagreement label_information",
    "flatviz.metrics.ood": "ood_scores",
    "flatviz.metrics.selective": "risk_coverage",
    "flatviz.metrics.temperature": "fit_temperature scale_temperature",
    "flatviz.metrics.sharpness": "sharpness weyl_bounds",
    "flatviz.metrics.linearised": "predict_linearised",
    "flatviz.symmetry.hidden": "units_of",
    "flatviz.symmetry.units": "Units",
    "flatviz.symmetry.actions": "permute rescale flip random_order random_factor",
    "flatviz.symmetry.removal": "unit_norm sort_units canonical",
    "flatviz.symmetry.minmass": "min_mass",
    "flatviz.symmetry.alignment": "align",
    "flatviz.symmetry.mmd": "mmd layers_of",
    "flatviz.symmetry.pool": "Pool train_pool",
    "flatviz.symmetry.collapse": "pair_diversity",
    "flatviz.symmetry.flatness": "flatness rescaled_orbit",
    "flatviz.families.family": "fit_family measure",
    "flatviz.families.seeds": "repeat_family",
    "flatviz.families.convergence": "convergence_gap",
    "flatviz.families.mechanism": "mechanism mechanism_in_training",
    "flatviz.families.inputs": "gap_regression predict_gap",
    "flatviz.families.shift": "shifted_scores",
    "flatviz.plots.surface": "plot_surface",
    "flatviz.plots.basin": "plot_basin",
    "flatviz.plots.mechanism": "plot_mechanism",
    "flatviz.plots.inputs": "plot_predictive",
    "flatviz.plots.radius": "plot_flatness_against_radius",
    "flatviz.plots.surface_3d": "plot_surface_3d",
    "flatviz.plots.density": "plot_density",
    "flatviz.plots.curve": "plot_curve",
    "flatviz.plots.persistence": "plot_persistence",
    "flatviz.plots.animation": "animate_projection",
    "flatviz.plots.explain": "explain",
    "flatviz.plots.save": "save_figure",
    "flatviz.plots.spectrum": "plot_spectrum",
    "flatviz.plots.projection": "plot_projection",
    "flatviz.plots.metrics": "plot_metrics",
    "flatviz.plots.reliability": "plot_reliability",
    "flatviz.plots.flatness": "plot_flatness",
    "flatviz.plots.severity": "plot_severity",
    "flatviz.plots.risk_coverage": "plot_risk_coverage",
    "flatviz.plots.closeness": "plot_closeness",
    "flatviz.plots.gains": "plot_gains",
    "flatviz.plots.orbit": "plot_orbit",
    "flatviz.widgets.picture": "plot_view",
    "flatviz.widgets.lab": "FlatnessLab",
    "flatviz.widgets.playground": "playground",
    "flatviz.widgets.own": "lab",
    "flatviz.widgets.explore": "explore_surface explore_path",
    "flatviz.widgets.explore_draws": "explore_spectrum explore_draws explore_calibration",
    "flatviz.widgets.symmetry": "explore_symmetry",
}
_MODULES = """
bridges core datasets engine families landscape metrics models objectives pages planes plots
posteriors storage symmetry training widgets
""".split()
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_WHERE, *_MODULES])


def __getattr__(name: str) -> object:
    if name in _WHERE:
        try:
            return getattr(importlib.import_module(_WHERE[name]), name)
        except ModuleNotFoundError as error:
            if (error.name or "flatviz").partition(".")[0] == "flatviz":  # a fault of ours, not a package that is absent
                raise
            text = f'flatviz.{name} needs {error.name}: pip install "flatviz[lab]" (in a clone: pip install ".[lab]")'
            raise ModuleNotFoundError(text, name=error.name) from error
    if name in _MODULES:
        return importlib.import_module(f"flatviz.{name}")
    raise AttributeError(f"module 'flatviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
