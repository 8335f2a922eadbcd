"""The hidden units of a network by layer, with the places of the weights in and out of them."""

from collections.abc import Iterable

import torch
from torch import Tensor

from flatviz.checks import check_many_weights, check_weights
from flatviz.core import Fields, Net, generator, guesses, public
from flatviz.noun import Noun
from flatviz.symmetry.graph import PERMUTED, SCALED, Node, Reading

# Action -> its name, and what it needs
ACTIONS = {
    "permute": ("permutations of units", "functions of one unit at a time"),
    "scale": ("positive scaling of units", "positively homogeneous functions"),
    "flip": ("sign flips of units", "odd functions"),
}


class Layer(Noun):
    """Hidden units start..stop in the numbering of all units, and addresses of their weights in v.

    rows (n, a) lead into each unit, columns (n, b) out of it, in corresponding order.  In a grouped
    convolution, columns are those of its group, which reads inside (b,) units; its units
    (`groups` > 1) stay in their group, and layers of one `cluster` (-1: none) swap groups together.
    """

    name: str
    start: int
    stop: int
    groups: int
    cluster: int
    rows: Tensor
    columns: Tensor
    inside: Tensor

    @property
    def n(self) -> int:
        """Number of units."""
        return self.stop - self.start

    @property
    def slice(self) -> slice:
        """Place in the numbering."""
        return slice(self.start, self.stop)


class Units(Noun, made_by="fv.symmetry.units_of(net) makes one"):
    """Hidden units of a network: layers of U permuted and of V scaled ones, in order.

    v (E,) is w (D,) followed by BatchNorm's running statistics where there are any.

    Args:
        power: (E,), that of the factor by which the row of a weight is scaled.
        mass: The weights that are no shift.
        kernel: The weights of Linear and convolutions.
        refused: For each action, the layers whose function it would change, with the reason.
        unmoved: Treated layers whose units no action moves, with the reason, except the last layer,
            whose units are the outputs.
    """

    dim: int
    permuted: tuple[Layer, ...]
    scaled: tuple[Layer, ...]
    power: Tensor
    mass: Tensor
    kernel: Tensor
    statistics: dict[str, slice]
    refused: dict[str, tuple[str, ...]]
    unmoved: tuple[str, ...]

    def __repr__(self) -> str:
        counts = (
            f"{self.n_permuted} permuted in {len(self.permuted)} layers, {self.n_scaled} scaled,"
            f" D={self.dim}"
        )
        if self.unmoved:
            counts += f"; left out, see units.unmoved: {len(self.unmoved)}"
        return f"Units({counts})"

    @property
    def size(self) -> int:
        """Length E of v."""
        return len(self.mass)

    @property
    def n_permuted(self) -> int:
        """Units U that permutations move."""
        return self.permuted[-1].stop if self.permuted else 0

    @property
    def n_scaled(self) -> int:
        """Units V that scaling acts on: dimension of the orbit of positive scalings."""
        return self.scaled[-1].stop if self.scaled else 0

    @property
    def free(self) -> Tensor:
        """Scaled units (V,) whose scale a normalisation removes."""
        free = set(self.scaled)
        before = -1
        while len(free) != before:
            before = len(free)
            read = self.mass.clone()
            for layer in free:
                read[layer.rows] = False
            free = {layer for layer in free if not read[layer.columns].any()}
        units = [layer in free for layer in self.scaled for _ in range(layer.n)]
        return torch.tensor(units, dtype=torch.bool)

    @property
    def counted(self) -> Tensor:
        """The weights of `mass` without the rows of `free` units."""
        counted = self.mass.clone()
        free = self.free
        for layer in self.scaled:
            counted[layer.rows[free[layer.slice]]] = False
        return counted

    def check(self, action: str, W: Tensor) -> Tensor:
        """Return `W` (S, E), or raise ValueError where `action` would change the function."""
        name, need = ACTIONS[action]
        refused = self.refused[action]
        if refused:
            raise ValueError(
                f"{name} need {need} of hidden units, got {'; '.join(refused[:2])}: leave this"
                " action out"
            )
        if not (self.permuted if action == "permute" else self.scaled):
            reasons = f"; these do not move: {', '.join(self.unmoved[:2])}" if self.unmoved else ""
            raise ValueError(
                f"{name} need hidden units of treated weights, got none: treat all weights{reasons}"
            )
        if self.statistics and W.shape[1:] == (self.dim,):
            raise ValueError(
                "this network has BatchNorm, whose running statistics move with its units: W must"
                f" have shape (S, {self.size}), got (S, {self.dim}): take units.extended(net), and"
                " units.net_at after"
            )
        return check_many_weights(W, self.size)

    def extended(self, net: Net) -> Tensor:
        """Return the net's w followed by the running statistics: v (E,)."""
        buffers = net.buffers()
        statistics = [buffers[name].flatten() for name in self.statistics]
        return torch.cat([net.w, *(value.to(net.w) for value in statistics)])

    def net_at(self, net: Net, v: Tensor) -> Net:
        """Return the net at v (E,), running statistics included."""
        check_weights(v, self.size, "v")
        buffers = net.buffers()
        for name, place in self.statistics.items():
            buffers[name] = v[place].clone()
        if self.statistics:
            net = net.with_buffers(buffers)
        return net.at(v[: self.dim])


