"""Planes and directions of weight space."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
