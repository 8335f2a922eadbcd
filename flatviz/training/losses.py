"""Losses that fits minimise.

Mean NLL of a minibatch, with frozen or trained BatchNorm statistics, or with a random trunk.

A loss is that of one weight vector, or of several at once, with a row and a minibatch each.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import Count, Statistics
from flatviz.core import Data, Likelihood, Net, RandomTrunk, generator, public, randn_like
from flatviz.engine.batchnorm import TrainingNet, buffers_at
from flatviz.engine.stacked import Vmapped, forward, vmapped
from flatviz.gaussian import Buffers, Gaussian
from flatviz.likelihood import as_likelihood
from flatviz.objectives.network import check_data
from flatviz.storage.files import State
from flatviz.training.gradient import PLAIN, Network, Training, TrainingLoss


class NetLoss(TrainingLoss):
    """Mean NLL of a minibatch, with the net's BatchNorm statistics, or with the batch's by `training`, which collects running ones."""

    data: Data

    def __init__(
        self,
        net: Net,
        data: Data,
        likelihood: Likelihood,
        passes: Training = PLAIN,
        training: TrainingNet | None = None,
    ) -> None:
        self.net = net
        self.data = data
        self.likelihood = likelihood
        self.passes = passes
        self.training = training

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,), (); with `training` the running statistics move."""
        return self.through(self.training or self.net, w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same, with the running statistics left alone."""
        return self.through(
            self.net if self.training is None else partial(self.training, update=False), w, index
        )

    def through(self, network: Network, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` of a minibatch that passes through `network(w, x)`, ()."""
        x, y = self.data.batch(index)
        return as_likelihood(self.likelihood).nll(self.passes.outputs(network, w, x), y)

    @property
    def about(self) -> dict[str, Any]:
        """Network, data, likelihood and kind of loss."""
        return {
            "net": self.net,
            "data": self.data,
            "likelihood": self.likelihood,
            "loss": (type(self).__name__, self.training is None),
        }

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def of_constant(self) -> float:
        """Least loss of one output for all examples, `Likelihood.of_constant`."""
        if not self.data.in_memory:
            return math.nan
        x, _ = self.data.batch(torch.arange(1))
        with torch.no_grad():
            of = as_likelihood(self.likelihood).of_constant
            return of(self.data.y, self.net(self.net.w, x))

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,) by the net as it predicts now, without gradients or noise, ()."""
        net = self.net if self.training is None else self.training.net(w)
        return as_likelihood(self.likelihood).nll(forward(net, w[None], data.x)[0], data.y)

    def buffers_at(self, W: Tensor) -> Buffers:
        """Statistics of the data at `W` (D,) or (S, D), as `engine.batchnorm.buffers_at`; None where they are frozen."""
        return None if self.training is None else buffers_at(self.net, W, self.data)

    @property
    def state(self) -> State:
        """The running statistics."""
        return (
            {}
            if self.training is None
            else {f"buffer {name}": value for name, value in self.training.buffers.items()}
        )


class RandomTrunkLoss(NetLoss):
    """Mean NLL of a minibatch at treated weights w (D,) and a trunk drawn from its prior, a new one at each call.

    `again` keeps the trunk of the last call, as it keeps all noise: a flat-seeking step compares
    the loss at one trunk.
    """

    def __init__(
        self,
        net: Net,
        trunk: RandomTrunk,
        data: Data,
        likelihood: Likelihood,
        member: int,
        passes: Training,
    ) -> None:
        super().__init__(net, data, likelihood, passes)
        self.whole = net.restrict("all")
        self.trunk = trunk
        self._source = generator(trunk.seed + member)
        self._drawn = trunk.prior.mean.clone()

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss, ()."""
        prior = self.trunk.prior
        with torch.no_grad():
            z1 = randn_like(prior.mean, self._source)
            z2 = randn_like(prior.factor[:, 0], self._source)
            self._drawn.copy_(prior.mean + prior.std * z1 + z2 @ prior.factor)
        return self.again(w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss with the trunk of the last call, ()."""
        return self.through(self.whole, self.trunk.whole(w, self._drawn), index)

    @property
    def state(self) -> State:
        """The generator, for a checkpoint."""
        return {"trunk noise": self._source}


class RowLosses(TrainingLoss):
    """Losses of several weight vectors, one after another.

    losses: of each row, all of the same data.
    """

    data: Data

    def __init__(self, losses: Sequence[NetLoss]) -> None:
        first = losses[0]
        self.losses = losses
        self.data = first.data
        self.passes = first.passes
        self.layer = first.layer

    @property
    def each(self) -> Sequence[TrainingLoss]:
        """The loss of each row."""
        return self.losses

    def buffers_at(self, W: Tensor) -> Buffers:
        """Statistics of the data at `W`; None where they are frozen."""
        return self.losses[0].buffers_at(W)

    def of_constant(self) -> float:
        """Least loss of one output for all examples."""
        return self.losses[0].of_constant()

    @property
    def state(self) -> State:
        """Collect the states of the losses, numbered.

        a loss that several rows share is in it once.
        """
        return {
            f"{i} {name}": value
            for i, loss in enumerate(dict.fromkeys(self.losses))
            for name, value in loss.state.items()
        }

    @property
    def about(self) -> dict[str, Any]:
        """The losses of the rows, and their number."""
        return self.losses[0].about | {"rows": len(self.losses)}

    def in_one_pass(self, rows: int, index: Tensor | None) -> bool:
        """Rows draw noise or collect statistics, each for itself."""
        return False

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        self.losses[0].check(data)

    def score(self, W: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at each row of `W` (B, D), (B,)."""
        return torch.stack([loss.score(w, data) for loss, w in zip(self.losses, W.unbind())])


class BatchedLosses(RowLosses):
    """Losses of several weight vectors, (B, D) -> (B,), by one pass of the network where that is faster.

    network: of all rows at once.  inputs: those of the data.
    """

    def __init__(self, losses: Sequence[NetLoss], network: Vmapped) -> None:
        super().__init__(losses)
        self.network = network

    def in_one_pass(self, rows: int, index: Tensor | None) -> bool:
        """Whether one pass of the network is worth it."""
        return self.network.worth_batching(
            rows, len(self.data) if index is None else index.shape[1]
        )

    def __call__(self, W: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss of each row of W (B, D) in one pass, (B,).

        Index: (B, n), or None for all examples.
        """
        if index is None:
            x = self.network.inputs
            y = self.data.y.expand(len(W), *self.data.y.shape)
        else:
            x = self.network.inputs.index_select(0, index.flatten()).unflatten(0, index.shape)
            y = self.data.y[index]
        with self.passes.autocast(W):
            outputs = self.network(W, x).to(W.dtype)
        return as_likelihood(self.losses[0].likelihood).nll_rows(outputs, y)


def check_covers(net: Net, q: Gaussian, name: str) -> None:
    """Raises ValueError where `q` is over other weights than the net's treated ones."""
    if q.dim != net.dim:
        raise ValueError(
            f"{name} must cover the net's {net.dim} treated weights, got {q.dim}: use what transfer"
            " returned"
        )


def refuse_random_trunk(net: Net, method: str) -> None:
    """ValueError where a method that needs a function of the weights is given a net whose trunk is drawn."""
    if net.trunk is not None:
        raise ValueError(
            f"{method} needs a function of the weights, got a sampled trunk: use"
            " transfer(trunk='fixed')"
        )


@public
def training_loss(
    net: Net,
    data: Data,
    likelihood: Likelihood = "categorical",
    batchnorm: Statistics = "frozen",
    training: Training = PLAIN,
    *,
    members: Count | None = None,
    draws: Count = 1,
) -> NetLoss | RowLosses:
    """Build the mean NLL of minibatches, as a method's `update` takes it.

    Net and data are checked once.

    Rows go through the network in one pass where it allows that and that is faster: for small
    networks on a CPU, for all on a GPU whose memory suffices.  Otherwise they go one after the
    other, as do members that each collect BatchNorm statistics.

    Args:
        net: The network.
        data: Its N examples.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that the loss is a function of the
            weights; "train" uses batch statistics on an internal copy, which is the loss's
            `training` and collects running ones on the way.
        training: How minibatches pass.
        members: B, where the loss is that of rows (B, D), (B,); None, of weights (D,), ().
        draws: S of each member: the loss is then that of rows (B S, D), a member's draws side by
            side.

    Raises:
        ValueError: For bad data, and a sampled trunk with trained BatchNorm statistics or
            minibatches in parts.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> loss = fv.training.training_loss(net, fv.Data(torch.randn(12, 2), torch.arange(12) % 3))
        >>> loss(net.w, torch.tensor([0, 3, 7])).shape
        torch.Size([])
    """
    spared, work = check_data(net, data, likelihood)
    passes = training
    train = batchnorm == "train" and net.has_batchnorm
    passes.check_weights(net.w)
    alone = members is None and draws == 1
    losses = list[NetLoss]()
    members, rows = members or 1, (members or 1) * draws
    if net.trunk is not None:
        if passes.accumulate > 1:
            raise ValueError(
                f"a sampled trunk is drawn for a whole minibatch, got {passes}: use its precision"
                " alone"
            )
        if train:
            raise ValueError(
                "a sampled trunk keeps its BatchNorm statistics, got batchnorm='train': use"
                " 'frozen'"
            )
        losses += [
            RandomTrunkLoss(spared, net.trunk, data, likelihood, row, passes) for row in range(rows)
        ]
    else:
        for _ in range(members):
            losses += [
                NetLoss(spared, data, likelihood, passes, TrainingNet(spared) if train else None)
            ] * draws
    for loss in losses:
        loss.layer = work.layer
    if alone:
        return losses[0]
    alike = not losses[0].state  # others draw noise or collect statistics, member by member
    if (
        rows > 1
        and alike
        and data.in_memory
        and (network := vmapped(net, data.whole())) is not None
    ):
        return BatchedLosses(losses, network)
    return RowLosses(losses)