@public
def units_of(net: Net) -> Units:
    """Find the hidden units of a network, their weights, and the actions that keep the function.

    Linear, Conv (also grouped), BatchNorm and LayerNorm are followed, and between them every
    operation that treats each unit alike.  Units on any other path, such as those of attention, are
    not moved, nor is a layer with a weight that is not treated or used twice: `Units.unmoved` lists
    them.

    Args:
        net: The network.

    Raises:
        TypeError: For a module whose operations depend on the input's values.

    Example:
        >>> import torch.nn as nn, flatviz as fv
        >>> module = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        >>> units = fv.symmetry.units_of(fv.Net.from_module(module))
        >>> units.n_permuted, units.n_scaled
        (3, 3)
    """
    reading = Reading(net, _inputs(net))
    power = torch.ones(reading.size, dtype=torch.float32)
    kernel = torch.zeros(reading.size, dtype=torch.bool)
    mass = torch.zeros_like(kernel)
    for b in net.blocks:
        mass[b.slice] = not b.name.endswith("bias")
        kernel[b.slice] = len(b.shape) > 1
    permuted = _layers(reading, PERMUTED)
    scaled = _layers(reading, SCALED)
    for w in reading.weights:
        if w.first < reading.size:
            power[w.address] = w.power
    refused = {}
    for action in ACTIONS:
        nodes = _free(reading, PERMUTED if action == "permute" else SCALED)
        refusing = [node for node in nodes if action in node.refused]
        refused[action] = tuple(f"{n.refused[action]} after {n.name!r}" for n in refusing)
    unmoved = _unmoved(reading, [b.name for b in net.blocks])
    return Units(
        net.dim, permuted, scaled, power, mass, kernel, reading.statistics, refused, unmoved
    )


def _inputs(net: Net) -> Tensor | Fields:
    """Return two inputs of the network: of its example, or a guess."""
    inputs = []
    if net.example is not None:
        inputs.append(net.example[:2])
    else:
        for zeros in guesses(net.module):
            normal = torch.randn(zeros.shape, generator=generator(0), dtype=torch.float32)
            inputs.append(normal.to(zeros))
    for x in inputs:
        try:
            net(net.w, x)
        except (RuntimeError, ValueError, AssertionError, IndexError):
            continue
        return x
    raise ValueError(
        f"units_of needs inputs that the network takes, got none for {net!r}: give a batch,"
        " Net.from_module(module, example=x)"
    )


def _layers(reading: Reading, kind: int) -> tuple[Layer, ...]:
    """List the layers of a kind that an action may move, in order of execution."""
    layers = []
    start = 0
    clusters = _clusters(reading) if kind == PERMUTED else {}
    for node in _free(reading, kind):
        groups, cluster = clusters.get(node, (1, -1))
        rows = []
        columns = [torch.zeros(node.n, 0, dtype=torch.long)]
        inside = []
        for w in reading.weights:
            if w.rows.nodes[kind].root() is node:
                rows.append(w.address.reshape(node.n, -1))
            if w.columns is not None and w.columns.nodes[kind].root() is node:
                outs = len(w.address) // w.groups
                ins = node.n // w.groups
                grouped = w.address.reshape(w.groups, outs, ins, -1)
                column = grouped.transpose(1, 2).reshape(node.n, -1)
                columns.append(column)
                inside += [ins] * column.shape[1]
        stop = start + node.n
        layer = Layer(
            node.name,
            start,
            stop,
            groups,
            cluster,
            torch.cat(rows, 1),
            torch.cat(columns, 1),
            torch.tensor(inside, dtype=torch.long),
        )
        layers.append(layer)
        start = stop
    return tuple(layers)


def _free(reading: Reading, kind: int) -> list[Node]:
    """List the layers that an action may move, in order of execution."""
    roots = dict.fromkeys(node.root() for k, node in reading.nodes if k == kind)
    return [root for root in roots if "all" not in root.refused]


def _clusters(reading: Reading) -> dict[Node, tuple[int, int]]:
    """Map each node to (groups, cluster), where grouped convolutions chain layers.

    The cluster is -1 where one of its layers cannot move.
    """
    sets: list[tuple[set[Node], set[int]]] = []
    for w in reading.weights:
        if w.groups > 1:
            columns = w.columns or reading.unknown
            joined = {flow.nodes[PERMUTED].root() for flow in (columns, w.rows)}
            groups = {w.groups}
            for other in [s for s in sets if s[0] & joined]:
                joined = joined | other[0]
                groups = groups | other[1]
                sets.remove(other)
            sets.append((joined, groups))
    clusters: dict[Node, tuple[int, int]] = {}
    for i, (joined, groups) in enumerate(sets):
        for node in joined if len(groups) > 1 else ():
            node.refused.setdefault("all", f"grouped convolutions of {sorted(groups)} groups")
        immovable = any("all" in node.refused for node in joined)
        clusters |= {node: (min(groups), -1 if immovable else i) for node in joined}
    return clusters


def _unmoved(reading: Reading, names: Iterable[str]) -> tuple[str, ...]:
    """List the tensors among `names` whose rows no action moves, with the reason."""
    refusals: dict[str, list[str | None]] = {}
    for w in reading.weights:
        refusals.setdefault(reading.name_of(w.first), []).extend(
            node.root().refused.get("all") for node in w.rows.nodes
        )
    reasons: dict[str, str | None] = {}
    for name in names:
        causes = refusals.get(name, ["no rule follows it"])
        if all(causes) and causes[0] != "the outputs":
            reasons.setdefault(name.rpartition(".")[0] or name, causes[0])
    return tuple(f"{layer!r} ({reason})" for layer, reason in reasons.items())
