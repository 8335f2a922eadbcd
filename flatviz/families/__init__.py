"""Families of posteriors for page and lab: one task, several radii, measured on shared ground.

Also the tour, and a user's network.
"""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "preparation": "shifted_scores",
        "convergence": "convergence_gap",
        "family": "fit_family measure",
        "members": "Choice Fitting",
    },
)
