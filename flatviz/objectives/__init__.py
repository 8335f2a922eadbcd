"""Scalar functions of a network's weights, with their values, gradients and curvature."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(__name__, {"quantity": "bma_nll"})
