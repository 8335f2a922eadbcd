"""BatchNorm statistics: frozen, recomputed for other weights, or collected in training."""

from typing import Any

import torch
from torch import Tensor, nn

from flatviz.checks import Several, Vector, check_weights
from flatviz.core import Data, Fields, Net, public, run
from flatviz.gaussian import Buffers

CHOICES = (
    "batchnorm='frozen' (the statistics that the net has) or batchnorm=data (a Data that"
    " re-estimates them for each draw)"
)


def check_batchnorm(net: Net, batchnorm: str | Data | None) -> str | None:
    """Check the choice of BatchNorm statistics, and return it as results record it.

    Results record "frozen", "re-estimated", or None for a net without BatchNorm.

    Raises:
        ValueError: For a net with BatchNorm and no choice.
    """
    if not net.has_batchnorm:
        return None
    if batchnorm is None:
        raise ValueError(
            "this net has BatchNorm, so its statistics must be chosen, got batchnorm=None: use"
            f" {CHOICES}"
        )
    if isinstance(batchnorm, Data):
        return "re-estimated"
    if batchnorm != "frozen":
        raise ValueError(f"batchnorm must be 'frozen' or a Data, got {batchnorm!r}: use {CHOICES}")
    return "frozen"


def with_trained_buffers(net: Net, buffers: Buffers) -> Net:
    """Return the net with the BatchNorm statistics of a fit's posterior, or itself without any."""
    if buffers is None:
        return net
    return net.with_buffers({name: b.to(net.device) for name, b in buffers.items()})


def buffers_at(net: Net, W: Tensor, data: Data) -> Buffers:
    """Compute BatchNorm statistics of `data` at weights `W`.

    They are those of (D,), or (S, ...) at each of (S, D), S > 1.
    """
    each = [refresh_batchnorm(net, w, data).buffers() for w in W.view(-1, net.dim)]
    if len(each) == 1:
        return each[0]
    return {name: torch.stack([buffers[name] for buffers in each]) for name in each[0]}


class TrainingNet:
    """Copy of a net whose BatchNorm layers use batch statistics and update running ones.

    Other norms with running statistics stay in evaluation mode and keep theirs.

    momentum: of the running statistics; None: that of each layer.
    """

    def __init__(self, net: Net, *, momentum: float | None = None) -> None:
        self._net = net
        self._momentum = momentum
        # A training pass may change these statistics, whatever mode the caller is in
        with torch.inference_mode(False):
            self.buffers = {n: b.clone() for n, b in net.buffers().items()}
            self._copy = net.copy().with_buffers(self.buffers)
        norms = self._copy.norms()
        for m in norms.values():
            m.train()
            m.momentum = m.momentum if momentum is None else momentum
        self.norms = {n: m for n, m in norms.items() if m.track_running_stats}

    def __call__(self, w: Tensor, x: Tensor | Fields, *, update: bool = True) -> Tensor:
        """Compute outputs (N, C); running statistics move unless `update` is off.

        A minibatch of one example has no variance in a layer; it passes with the running statistics
        collected so far.

        Raises:
            ValueError: For one example where they are collected from scratch.
        """
        writes = self._net.look(x).writes
        self._net.check_runs_once()
        try:
            with self._copy.installed(w, copies=writes, statistics=not update):
                return run(self._copy.module, x.clone() if writes else x)
        except ValueError:
            if len(x) > 1 or self._momentum is not None:  # `refresh_batchnorm` needs the error
                raise
            return self.net(w)(w, x)

    def net(self, w: Tensor) -> Net:
        """Return the net in evaluation mode at `w`, with the statistics collected here."""
        return self._net.at(w).with_buffers({n: b.clone() for n, b in self.buffers.items()})


