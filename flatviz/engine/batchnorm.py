"""BatchNorm statistics: frozen, recomputed for other weights, or collected in training."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from flatviz.checks import Several, Vector, check_weights
from flatviz.core import Data, Fields, Net, looked_at, public, run, saved_rng
from flatviz.gaussian import Buffers
from flatviz.words import first_few

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
    there = {name: buffer.to(net.device) for name, buffer in buffers.items()}
    return net.with_buffers(there)


def buffers_at(net: Net, W: Tensor, data: Data) -> Buffers:
    """Compute BatchNorm statistics of `data` at weights `W`.

    They are those of (D,), or (S, ...) at each of (S, D), S > 1.
    """
    rows = W.view(-1, net.dim)
    each = [refresh_batchnorm(net, w, data).buffers() for w in rows]
    if len(each) == 1:
        return each[0]
    joined = {}
    for name in each[0]:
        joined[name] = torch.stack([buffers[name] for buffers in each])
    return joined


def kept_statistics(net: Net, x: Tensor | Fields) -> list[str]:
    """Name modules other than BatchNorm whose buffers move in training mode; fits keep those."""
    module = net.to_module()
    others: dict[str, list[Tensor]] = {}
    for name, layer in module.named_modules():
        buffers = [b for b in layer.buffers(recurse=False) if b.is_floating_point()]
        if buffers and not isinstance(layer, _BatchNorm):
            layer.training = True
            others[name] = buffers
    if not others:
        return []
    before = {name: [b.clone() for b in buffers] for name, buffers in others.items()}
    try:
        with torch.no_grad(), saved_rng():
            run(module, x.clone())
    except (RuntimeError, ValueError):  # in training mode it takes no two examples
        return []
    moved = []
    for name in others:
        after = module.get_submodule(name).buffers(recurse=False)
        floating = [b for b in after if b.is_floating_point()]
        if not all(map(torch.equal, before[name], floating)):
            moved.append(name)
    return moved


def warn_of_kept_statistics(net: Net, data: Data) -> None:
    """Warn where a training with batch statistics leaves those of other norms as they are."""
    kinds = []
    for name in kept_statistics(net, looked_at(data.x)[:2]):
        kind = type(net.module.get_submodule(name)).__name__
        kinds.append(f"{name or 'the module'} ({kind})")
    if kinds:
        warnings.warn(
            "training with batch statistics must be of BatchNorm, which alone moves its own, got"
            f" {first_few(kinds)} too: it stays in evaluation mode and keeps its statistics; use"
            " BatchNorm, or a norm without running statistics",
            stacklevel=3,
        )


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
            self.buffers = {name: buffer.clone() for name, buffer in net.buffers().items()}
            self._copy = net.copy().with_buffers(self.buffers)
        self.norms = {}
        for name, norm in self._copy.norms().items():
            norm.train()
            if momentum is not None:
                norm.momentum = momentum
            if norm.track_running_stats:
                self.norms[name] = norm

    def __call__(
        self,
        w: Tensor,
        x: Tensor | Fields,
        *,
        update: bool = True,
    ) -> Tensor:
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
        buffers = {name: buffer.clone() for name, buffer in self.buffers.items()}
        return self._net.at(w).with_buffers(buffers)


@torch.no_grad()
@public
def refresh_batchnorm(
    net: Net,
    w: Vector,
    data: Data,
    *,
    batch_size: Several = 512,
) -> Net:
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
    hooks = []
    for name, norm in training.norms.items():
        hooks.append(norm.register_forward_hook(moments[name].add))
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
    sizes = [batch_size] * (n // batch_size)
    rest = n % batch_size
    if rest == 1 and sizes:
        sizes[-1] += 1
    elif rest:
        sizes.append(rest)
    return sizes


class _Moments:
    """Mean and unbiased variance of all inputs of a layer, combined from its batches.

    Source: Chan, Golub and LeVeque 1983.
    """

    def __init__(self) -> None:
        self.n = 0
        self.mean = torch.zeros(())
        self.squares = torch.zeros(())

    def add(
        self,
        layer: nn.Module,
        inputs: tuple[Tensor, ...],
        _: Tensor,
    ) -> None:
        (x,) = inputs
        n = x.numel() // x.shape[1]  # numbers a channel
        mean = layer.get_buffer("running_mean").double()
        var = layer.get_buffer("running_var").double()
        step = mean - self.mean
        n_all = self.n + n
        between = step.square() * (self.n * n / n_all)
        self.squares = self.squares + (n - 1) * var + between
        self.mean = self.mean + step * (n / n_all)
        self.n = n_all

    def write(self, buffers: dict[str, Tensor], name: str) -> None:
        if self.n:  # a layer that was never run keeps its statistics
            buffers[f"{name}.running_mean"].copy_(self.mean)
            buffers[f"{name}.running_var"].copy_(self.squares / (self.n - 1))


def _affine(
    gain: Tensor | None,
    shift: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
) -> tuple[Tensor, Tensor]:
    """Compute scale and offset (C,) of a BatchNorm: scale x + offset."""
    scale = torch.rsqrt(var + eps) * (1 if gain is None else gain)
    offset = -mean * scale if shift is None else shift - mean * scale
    return scale, offset


def _by_channel(values: Tensor, ndim: int) -> Tensor:
    """Reshape (C,) to broadcast over what follows a channel in `ndim` dimensions."""
    return values.view(-1, *[1] * ndim)


def normalized(
    gain: Tensor | None,
    shift: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    x: Tensor,
) -> Tensor:
    """Normalise x (N, C, ...) by frozen statistics: a scale and a shift of each channel."""
    scale, offset = _affine(gain, shift, mean, var, eps)
    places = x.ndim - 2
    return torch.addcmul(_by_channel(offset, places), x, _by_channel(scale, places))


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
) -> Tensor:
    """Convolve and normalise by frozen statistics, as one convolution with other weights."""
    mean = mean if bias is None else mean - bias
    scale, offset = _affine(gain, shift, mean, var, eps)
    weight = weight * _by_channel(scale, weight.ndim - 1)
    return torch.convolution(x, weight, offset, *how)
