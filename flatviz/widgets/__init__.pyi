from .lab import Lab as Lab
from .picture import plot_view as plot_view
