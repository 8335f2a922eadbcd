"""The loss of a network on minibatches, and its gradient: what fits minimise.

Inputs pass through the network by a `Pass`: with frozen BatchNorm statistics, with those of the
batch, or with a random trunk.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

import torch
from torch import Tensor

from flatviz.checks import Count, Statistics
from flatviz.core import (
    Data,
    Fields,
    Likelihood,
    Net,
    RandomTrunk,
    Stream,
    differentiable,
    generator,
    public,
    randn_like,
    threads,
)
from flatviz.engine.batchnorm import TrainingNet, buffers_at, warn_of_kept_statistics
from flatviz.engine.stacked import Vmapped, forward, vmapped
from flatviz.gaussian import Buffers, Gaussian
from flatviz.objectives.problem import Late, Problem, examined
from flatviz.storage.files import State
from flatviz.training.augment import Augment
from flatviz.training.gradient import PLAIN, Batch, Training, TrainingLoss
from flatviz.training.inputs import Given, StepInputs, check_batch, check_in_range, row_for_each

OneLoss = Callable[[Tensor, Tensor | None], Tensor]  # (w (...), index) -> differentiable loss


class Pass:
    """Passes of minibatches through a network in training; here with frozen statistics."""

    trained: TrainingNet | None = None  # the network whose statistics passes collect

    def __init__(self, net: Net) -> None:
        self.net = net

    def __call__(self, w: Tensor, x: Tensor | Fields, first: bool) -> Tensor:
        """Compute outputs (n, C) at `w` (D,).

        first: it is the first call of a step, whose noise the others repeat.
        """
        return self.net(w, x)

    @property
    def state(self) -> State:
        """Return what passes change in place."""
        return {}


class BatchStatistics(Pass):
    """Passes with the statistics of each batch; the first call of a step moves the running ones."""

    def __init__(self, net: Net) -> None:
        super().__init__(net)
        self.trained: TrainingNet = TrainingNet(net)

    def __call__(self, w: Tensor, x: Tensor | Fields, first: bool) -> Tensor:
        """Compute outputs (n, C)."""
        return self.trained(w, x, update=first)

    @property
    def state(self) -> State:
        """Return the running statistics."""
        return {f"buffer {name}": value for name, value in self.trained.buffers.items()}


class SampledTrunk(Pass):
    """Passes with a trunk drawn from its prior, a new one in each step."""

    def __init__(self, net: Net, trunk: RandomTrunk, row: int) -> None:
        super().__init__(net)
        self.full = net.restrict("all")
        self.trunk = trunk
        self._source = generator(trunk.seed + row)
        self._drawn = trunk.prior.mean.clone()

    def __call__(self, w: Tensor, x: Tensor | Fields, first: bool) -> Tensor:
        """Compute outputs (n, C)."""
        if first:
            prior = self.trunk.prior
            with torch.no_grad():
                z1 = randn_like(prior.mean, self._source)
                z2 = randn_like(prior.factor[:, 0], self._source)
                self._drawn.copy_(prior.mean + prior.std * z1 + z2 @ prior.factor)
        return self.full(self.trunk.all_weights(w, self._drawn), x)

    @property
    def state(self) -> State:
        """Return the generator's state."""
        return {"trunk noise": self._source}


