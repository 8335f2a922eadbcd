"""`plot_<noun>(result) -> plotly Figure`; a plot never computes, never shows, never changes a global setting."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "by_type": "plot",
        "basin": "plot_basin",
        "curve": "plot_curve",
        "density": "plot_density",
        "mechanism": "plot_mechanism",
        "metrics": "plot_metrics",
        "persistence": "plot_persistence",
        "projection": "plot_projection",
        "frontier": "plot_frontier",
        "predictive": "plot_predictive",
        "radius": "plot_radius",
        "reliability": "plot_reliability",
        "risk_coverage": "plot_risk_coverage",
        "severity": "plot_severity",
        "sharpness": "plot_sharpness",
        "spectrum": "plot_spectrum",
        "surface": "plot_surface",
        "surface_3d": "plot_surface_3d",
    },
)
