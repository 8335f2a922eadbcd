"""The hidden units of a network: layers of them numbered from its graph, and index arrays over its weight vector for every action."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_many_weights, check_weights
from flatviz.core import Net
from flatviz.symmetry.graph import Node, Reading, read_graph

ACTIONS = ("permute", "scale", "flip")
WORDS = {"permute": "permutations of units", "scale": "positive scaling of units", "flip": "sign flips of units"}
NEEDS = {"permute": "functions of one unit at a time", "scale": "positively homogeneous functions", "flip": "odd functions"}


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a network, U permuted and V scaled ones, and their places in its weight vector v.

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
    free: Tensor
    statistics: tuple[tuple[str, int, int], ...]
    refused: dict[str, tuple[str, ...]]
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

    @property
    def counted(self) -> Tensor:
        """The weights of `mass` whose size is function: not the rows of `free` units."""
        return self.mass & ~torch.cat([self.free, torch.zeros(1, dtype=torch.bool)])[self.scale_row]

    def check(self, action: str, W: Tensor) -> Tensor:
        """Check that `action` leaves this network's function unchanged, and return `W` (S, E).  Raises ValueError with the reason."""
        check_choice(action, ACTIONS, "action")
        if self.refused[action]:
            first, more = self.refused[action][:2], len(self.refused[action]) - 2
            got = "; ".join(first) + (f" and {more} more" if more > 0 else "")
            raise ValueError(f"{WORDS[action]} need {NEEDS[action]} of hidden units, got {got}: leave this action out")
        if not (self.permuted if action == "permute" else self.scaled):
            reasons = f"; these stand still: {', '.join(self.still[:2])}" if self.still else ""
            raise ValueError(f"{WORDS[action]} need hidden units of treated weights, got none: treat all weights{reasons}")
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


@dataclass(frozen=True)
class Layer:
    """Hidden units start..stop of the numbering of all units.

    Units of a grouped convolution (`groups` > 1) stay inside their group; layers of one `cluster` (-1: none) swap their groups
    together.
    """

    name: str
    start: int
    stop: int
    groups: int = 1
    cluster: int = -1

    @property
    def n(self) -> int:
        """Number of units."""
        return self.stop - self.start


def touched(reading: Reading, node: Node, which: int) -> set[str]:
    """Names of the tensors in whose rows (which 1: of the scaled numbering, 0: the permuted) or columns a node stands."""
    rows = {k for k, (*nodes, _) in reading.rows.items() if nodes[which].root() is node}
    flow = ("permuted", "scaled")[which]
    return rows | {k for k, (s, _, _) in reading.columns.items() if getattr(s, flow).root() is node}


def refuse_untreated(reading: Reading, sizes: dict) -> None:
    """Make layers of which a weight is not in `sizes` stand still, as those of unlike grouped convolutions."""
    for kind, node in reading.nodes:
        missing = sorted(touched(reading, node.root(), int(kind == "scaled")) - set(sizes))
        if missing:
            node.root().refused.setdefault("all", f"weights that are not treated: {missing[0]}")
    for a, b, _ in reading.groups:  # layers of one grouped convolution with unlike numbers of groups stand still
        others = {g for x, y, g in reading.groups if {x.root(), y.root()} & {a.root(), b.root()}}
        if len(others) > 1:
            for node in (a.root(), b.root()):
                node.refused.setdefault("all", f"grouped convolutions of {sorted(others)} groups")


def refusals(reading: Reading, action: str) -> tuple[str, ...]:
    """Layers whose function refuses an action; those that stand still for another reason are not in it."""
    kind = "permuted" if action == "permute" else "scaled"
    roots = {n.root(): None for k, n in reading.nodes if k == kind and "all" not in n.root().refused}
    return tuple(f"{n.refused[action]} after {n.name!r}" for n in roots if action in n.refused)


def still(reading: Reading, names: Iterable[str]) -> tuple[str, ...]:
    """List the tensors among `names` whose rows no action moves, layer by layer with the reason; the outputs are not in it."""
    reasons: dict[str, str | None] = {}
    for name in names:
        nodes = [node.root() for node in reading.rows.get(name, ())[:2]]
        found = [node.refused.get("all") for node in nodes] or ["no rule follows it"]
        if all(found) and found[0] != "the outputs":
            reasons.setdefault(name.rpartition(".")[0] or name, found[0])
    return tuple(f"{layer!r} ({reason})" for layer, reason in reasons.items())


def number_layers(reading: Reading, kind: str) -> tuple[tuple[Layer, ...], dict[Node, int]]:
    """The layers that an action may move, in order of execution, and where each begins in the numbering."""
    roots = dict.fromkeys(n.root() for k, n in reading.nodes if k == kind and "all" not in n.root().refused)
    number: dict[Node, int] = {}
    layers: list[Layer] = []
    clusters = _clusters(reading) if kind == "permuted" else {}
    for node in roots:
        start = layers[-1].stop if layers else 0
        number[node] = start
        groups, cluster = clusters.get(node, (1, -1))
        layers.append(Layer(node.name, start, start + node.n, groups, cluster))
    return tuple(layers), number


