"""Families of posteriors for page and lab: one task, several radii, measured on shared ground.

Also the tour, and a user's network.
"""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
