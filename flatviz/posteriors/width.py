"""Widths of a prior with which a network's features survive its draws."""

import math

import torch
from torch import Tensor

from flatviz.core import Data, Fields, Net, find_head, generator, randn_like
from flatviz.engine.trunk import cut_of

DRAWS = 4  # fixed draws of the weights before the head
EXAMPLES = 16  # whose labels are not read
CHANGED = 0.3  # largest relative change of the head's inputs
LARGEST = 0.3  # share of a weight that is tried first
HALVINGS = 20
LOGITS = 3.0  # standard deviation of the outputs under the prior of a head


class HeadInputs:
    """Inputs of a network's head on a few examples, at any weights before it.

    Args:
        net: The network.
        data: Examples, of which a few from all over are taken.
        head: Name of the head; None: the last that runs.
    """

    def __init__(self, net: Net, data: Data, head: str | None = None) -> None:
        places = torch.linspace(0, len(data) - 1, min(EXAMPLES, len(data)), dtype=torch.float64)
        x, _ = data.batch(places.round().long().to(data.y.device))
        self.head = head or find_head(net.module, x if net.example is None else net.example)
        cut = None if isinstance(x, Fields) else cut_of(net, x)
        if cut is not None and isinstance(x, Tensor):
            net, x = cut.tail.at(net.w), cut.rows(x)
        self.net = net
        self.x = x
        # Weights before the head, which its own do not change
        parts = [torch.arange(b.start, b.stop) for b in net.blocks if not self.of_head(b.name)]
        self.before = torch.cat(parts).to(net.device) if parts else None
        net.look(x)  # whose pass a hook must not see
        self.at_mean = self(net.w)

    def of_head(self, name: str) -> bool:
        """Tell whether a weight is the head's."""
        return name.startswith(f"{self.head}.")

    def __call__(self, w: Tensor) -> Tensor:
        """Compute the head's inputs (n, ...) at weights (D,)."""
        inputs: list[Tensor] = []
        layer = self.net.module.get_submodule(self.head)
        hook = layer.register_forward_pre_hook(lambda _, given: inputs.append(given[0].detach()))
        try:
            with torch.no_grad():
                self.net(w, self.x)
        finally:
            hook.remove()
        return torch.cat(inputs)

    def change(self, std: Tensor, factor: Tensor | None = None) -> float:
        """Compute the relative change of the inputs under draws with these deviations (D,).

        It is the root of the mean squared change over the mean square.  factor: (K, D), of a
        Gaussian's low-rank part.
        """
        if self.before is None:
            return 0.0
        source = generator(0)
        squares = []
        for _ in range(DRAWS):
            step = std * randn_like(std, source)
            if factor is not None and len(factor):
                step = step + randn_like(factor[:, 0], source) @ factor
            w = self.net.w.clone()
            w[self.before] += step[self.before].to(w)
            squares.append((self(w) - self.at_mean).square().mean())
        return float((torch.stack(squares).mean() / self.at_mean.square().mean()).sqrt())

    def share(self, floor: float) -> float:
        """Find the share of each weight, halved from LARGEST until the inputs change little."""
        share = LARGEST
        w = self.net.w.abs()
        for _ in range(HALVINGS):
            change = self.change((share * w).clamp_min(floor))
            if change <= CHANGED:
                break
            share /= 2
        return share

    def head_std(self) -> float:
        """Compute the deviation of a head's weights by which its outputs have that of LOGITS."""
        length = self.at_mean.flatten(0, -2).square().sum(-1).mean().sqrt()
        return LOGITS / max(float(length), torch.finfo(length.dtype).tiny * 1e3)


def change_text(change: float) -> str:
    """Say that draws of a prior change features too far, for a warning; "" where they do not."""
    if change <= CHANGED or math.isnan(change):
        return ""
    return (
        f"draws of the prior change what the head reads by {change:.2g} of its size, where features"
        f" survive up to about {CHANGED}: lower scale"
    )
