"""Planes and directions of weight space."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__, {"plane": "plane_along plane_eigen plane_path plane_pca plane_random plane_through"}
)
