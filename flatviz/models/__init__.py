"""Networks for a task, reproducible by seed; weights from a file."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
