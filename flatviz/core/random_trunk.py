"""A trunk that is sampled: the weights that are not treated, drawn from the source's posterior with every pass."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.gaussian import Gaussian

APART = 104_729  # between the seeds of a posterior's draws and of the trunk's


@dataclass(frozen=True, eq=False)
class RandomTrunk:
    """What `transfer(trunk="sampled")` leaves in `Net.trunk`: the trunk's weights are N(prior), independent of the treated ones.

    prior: a Gaussian over all A weights of the network, `net.restrict("all")`, of which that of the treated ones is not used;
    treated: where the D treated weights stand among them; seed: of the draws in training.
    """

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

    def to(self, device: torch.device | str | None, dtype: torch.dtype | None) -> RandomTrunk:
        """The same on a device, in a dtype."""
        moved = [t.to(device, dtype) for t in (self.prior.mean, self.prior.log_std, self.prior.factor)]
        return RandomTrunk(Gaussian(*moved), self.treated.to(device), self.seed)
