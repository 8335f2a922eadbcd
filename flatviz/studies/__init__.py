"""Whole experiments joined from verbs, computing only: a family over radii, measured; the table of seeds."""
