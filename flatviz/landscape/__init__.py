"""Geometry of any objective f: (D,) -> (): slices, curvature, projections.  It knows neither data nor networks."""
