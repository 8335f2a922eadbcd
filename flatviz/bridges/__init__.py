"""Calls of other libraries, with results as flatviz's nouns."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
