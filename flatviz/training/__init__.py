"""Training on flat weight vectors: one driver for all methods, and what methods share."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
