"""The training loss of a network whose trunk is drawn anew with every pass."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.random_trunk import RandomTrunk
from flatviz.core.seeds import generator, randn_like
from flatviz.engine.forward import forward
from flatviz.objectives.nll import check_data
from flatviz.storage.checkpoints import State
from flatviz.training.gradient import PLAIN, TrainingLoss
from flatviz.training.passes import Passes


def random_trunk_losses(
    net: Net, data: Data, likelihood: Likelihood, batchnorm: str, members: int, passes: Passes = PLAIN
) -> list[RandomTrunkLoss]:
    """A loss for each member, with noise of its own.  Raises ValueError for trained BatchNorm statistics, and minibatches in parts."""
    if not passes.whole:
        raise ValueError(f"a sampled trunk is drawn for a whole minibatch, got {passes}: of fv.Training use precision alone")
    if batchnorm == "train" and net.has_batchnorm:
        raise ValueError("a sampled trunk keeps its BatchNorm statistics, got batchnorm='train': use 'frozen'")
    return [RandomTrunkLoss(net, data, likelihood, net.trunk, member, passes) for member in range(members)]


def refuse_random_trunk(net: Net, method: str) -> None:
    """ValueError where a method that needs a function of the weights is given a net whose trunk is drawn."""
    if net.trunk is not None:
        raise ValueError(
            f"{method} needs a function of the weights, got a net with a sampled trunk: use transfer(trunk='fixed')"
        )


class RandomTrunkLoss(TrainingLoss):
    """Mean NLL of a minibatch at treated weights w (D,) and a trunk drawn from its prior, a new one at each call.

    `again` keeps the trunk of the last call, as it keeps all noise: a flat-seeking step compares the loss at one trunk.
    """

    def __init__(
        self, net: Net, data: Data, likelihood: Likelihood, trunk: RandomTrunk, member: int = 0, passes: Passes = PLAIN
    ) -> None:
        self.passes = passes
        self.net, self.data, self.likelihood, self.trunk = net, data, likelihood, trunk
        self.whole = net.restrict("all")
        self._source = generator(trunk.seed + member)
        self._drawn = trunk.prior.mean.clone()

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss, ()."""
        prior = self.trunk.prior
        with torch.no_grad():
            z1, z2 = randn_like(prior.mean, self._source), randn_like(prior.factor[:, 0], self._source)
            self._drawn.copy_(prior.mean + prior.std * z1 + z2 @ prior.factor)
        return self.again(w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss with the trunk of the last call, ()."""
        x, y = self.data.batch(index)
        outputs = self.passes.outputs(self.whole, self.trunk.whole(w, self._drawn), x)
        return mean_nll(outputs, y, self.likelihood)

    @property
    def state(self) -> State:
        """The generator, for a checkpoint."""
        return {"trunk noise": self._source}

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,), the trunk at its mean, ()."""
        return mean_nll(forward(self.net, w[None], data.x)[0], data.y, self.likelihood)
