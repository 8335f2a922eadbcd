"""A small convolutional net with BatchNorm."""

from __future__ import annotations

from torch import nn

from flatviz.core.data import Task
from flatviz.core.seeds import saved_rng


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
