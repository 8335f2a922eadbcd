"""Posteriors over weights: a method is a value, `fv.fit(net, data, method)` fits it.

`METHODS` is the table of all.  A new method is a file, its entry in `entries.py`, and one line in
`flatviz/catalog.toml`: figures, page, the lab's menu and the conformance tests read the table.
"""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "bsam": "BSAM",
        "dropout": "Dropout",
        "emcmc": "EMCMC",
        "entries": "METHODS",
        "hmc": "HMC",
        "ivon": "IVON",
        "laplace": "Laplace laplace_evidence marginal_noise",
        "multi": "Multi PTL",
        "psgld": "PSGLD",
        "sabma": "SABMA",
        "sgd": "SGD Ensemble",
        "sgld": "SGLD SGHMC CSGLD",
        "sgnht": "SGNHT",
        "svgd": "SVGD",
        "swag": "SWA SWAG SWAGDiagonal",
        "transfer": "moped_prior",
        "vi": "VI MeanFieldVI",
    },
)
