"""Data sets, each one function that returns a `Data` or a `Task`; their splits and corruptions."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
