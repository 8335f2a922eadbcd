"""The objective everything is measured on: mean negative log likelihood as a function of the weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from flatviz.checks import check_weights
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, check_labels, mean_nll
from flatviz.core.net import Net
from flatviz.core.objective import Product
from flatviz.engine.determinism import Work, check_function
from flatviz.objectives.curvature import curvature_operator
from flatviz.objectives.network import NetworkObjective
from flatviz.storage.digest import net_digest, tensor_digest


@dataclass(frozen=True, eq=False)
class MeanNLL(NetworkObjective):
    """f(w) = -(1/n) sum_i log p(y_i | x_i, w), in nats; made by `nll`.  `f(w, index)` is the mean over a minibatch."""

    likelihood: Likelihood = field()

    label = "mean NLL (nats)"
    differentiable = additive = True

    @property
    def key(self) -> str:
        """A hash of what the values depend on besides the weights."""
        return f"nll/{self.likelihood}/{net_digest(self.net)}/{tensor_digest(self.data.x, self.data.y)}"

    def __call__(self, w: Tensor, index: Tensor | None = None) -> Tensor:
        """The mean loss at `w` (D,), differentiable; ()."""
        x, y = self.data.batch(index)
        return mean_nll(self.net(w, x), y, self.likelihood)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The sum of the losses of a batch, ()."""
        return mean_nll(outputs, y, self.likelihood, reduction="sum")

    def operator(self, w: Tensor, curvature: str = "hessian") -> Product:
        """V -> M v at one `w`: M the Hessian, the "ggn" or the empirical "fisher"; many products from one graph."""
        return curvature_operator(self.net, self.data, self.likelihood, check_weights(w, self.dim), curvature)


@public
def nll(net: Net, data: Data, *, likelihood: Likelihood = "categorical") -> MeanNLL:
    """Mean negative log likelihood of `data` as an objective over `net`'s treated weights.

    likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
    A net that writes into its inputs is given copies of them.

    Raises:
        ValueError: For labels out of range, data the net cannot take, a net that is not a function of its weights
            (random numbers in a pass: dropout left on), or one whose outputs depend on the rest of the batch.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> f = fv.nll(net, fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2])))
        >>> f.n, round(float(f(torch.zeros(net.dim))), 4)  # log 3 where all logits are 0
        (4, 1.0986)
    """
    net, work = check_data(net, data, likelihood)
    data = replace(data, y=data.y.clone())  # labels that change later are no longer those that were checked
    return MeanNLL(net, data, work.chunk(data.x.device), likelihood)


def check_data(net: Net, data: Data, likelihood: Likelihood) -> tuple[Net, Work]:
    """The net as it may be run on `data`, and what an example costs; all that `nll` checks, for a caller without use of f.

    A net that writes into its inputs comes back as one that is given copies of them.  Raises as `nll` does.
    """
    net, work = check_function(net, data.x)
    with torch.no_grad():
        check_labels(data.y, net(net.w, data.x[:4]), likelihood)
    return net, work
