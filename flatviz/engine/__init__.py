"""The hot path: many weight vectors, or many points of a plane, through one network."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(__name__, {"batchnorm": "refresh_batchnorm"})
