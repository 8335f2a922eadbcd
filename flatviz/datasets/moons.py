"""Two interleaving half circles: a transfer task in the plane, made without download or package, small enough to draw."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Seed
from flatviz.core.boundary import public
from flatviz.core.data import Data, Task
from flatviz.core.seeds import generator
from flatviz.datasets.few_shot import MOST_VALIDATION

N_CLASSES, N_SOURCE, N_TEST = 2, 200, 400
SOURCE_ANGLE = math.radians(30)


@public
def moons_transfer(*, shots: Count = 10, noise: NonNegative = 0.15, seed: Seed = 0) -> Task:
    """Source: 200 points of the moons turned by 30 degrees.  Target: `shots` upright points a class.  Test: 400 upright.

    Validation: as many upright points as there are shots, at most 15 a class.

    Class 0 lies on (cos t, sin t), class 1 on (1 - cos t, 1/2 - sin t), t in [0, pi], both plus Gaussian noise.

    Args:
        shots: training points a class; 10 are the few shots of the transfer setting.
        noise: standard deviation of each coordinate; 0.15 lets the classes touch, so that no posterior is sure everywhere.
        seed: draws points and noise; the sets are disjoint draws of one stream.

    Returns:
        A `Task` with x (N, 2).

    Example:
        >>> import flatviz as fv
        >>> fv.datasets.moons_transfer(shots=5, seed=0)
        Task('two moons, 5 shots a class, from turned moons': source 200, train 10, validation 10, test 400, 2 classes)
    """
    source = generator(seed)
    sizes = (N_SOURCE, N_CLASSES * shots, N_TEST, N_CLASSES * min(shots, MOST_VALIDATION))
    turned, train, test, validation = (_moons(n, noise, source) for n in sizes)
    cos, sin = math.cos(SOURCE_ANGLE), math.sin(SOURCE_ANGLE)
    rotation = torch.tensor([[cos, sin], [-sin, cos]])
    name = f"two moons, {shots} shots a class, from turned moons"
    return Task(Data(turned.x @ rotation, turned.y), train, test, n_classes=N_CLASSES, name=name, validation=validation)


def _moons(n: int, noise: float, source: torch.Generator) -> Data:
    """`n` points, half of each class, in turn."""
    t: Tensor = math.pi * torch.rand(n, generator=source)
    y = torch.arange(n) % N_CLASSES
    first, second = torch.stack([t.cos(), t.sin()], 1), torch.stack([1 - t.cos(), 0.5 - t.sin()], 1)
    x = torch.where(y[:, None] == 0, first, second)
    return Data(x + noise * torch.randn(n, 2, generator=source), y)
