"""A trunk that is sampled: the weights that are not treated, drawn from the source's posterior with every pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.core.net import Net
from flatviz.gaussian import Gaussian

APART = 104_729  # between the seeds of a posterior's draws and of the trunk's


@dataclass(frozen=True, eq=False)
class RandomTrunk:
    """What `transfer(trunk="sampled")` leaves in `Net.trunk`: the trunk's weights are N(prior), independent of the treated ones.

    net: the network with all its A weights treated; prior: a Gaussian over those, of which that of the treated is not used;
    treated: where the D treated weights stand among them; seed: of the draws in training.
    """

    net: Net
    prior: Gaussian
    treated: Tensor
    seed: int = 0

    def whole(self, w: Tensor, trunk: Tensor) -> Tensor:
        """All weights (A,): `w` (D,) where weights are treated, those of a draw `trunk` (A,) elsewhere."""
        return trunk.index_copy(0, self.treated, w)

    def joined(self, W: Tensor, *, seed: int) -> Tensor:
        """All weights (S, A) of draws `W` (S, D), each with a trunk of its own."""
        trunks = self.prior.sample(len(W), seed=(seed + APART) % 2**63)
        return trunks.index_copy(1, self.treated, W.to(trunks))

    def with_buffers(self, buffers: dict[str, Tensor]) -> RandomTrunk:
        """The same with other BatchNorm statistics."""
        return replace(self, net=self.net.with_buffers(buffers))

    def copy(self) -> RandomTrunk:
        """One that shares no module."""
        return replace(self, net=self.net.copy())

    def to(self, device: torch.device | str | None, dtype: torch.dtype | None) -> RandomTrunk:
        """The same on a device, in a dtype."""
        moved = [t.to(device, dtype) for t in (self.prior.mean, self.prior.log_std, self.prior.factor)]
        return replace(self, net=self.net.to(device, dtype), prior=Gaussian(*moved), treated=self.treated.to(device))
