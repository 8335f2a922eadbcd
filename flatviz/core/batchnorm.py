"""BatchNorm statistics: recomputed for other weights, or trained along."""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm

from flatviz._checks import check_weights
from flatviz.core.data import Data
from flatviz.core.net import Net

CHOICES = "batchnorm='frozen' (the net's own statistics) or batchnorm=data (a Data that re-estimates them for each draw)"


def check_batchnorm(net: Net, batchnorm: str | Data | None) -> str | None:
    """The choice as it is recorded: 'frozen', 're-estimated', or None for a net without BatchNorm.

    Raises ValueError for a net with BatchNorm and no choice.
    """
    if not net.has_batchnorm:
        return None
    if batchnorm is None:
        raise ValueError(f"this net has BatchNorm, so its statistics must be chosen, got batchnorm=None: use {CHOICES}")
    if isinstance(batchnorm, Data):
        return "re-estimated"
    if batchnorm != "frozen":
        raise ValueError(f"batchnorm must be 'frozen' or a Data, got {batchnorm!r}: use {CHOICES}")
    return "frozen"


class TrainingNet:
    """A net whose BatchNorm layers use batch statistics, on a copy with running statistics of its own."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._module = copy.deepcopy(net.module)
        self._norms = [m for m in self._module.modules() if isinstance(m, _BatchNorm)]
        for m in self._norms:
            m.train()
        self.buffers = {n: b.clone() for n, b in net.buffers().items()}

    def __call__(self, w: Tensor, x: Tensor, *, momentum: float | None = None, update: bool = True) -> Tensor:
        """Outputs (N, C); running statistics move by `momentum` (default: each layer's own) unless `update` is off."""
        buffers = self.buffers if update else {n: b.clone() for n, b in self.buffers.items()}
        kept = [m.momentum for m in self._norms]
        for m in self._norms:
            m.momentum = m.momentum if momentum is None else momentum
        try:
            return functional_call(self._module, self._net.unflatten(w) | buffers, (x,))
        finally:
            for m, value in zip(self._norms, kept):
                m.momentum = value

    def net(self, w: Tensor) -> Net:
        """The net in evaluation mode at `w`, with the statistics collected here."""
        return self._net.at(w).with_buffers({n: b.clone() for n, b in self.buffers.items()})


@torch.no_grad()
def refresh_batchnorm(net: Net, w: Tensor, data: Data, *, batch_size: int = 512) -> Net:
    """A net whose BatchNorm statistics are those of `data` at weights `w` (D,); it stands at `w`.

    Each batch counts by its number of examples, so a ragged last batch is not overweighted.
    """
    check_weights(w, net.dim)
    if not net.has_batchnorm:
        return net.at(w)
    training, seen = TrainingNet(net), 0
    for x in data.x.split(batch_size):
        seen += len(x)
        training(w, x, momentum=len(x) / seen)
    return training.net(w)
