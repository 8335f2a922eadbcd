"""Results as one HTML file without Python or network, and the modules of its front end."""
