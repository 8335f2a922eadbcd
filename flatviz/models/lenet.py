"""LeNet-5, with ReLU and max pooling."""

from __future__ import annotations

from torch import nn

from flatviz.core.data import Task
from flatviz.core.seeds import saved_rng

PADDING = {28: 2, 32: 0}  # side of the image -> padding of the first convolution


def lenet(task: Task, *, seed: int = 0) -> nn.Module:
    """Conv 5x5 (6) - pool - Conv 5x5 (16) - pool - Linear 120 - Linear 84 - Linear head: 61,706 weights for 10 classes of grey images.

    It has no normalisation layers: treat all weights, or name those to treat.
    Source: LeCun et al. 1998, with ReLU and max pooling.

    Raises:
        ValueError: For images that are not 28 x 28 or 32 x 32.
    """
    shape = task.input_shape
    if len(shape) != 3 or shape[1] != shape[2] or shape[2] not in PADDING:
        raise ValueError(f"lenet needs images of 28 x 28 or 32 x 32, got inputs of shape {shape}: resize them")
    with saved_rng(seed):
        return nn.Sequential(
            nn.Conv2d(shape[0], 6, 5, padding=PADDING[shape[2]]),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, task.n_classes),
        )
