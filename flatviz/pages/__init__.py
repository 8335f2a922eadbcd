"""Results as one HTML file that needs no Python and no network.

Holds the ES module that the widget uses too.
"""
