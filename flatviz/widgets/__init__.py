"""Live views in a notebook: `Lab`, the laboratory, and `explore(result)` by type."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(__name__, {"lab": "Lab", "picture": "plot_view"})