@torch.no_grad()
@public
def refresh_batchnorm(net: Net, w: Vector, data: Data, *, batch_size: Several = 512) -> Net:
    """Recompute the BatchNorm statistics of a net as those of `data` at weights `w` (D,).

    Batches of `batch_size` pass with the batch's statistics, as in training; a last batch of one
    example joins the one before.  Statistics of the batches are combined exactly at each layer:
    mean and variance over all examples, with the spread between batches.  So the first BatchNorm
    layer has those of all data in one batch; later layers see inputs that were normalised batch by
    batch.

    Args:
        net: The network.
        w: Weights (D,).
        data: Examples (N, ...), two or more.
        batch_size: Examples a batch; None, all of them.

    Returns:
        A net at `w`.

    Raises:
        ValueError: For a single example, which has no variance.

    Example:
        >>> import torch, flatviz as fv
        >>> module = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 2))
        >>> net = fv.Net.from_module(module)
        >>> data = fv.Data(torch.tensor([[3.0], [5.0]]), torch.tensor([0, 1]))
        >>> fv.engine.refresh_batchnorm(net, net.w, data).to_module()[0].running_mean.tolist()
        [4.0]
    """
    check_weights(w, net.dim)
    if not net.has_batchnorm:
        return net.at(w)
    training = TrainingNet(net, momentum=1.0)
    sizes = _sizes(len(data), batch_size)
    moments = {name: _Moments() for name in training.norms}
    hooks = [m.register_forward_hook(moments[name].add) for name, m in training.norms.items()]
    try:
        for x in data.x.split(sizes):
            training(w, x)  # with a momentum of 1 the running statistics are then the batch's
    except ValueError as error:
        if len(data) > 1:
            raise
        raise ValueError(
            "data must hold at least 2 examples to estimate BatchNorm statistics, got 1: give more"
        ) from error
    finally:
        for hook in hooks:
            hook.remove()
    for name, layer in moments.items():
        layer.write(training.buffers, name)
    return training.net(w)


def _sizes(n: int, batch_size: int) -> list[int]:
    """Return lengths of batches of `n` examples, none of them 1."""
    sizes = [batch_size] * (n // batch_size) + [n % batch_size] * (n % batch_size > 0)
    return [*sizes[:-2], sizes[-2] + 1] if len(sizes) > 1 and sizes[-1] == 1 else sizes


class _Moments:
    """Mean and unbiased variance of all inputs of a layer, combined from its batches.

    Source: Chan, Golub and LeVeque 1983.
    """

    def __init__(self) -> None:
        self.n = 0
        self.mean = torch.zeros(())
        self.squares = torch.zeros(())

    def add(self, layer: nn.Module, inputs: tuple[Tensor, ...], _: Tensor) -> None:
        n = inputs[0].numel() // inputs[0].shape[1]  # numbers a channel
        mean = layer.get_buffer("running_mean").double()
        var = layer.get_buffer("running_var").double()
        step = mean - self.mean
        n_all = self.n + n
        self.squares = self.squares + (n - 1) * var + step.square() * (self.n * n / n_all)
        self.mean = self.mean + step * (n / n_all)
        self.n = n_all

    def write(self, buffers: dict[str, Tensor], name: str) -> None:
        if self.n:  # a layer that was never run keeps its statistics
            buffers[f"{name}.running_mean"].copy_(self.mean)
            buffers[f"{name}.running_var"].copy_(self.squares / (self.n - 1))


def _scale(
    gain: Tensor | None, shift: Tensor | None, mean: Tensor, var: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    scale = torch.rsqrt(var + eps) * (1 if gain is None else gain)
    return scale, (0 if shift is None else shift) - mean * scale


def normalized(
    gain: Tensor | None, shift: Tensor | None, mean: Tensor, var: Tensor, eps: float, x: Tensor
) -> Tensor:
    """Normalise x (N, C, ...) by frozen statistics: a scale and a shift of each channel."""
    scale, offset = (t.view(-1, *[1] * (x.ndim - 2)) for t in _scale(gain, shift, mean, var, eps))
    return torch.addcmul(offset, x, scale)


def convolved(
    gain: Tensor | None,
    shift: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *how: Any,
):
    """Convolve and normalise by frozen statistics, as one convolution with other weights."""
    scale, offset = _scale(gain, shift, mean if bias is None else mean - bias, var, eps)
    return torch.convolution(x, weight * scale.view(-1, *[1] * (weight.ndim - 1)), offset, *how)
