"""The hidden units of a network as index arrays over its weight vector: what every action and removal computes with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_many_weights, check_weights
from flatviz.core.net import Net
from flatviz.symmetry.numbering import Layer

ACTIONS = ("permute", "scale", "flip")
WORDS = {"permute": "permutations of units", "scale": "positive scaling of units", "flip": "sign flips of units"}
NEEDS = {"permute": "functions of one unit at a time", "scale": "positively homogeneous functions", "flip": "odd functions"}


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a network, U permuted and V scaled ones, and where they stand in its weight vector v.

    v (E,) is w (D,), and behind it BatchNorm's running statistics where there are any.  Weight d lies in the row of unit
    row[d] and in the column of unit column[d] (U where in none); with unit i of its layer in its row and
    j in its column its address is base[d] + i row_step[d] + (j mod period[d]) column_step[d].  scale_row, scale_column
    (V: none) and `power` say by what d is scaled; `mass` marks the weights that are no shift, `kernel` those of Linear
    and convolutions.  `refused` holds, for each action, the layers whose function it would change, with the reason; `still`
    the treated layers whose units no action moves, with the reason (the last layer, whose units are the outputs, aside).
    """

    made_by = "fv.symmetry.units_of(net) makes one"

    dim: int
    permuted: tuple[Layer, ...]
    scaled: tuple[Layer, ...]
    row: Tensor
    column: Tensor
    base: Tensor
    row_step: Tensor
    column_step: Tensor
    period: Tensor
    scale_row: Tensor
    scale_column: Tensor
    power: Tensor
    mass: Tensor
    kernel: Tensor
    statistics: tuple[tuple[str, int, int], ...]
    refused: dict[str, tuple[str, ...]]
    free: str
    still: tuple[str, ...]

    def __repr__(self) -> str:
        found = f"{self.n_permuted} permuted in {len(self.permuted)} layers, {self.n_scaled} scaled, D={self.dim}"
        return f"Units({found}; left out, see units.still: {len(self.still)})" if self.still else f"Units({found})"

    @property
    def n_permuted(self) -> int:
        """Units U that permutations move."""
        return self.permuted[-1].stop if self.permuted else 0

    @property
    def n_scaled(self) -> int:
        """Units V that scaling acts on: dimension of the orbit of positive scalings."""
        return self.scaled[-1].stop if self.scaled else 0

    @property
    def n_permutations(self) -> int:
        """Size of the permutation group: in each layer those of its units inside each group, and the swaps of groups."""
        inside = math.prod(math.factorial(layer.n // layer.groups) ** layer.groups for layer in self.permuted)
        clusters = {layer.cluster: layer.groups for layer in self.permuted if layer.cluster >= 0}
        return inside * math.prod(math.factorial(groups) for groups in clusters.values())

    def check(self, action: str, W: Tensor) -> Tensor:
        """`W` (S, E), if `action` leaves this network's function unchanged.  ValueError says what refuses it."""
        check_choice(action, ACTIONS, "action")
        if self.refused[action]:
            first, more = self.refused[action][:2], len(self.refused[action]) - 2
            got = "; ".join(first) + (f" and {more} more" if more > 0 else "")
            raise ValueError(f"{WORDS[action]} need {NEEDS[action]} of hidden units, got {got}: leave this action out")
        if not (self.permuted if action == "permute" else self.scaled):
            reasons = f"; these stand still: {', '.join(self.still[:2])}" if self.still else ""
            raise ValueError(
                f"{WORDS[action]} need hidden units whose weights are all treated, got none: treat all weights{reasons}"
            )
        if self.statistics and isinstance(W, Tensor) and W.ndim == 2 and W.shape[1] == self.dim:
            raise ValueError(
                "this network has BatchNorm, whose running statistics move with its units: "
                f"W must have shape (S, {len(self.row)}), got (S, {self.dim}): take units.extended(net), and units.net_at after"
            )
        return check_many_weights(W, len(self.row))

    def extended(self, net: Net) -> Tensor:
        """The net's w and, behind it, the running statistics: v (E,)."""
        buffers = net.buffers()
        return torch.cat([net.w, *(buffers[name].reshape(-1).to(net.w) for name, _, _ in self.statistics)])

    def net_at(self, net: Net, v: Tensor) -> Net:
        """The net standing at v (E,), running statistics included."""
        check_weights(v, len(self.row), "v")
        moved = {name: v[start:stop].clone() for name, start, stop in self.statistics}
        return net.with_buffers(net.buffers() | moved).at(v[: self.dim]) if moved else net.at(v)


def local_numbers(layers: tuple[Layer, ...]) -> Tensor:
    """Each unit's number inside its layer, and 0 for none: (U + 1,)."""
    edges = [0, *(layer.stop for layer in layers)]
    return torch.cat([*(torch.arange(b - a) for a, b in pairwise(edges)), torch.zeros(1, dtype=torch.long)])
