"""Geometry of any objective f: (D,) -> (): slices, curvature, projections."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "krylov": "curvature_operator",
        "spectrum": "batch_eigenvalues",
        "topology": "persistence",
        "trace": "layer_curvature",
    },
)
