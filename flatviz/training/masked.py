"""Networks with dropout left on: as a training loss, and as draws that are functions where no weight vector can be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood, mean_nll
from flatviz.core.net import Net
from flatviz.core.seeds import generator, randn_like
from flatviz.objectives.nll import check_data
from flatviz.results import History
from flatviz.storage.checkpoints import State
from flatviz.training.gradient import PLAIN, TrainingLoss
from flatviz.training.optimize import mean_loss
from flatviz.training.passes import Passes

CHANNELS = (_ConvNd, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)  # drop whole channels; the others single features


def mask_shape(part: nn.Module, shape: Sequence[int]) -> list[int]:
    """Shape of the mask by which `part`, a dropout or the layer that reads it, meets values of `shape` (N, ...)."""
    if isinstance(part, CHANNELS):
        return [*shape[:2], *[1] * (len(shape) - 2)]
    if isinstance(part, nn.Linear):
        return [shape[0], *[1] * (len(shape) - 2), shape[-1]]  # one column of the weight for all positions
    return list(shape)


def calls(net: Net, x: Tensor, names: Sequence[str]) -> list[tuple[str, torch.Size]]:
    """Name, and shape of what it gives, of each call of these parts of the network on `x`, in order of execution."""
    module, seen = net.copy().module, []
    for name, part in module.named_modules():
        if name in names:
            part.register_forward_hook(lambda part, args, out, name=name: seen.append((name, out.shape)))
    with torch.no_grad():
        module(x.clone())
    return seen


@torch.no_grad()
def reader_of(net: Net, x: Tensor, dropout: str, call: int, shape: torch.Size, layers: Sequence[str]) -> str:
    """The layer of `layers` whose weight stands for the mask of a dropout layer's call; "" where there is none.

    By trial, at weights without zeros: factors on what the dropout gives, of `shape`, one a unit that it drops, change the
    outputs as the same factors on the columns of the weight do.
    """
    whole, source, n_calls = net.restrict("all"), generator(0), [0]
    part = dict(whole.module.named_modules())[dropout]
    if isinstance(part, CHANNELS) and len(shape) < 3:
        return ""  # torch takes it for one example without a batch
    factors = 2 * torch.rand([1, *mask_shape(part, shape)[1:]], generator=source).to(whole.w)
    w = whole.w + 0.01 * randn_like(whole.w, source)
    plain = whole(w, x.clone())

    def scale(part: nn.Module, args: tuple, out: Tensor) -> Tensor:
        n_calls[0] += 1
        return out * factors if n_calls[0] == call + 1 else out

    hook = part.register_forward_hook(scale)
    dropped = whole(w, x.clone())
    hook.remove()
    effect = (dropped - plain).abs().max()
    for b in whole.blocks:
        layer, _, kind = b.name.rpartition(".")
        if effect > 0 and kind == "weight" and layer in layers and b.shape[1] == factors.numel():
            scaled = w.clone()
            scaled[b.slice].view(b.shape).mul_(factors.view(1, -1, *[1] * (len(b.shape) - 2)))
            if (whole(scaled, x.clone()) - dropped).abs().max() < 0.02 * effect:  # another layer's columns miss it by far
                return layer
    return ""


class MaskedNet:
    """A copy of a net that drops inputs of the layers in `rates` (outputs, of a dropout layer), drawn from `source`.

    A new mask for each example, or one for all, `shared`.
    """

    def __init__(self, net: Net, rates: dict[str, float], source: torch.Generator, *, shared: bool) -> None:
        self.net, self.source, self.shared = net.copy(), source, shared
        self._seen = False
        parts = dict(self.net.module.named_modules())
        for name, rate in rates.items():
            if isinstance(parts[name], nn.modules.dropout._DropoutNd):
                parts[name].register_forward_hook(lambda part, args, out, rate=rate: out * self._mask(part, out, rate))
            else:
                parts[name].register_forward_pre_hook(
                    lambda part, args, rate=rate: (args[0] * self._mask(part, args[0], rate),)
                )

    def _mask(self, part: nn.Module, x: Tensor, rate: float) -> Tensor:
        shape = mask_shape(part, x.shape)
        if self.shared:
            shape[0] = 1
        return ((torch.rand(shape, generator=self.source) < 1 - rate) / (1 - rate)).to(x)

    def __call__(self, w: Tensor, x: Tensor) -> Tensor:
        """Outputs (N, C) at `w` under new masks."""
        if not self._seen:  # the net's look at itself draws no masks
            state, self._seen = self.source.get_state(), True
            self.net.look(x)
            self.source.set_state(state)
        return self.net(w, x)


class DropoutLoss(TrainingLoss):
    """The minibatch loss with dropout, example by example; `again` repeats the masks."""

    def __init__(
        self, net: Net, data: Data, likelihood: Likelihood, rates: dict[str, float], seed: int, passes: Passes = PLAIN
    ) -> None:
        check_data(net, data, likelihood)
        passes.check_weights(net.w)
        self.net, self.passes = net, passes
        self.data, self.likelihood, self.source = data, likelihood, generator(seed)
        self.masked = MaskedNet(net, rates, self.source, shared=False)

    @property
    def state(self) -> State:
        """The generator of the masks."""
        return {"masks": self.source}

    def __call__(self, w: Tensor, index: Tensor | None) -> Tensor:
        """Mean loss at `w` (D,) under new masks, ()."""
        self._before = self.source.get_state()
        return self._loss(w, index)

    def again(self, w: Tensor, index: Tensor | None) -> Tensor:
        """The same under the masks of the last call."""
        self.source.set_state(self._before)
        return self._loss(w, index)

    def _loss(self, w: Tensor, index: Tensor | None) -> Tensor:
        x, y = self.data.batch(index)
        return mean_nll(self.passes.outputs(self.masked, w, x), y, self.likelihood)

    def check(self, data: Data) -> None:
        """Raises ValueError for data that the net cannot read."""
        check_data(self.net, data, self.likelihood)

    def score(self, w: Tensor, data: Data) -> Tensor:
        """Mean loss of other data at `w` (D,), nothing dropped, ()."""
        return mean_loss(self.net, w, data, self.likelihood)


@dataclass(frozen=True, eq=False)
class MaskedFunctions:
    """A posterior over functions: the network at `center` under random masks.  Its draws are no weight vectors.

    `predict` asks it for `outputs`; whatever reads weight vectors is refused by `sample`.
    """

    center: Tensor
    net: Net
    rates: dict[str, float]
    history: History | None = field(default=None)

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Raises TypeError: there are no weight vectors to give."""
        raise TypeError(
            f"draws must be weight vectors, but dropout at {', '.join(list(self.rates)[:3])} has none: use predict, "
            "or fit_dropout with rate=, whose masks are weight vectors"
        )

    @torch.no_grad()
    def outputs(self, x: Tensor, n: int, *, seed: int, chunk: int = 4096) -> Tensor:
        """Outputs (n, N, C) of `n` functions on inputs `x` (N, ...), one mask a function; fewer begin any longer list."""
        rows = []
        for draw in range(check_count(n, "n_draws")):
            source = generator(seed * 100_003 + draw)
            start = source.get_state()
            masked, parts = MaskedNet(self.net, self.rates, source, shared=True), []
            for part in x.split(chunk):
                source.set_state(start)
                parts.append(masked(self.center, part))
            rows.append(torch.cat(parts))
        return torch.stack(rows)
