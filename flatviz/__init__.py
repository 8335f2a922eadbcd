"""flatviz: Bayesian flatness, trained, measured, seen.

    import flatviz as fv

The names of the course's first half stand here: nouns (`fv.Net`, `fv.Gaussian`), methods (`fv.fit_sabma`), landscapes
(`fv.slice_plane`), pictures (`fv.plot(result)`, `fv.explore(result)`) and scores (`fv.score(prediction, "ece")`).
Everything else is in a namespace: `fv.metrics`, `fv.symmetry`, `fv.planes`, `fv.plots`, `fv.datasets`, `fv.models`,
and one for each further folder.  Names load when first used, so a machine without plotly,
torchvision, scikit-learn, ipywidgets or loss-landscapes still imports flatviz and computes on tensors.
"""

from __future__ import annotations

from flatviz.lazy import lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "results": "Curve Draws Family History Mixture Plane Posterior Prediction Projection Spectrum Surface",
        "gaussian": "Gaussian",
        "core.net": "Net",
        "core.data": "Data Task",
        "core.objective": "Objective hvp",
        "core.ascent": "SAM ASAM FisherSAM",
        "storage.cache": "load save",
        "objectives.nll": "nll",
        "objectives.quantity": "quantity",
        "training.pretrain": "pretrain",
        "training.perturb": "perturb",
        "training.run": "Training",
        "training.recording": "record_path",
        "posteriors": "METHODS",
        "posteriors.transfer": "transfer",
        "posteriors.sgd": "fit_sgd",
        "posteriors.swa": "fit_swa",
        "posteriors.swag_diag": "fit_swag_diag",
        "posteriors.swag": "fit_swag",
        "posteriors.sgld": "fit_sgld",
        "posteriors.sghmc": "fit_sghmc",
        "posteriors.hmc": "fit_hmc",
        "posteriors.csgld": "fit_csgld",
        "posteriors.emcmc": "fit_emcmc",
        "posteriors.svgd": "fit_svgd",
        "posteriors.ptl": "fit_ptl",
        "posteriors.mfvi": "fit_mfvi",
        "posteriors.bsam": "fit_bsam",
        "posteriors.laplace": "fit_laplace",
        "posteriors.dropout": "fit_dropout",
        "posteriors.ensemble": "fit_ensemble",
        "posteriors.multi": "fit_multi",
        "posteriors.vi": "fit_vi",
        "posteriors.sabma": "fit_sabma",
        "planes": "plane_along plane_eigen plane_pca plane_random plane_through",
        "landscape.slices": "slice_line slice_path slice_plane",
        "landscape.lanczos": "top_eigenpairs",
        "landscape.density": "spectral_density",
        "landscape.trace": "hessian_trace",
        "landscape.projection": "project",
        "metrics": "predict score sharpness",
        "plots": "plot plot_curve plot_density plot_metrics plot_projection plot_spectrum plot_surface",
        "widgets.explore": "explore",
        "widgets.open": "lab",
        "widgets.playground": "playground",
    },
    "bridges core datasets engine families gaussian landscape metrics models objectives pages planes plots posteriors results "
    "storage symmetry training widgets",
)