class NetworkLoss(TrainingLoss):
    """Mean NLL of minibatches of a problem at weights (..., D), and its gradient.

    The leading dimensions of w are members, then the draws of each; this class alone knows in which
    order they are rows.  A batch is (n,), or (B, n) with one for each member.

    Args:
        problem: Network, data, likelihood.
        passes: One for each member and draw, the draws of a member side by side; or one for all
            rows, where it changes nothing.
        training: How minibatches pass.
        draws: S of a member.
        stacks: Whether rows pass through the network at once, where possible.
        shared: Whether each draw of a member gets an equal part of its batch in place of all of it.
            In a last, smaller minibatch whose size is no multiple of the draws, some examples are
            in two parts.
        augment: What varies the inputs, once a step.
    """

    def __init__(
        self,
        problem: Problem,
        passes: Sequence[Pass],
        training: Training = PLAIN,
        draws: int = 1,
        stacks: bool = False,
        shared: bool = False,
        augment: Augment | None = None,
    ) -> None:
        super().__init__()
        self.inputs = StepInputs(problem.data, training.accumulate, augment)
        self.shared = shared
        self.stacks = stacks
        self.problem = problem
        self.passes = passes
        self.training = training
        self.draws = draws
        self.p = problem.likelihood
        # Fixed passes compute on kept activations, once `keep` or a call for all examples asks
        self._late = Late(training.precision)
        self._now = problem
        self._looked_for = False
        self._varied = False  # a run would have kept them, but for `augment`
        self._run: tuple[int | None, Sequence[int]] = (1, (0,))
        self._stacked: Vmapped | None = None
        self._compared = False
        self.examples = len(problem.data)
        self.streams = not problem.data.in_memory
        self._first = True

    def __call__(self, w: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute mean loss (...) and its gradient (..., D)."""
        lead = w.shape[:-1]
        check_batch(batch, lead[:-1] if self.shared else lead)
        if batch is None:
            self.keep(self.examples)
        examples, batch = self.inputs.of(batch)
        if self.shared:
            batch = self._parts(batch, w)
        n = self.examples if batch is None else batch.shape[-1]
        index = None if batch is None else row_for_each(batch, lead)
        W = w.reshape(-1, w.shape[-1])
        rows = len(W) if self._batched(len(W), n) else 1
        gradient = partial(self._rows, examples)
        count = partial(self._count, examples.y)
        with threads(self._now.work.layer * n * rows):
            try:
                value, g = self.training.in_parts(gradient, W, index, self.examples, count)
            except IndexError as error:  # no look before, which would wait for a GPU
                check_in_range(index, self.examples, error)
                raise
        self._first = False
        value = value.view(lead)
        g = g.view_as(w)
        weighted = self.p.weights(self.problem.data.y[:1]) is not None
        if self.shared and weighted and index is not None:
            # The mean over draws is that of all labels that count
            counts = count(index).view(lead).to(w)
            mean = counts.mean(-1, keepdim=True)
            share = counts / mean.clamp_min(torch.finfo(w.dtype).tiny)
            value = share * value
            g = share[..., None] * g
        return value, g

    def _parts(self, batch: Batch, w: Tensor) -> Tensor:
        """Split the batch of each member into one for each of its draws, (..., S, n / S)."""
        if batch is None:
            batch = torch.arange(self.examples, device=w.device)
        batch = batch.expand(*w.shape[:-2], batch.shape[-1])  # one for each member
        more = -batch.shape[-1] % self.draws
        first = batch[..., :more]
        whole = torch.cat((batch, first), -1)
        return whole.unflatten(-1, (self.draws, -1))

    def prepare(
        self,
        augment: Augment | None,
        batch_size: int | None,
        seeds: Sequence[int],
    ) -> None:
        """Prepare for the steps of a run: what varies inputs, and the seed of each member's."""
        self._varied = False
        if augment is not None and self._now is not self.problem:  # it varies inputs, not rows
            self._now = self.problem
            self._looked_for = self._compared = False
            self.inputs = StepInputs(self.problem.data, self.training.accumulate)
        self.inputs.prepare(augment, batch_size, seeds)
        self._run = (batch_size, seeds)

    def keep(self, examples: int) -> None:
        """Keep activations of a fixed trunk where so many examples pass that it pays.

        Inputs that vary have none that could be kept.
        """
        plain = type(self.passes[0]) is Pass and self.passes[0].net is self.problem.net
        if self._looked_for or not plain or examples < self.examples:
            return
        if self.inputs.augment is not None:
            self._varied = True
            return
        self._looked_for = True
        self._now = self._late.of(self.problem)
        self._compared = False
        if self._now is not self.problem:
            self.inputs = StepInputs(self._now.data, self.training.accumulate)
            self.inputs.prepare(None, *self._run)

    @property
    def network(self) -> Vmapped | None:
        """The network at all rows in one pass; None where that is not possible."""
        if not self._compared:
            self._compared = True
            net, data, *_ = self._now
            self._stacked = None
            if self.stacks and data.in_memory:
                self._stacked = vmapped(net, data.tensor())
        return self._stacked

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the history: how a stream is read, and what is kept."""
        x = self.inputs.data.x
        read = (x.note,) if isinstance(x, Stream) and x.note else ()
        if self._looked_for:
            return (*read, *self._late.notes(self.problem))
        if self._varied and self._late.cut(self.problem) is not None:
            return (*read, "activations are not kept: augment varies the inputs")
        return read

    @property
    def reads(self) -> bool:  # type: ignore[override]
        """Whether steps read examples from a data set."""
        return isinstance(self.inputs.data.x, Stream)

    def begin(self, step: int | None = None, batch: Batch = None) -> None:
        """Begin a step: new noise, statistics move once, and all calls see the same inputs."""
        self._first = True
        self.inputs.begin(step, batch)

    def finish(self) -> str:
        """End the run: from now on calls see the data as they are; return what went wrong in it."""
        return self.inputs.finish()

    def ahead(self, batches: Iterator[Batch]) -> AbstractContextManager[Iterator[Batch]]:
        """Read the minibatches of a stream before their steps, in the block."""
        return self.inputs.ahead(batches)

    @property
    def recordable(self) -> bool:
        """Whether a recorded step would see the inputs of each step."""
        return self.inputs.held or self.inputs.data.in_memory

    def check(self, data: Data) -> None:
        """Refuse data that the net cannot read."""
        examined(self.problem.net, data, self.problem.likelihood)

    @property
    def longest_gradient(self) -> float | None:
        """Length to which SGD shortens a gradient, as the likelihood says."""
        return self.p.longest_gradient(self.problem.data.y)

    def of_constant(self) -> float:
        """Compute the least loss of one output for all examples; NaN for a stream."""
        data = self.problem.data
        if not data.in_memory:
            return math.nan
        x, _ = data.batch(torch.arange(1))
        net = self.problem.net
        with torch.no_grad():
            return self.p.of_constant(data.y, net(net.w, x))

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Compute the mean loss of other data at `w` (D,) or (B, D), () or (B,).

        The nets are as they predict now, without gradients or noise.  NaN where w diverged.
        """
        W = w.view(-1, w.shape[-1])
        losses = W.new_full((len(W),), math.nan)
        for member, row in enumerate(W):
            if row.isfinite().all():
                net = self.net_at(row, member)
                (outputs,) = forward(net, row[None], data.x)
                losses[member] = self.p.nll(outputs, data.y)
        return losses.view(w.shape[:-1])

    def net_at(self, w: Tensor, member: int = 0) -> Net:
        """Return the network at `w` (D,) as it predicts now, with this member's statistics."""
        one = self._of(member)
        if one.trained is None:
            return one.net.at(w)
        return one.trained.net(w)

    def buffers(self, member: int = 0) -> Buffers:
        """Return the statistics that a member collected; None without any."""
        trained = self._of(member).trained
        if trained is None:
            return None
        return {name: value.clone() for name, value in trained.buffers.items()}

    def buffers_at(self, W: Tensor) -> Buffers:
        """Compute statistics of the data at `W` (D,) or (S, D); None where they are frozen."""
        if self.passes[0].trained is None:
            return None
        return buffers_at(self.problem.net, W, self.problem.data)

    @property
    def state(self) -> State:
        """Return the states of the passes, numbered, each once."""
        state: State = {}
        for i, one in enumerate(dict.fromkeys(self.passes)):
            state |= {f"{i} {name}": value for name, value in one.state.items()}
        return state

    @property
    def about(self) -> Mapping[str, object]:
        """Return network, data, likelihood, kind of pass and number of rows."""
        return {
            "net": self.problem.net,
            "data": self.problem.data,
            "likelihood": self.problem.likelihood,
            "pass": type(self.passes[0]).__name__,
            "draws": (self.draws, self.shared),
            **self.inputs.about,
        }

    def _of(self, member: int) -> Pass:
        if len(self.passes) == 1:
            return self.passes[0]
        return self.passes[member * self.draws]

    def _batched(self, rows: int, n: int) -> bool:
        return self.network is not None and self.network.worth_batching(rows, n)

    def _rows(
        self,
        examples: Data | Given,
        W: Tensor,
        index: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Compute losses (R,) and gradients (R, D) of the rows of W, in one pass or one by one."""
        n = self.examples if index is None else index.shape[1]
        if self._batched(len(W), n):
            together = partial(self._together, examples)
            return _value_and_grad(together, W, index, self.training.loss_scale)
        passes = self.passes
        if self._now is not self.problem:
            passes = [Pass(self._now.net)]
        if len(passes) == 1 and not self.state:
            passes = [*passes] * len(W)
        if len(passes) != len(W):
            raise ValueError(
                f"w must have {len(passes)} rows, members and their draws, got {len(W)}: build the"
                " loss by training_loss(..., members=, draws=)"
            )
        indices = [None] * len(W) if index is None else index.unbind()
        rows = [
            _value_and_grad(partial(self._alone, examples, one), w, i, self.training.loss_scale)
            for one, w, i in zip(passes, W.unbind(), indices)
        ]
        if len(rows) == 1:  # no copy, as a large network's gradient takes much memory
            value, g = rows[0]
            return value[None], g[None]
        values, gradients = zip(*rows)
        return torch.stack(values), torch.stack(gradients)

    def _count(self, labels: Tensor, index: Tensor) -> Tensor:
        """Compute the divisor of the mean loss of examples (..., n), (...)."""
        y = labels[index.flatten()]
        weights = self.p.weights(y)
        if weights is None:
            weights = y.new_ones(len(y), dtype=torch.float64)
        return weights.view(index.shape).sum(-1)

    def _alone(
        self,
        examples: Data | Given,
        one: Pass,
        w: Tensor,
        index: Tensor | None,
    ) -> Tensor:
        x, y = examples.batch(index)
        outputs = self.training.outputs(partial(one, first=self._first), w, x)
        return self.p.nll(outputs, y)

    def _together(self, examples: Data | Given, W: Tensor, index: Tensor | None) -> Tensor:
        network = self.network
        assert network is not None
        x = examples.x if isinstance(examples, Given) else network.inputs
        y = examples.y
        if index is None:
            y = y.expand(len(W), *y.shape)
        else:
            x = x.index_select(0, index.flatten())
            x = x.unflatten(0, index.shape)
            y = y[index]
        with self.training.autocast(W):
            outputs = network(W, x).to(W.dtype)
        return self.p.nll_rows(outputs, y)


def _value_and_grad(
    loss: OneLoss,
    w: Tensor,
    index: Tensor | None,
    scale: float,
) -> tuple[Tensor, Tensor]:
    with differentiable():  # in any mode of the caller
        w = w.clone() if w.is_inference() else w
        w = w.detach().requires_grad_(True)
        value = loss(w, index)
        total = value.sum()
        if scale == 1:
            (g,) = torch.autograd.grad(total, w)
        else:
            (g,) = torch.autograd.grad(scale * total, w)
            g = g / scale
    return value.detach(), g


def check_covers(net: Net, q: Gaussian, name: str) -> None:
    """Refuse a `q` over other weights than the net's treated ones, or of another dtype."""
    if q.dim != net.dim:
        raise ValueError(
            f"{name} must cover the net's {net.dim} treated weights, got {q.dim}: use what transfer"
            " returned"
        )
    if q.mean.dtype != net.w.dtype:
        raise ValueError(
            f"{name} must have the net's dtype, {net.w.dtype}, got {q.mean.dtype}: convert one of"
            f" them, as by net.to(dtype={q.mean.dtype})"
        )


def refuse_random_trunk(net: Net, method: str) -> None:
    """Refuse a net with a sampled trunk for a method that needs a function of the weights."""
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
    members: Count = 1,
    draws: Count = 1,
    augment: Augment | None = None,
) -> NetworkLoss:
    """Build the mean NLL of minibatches with its gradient, as a method's `update` takes it.

    Net and data are checked once.  Within a step all calls have the same noise; `loss.begin()`
    starts the next.  Rows go through the network in one pass where it allows that and that is
    faster: for small networks on a CPU, for all on a GPU with enough memory.  Otherwise they go one
    after the other, as do members that each collect BatchNorm statistics.

    Args:
        net: The network.
        data: Its N examples.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        batchnorm: "frozen" keeps the net's statistics, so that the loss is a function of the
            weights; "train" uses batch statistics on an internal copy, which collects running ones
            on the way.
        training: How minibatches pass.
        members: B, where weights are (B, D).
        draws: S of each member, where weights are (B, S, D), or (S, D) of one.
        augment: Varies the inputs once a step, as in `fit`. By hand call
            `loss.begin(step, batch)` before the gradients of a step.

    Raises:
        ValueError: For bad data, and a sampled trunk with trained BatchNorm statistics or
            minibatches in parts.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> gradient = fv.training.training_loss(net, data)
        >>> loss, g = gradient(net.w, torch.tensor([0, 3, 7]))
        >>> loss.shape, g.shape
        (torch.Size([]), torch.Size([9]))
    """
    problem = examined(net, data, likelihood)
    return loss_of(problem, batchnorm, training, members, draws, augment=augment)


def loss_of(
    problem: Problem,
    batchnorm: Statistics = "frozen",
    training: Training = PLAIN,
    members: int = 1,
    draws: int = 1,
    *,
    shared: bool = False,
    augment: Augment | None = None,
) -> NetworkLoss:
    """Build `training_loss` of a problem that was examined before; `shared` as in `NetworkLoss`."""
    net = problem.net
    data = problem.data
    train = batchnorm == "train" and net.has_batchnorm
    if batchnorm == "train":
        warn_of_kept_statistics(net, data)
    problem.warn_of_unlabelled()
    training.check_weights(net.w)
    rows = members * draws
    passes = list[Pass]()
    stacks = False
    if net.trunk is not None:
        if training.accumulate > 1:
            raise ValueError(
                f"a sampled trunk is drawn for a whole minibatch, got {training}: use its precision"
                " alone"
            )
        if train:
            raise ValueError(
                "a sampled trunk keeps its BatchNorm statistics, got batchnorm='train': use"
                " 'frozen'"
            )
        passes += [SampledTrunk(net, net.trunk, row) for row in range(rows)]
    elif train:
        for _ in range(members):
            passes += [BatchStatistics(net)] * draws
    else:
        passes.append(Pass(net))
        stacks = rows > 1
    return NetworkLoss(problem, passes, training, draws, stacks, shared, augment)
