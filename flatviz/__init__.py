"""flatviz: Bayesian flatness, trained, measured, drawn.

    import flatviz as fv

The names of the course's first half are here: nouns (`fv.Net`, `fv.Gaussian`), methods
(`fv.fit_sabma`), landscapes (`fv.slice_plane`), figures (`fv.plot(result)`, `fv.explore(result)`)
and scores (`fv.score(prediction, "ece")`).  Everything else is in a namespace: `fv.metrics`,
`fv.symmetry`, `fv.planes`, `fv.plots`, `fv.datasets`, `fv.models`, and one for each further folder.

Names load when first used, so a machine without plotly, torchvision, scikit-learn, ipywidgets or
loss-landscapes imports flatviz and computes on tensors.
"""

from flatviz.lazy import lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "results": (
            "Curve Draws Family History Mixture Plane Posterior Prediction Projection Spectrum"
            " Surface"
        ),
        "gaussian": "Gaussian",
        "likelihood": "Likelihood",
        "core.net": "Net",
        "core.data": "Data Task",
        "core.objective": "Objective hvp",
        "core.ascent": "SAM ASAM FisherSAM",
        "core.expectations": "expect",
        "storage.cache": "load save",
        "objectives.network": "nll quantity",
        "objectives.inputs": "input_nll",
        "training.driver": "Diverged",
        "training.points": "pretrain",
        "training.perturb": "perturb",
        "training.gradient": "Training",
        "training.recording": "record_path",
        "posteriors": "METHODS",
        "posteriors.transfer": "transfer",
        "posteriors.sgd": "fit_sgd fit_ensemble",
        "posteriors.swag": "fit_swa fit_swag fit_swag_diag",
        "posteriors.vi": "fit_vi fit_mfvi",
        "posteriors.sabma": "fit_sabma fit_sabma_grid",
        "posteriors.bsam": "fit_bsam",
        "posteriors.ivon": "fit_ivon",
        "posteriors.laplace": "fit_laplace",
        "posteriors.sgld": "fit_sgld fit_sghmc fit_csgld",
        "posteriors.psgld": "fit_psgld",
        "posteriors.sgnht": "fit_sgnht",
        "posteriors.hmc": "fit_hmc",
        "posteriors.emcmc": "fit_emcmc",
        "posteriors.svgd": "fit_svgd",
        "posteriors.dropout": "fit_dropout",
        "posteriors.multi": "fit_multi fit_ptl",
        "planes": "plane_along plane_eigen plane_pca plane_random plane_through",
        "landscape.slices": "project slice_line slice_path slice_plane",
        "landscape.spectrum": "spectral_density top_eigenpairs",
        "landscape.trace": "hessian_trace",
        "metrics": "predict score sharpness",
        "plots": (
            "plot plot_curve plot_density plot_metrics plot_projection plot_spectrum plot_surface"
        ),
        "widgets.compare": "compare",
        "widgets.explore": "explore",
        "widgets.playground": "playground",
        "widgets.open": "lab",
    },
    "bridges core datasets engine families gaussian landscape metrics models pages planes plots"
    " posteriors results storage symmetry training widgets",
)
