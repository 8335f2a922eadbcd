"""The training loss with dropout at the inputs of given layers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.core.data import Data
from flatviz.core.inputs import run
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.storage.files import State
from flatviz.training.gradient import PLAIN
from flatviz.training.losses import FrozenLoss
from flatviz.training.passes import Training


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
        run(module, x.clone())
    return list(seen)


class DropoutLoss(FrozenLoss):
    """The minibatch loss with dropout, example by example; `again` repeats the masks, and `score` drops nothing."""

    def __init__(
        self, net: Net, data: Data, likelihood: Likelihood, rates: dict[str, float], seed: int, passes: Training = PLAIN
    ) -> None:
        super().__init__(net, data, likelihood, passes)
        passes.check_weights(net.w)
        self.source, self.masked = generator(seed), net.copy()
        self.masked.look(data.x[:2])  # while there are no masks, which it would draw
        for name, rate in rates.items():
            self.masked.module.get_submodule(name).register_forward_pre_hook(partial(self._masked, rate))

    def _masked(self, rate: float, part: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        """Inputs of a layer with a new mask for each example."""
        (x, *_), keep = inputs, 1 - rate
        return (x * ((torch.rand(mask_shape(part, x.shape), generator=self.source) < keep) / keep).to(x),)

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
