"""What a fit minimises: the mean NLL of a minibatch, with frozen or trained BatchNorm statistics, or with a trunk that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.seeds import generator, randn_like
from flatviz.engine.batchnorm import TrainingNet
from flatviz.engine.stacked import forward, stack, vmapped
from flatviz.objectives.network import check_data
from flatviz.storage.files import State
from flatviz.training.batched import BatchedLoss, SequentialLoss
from flatviz.training.gradient import PLAIN, TrainingLoss
from flatviz.training.passes import Training
from flatviz.training.run import Run


class FrozenLoss(TrainingLoss):
    """Mean NLL of a minibatch with the net's own BatchNorm statistics: a function of the weights."""

    def __init__(self, net: Net, data: Data, likelihood: Likelihood, passes: Training = PLAIN) -> None:
        self.net, self.data, self.likelihood, self.passes = net, data, likelihood, passes

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,), ()."""
        return self.through(self.net, w, index)

    def through(self, network: Callable[[Tensor, Tensor], Tensor], w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` of a minibatch that passes through `network(w, x)`, ()."""
        x, y = self.data.batch(index)
        return mean_nll(self.passes.outputs(network, w, x), y, self.likelihood)

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,) by the net as it predicts, without gradients or noise, ()."""
        return mean_nll(forward(self.net, w[None], data.x)[0], data.y, self.likelihood)


class BatchStatisticsLoss(FrozenLoss):
    """Mean NLL of a minibatch with the batch's BatchNorm statistics; `training` collects running ones on the way."""

    def __init__(self, net: Net, data: Data, likelihood: Likelihood, passes: Training = PLAIN) -> None:
        super().__init__(net, data, likelihood, passes)
        self.training = TrainingNet(net)

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,), (); the running statistics move."""
        return self.through(self.training, w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same, with the running statistics left alone."""
        return self.through(partial(self.training, update=False), w, index)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,) with the running statistics collected so far, ()."""
        return FrozenLoss(self.training.net(w), data, self.likelihood).score(w, data)

    @property
    def state(self) -> State:
        """The running statistics."""
        return {f"buffer {name}": value for name, value in self.training.buffers.items()}


class RandomTrunkLoss(FrozenLoss):
    """Mean NLL of a minibatch at treated weights w (D,) and a trunk drawn from its prior, a new one at each call.

    `again` keeps the trunk of the last call, as it keeps all noise: a flat-seeking step compares the loss at one trunk.
    """

    def __init__(self, net: Net, data: Data, likelihood: Likelihood, member: int = 0, passes: Training = PLAIN) -> None:
        super().__init__(net, data, likelihood, passes)
        self.whole = net.restrict("all")
        self._source = generator(net.trunk.seed + member)
        self._drawn = net.trunk.prior.mean.clone()

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss, ()."""
        prior = self.net.trunk.prior
        with torch.no_grad():
            z1, z2 = randn_like(prior.mean, self._source), randn_like(prior.factor[:, 0], self._source)
            self._drawn.copy_(prior.mean + prior.std * z1 + z2 @ prior.factor)
        return self.again(w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss with the trunk of the last call, ()."""
        return self.through(self.whole, self.net.trunk.whole(w, self._drawn), index)

    @property
    def state(self) -> State:
        """The generator, for a checkpoint."""
        return {"trunk noise": self._source}


def refuse_random_trunk(net: Net, method: str) -> None:
    """ValueError where a method that needs a function of the weights is given a net whose trunk is drawn."""
    if net.trunk is not None:
        raise ValueError(
            f"{method} needs a function of the weights, got a net with a sampled trunk: use transfer(trunk='fixed')"
        )


def training_loss(
    net: Net, data: Data, run: Run, members: int | None = None, draws: int = 1
) -> FrozenLoss | BatchedLoss | SequentialLoss:
    """The minibatch loss of a run: of weights (D,), or with `members` one for rows (B, D), net and data checked once.

    With S `draws` of each member it is one for rows (B S, D), a member's draws side by side.

    The run's batchnorm "frozen" keeps the net's statistics, so that the loss is a function of the weights; "train" uses batch
    statistics on an internal copy, which is the loss's `training` and collects running ones on the way.
    Rows go through the network in one pass where it allows that and that is faster: for small networks on a CPU, for all on a
    GPU whose memory suffices.  Otherwise they go one after the other, as do members with BatchNorm statistics of their own, and
    training of reduced precision.

    Raises:
        ValueError: For a sampled trunk with trained BatchNorm statistics, or minibatches in parts.
    """
    spared, work = check_data(net, data, run.likelihood)
    passes, train = run.training, run.batchnorm == "train" and net.has_batchnorm
    passes.check_weights(net.w)
    given, alone = (spared, data, run.likelihood), members is None and draws == 1
    members, rows = members or 1, (members or 1) * draws
    if net.trunk is not None:
        if not passes.whole:
            raise ValueError(
                f"a sampled trunk is drawn for a whole minibatch, got {passes}: of fv.Training use precision alone"
            )
        if train:
            raise ValueError("a sampled trunk keeps its BatchNorm statistics, got batchnorm='train': use 'frozen'")
        losses = [RandomTrunkLoss(*given, row, passes) for row in range(rows)]
    elif train:
        losses = [loss for loss in [BatchStatisticsLoss(*given, passes) for _ in range(members)] for _ in range(draws)]
    else:
        losses = [FrozenLoss(*given, passes)] * rows
    for loss in losses:
        loss.layer = work.layer
    if alone:
        return losses[0]
    alike = type(losses[0]) is FrozenLoss  # its subclasses draw noise or collect statistics, each member's own
    if passes.precision is None and rows > 1 and alike and data.is_held:
        x, _ = data.batch(None)
        network = stack(net, x) or vmapped(net, x)
        if network is not None:
            return BatchedLoss(net, run.likelihood, network, losses)
    return SequentialLoss(losses)
