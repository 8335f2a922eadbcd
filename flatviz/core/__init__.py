"""Networks as vectors, data, objectives, and the two primitives behind everything slow."""

from flatviz.lazy import attach

# No `__all__`: for the layers above, not for users
__getattr__, __dir__, _ = attach(__name__, __file__)
