"""Networks of the symmetry tests, in float64, and the same maps written out layer by layer as
oracles."""

from __future__ import annotations

import numpy as np
import torch
from torch import arange, diag, eye, nn, ones
from torch.nn import AdaptiveAvgPool2d, Conv2d, Flatten, Linear, ReLU, Sequential
from torch.nn.modules.batchnorm import _BatchNorm

import flatviz as fv


class Block(nn.Module):
    """A residual block without normalisation, whose shortcut ties the next layer to it."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.conv1 = Conv2d(inside, outside, 3, padding=1)
        self.conv2 = Conv2d(outside, outside, 3, padding=1)
        self.short = None if inside == outside else Conv2d(inside, outside, 1, bias=False)

    def forward(self, x):
        return torch.relu(
            self.conv2(torch.relu(self.conv1(x))) + (x if self.short is None else self.short(x))
        )


def mlp(activation=ReLU, widths=(6, 5, 4, 3)):
    layers = [m for a, b in zip(widths, widths[1:]) for m in (Linear(a, b), activation())]
    return Sequential(*layers[:-1])


def conv_flat():
    """A convolution whose channels are flattened over 3 x 3 places into a Linear."""
    return Sequential(
        *(
            Conv2d(1, 4, 3),
            ReLU(),
            nn.MaxPool2d(2),
            Conv2d(4, 6, 2),
            nn.LeakyReLU(),
            Flatten(),
        ),
        *(Linear(6 * 4, 5), ReLU(), Linear(5, 3)),
    )


def batchnorm():
    return Sequential(
        *(
            Conv2d(1, 4, 3, bias=False),
            nn.BatchNorm2d(4),
            ReLU(),
            Conv2d(4, 5, 2),
            nn.BatchNorm2d(5),
            ReLU(),
        ),
        *(AdaptiveAvgPool2d(1), Flatten(), Linear(5, 3)),
    )


def optunet(side=8):
    """The network of Laurent et al. 2024, as `flatviz run symmetry` trains it."""
    first, pool, second = {28: (4, 3, 5), 8: (3, 2, 2)}[side]
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(0)
        lower = Conv2d(1, 2, first, bias=False), ReLU(), nn.MaxPool2d(pool)
        upper = (
            Conv2d(2, 10, second, groups=2, bias=False),
            ReLU(),
            AdaptiveAvgPool2d(1),
            Flatten(),
        )
        return Sequential(*lower, *upper, Linear(10, 10))


NETWORKS = {
    "mlp": (mlp, (6,)),
    "conv and flatten": (conv_flat, (1, 8, 8)),
    "optunet": (optunet, (1, 8, 8)),
    "batchnorm": (batchnorm, (1, 8, 8)),
    "residual": (
        lambda: Sequential(
            *(Conv2d(1, 4, 3), ReLU(), Block(4, 4), Block(4, 6), Block(6, 6)),
            *(AdaptiveAvgPool2d(1), Flatten(), Linear(6, 3)),
        ),
        (1, 6, 6),
    ),
    "tanh": (lambda: mlp(nn.Tanh), (6,)),
    "layernorm": (
        lambda: Sequential(Linear(6, 5), nn.LayerNorm(5), ReLU(), Linear(5, 3)),
        (6,),
    ),
}


def network(name, seed=0):
    """Build (net, units, x) in float64; BatchNorm has eps = 0 and gains of both signs."""
    build, shape = NETWORKS[name]
    torch.manual_seed(seed)
    module = build().double().eval()
    for part in module.modules():
        if isinstance(part, _BatchNorm):
            part.eps = 0.0
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2.0)
            part.weight.data.normal_()
            part.bias.data.normal_()
    x = torch.randn(20, *shape, dtype=torch.float64)
    net = fv.Net.from_module(module)
    return net, fv.symmetry.units_of(net), x


def outputs(net, units, V, x):
    """Outputs (S, N, C) of the networks at the rows of V (S, E), statistics included."""
    return torch.stack([(other := units.net_at(net, v))(other.w, x) for v in V])


def change(net, units, V, W, x):
    """The largest change of an output from V to W, relative to the largest output where that is
    above 1."""
    before = outputs(net, units, V, x)
    return float((outputs(net, units, W, x) - before).abs().max()) / max(
        1.0, float(before.abs().max())
    )


def by_layers(net, w, order, factor):
    """Scale, then permute linear layers of `mlp` by the paper's formulas: T_p(T_s(w))."""
    parts = net.unflatten(w)
    names = sorted({name.split(".")[0] for name in parts}, key=int)
    out = {}
    start = 0
    before = (
        ones(parts["0.weight"].shape[1], dtype=w.dtype),
        arange(parts["0.weight"].shape[1]),
    )
    for name in names:
        W = parts[f"{name}.weight"]
        b = parts[f"{name}.bias"]
        n = len(b)
        last = name == names[-1]
        lam = ones(n, dtype=w.dtype) if last else factor[start : start + n]
        pi = arange(n) if last else order[start : start + n] - start
        W = diag(lam) @ W @ diag(1 / before[0])
        b = lam * b
        P = eye(n, dtype=w.dtype)[pi]
        P_before = eye(len(before[1]), dtype=w.dtype)[before[1]]
        out[f"{name}.weight"] = P @ W @ P_before.T
        out[f"{name}.bias"] = P @ b
        before = (lam, pi)
        start = start + n
    return net.flatten(out)


def cvxpy_mass(net, w):
    """Minimise the mass of an MLP in log factors by cvxpy's conic solver, as the authors do."""
    import cvxpy as cp

    layers = [p.numpy() ** 2 for name, p in net.unflatten(w).items() if name.endswith("weight")]
    u = [cp.Variable(s.shape[0]) for s in layers[:-1]]
    total = 0
    for k, S in enumerate(layers):
        row = (
            0
            if k == len(layers) - 1
            else cp.reshape(u[k], (S.shape[0], 1), order="C") @ np.ones((1, S.shape[1]))
        )
        column = (
            0
            if k == 0
            else np.ones((S.shape[0], 1)) @ cp.reshape(u[k - 1], (1, S.shape[1]), order="C")
        )
        total = total + cp.sum(cp.multiply(S, cp.exp(2 * (row - column))))
    problem = cp.Problem(cp.Minimize(total))
    problem.solve()
    return problem.value
