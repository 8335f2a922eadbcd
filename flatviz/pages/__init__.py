"""Results as one HTML file that needs no Python and no network; holds the ES module that the widget uses too."""
