"""`plot_<noun>(result) -> plotly Figure`; a plot never computes, never shows, never changes a global setting."""
