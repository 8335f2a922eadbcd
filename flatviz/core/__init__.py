"""The hot path: networks as vectors, data, objectives, and the two primitives everything slow is made of."""
