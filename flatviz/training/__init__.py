"""Training on flat weight vectors.

One driver for all methods, the losses, gradients and noise that it gives them, and what they share.
"""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "driver": "Algorithm Record drive",
        "gradient": "TrainingLoss gradient_of",
        "losses": "training_loss",
        "points": "Energy SGD",
        "settings": "Run",
        "variational": "Descent",
    },
)
