# written by .ci/stubs.py
from flatviz.plots.basin import plot_basin as plot_basin
from flatviz.plots.by_type import plot as plot
from flatviz.plots.curve import plot_curve as plot_curve
from flatviz.plots.density import plot_density as plot_density
from flatviz.plots.frontier import plot_frontier as plot_frontier
from flatviz.plots.mechanism import plot_mechanism as plot_mechanism
from flatviz.plots.metrics import plot_metrics as plot_metrics
from flatviz.plots.persistence import plot_persistence as plot_persistence
from flatviz.plots.projection import plot_projection as plot_projection
from flatviz.plots.radius import plot_radius as plot_radius
from flatviz.plots.reliability import plot_reliability as plot_reliability
from flatviz.plots.risk_coverage import plot_risk_coverage as plot_risk_coverage
from flatviz.plots.severity import plot_severity as plot_severity
from flatviz.plots.sharpness import plot_sharpness as plot_sharpness
from flatviz.plots.spectrum import plot_spectrum as plot_spectrum
from flatviz.plots.surface import plot_surface as plot_surface
from flatviz.plots.surface_3d import plot_surface_3d as plot_surface_3d
