"""Geometry of any objective f: (D,) -> (): slices, curvature, projections."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
