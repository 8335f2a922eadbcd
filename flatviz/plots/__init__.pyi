# written by .ci/stubs.py
from flatviz.plots.basin import plot_basin as plot_basin
from flatviz.plots.by_type import plot as plot
from flatviz.plots.calibration import plot_metrics as plot_metrics
from flatviz.plots.calibration import plot_reliability as plot_reliability
from flatviz.plots.curvature import plot_density as plot_density
from flatviz.plots.curvature import plot_history as plot_history
from flatviz.plots.curvature import plot_sharpness as plot_sharpness
from flatviz.plots.curvature import plot_spectrum as plot_spectrum
from flatviz.plots.frontier import plot_frontier as plot_frontier
from flatviz.plots.inputs import plot_predictive as plot_predictive
from flatviz.plots.landscape import plot_curve as plot_curve
from flatviz.plots.landscape import plot_projection as plot_projection
from flatviz.plots.radius import plot_radius as plot_radius
from flatviz.plots.surfaces import plot_surface as plot_surface
from flatviz.plots.surfaces import plot_surface_3d as plot_surface_3d
