"""Networks and data of the benchmarks: plain modules, as a user of any of the tools would write them."""

from __future__ import annotations

import torch
from torch import nn

import flatviz as fv


class Residual(nn.Module):
    """Two 3x3 convolutions with BatchNorm and a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.norm2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.relu = nn.ReLU()
        same = inside == outside and stride == 1
        self.short = None if same else nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = self.norm2(self.conv2(self.relu(self.norm1(self.conv1(x)))))
        return self.relu(y + (x if self.short is None else self.short(x)))


class ResNet20(nn.Module):
    """The CIFAR ResNet-20 of He et al. 2016: 0.27 M weights."""

    def __init__(self) -> None:
        super().__init__()
        stages = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.blocks, self.head = nn.Sequential(*(Residual(*s) for s in stages)), nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def mlp(*widths: int) -> nn.Module:
    """Linear layers with ReLU between them."""
    layers = [m for a, b in zip(widths, widths[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def settled(module: nn.Module, x: torch.Tensor) -> nn.Module:
    """In evaluation mode, no parameter all zero (loss-landscapes divides by norms), statistics of the data."""
    with torch.no_grad():
        for p in module.parameters():
            if p.ndim == 1:
                p.add_(0.1 * torch.randn_like(p))
        module.train()
        module(x[:64])
    return module.eval()


def images(n: int) -> fv.Data:
    """Noise of CIFAR's shape: values do not matter for time."""
    return fv.Data(torch.randn(n, 3, 32, 32), torch.randint(0, 10, (n,)))
