"""Plots, `plot_<noun>(result) -> plotly Figure`: they never compute, show or change settings."""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
