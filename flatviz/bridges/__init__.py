"""Calls of other libraries, with results as flatviz's nouns."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "arviz": "diagnose_chains",
        "laplace_torch": "LaplaceTorch",
    },
)
