"""Geometry of any objective f: (D,) -> (): slices, curvature, projections."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "krylov": "curvature_operator",
        "spectrum": "batch_eigenvalues",
        "trace": "layer_curvature",
    },
)
