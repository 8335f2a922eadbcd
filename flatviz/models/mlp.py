"""A perceptron with LayerNorm."""

from __future__ import annotations

import math

from torch import nn

from flatviz.core.data import Task
from flatviz.core.seeds import saved_rng


def mlp(task: Task, *, hidden: tuple[int, ...] = (64, 64), seed: int = 0) -> nn.Module:
    """Flatten, then Linear - LayerNorm - ReLU for each width in `hidden`, then a Linear head."""
    widths = (math.prod(task.input_shape), *hidden)
    layers: list[nn.Module] = [nn.Flatten()]
    with saved_rng(seed):
        for n_in, n_out in zip(widths, widths[1:]):
            layers += [nn.Linear(n_in, n_out), nn.LayerNorm(n_out), nn.ReLU()]
        layers.append(nn.Linear(widths[-1], task.n_classes))
    return nn.Sequential(*layers)
