"""Small networks that train in seconds, and ResNet-20 for images of 32 x 32."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Positive, Seed
from flatviz.core import Task, public, saved_rng


@public
def mlp(task: Task, *, hidden: tuple[Count, ...] = (64, 64), seed: Seed = 0) -> nn.Module:
    """Build a perceptron: flatten, Linear - LayerNorm - ReLU for each width, a Linear head.

    Args:
        task: Gives the shape of inputs and the number of classes.
        hidden: Width of each hidden layer.
        seed: Fixes the weights.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0)).dim
        58
    """
    widths = (math.prod(task.input_shape), *hidden)
    layers: list[nn.Module] = [nn.Flatten()]
    with saved_rng():
        for n_in, n_out in zip(widths, widths[1:]):
            layers.append(nn.Linear(n_in, n_out))
            layers.append(nn.LayerNorm(n_out))
            layers.append(nn.ReLU())
        layers.append(nn.Linear(widths[-1], task.n_classes))
    return _drawn(nn.Sequential(*layers), seed)


@public
def convnet(task: Task, *, channels: tuple[Count, ...] = (16, 32, 32), seed: Seed = 0) -> nn.Module:
    """Build a network of 3x3 convolutions with BatchNorm and ReLU, and a Linear head.

    The head follows a mean over places.  The first convolution is followed by a max pool, which
    halves height and width.

    Args:
        task: Gives the shape of images and the number of classes.
        channels: Width of each convolution.
        seed: Fixes the weights.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.digits_transfer(shots=2, seed=0)
        >>> fv.Net.from_module(fv.models.convnet(task, channels=(4, 8), seed=0)).dim
        438
    """
    widths = (task.input_shape[0], *channels)
    layers: list[nn.Module] = []
    with saved_rng():
        for i, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
            layers.append(nn.Conv2d(n_in, n_out, 3, padding=1, bias=False))
            layers.append(nn.BatchNorm2d(n_out))
            layers.append(nn.ReLU())
            if i == 0:
                layers.append(nn.MaxPool2d(2))
        layers.append(nn.AdaptiveAvgPool2d(1))
        layers.append(nn.Flatten())
        layers.append(nn.Linear(widths[-1], task.n_classes))
    return _drawn(nn.Sequential(*layers), seed)


Norm = Literal["batch", "group"]
GROUP = 8  # channels a group of GroupNorm


class _ResNet(nn.Module):
    """A stem, three stages of blocks at full, half and quarter side, and a Linear head."""

    def __init__(
        self,
        channels: int,
        n_classes: int,
        width: int,
        blocks: int,
        norm: Norm,
    ) -> None:
        super().__init__()
        # Imported here, as it loads slowly and tensors need no torchvision
        from torchvision.models.resnet import BasicBlock

        def normed(n: int) -> nn.Module:
            if norm == "batch":
                return nn.BatchNorm2d(n)
            return nn.GroupNorm(n // GROUP, n)

        def stage(n_in: int, n_out: int, stride: int) -> nn.Sequential:
            first = BasicBlock(n_in, n_out, stride, norm_layer=normed)
            if stride > 1:
                shortcut = nn.Conv2d(n_in, n_out, 1, stride, bias=False)
                first.downsample = nn.Sequential(shortcut, normed(n_out))
            others = [BasicBlock(n_out, n_out, norm_layer=normed) for _ in range(blocks - 1)]
            return nn.Sequential(first, *others)

        first = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.stem = nn.Sequential(first, normed(width), nn.ReLU())
        self.stages = nn.Sequential(
            stage(width, width, 1),
            stage(width, 2 * width, 2),
            stage(2 * width, 4 * width, 2),
        )
        self.head = nn.Linear(4 * width, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        features = self.stages(self.stem(x))
        return self.head(features.mean((2, 3)))


@public
def resnet20(
    task: Task, *, norm: Norm = "batch", width: Count = 16, blocks: Count = 3, seed: Seed = 0
) -> nn.Module:
    """Build ResNet-20 (272,474 weights for 10 classes) for images (N, C, 32, 32).

    Sides of 8 or more run too.

    Args:
        task: Gives the channels of the images and the number of classes.
        norm: "batch" (BatchNorm) or "group" (GroupNorm, 8 channels a group, without statistics that
            other weights make stale).
        width: Channels of the first stage, a multiple of 8 for "group".
        blocks: Blocks in each stage, for a depth of 6 blocks + 2.
        seed: Fixes the weights.

    Raises:
        ValueError: For inputs that are no images, another norm, or a width that GroupNorm cannot
            divide.

    Source: He et al. 2016 (arXiv 1512.03385), section 4.2, with projection shortcuts.

    Example:
        >>> import torch, flatviz as fv
        >>> images = fv.Data(torch.rand(20, 3, 32, 32), torch.arange(20) % 10)
        >>> task = fv.Task(images, images, images, n_classes=10)
        >>> fv.Net.from_module(fv.models.resnet20(task, seed=0)).dim
        272474
    """
    shape = task.input_shape
    if len(shape) != 3 or min(shape[1:]) < 8:
        raise ValueError(
            f"resnet20 needs images (C, H, W) of side 8 or more, got inputs of shape {shape}"
        )
    if norm == "group" and width % GROUP:
        raise ValueError(f"width must be a multiple of {GROUP} for norm='group', got {width}")
    with saved_rng():
        network = _ResNet(shape[0], task.n_classes, width, blocks, norm)
    return _drawn(network, seed)


def _drawn(module: nn.Module, seed: int) -> nn.Module:
    """Draw the weights by `seed`, in float32 whatever torch's default dtype is."""
    module.float()
    with saved_rng(seed):
        for part in module.modules():
            if callable(reset := getattr(part, "reset_parameters", None)):
                reset()
    return module


class WithNoise(nn.Module):
    """Append one learned parameter s for each output of a module: (N, 2 C).

    `Likelihood.gaussian()` reads such outputs.
    """

    def __init__(self, module: nn.Module, s: float) -> None:
        super().__init__()
        self.module = module
        like = next(module.parameters(), torch.zeros((), dtype=torch.float32))
        self.s = nn.Parameter(like.new_tensor([s]))

    def forward(self, *args: Tensor, **fields: Tensor) -> Tensor:
        """Compute means and s, side by side."""
        mean = self.module(*args, **fields)
        s = self.s.to(mean).expand_as(mean)
        return torch.cat([mean, s], -1)


@public
def learned_noise(module: nn.Module, *, noise: Positive = 1.0) -> nn.Module:
    """Add the noise of a regression to its module, as a parameter, for `likelihood="gaussian"`.

    Args:
        module: Inputs -> means (N, C); it becomes part of the new one.
        noise: The standard deviation softplus(s) at which training begins.

    Example:
        >>> import torch, flatviz as fv
        >>> module = fv.models.learned_noise(torch.nn.Linear(3, 1), noise=0.5)
        >>> net, data = fv.Net.from_module(module), fv.Data(torch.zeros(4, 3), torch.zeros(4, 1))
        >>> net.dim, fv.nll(net, data, likelihood="gaussian").n
        (5, 4)
    """
    s = noise + math.log(-math.expm1(-noise))
    return WithNoise(module, s)
