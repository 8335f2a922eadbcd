"""The training loss with dropout at the inputs of given layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.storage.checkpoints import State
from flatviz.training.gradient import PLAIN
from flatviz.training.losses import FrozenLoss
from flatviz.training.passes import Passes


def mask_shape(part: nn.Module, shape: Sequence[int]) -> list[int]:
    """Shape of the mask by which the inputs of `part`, a Linear or a convolution, are dropped, of `shape` (N, ...)."""
    if isinstance(part, _ConvNd):  # whole channels
        return [*shape[:2], *[1] * (len(shape) - 2)]
    return [shape[0], *[1] * (len(shape) - 2), shape[-1]]  # one column of the weight for all positions


def in_order(net: Net, x: Tensor, names: Sequence[str]) -> list[str]:
    """These parts of the network in the order in which they first run on `x`; parts that do not run are left out."""
    module, seen = net.copy().module, {}
    for name in names:
        module.get_submodule(name).register_forward_hook(lambda part, args, out, name=name: seen.setdefault(name))
    with torch.no_grad():
        module(x.clone())
    return list(seen)


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
