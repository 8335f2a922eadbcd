"""Posteriors over weights: methods `fit_<method>(net, data, ...) -> Posterior`.

`METHODS` is the table of all.  A new posterior is a file that ends with its record, and one line in
`flatviz/catalog.toml`: figures, page, the lab's menu and the conformance tests read the table.
"""

from importlib import import_module

from flatviz.catalog import ROWS, Look
from flatviz.lazy import attach
from flatviz.posteriors.method import Method, table


def _record(look: Look) -> Method:
    file, _, name = look.record.partition(".")
    return getattr(import_module(f"{__name__}.{file}"), name)


METHODS: dict[str, Method] = table(ROWS, _record)
__getattr__, __dir__, __all__ = attach(__name__, __file__)
