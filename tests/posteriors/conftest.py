"""Shared by the tests of posteriors: small networks with priors, networks that are a function of
their weights, a source."""

import torch
from cases import net_of, normals, rng
from pytest import fixture
from torch import eye, float64, full_like, nn, randn
from torch.nn import Linear

import flatviz as fv


@fixture
def small():
    """(net, data, prior): float64 with LayerNorm, norm layers and head treated, on 24 points: D = 8
    + 15 = 23."""
    torch.manual_seed(3)
    module = nn.Sequential(Linear(2, 4), nn.LayerNorm(4), nn.Tanh(), Linear(4, 3)).double()
    x = randn(24, 2, dtype=float64)
    y = torch.randint(0, 3, (24,))
    net = net_of(module, "norm+head")
    factor = 0.1 * eye(2, net.dim, dtype=float64)
    prior = fv.Gaussian(net.w, full_like(net.w, -1.5), factor)
    return net, fv.Data(x, y), prior


@fixture(scope="session")
def source(task):
    """(net, prior over all of its weights) after a short pre-training."""
    net = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=2)
    g = rng()
    q = fv.Gaussian(net.w + 0.01, full_like(net.w, -2.0), 0.1 * randn(2, net.dim, generator=g))
    return net, q


class OfWeights(nn.Module):
    """Outputs function(w, x)."""

    def __init__(self, function, start):
        super().__init__()
        self.function = function
        self.w = nn.Parameter(start.double())

    def forward(self, x):
        return self.function(self.w, x)


@fixture(scope="session")
def of_weights():
    """Call it: the float64 net with the outputs function(w, x), at w = start."""
    return lambda function, start: net_of(OfWeights(function, start))


@fixture(scope="session")
def linear_regression():
    """Call it: (net, data, mean, covariance) of y = x w + noise with w ~ N(0, 1 / delta); the first
    two inputs go together."""

    def made(n, weights, noise, delta, seed=0):
        g = rng(seed)
        d = len(weights)
        x = normals(n, d, source=g)
        off = normals(n, 1, source=g)
        x[:, 1] += x[:, 0]
        y = x @ torch.tensor(weights, dtype=float64)[:, None] + noise * off
        cov = torch.linalg.inv(x.T @ x / noise**2 + delta * eye(d, dtype=float64))
        module = nn.Sequential(Linear(d, 1, bias=False)).double()
        net = net_of(module)
        return net, fv.Data(x, y), (cov @ x.T @ y)[:, 0] / noise**2, cov

    return made
