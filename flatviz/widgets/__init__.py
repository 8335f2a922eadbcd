"""Live views in a notebook: `FlatnessLab`, and `explore_<noun>` for one's own results."""
