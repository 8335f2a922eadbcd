"""Posteriors over weights: one method a file, `fit_<method>(net, data, ...) -> Posterior`; `METHODS` is the table of all.

A new posterior is one file that ends with its record, and one line here: tour, compare, evidence, the lab, figures, page and
the conformance tests read the table.
"""

from importlib import import_module

from flatviz.posteriors.method import table

_RECORDS = (
    ("sgd", "METHOD"),
    ("sgd", "FISHER_SAM"),
    ("swa", "METHOD"),
    ("swag_diag", "METHOD"),
    ("swag", "METHOD"),
    ("mfvi", "METHOD"),
    ("mfvi", "MOPED"),
    ("vi", "METHOD"),
    ("sabma", "SAM_ON_MEAN"),
    ("sabma", "METHOD"),
    ("sabma", "RELEASED_CODE"),
    ("bsam", "METHOD"),
    ("laplace", "METHOD"),
    ("sgld", "METHOD"),
    ("sghmc", "METHOD"),
    ("hmc", "METHOD"),
    ("csgld", "METHOD"),
    ("csgld", "CYCLICAL_SGHMC"),
    ("emcmc", "METHOD"),
    ("ptl", "METHOD"),
    ("dropout", "METHOD"),
    ("ensemble", "METHOD"),
    ("multi", "METHOD"),
)
METHODS = table([getattr(import_module(f"{__name__}.{file}"), record) for file, record in _RECORDS])
