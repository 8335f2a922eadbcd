"""The loss of the averaged prediction, while the whole ensemble moves through weight space."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import Vector, Vectors, check_many_weights, check_weights
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.objective import Objective
from flatviz.objectives.network import NetworkObjective
from flatviz.objectives.nll import check_data
from flatviz.storage.digest import net_digest, tensor_digest


@dataclass(frozen=True, eq=False)
class BMALoss(NetworkObjective):
    """g(w) = -(1/n) sum_i log (1/S) sum_s p(y_i | x_i, W[s] + w - center); made by `bma_nll`.  Values, not gradients."""

    W: Tensor = field(repr=False)
    center: Tensor = field(repr=False)

    over = Objective.over  # the engine knows one network at a point

    @property
    def label(self) -> str:
        """What the values are."""
        return f"NLL of the average of {len(self.W)} draws (nats)"

    @property
    def key(self) -> str:
        """A hash of what the values depend on besides the weights."""
        return f"bma/{net_digest(self.net)}/{tensor_digest(self.W, self.center, self.data.x, self.data.y)}"

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Log p(y_i | x_i), (N,)."""
        return outputs.log_softmax(-1).gather(-1, y[:, None])[:, 0]

    def value(self, w: Tensor, batches: list[tuple[Any, Tensor]] | None) -> Tensor:
        """-mean_i log mean_s p of the draws shifted by w - center, ()."""
        each = torch.stack([super(BMALoss, self).value(draw + w - self.center, batches) for draw in self.W])
        return -(each.double().logsumexp(0) - math.log(len(each))).mean()


@public
def bma_nll(net: Net, data: Data, W: Vectors, *, center: Vector | None = None) -> BMALoss:
    """Mean NLL of the prediction averaged over draws `W` (S, D), as an objective: of where the ensemble stands.

    At w every draw is shifted by w - center (default: the draws' mean), so a surface shows how the loss of the average,
    not the average loss, changes as the posterior moves.  Classification only.

    Raises:
        ValueError: For draws of another length than the net's weights, and for a net that `nll` would refuse.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> g = fv.objectives.bma_nll(net, data, torch.zeros(5, net.dim))
        >>> g.label, round(float(g(torch.zeros(net.dim))), 4)
        ('NLL of the average of 5 draws (nats)', 1.0986)
    """
    check_many_weights(W, net.dim)
    center = W.mean(0) if center is None else check_weights(center, net.dim, "center")
    net, work = check_data(net, data, "categorical")
    return BMALoss(net, data, work.chunk(data.x.device), W, center)
