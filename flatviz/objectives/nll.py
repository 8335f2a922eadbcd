"""The objective everything is measured on: mean negative log likelihood as a function of the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import check_is, check_many_weights, check_weights
from flatviz.core.data import Data
from flatviz.core.hvp import hvp
from flatviz.core.likelihood import Likelihood, check_labels, check_likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.engine.determinism import check_function
from flatviz.engine.evaluate import Evaluator, Plan
from flatviz.engine.forward import forward_sum
from flatviz.engine.plan import EvaluationPlanner
from flatviz.objectives.curvature import curvature_operator
from flatviz.storage.cache import tensor_digest
from flatviz.storage.digest import net_digest


@dataclass(frozen=True, eq=False)
class MeanNLL:
    """f(w) = -(1/n) sum_i log p(y_i | x_i, w), in nats; made by `nll`.  `f(w, index)` is the mean over a minibatch."""

    net: Net
    data: Data
    likelihood: Likelihood
    chunk: int = 4096

    @property
    def n(self) -> int:
        """Examples behind the mean."""
        return len(self.data)

    @property
    def batchnorm(self) -> str | None:
        """Statistics used: 'frozen', the net's own, or None for a net without BatchNorm."""
        return "frozen" if self.net.has_batchnorm else None

    @property
    def label(self) -> str:
        """What the values are."""
        return "mean NLL (nats)"

    def __call__(self, w: Tensor, index: Tensor | None = None) -> Tensor:
        """The mean loss at `w` (D,), differentiable; ()."""
        data = self.data
        x, y = (data.x, data.y) if index is None else (data.x[index], data.y[index])
        return mean_nll(self.net(w, x), y, self.likelihood)

    def many(self, W: Tensor, *, progress: Progress = False, label: str = "evaluating") -> Tensor:
        """The mean loss at each row of `W` (S, D), without gradients; (S,)."""
        check_many_weights(W, self.net.dim)

        x, y = self.data.x, self.data.y
        return forward_sum(self.net, W, x, y, self._total, chunk=self.chunk, progress=progress, label=label) / self.n

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
    ) -> Evaluator:
        """Mean losses at origin + coords @ axes for coords (S, K): the fast path of slices and paths.

        points: how many are coming, by which the plan is chosen; plan: one chosen before.
        """
        shop = EvaluationPlanner(self.net, self.data, self._total)
        chosen = Plan(**plan) if plan else shop.plan(origin, axes, points, exact=exact, precision=precision)
        return shop.evaluator(origin, axes, chosen)

    @property
    def key(self) -> str:
        """A hash of what the values depend on besides the weights."""
        return f"nll/{self.likelihood}/{net_digest(self.net)}/{tensor_digest(self.data.x, self.data.y)}"

    def _total(self, out: Tensor, y: Tensor) -> Tensor:
        return mean_nll(out, y, self.likelihood, reduction="sum")

    def hvp(self, w: Tensor, v: Tensor) -> Tensor:
        """Hessian at `w` times `v`, (D,)."""
        return hvp(self.__call__, w, v)

    def operator(self, w: Tensor, curvature: str = "hessian") -> Callable[[Tensor], Tensor]:
        """v -> M v at one `w`: M the Hessian, the "ggn" or the empirical "fisher"; many products from one graph."""
        return curvature_operator(self.net, self.data, self.likelihood, w, curvature)


def nll(net: Net, data: Data, *, likelihood: Likelihood = "categorical") -> MeanNLL:
    """Mean negative log likelihood of `data` as an objective over `net`'s treated weights.

    likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
    A net that writes into its inputs is given copies of them.
    Raises ValueError for labels out of range, data the net cannot take, a net that is not a function of its weights
    (random numbers in a pass: dropout left on), or one whose outputs depend on the rest of the batch.
    """
    check_is(data, Data, "data", "make one, fv.Data(x, y)")
    check_likelihood(likelihood)
    net, work = check_function(net, data.x)
    with torch.no_grad():
        check_labels(data, net(net.w, data.x[:4]), likelihood)
    check_weights(net.w, net.dim)
    return MeanNLL(net, data, likelihood, work.chunk(data.x.device))