def _clusters(reading: Reading) -> dict[Node, tuple[int, int]]:
    """Node -> (groups, cluster): layers chained by grouped convolutions; cluster -1 where one of them stands still."""
    sets: list[tuple[set[Node], int]] = []
    for a, b, groups in reading.groups:
        joined = {a.root(), b.root()}
        for other in [s for s in sets if s[0] & joined]:
            joined |= other[0]
            sets.remove(other)
        sets.append((joined, groups))
    clusters: dict[Node, tuple[int, int]] = {}
    for i, (joined, groups) in enumerate(sets):
        still = any("all" in node.refused for node in joined)
        clusters |= {node: (groups, -1 if still else i) for node in joined}
    return clusters


def index_arrays(reading: Reading, sizes: dict, length: int, number: dict[Node, int], scale_number: dict[Node, int]) -> dict:
    """The index arrays of `Units`, each (E,)."""
    n_units = sum(n.n for n in number)
    n_scaled = sum(n.n for n in scale_number)
    long = {k: torch.zeros(length, dtype=torch.long) for k in ("base", "row_step", "column_step")}
    long |= {k: torch.full((length,), n_units) for k in ("row", "column")} | {"period": torch.ones(length, dtype=torch.long)}
    long |= {k: torch.full((length,), n_scaled) for k in ("scale_row", "scale_column")}
    power, mass, kernel = torch.ones(length), torch.zeros(length, dtype=torch.bool), torch.zeros(length, dtype=torch.bool)
    statistics = {name for name in sizes if name.endswith(("running_mean", "running_var")) and name in reading.rows}
    for name, (start, shape) in sizes.items():
        where = slice(start, start + math.prod(shape))
        index = torch.arange(math.prod(shape)) if shape else torch.zeros(1, dtype=torch.long)
        long["base"][where] = start + index
        kernel[where] = len(shape) > 1
        mass[where] = not name.endswith("bias") and name not in statistics
        steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        if name in reading.rows:
            (node, scaled, exponent), r = reading.rows[name], index // steps[0]
            if node.root() in number:
                long["row"][where], long["row_step"][where] = number[node.root()] + r, steps[0]
                long["base"][where] -= r * steps[0]
            if scaled.root() in scale_number:
                long["scale_row"][where] = scale_number[scaled.root()] + r
                power[where] = exponent
        if name in reading.columns:
            flow, expand, groups = reading.columns[name]
            inside = shape[1] // expand  # units that a row of this group reads
            c = (index // steps[1]) % shape[1] // expand
            unit = c + index // steps[0] // (shape[0] // groups) * inside
            if flow.permuted.root() in number:
                long["column"][where] = number[flow.permuted.root()] + unit
                long["column_step"][where], long["period"][where] = steps[1] * expand, inside
                long["base"][where] -= c * steps[1] * expand
            if flow.scaled.root() in scale_number:
                long["scale_column"][where] = scale_number[flow.scaled.root()] + unit
    return {**long, "power": power, "mass": mass, "kernel": kernel}


def free_units(arrays: dict[str, Tensor], n_scaled: int) -> Tensor:
    """Scaled units (V,) of which every path to the outputs ends in rows that a normalisation rescales: nothing reads these."""
    read = arrays["mass"] & (arrays["scale_column"] < n_scaled)
    pairs = (arrays["scale_row"][read] * n_scaled + arrays["scale_column"][read]).unique()
    row, column = pairs // max(n_scaled, 1), pairs % max(n_scaled, 1)
    free, before = torch.arange(n_scaled + 1) < n_scaled, None
    while before is None or not torch.equal(free, before):
        before = free.clone()
        free[column[~free[row]]] = False
    return free[:-1]


def read_units(net: Net) -> Units:
    """The units that the graph of a network shows, with the reasons why an action does not hold.  Raises TypeError as `read_graph`."""
    reading = read_graph(net)
    sizes = {b.name: (b.start, b.shape) for b in net.blocks}
    statistics, at = [], net.dim
    for name, value in net.buffers().items():
        if name in reading.rows:
            sizes[name] = (at, tuple(value.shape))
            statistics.append((name, at, at + value.numel()))
            at += value.numel()
    refuse_untreated(reading, sizes)
    permuted, number = number_layers(reading, "permuted")
    scaled, scale_number = number_layers(reading, "scaled")
    arrays = index_arrays(reading, sizes, at, number, scale_number)
    free, refused = free_units(arrays, sum(n.n for n in scale_number)), {a: refusals(reading, a) for a in ACTIONS}
    kept = still(reading, [b.name for b in net.blocks])
    return Units(net.dim, permuted, scaled, **arrays, free=free, statistics=tuple(statistics), refused=refused, still=kept)
