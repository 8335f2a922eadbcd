"""The hot path: many weight vectors, or many points of a plane, through one network."""
