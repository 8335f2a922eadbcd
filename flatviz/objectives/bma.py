"""The loss of the averaged prediction, while the whole ensemble moves through weight space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, check_weights
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.engine.determinism import check_function
from flatviz.engine.evaluate import Plan
from flatviz.engine.plan import EvaluationPlanner
from flatviz.storage.cache import tensor_digest
from flatviz.storage.digest import net_digest


@dataclass(frozen=True, eq=False)
class BMALoss:
    """g(w) = -(1/n) sum_i log (1/S) sum_s p(y_i | x_i, W[s] + w - center); made by `bma_nll`.  Values, not gradients."""

    net: Net
    data: Data
    W: Tensor
    center: Tensor
    chunk: int = 4096

    @property
    def n(self) -> int:
        """Examples behind the mean."""
        return len(self.data)

    @property
    def batchnorm(self) -> str | None:
        """Statistics used: 'frozen', or None for a net without BatchNorm."""
        return "frozen" if self.net.has_batchnorm else None

    @property
    def label(self) -> str:
        """What the values are."""
        return f"NLL of the average of {len(self.W)} draws (nats)"

    @property
    def key(self) -> str:
        """A hash of what the values depend on besides the weights."""
        return f"bma/{net_digest(self.net)}/{tensor_digest(self.W, self.center, self.data.x, self.data.y)}"

    def __call__(self, w: Tensor) -> Tensor:
        """The value with the ensemble's center moved to `w` (D,)."""
        return self.many(check_weights(w, self.net.dim)[None])[0]

    def many(self, V: Tensor) -> Tensor:
        """The value at each row of `V` (T, D); (T,)."""
        with torch.no_grad():
            values = []
            for w in check_many_weights(V, self.net.dim):
                values.append(_average([self._of(draw + w - self.center) for draw in self.W]))
        return torch.stack(values).to(V.dtype)

    def _of(self, w: Tensor) -> Tensor:
        return _log_prob(torch.cat([self.net(w, x) for x in self.data.x.split(self.chunk)]), self.data.y)

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
    ) -> _Ensemble:
        """Values at origin + coords @ axes, each draw by the fast path of a plane of its own."""
        shop = EvaluationPlanner(self.net, self.data, _log_prob, additive=False)
        chosen = Plan(**plan) if plan else shop.plan(origin, axes, points, exact=exact, precision=precision)
        return _Ensemble(shop.evaluators([draw + origin - self.center for draw in self.W], axes, chosen), chosen)


class _Ensemble:
    def __init__(self, members: list, plan: Plan) -> None:
        self._members, self.plan = members, plan

    @property
    def in_blocks(self) -> bool:
        return any(member.in_blocks for member in self._members)

    def __call__(self, coords: Tensor) -> Tensor:
        return _average([evaluate(coords) for evaluate in self._members]).to(coords.dtype)


def bma_nll(net: Net, data: Data, W: Tensor, *, center: Tensor | None = None) -> BMALoss:
    """Mean NLL of the prediction averaged over draws `W` (S, D), as an objective: of where the ensemble stands.

    At w every draw is shifted by w - center (default: the draws' mean), so a surface shows how the loss of the average,
    not the average loss, changes as the posterior moves.  Classification only.
    Raises ValueError for draws of another length than the net's weights, and for a net that `nll` would refuse.
    """
    check_many_weights(W, net.dim)
    center = W.mean(0) if center is None else check_weights(center, net.dim, "center")
    net, work = check_function(net, data.x)
    return BMALoss(net, data, W, center, work.chunk(data.x.device))


def _log_prob(out: Tensor, y: Tensor) -> Tensor:
    """log p(y_i | x_i), (N,)."""
    return out.log_softmax(-1).gather(-1, y[:, None])[:, 0]


def _average(own: list[Tensor]) -> Tensor:
    """-mean_i log mean_s p over the last axis, from S tensors (..., N) of log p."""
    return -(torch.stack(own).double().logsumexp(0) - math.log(len(own))).mean(-1)
