"""Networks and data of the benchmarks: plain modules, as a user of any of the tools would write
them."""

import torch
from torch import nn

import flatviz as fv


def resnet20():
    """The CIFAR ResNet-20 of He et al. 2016: 0.27 M weights."""
    data = images(2)
    return fv.models.resnet20(fv.Task(data, data, data, n_classes=10))


def mlp(*widths):
    """Linear layers with ReLU between them."""
    layers = [m for a, b in zip(widths, widths[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def settled(module, x):
    """In evaluation mode, no parameter all zero (loss-landscapes divides by norms), statistics of
    the data."""
    with torch.no_grad():
        for p in module.parameters():
            if p.ndim == 1:
                p.add_(0.1 * torch.randn_like(p))
        module.train()(x[:64])
    return module.eval()


def images(n):
    """Noise of CIFAR's shape: values do not matter for time."""
    return fv.Data(torch.randn(n, 3, 32, 32), torch.randint(0, 10, (n,)))
