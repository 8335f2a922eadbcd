"""Posteriors over weights: a method is a value, `fv.fit(net, data, method)` fits it.

`METHODS` is the table of all.  A new method is a file, its entry in `entries.py`, and one line in
`flatviz/catalog.toml`: figures, page, the lab's menu and the conformance tests read the table.
"""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
