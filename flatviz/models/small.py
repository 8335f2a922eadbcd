"""Small networks that train in seconds: a perceptron, a convolutional net, and one of a few hundred weights."""

from __future__ import annotations

import math

from torch import nn

from flatviz.core.data import Task
from flatviz.core.seeds import saved_rng

SIZES = {8: (3, 2, 2), 28: (4, 3, 5)}  # side of the image -> first kernel, pool, second kernel


def mlp(task: Task, *, hidden: tuple[int, ...] = (64, 64), seed: int = 0) -> nn.Module:
    """A perceptron: flatten, then Linear - LayerNorm - ReLU for each width in `hidden`, then a Linear head."""
    widths = (math.prod(task.input_shape), *hidden)
    layers: list[nn.Module] = [nn.Flatten()]
    with saved_rng(seed):
        for n_in, n_out in zip(widths, widths[1:]):
            layers += [nn.Linear(n_in, n_out), nn.LayerNorm(n_out), nn.ReLU()]
        layers.append(nn.Linear(widths[-1], task.n_classes))
    return nn.Sequential(*layers)


def convnet(task: Task, *, channels: tuple[int, ...] = (16, 32, 32), seed: int = 0) -> nn.Module:
    """Conv 3x3 - BatchNorm - ReLU for each width in `channels`, halved once after the first, average pool, Linear head."""
    widths = (task.input_shape[0], *channels)
    layers: list[nn.Module] = []
    with saved_rng(seed):
        for i, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
            layers += [nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()]
            if i == 0:
                layers.append(nn.MaxPool2d(2))
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], task.n_classes)]
    return nn.Sequential(*layers)


def optunet(task: Task, *, seed: int = 0) -> nn.Module:
    """Conv (1 to 2 channels) - ReLU - max pool - Conv (to 10, 2 groups) - ReLU - average pool - Linear; a bias in the head alone.

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
