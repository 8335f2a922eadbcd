"""Maps of the weights that leave the function unchanged, and posteriors with them removed."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
