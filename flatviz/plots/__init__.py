"""Plots, `plot_<noun>(result) -> plotly Figure`: they never compute, show or change settings."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "by_type": "plot",
        "basin": "plot_basin",
        "calibration": "plot_metrics plot_reliability",
        "curvature": "plot_density plot_history plot_sharpness plot_spectrum",
        "frontier": "plot_frontier",
        "landscape": "plot_curve plot_projection",
        "inputs": "plot_predictive",
        "quantiles": "plot_calibration",
        "radius": "plot_radius",
        "shift": "plot_risk_coverage plot_severity",
        "surfaces": "plot_surface plot_surface_3d",
    },
)
