"""Calls of other libraries, whose answers become results of flatviz."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "arviz": "diagnose_chains",
        "laplace_torch": "LaplaceTorch",
        "trainers": "huggingface_callback lightning_callback",
    },
)
