"""Which device to compute on, and why."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_device
from flatviz.core.net import Net

FEW = 300_000  # multiply-adds an example below which a GPU waits for the CPU to launch its kernels
PLACES = 16  # at which a convolution's weight is used at the least: an 8 x 8 image, pooled once


def pick(name: str = "auto", module: nn.Module | Net | None = None) -> tuple[torch.device, str]:
    """The device to compute on, and the reason in a few words, for the line that a command prints.

    "auto" takes CUDA where there is a card, unless `module` is so small that one CPU core is faster: fewer than FEW
    multiply-adds an example, each weight counted once and each convolution's PLACES times.  On an H100 a Hessian product of a
    network of 4,000 weights took 8.6 ms and 3.0 ms on one core beside it; ResNet-18 is far beyond the limit.

    Args:
        name: "auto", or a device as torch names it: "cpu", "cuda", "cuda:1".
        module: the network that will be computed with; None: not known, and "auto" takes the card.

    Returns:
        (device, reason).

    Raises:
        ValueError: for a name that is no device.
        RuntimeError: for CUDA that is not there.

    Example:
        >>> pick("cpu")
        (device(type='cpu'), 'as asked')
    """
    if name != "auto":
        check_device(name, way_out="--device cpu")
        return torch.device(name), "as asked"
    if not torch.cuda.is_available():
        return torch.device("cpu"), "no CUDA device here"
    if module is not None and (n := multiply_adds(module)) < FEW:
        return torch.device("cpu"), f"a network of about {n:,} multiply-adds an example is faster there than on a GPU"
    return torch.device("cuda"), torch.cuda.get_device_name()


def multiply_adds(module: nn.Module | Net) -> int:
    """About how many multiply-adds an example takes at the least, from the weights alone."""
    parts = (module.module if isinstance(module, Net) else module).modules()
    return sum(
        p.numel() * (PLACES if isinstance(part, _ConvNd) else 1) for part in parts for p in part.parameters(recurse=False)
    )
