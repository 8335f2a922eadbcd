"""The small convolutional net of a few hundred weights whose posterior is sampled by thousands of trainings."""

from __future__ import annotations

from torch import nn

from flatviz.core.data import Task
from flatviz.core.seeds import saved_rng

SIZES = {8: (3, 2, 2), 28: (4, 3, 5)}  # side of the image -> first kernel, pool, second kernel


def optunet(task: Task, *, seed: int = 0) -> nn.Module:
    """Conv (1 to 2 channels) - ReLU - max pool - Conv (to 10, 2 groups) - ReLU - average pool - Linear; no biases but the head's.

    Images of 28 x 28: 392 weights, kernels 4 and 5.  Of 8 x 8: 168 weights, kernels 3 and 2.
    Source: reconstruction of OptuNet, Laurent et al. 2024 (arXiv 2310.08287).

    Raises:
        ValueError: For another size.
    """
    channels, side = task.input_shape[0], task.input_shape[-1]
    if side not in SIZES or len(task.input_shape) != 3:
        raise ValueError(f"optunet needs images of 8 x 8 or 28 x 28, got inputs of shape {task.input_shape}: resize them")
    first, pool, second = SIZES[side]
    with saved_rng(seed):
        return nn.Sequential(
            nn.Conv2d(channels, 2, first, bias=False),
            nn.ReLU(),
            nn.MaxPool2d(pool),
            nn.Conv2d(2, 10, second, groups=2, bias=False),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(10, task.n_classes),
        )
