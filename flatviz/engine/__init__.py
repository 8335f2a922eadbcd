"""The hot path: many weight vectors, or many points of a plane, through one network."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
