"""Training on flat weight vectors: one driver for all methods, and what methods share."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "driver": "Algorithm Record",
        "gradient": "TrainingLoss gradient_of",
        "losses": "training_loss",
        "perturb": "Perturbation",
        "method": "Method",
        "points": "Chain Descending Energy SGD Stepped",
        "settings": "Run",
        "variational": "Descent",
    },
)
