"""A surface of two valleys and points beside its plane, whose figures are read as data."""

import torch
from pytest import fixture

import flatviz as fv


@fixture
def surface():
    plane = fv.Plane(
        torch.zeros(4),
        torch.eye(4)[:2],
        "distance in weight space",
        "PCA plane",
        explained=(0.5, 0.2),
    )
    a = torch.linspace(-2, 2, 9)
    b = torch.linspace(-1, 1, 7)
    values = 0.11 + (a[:, None] ** 2 - 1) ** 2 + 5 * b[None] ** 2 + 0.1 * a[:, None]
    return fv.Surface(plane, a, b, values, "mean NLL (nats)", 100, "frozen")


@fixture
def projection(surface):
    W = torch.tensor([[1.0, 0.5, 0.0, 3.0], [0.0, 0.0, 4.0, 0.0]])
    return fv.project(W, surface.plane, lambda w: (w * w).sum() + 0.01)
