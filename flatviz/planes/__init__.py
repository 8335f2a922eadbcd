"""Planes and directions of weight space."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {"pca": "plane_path plane_pca", "along": "plane_along plane_eigen", "random": "plane_random", "through": "plane_through"},
)
