"""Networks with dropout left on: the training loss, and which layer's weight stands for the mask of a dropout layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import generator, randn_like
from flatviz.storage.checkpoints import State
from flatviz.training.gradient import PLAIN
from flatviz.training.losses import FrozenLoss
from flatviz.training.passes import Passes

CHANNELS = (_ConvNd, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)  # drop whole channels; the others single features


def mask_shape(part: nn.Module, shape: Sequence[int]) -> list[int]:
    """Shape of the mask by which `part`, a dropout or the layer that reads it, meets values of `shape` (N, ...)."""
    if isinstance(part, CHANNELS):
        return [*shape[:2], *[1] * (len(shape) - 2)]
    if isinstance(part, nn.Linear):
        return [shape[0], *[1] * (len(shape) - 2), shape[-1]]  # one column of the weight for all positions
    return list(shape)


def calls(net: Net, x: Tensor, names: Sequence[str]) -> list[tuple[str, torch.Size]]:
    """Name, and shape of what it gives, of each call of these parts of the network on `x`, in order of execution."""
    module, seen = net.copy().module, []
    for name, part in module.named_modules():
        if name in names:
            part.register_forward_hook(lambda part, args, out, name=name: seen.append((name, out.shape)))
    with torch.no_grad():
        module(x.clone())
    return seen


@torch.no_grad()
def reader_of(net: Net, x: Tensor, dropout: str, call: int, shape: torch.Size, layers: Sequence[str]) -> str:
    """The layer of `layers` whose weight stands for the mask of a dropout layer's call; "" where there is none.

    By trial, at weights without zeros: factors on what the dropout gives, of `shape`, one a unit that it drops, change the
    outputs as the same factors on the columns of the weight do.
    """
    whole, source, n_calls = net.restrict("all"), generator(0), [0]
    part = dict(whole.module.named_modules())[dropout]
    if isinstance(part, CHANNELS) and len(shape) < 3:
        return ""  # torch takes it for one example without a batch
    factors = 2 * torch.rand([1, *mask_shape(part, shape)[1:]], generator=source).to(whole.w)
    w = whole.w + 0.01 * randn_like(whole.w, source)
    plain = whole(w, x.clone())

    def scale(part: nn.Module, args: tuple, out: Tensor) -> Tensor:
        n_calls[0] += 1
        return out * factors if n_calls[0] == call + 1 else out

    hook = part.register_forward_hook(scale)
    dropped = whole(w, x.clone())
    hook.remove()
    effect = (dropped - plain).abs().max()
    for b in whole.blocks:
        layer, _, kind = b.name.rpartition(".")
        if effect > 0 and kind == "weight" and layer in layers and b.shape[1] == factors.numel():
            scaled = w.clone()
            scaled[b.slice].view(b.shape).mul_(factors.view(1, -1, *[1] * (len(b.shape) - 2)))
            if (whole(scaled, x.clone()) - dropped).abs().max() < 0.02 * effect:  # another layer's columns miss it by far
                return layer
    return ""


class MaskedNet:
    """A copy of a net that drops inputs of the layers in `rates`, a new mask for each example, drawn from `source`."""

    def __init__(self, net: Net, rates: dict[str, float], source: torch.Generator) -> None:
        self.net, self.source = net.copy(), source
        self._seen = False
        for name, rate in rates.items():
            part = self.net.module.get_submodule(name)
            part.register_forward_pre_hook(lambda part, args, rate=rate: (args[0] * self._mask(part, args[0], rate),))

    def _mask(self, part: nn.Module, x: Tensor, rate: float) -> Tensor:
        keep = 1 - rate
        return ((torch.rand(mask_shape(part, x.shape), generator=self.source) < keep) / keep).to(x)

    def __call__(self, w: Tensor, x: Tensor) -> Tensor:
        """Outputs (N, C) at `w` under new masks."""
        if not self._seen:  # the net's look at itself draws no masks
            state, self._seen = self.source.get_state(), True
            self.net.look(x)
            self.source.set_state(state)
        return self.net(w, x)


class DropoutLoss(FrozenLoss):
    """The minibatch loss with dropout, example by example; `again` repeats the masks, and `score` drops nothing."""

    def __init__(
        self, net: Net, data: Data, likelihood: Likelihood, rates: dict[str, float], seed: int, passes: Passes = PLAIN
    ) -> None:
        super().__init__(net, data, likelihood, passes)
        self.check(data)
        passes.check_weights(net.w)
        self.source = generator(seed)
        self.masked = MaskedNet(net, rates, self.source)

    @property
    def state(self) -> State:
        """The generator of the masks."""
        return {"masks": self.source}

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,) under new masks, ()."""
        self._before = self.source.get_state()
        return self.through(self.masked, w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same under the masks of the last call."""
        self.source.set_state(self._before)
        return self.through(self.masked, w, index)
