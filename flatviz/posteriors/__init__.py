"""Posteriors over weights: one method a file, `fit_<method>(net, data, ...) -> Posterior`.

`METHODS` is the table of all.

A new posterior is one file that ends with its record, and one line in `flatviz/catalog.py`:
figures, page, the lab's menu and the conformance tests read the table.
"""

from importlib import import_module

from flatviz.catalog import ROWS, Look
from flatviz.lazy import lazy
from flatviz.posteriors.method import Method, table


def _record(look: Look) -> Method:
    file, _, name = look.record.partition(".")
    return getattr(import_module(f"{__name__}.{file}"), name)


METHODS: dict[str, Method] = table(ROWS, _record)
__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "bsam": "BSAM",
        "coupled": "EMCMC SVGD",
        "laplace": "laplace_evidence marginal_noise",
        "sabma": "SABMA",
        "sgld": "SGLD SGHMC",
        "swag": "SWAG",
        "transfer": "moped_prior",
        "vi": "VI",
    },
)
