"""Live views in a notebook: `Lab`, the laboratory, and `explore(result)` by type."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
