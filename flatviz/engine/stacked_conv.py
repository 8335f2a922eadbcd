"""Several weight vectors run through one small convolutional network at once, by matrix products over patches.

A convolution of each member is one product of its kernels with the patches of its inputs, (B g, O/g, K) x (B g, K, n P):
K numbers a patch, g groups, P places.  It pays where a member's own convolution is too small to keep a core busy.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from flatviz.core.net import Net
from flatviz.engine.stacked import ELEMENTWISE, Parts, Stacked, agrees, chain_of

CONV_PARTS = (nn.Conv2d, nn.MaxPool2d, nn.AdaptiveAvgPool2d)
PATCH_WORK = 8  # a multiplication over patches weighs so much more than one in a Linear: they are copied first


class StackedConv(Stacked):
    """A chain of Conv2d, pooling, functions of single numbers, Flatten and Linear at several weight vectors.

    Between convolutions numbers lie as (B, C, n, H, W).  `features` gives the patches of the first convolution, (N, P, K),
    or where its groups are several the inputs themselves, (N, C, H, W).
    """

    def __init__(self, net: Net, layers: list[tuple[str, nn.Module]], x: Tensor) -> None:
        super().__init__(net, layers)
        first = self._after[0][1]
        self._patches = isinstance(first, nn.Conv2d) and first.groups == 1
        with torch.no_grad():
            z = super().features(x[:1])
            self._side, self._work = (0, 0), 0
            for i, (_, part) in enumerate(self._after):
                z = part(z)
                if i == 0 and z.ndim == 4:
                    self._side = tuple(z.shape[2:])
                if isinstance(part, nn.Conv2d) and z.device.type == "cpu":
                    self._work += PATCH_WORK * part.weight.numel() * z.shape[2] * z.shape[3]

    @property
    def work(self) -> int:
        """Multiplications for one input at one weight vector, those over patches weighted; 0 on a GPU."""
        return super().work + self._work

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        """Patches (N, P, K) of the first convolution, made once for all members and steps; or inputs (N, C, H, W)."""
        z = super().features(x)
        if not self._patches:
            return z
        first = self._after[0][1]
        return F.unfold(z, first.kernel_size, padding=first.padding, stride=first.stride).transpose(1, 2).contiguous()

    def __call__(self, W: Tensor, z: Tensor) -> Tensor:
        """Outputs (B, N, C) of the rows of `W` (B, D); z (N, ...) shared, or (B, n, ...) one minibatch a member."""
        shared = z.ndim == (3 if self._patches else 4)
        z = z.expand(len(W), *z.shape) if shared else z
        return super().__call__(W, z if self._patches else z.transpose(1, 2))

    def _layer(self, W: Parts, z: Tensor, name: str, part: nn.Module) -> Tensor:
        if isinstance(part, nn.Conv2d):
            return self._first(W, z, name, part) if z.ndim == 4 else self._conv(W, z, name, part)
        if isinstance(part, nn.MaxPool2d):
            return _pooled(z, part)
        if isinstance(part, nn.AdaptiveAvgPool2d):
            return z.mean((-2, -1), keepdim=True)
        return z.transpose(1, 2).flatten(2) if isinstance(part, nn.Flatten) else super()._layer(W, z, name, part)

    def _kernels(self, W: Parts, name: str, part: nn.Conv2d, n_members: int) -> tuple[Tensor, Tensor | None]:
        """Kernels (B g, O/g, K) and shifts (B, O) of each member."""
        weight, many = self._value(W, f"{name}.weight", part.weight)
        weight = weight if many else weight.expand(n_members, *weight.shape)
        bias, many = self._value(W, f"{name}.bias", part.bias)
        bias = bias if bias is None or many else bias.expand(n_members, -1)
        return weight.reshape(n_members * part.groups, part.out_channels // part.groups, -1), bias

    def _first(self, W: Parts, z: Tensor, name: str, part: nn.Conv2d) -> Tensor:
        B, n, places, numbers = z.shape
        kernels, bias = self._kernels(W, name, part, B)
        out = torch.bmm(kernels, z.reshape(B, n * places, numbers).transpose(1, 2))
        return _shifted(out.view(B, part.out_channels, n, *self._side), bias)

    def _conv(self, W: Parts, z: Tensor, name: str, part: nn.Conv2d) -> Tensor:
        kernels, bias = self._kernels(W, name, part, len(z))
        (down, right), (tall, wide), (sy, sx) = part.padding, part.kernel_size, part.stride
        z = F.pad(z, (right, right, down, down)) if down or right else z
        B, C, n, H, V = z.shape
        high, broad = (H - tall) // sy + 1, (V - wide) // sx + 1
        slices = [
            z[..., y : y + sy * (high - 1) + 1 : sy, x : x + sx * (broad - 1) + 1 : sx]
            for y in range(tall)
            for x in range(wide)
        ]
        patches = torch.stack(slices, 2).view(B * part.groups, C // part.groups * tall * wide, n * high * broad)
        return _shifted(torch.bmm(kernels, patches).view(B, part.out_channels, n, high, broad), bias)


def _shifted(z: Tensor, bias: Tensor | None) -> Tensor:
    return z if bias is None else z + bias[:, :, None, None, None]


def _pooled(z: Tensor, part: nn.MaxPool2d) -> Tensor:
    B, C, n, H, V = z.shape
    out = F.max_pool2d(z.reshape(1, B * C * n, H, V), part.kernel_size, part.stride, part.padding)
    return out.view(B, C, n, *out.shape[2:])


def stack_conv(net: Net, x: Tensor) -> Stacked | None:
    """The network ready for several weight vectors at once, or None where it is no plain convolutional chain.

    Conv2d, MaxPool2d, an average over all places and functions of single numbers, one Flatten, then Linear layers, in
    `nn.Sequential`, each used once, on images `x` (N, C, H, W).
    """
    layers = chain_of(net, CONV_PARTS)
    kinds = [part for _, part in layers or () if not isinstance(part, ELEMENTWISE)]
    ends = [i for i, part in enumerate(kinds) if isinstance(part, nn.Flatten)]
    if x.ndim != 4 or len(ends) != 1 or net.look(x).writes:
        return None
    front, back = kinds[: ends[0]], kinds[ends[0] + 1 :]
    if not (front and back and all(map(_simple, front)) and all(isinstance(part, nn.Linear) for part in back)):
        return None
    head = Stacked(net, layers)
    stacked = head if head.features(x[:1]).ndim == 2 else StackedConv(net, layers, x)
    return stacked if agrees(stacked, net, x) else None


def _simple(part: nn.Module) -> bool:
    if isinstance(part, nn.Conv2d):
        return part.padding_mode == "zeros" and part.dilation == (1, 1) and not isinstance(part.padding, str)
    if isinstance(part, nn.MaxPool2d):
        return part.dilation == 1 and not part.ceil_mode and not part.return_indices
    return isinstance(part, nn.AdaptiveAvgPool2d) and part.output_size in (1, (1, 1))
