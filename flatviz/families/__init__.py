"""What page and lab show: posteriors of one task over radii, measured on shared ground; the tour and one's own network."""
