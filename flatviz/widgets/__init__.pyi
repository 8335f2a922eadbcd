# written by .ci/stubs.py
from flatviz.widgets.lab import Lab as Lab
from flatviz.widgets.picture import plot_view as plot_view
