"""Reader of a network's operations: its hidden units, and the weights in and out of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from flatviz.core import Fields, Net, generator, named
from flatviz.engine.trace import NORMS, Env, Step, Value, aten, recorded

LINEAR = {  # torch's names of the arguments that are inputs, weight and bias; mm has no bias
    aten.mm.default: ("self", "mat2", "none"),
    aten.addmm.default: ("mat1", "mat2", "self"),
    aten.convolution.default: ("input", "weight", "bias"),
}
STATISTICS = "running_mean", "running_var"
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
# Kinds of nodes: units that move together under permutations, and those under scaling and flips
PERMUTED = 0
SCALED = 1


@dataclass(eq=False)
class Node:
    """One layer of hidden units, while the network is read; a residual connection merges two.

    Merged nodes point along `same` to the one that stands for all of them, `root`.
    """

    name: str
    n: int
    at: int = -1  # its place in the order of execution; -1: the inputs
    # Action -> why it would change the function; "all": any action
    refused: dict[str, str] = field(default_factory=dict)
    same: "Node | None" = None

    def root(self) -> "Node":
        """The node that stands for all those merged with this one."""
        return self if self.same is None else self.same.root()


class Flow(NamedTuple):
    """Units along an axis of an activation; each unit has the same number of entries there.

    nodes[PERMUTED] and nodes[SCALED] are the layers that the units belong to.  They differ after a
    normalisation: in Linear, BatchNorm, ReLU, Linear the units after BatchNorm are still permuted
    with those of the first Linear, but scaled by factors of their own.
    """

    nodes: tuple[Node, Node]
    axis: int

    @property
    def n(self) -> int:
        """Number of units to permute; where no rule followed those, of units to scale."""
        permuted, scaled = self.nodes
        return permuted.root().n or scaled.root().n

    def refuse(self, action: str, reason: str) -> None:
        """Note why an action would change the function."""
        for node in self.nodes:
            node.root().refused.setdefault(action, reason)


class Weight(NamedTuple):
    """Indices of a tensor's weights (rows, columns, ...), with the units of rows and columns.

    An address is an index into the vector of all weights, see `Reading`.  Columns may be in groups.
    """

    address: Tensor
    rows: Flow
    power: int = 1  # of the factor of its rows: 2 of a variance
    columns: Flow | None = None
    groups: int = 1

    @property
    def first(self) -> int:
        """Address of its first weight."""
        return int(self.address.flatten()[0])


class Reading:
    """The weights of hidden units, by address, and their nodes, in order of execution.

    Each operation is followed: linear layers and normalisations by their formulas, all others by
    their effect on numbers.  Linear(4, 3), ReLU, Linear(3, 2) make nodes "0" of 3 and "2" of 2
    units, of both kinds.  The 3 x 4 weights and the 3 shifts of "0" lead into its units, the 2 x 3
    weights of "2" out of them.  ReLU passes on the units, but refuses flips; the outputs refuse all
    actions on "2".

    Addresses number all parameters and buffers: first the weights and statistics that symmetries
    move, the vector v (E,), then the rest.  `tensors` is name -> (start, stop).
    """

    def __init__(self, net: Net, x: Tensor | Fields) -> None:
        try:
            w, _, out, steps = recorded(net, x)
        except Exception as error:  # the user's code runs on stand-ins for tensors
            raise TypeError(
                "symmetries need a module whose operations can be recorded, got"
                f" {type(net.module).__name__} ({type(error).__name__}: {error}): write its forward"
                " pass without conditions on the input's values"
            ) from error
        self.weights: list[Weight] = []
        self.nodes: list[tuple[int, Node]] = []  # each with its kind
        inputs = Node("inputs", 0, refused={"all": "the inputs, or a path that no rule follows"})
        self.unknown = Flow((inputs, inputs), -1)
        self._like = net.w
        self._flows: dict[object, Flow] = {}
        # Addresses of values that hold only weights
        self._places: dict[Value | int | None, Tensor] = {}
        self._places[w] = torch.arange(net.dim)
        self.tensors = {b.name: (b.start, b.stop) for b in net.blocks}
        buffers = net.buffers()
        statistics = {name: t for name, t in buffers.items() if name.endswith(STATISTICS)}
        self.size = self._number(net.dim, statistics)
        self.statistics = {name: slice(*self.tensors[name]) for name in statistics}
        rest = buffers | dict(net.module.named_parameters())
        stop = self._number(self.size, rest)
        self._uses = torch.zeros(stop, dtype=torch.int16)  # of each weight; two forbid a move
        for step in steps:
            self._read(step)
        if out in self._flows:
            self._flows[out].refuse("all", "the outputs")
        self.weights.sort(key=lambda weight: weight.first)
        self._refuse_fixed()

    def _refuse_fixed(self) -> None:
        """Refuse actions on units of weights that are used twice or not treated."""
        for weight in self.weights:
            name = self.name_of(weight.first)
            for flow in filter(None, (weight.rows, weight.columns)):
                if (self._uses[weight.address] > 1).any():
                    flow.refuse("all", f"{name}, which is used twice")
                if weight.first >= self.size:
                    flow.refuse("all", f"weights that are not treated: {name}")

    def _number(self, start: int, tensors: Mapping[str, Tensor]) -> int:
        """Number the weights of tensors that have no addresses, from `start` on; return the end."""
        for name, value in tensors.items():
            if name in self.tensors:
                continue
            stop = start + value.numel()
            self.tensors[name] = (start, stop)
            addresses = torch.arange(start, stop)
            self._places[id(value)] = addresses.view(value.shape)
            start = stop
        return start

    def name_of(self, address: int) -> str:
        """Name of the tensor that holds an address."""
        for name, (start, stop) in self.tensors.items():
            if start <= address < stop:
                return name
        raise KeyError(address)

    def _place(self, value: object) -> Tensor | None:
        """Return the addresses of a value that holds only weights, or None."""
        key = value if isinstance(value, Value) else id(value)
        return self._places.get(key)

    def _read(self, step: Step) -> None:
        """Follow units and places of weights through one step."""
        arguments = named(step.op, step.args, step.kwargs)
        values = tree_leaves((step.args, step.kwargs))
        found = [self._place(value) for value in values]
        places = [place for place in found if place is not None]
        if step.op.is_view and places:
            _, *others = step.args
            results = step.op(places[0], *others, **step.kwargs)
            self._places |= zip(step.outs, _listed(results))
            return
        before = [self._uses[place].max() for place in places]
        if step.op in LINEAR and not arguments.get("transposed"):
            x, weight, bias = (arguments.get(key) for key in LINEAR[step.op])
            flows = self._layer(x, weight, bias, arguments.get("groups", 1))
        elif step.op in NORMS or step.op is aten.native_layer_norm.default:
            flows = self._norm(arguments, step.args[0])
        else:
            flows = self._commuting(step)
        for place, n in zip(places, before):
            if self._uses[place].max() == n:  # no rule counted this use: as if used twice
                self._uses[place] += 2
        if not flows:
            for value in step.inputs:
                if value in self._flows:
                    self._flows[value].refuse("all", _name(step))
        self._flows |= zip(step.outs, flows)

    def _layer(
        self,
        x: object,
        weight: object,
        bias: object,
        groups: int,
    ) -> list[Flow]:
        """Begin the units of a linear layer, whose columns are weights out of the units of `x`."""
        address = self._place(weight)
        shift = self._place(bias)
        here = self._flows.get(x)
        if address is None or (bias is not None and shift is None):
            return []
        address = address.T if address.ndim == 2 else address
        name = self._layer_of(address)
        n = len(address)
        permuted = self._node(PERMUTED, name, n)
        scaled = self._node(SCALED, name, n)
        out = Flow((permuted, scaled), axis=1)
        if here is not None:
            inputs = address.shape[1] * groups
            if here.axis != 1 or inputs % here.n or here.n % groups:
                here.refuse("all", f"{name}, which mixes its units")
                here = None
        self._add_weight(address, out, columns=here, groups=groups)
        self._add_weight(shift, out)
        return [out]

    def _norm(self, given: dict[str, Any], x: Value) -> list[Flow]:
        """Begin new units for scaling at gain and shift; a permutation moves them too."""
        keys = ("weight", "bias", *STATISTICS)
        tensors = [given.get(key) for key in keys]
        places = [self._place(tensor) for tensor in tensors]
        batch = "running_mean" in given
        axis = 1 if batch else len(x.shape) - 1
        here = self._flows.get(x, self.unknown._replace(axis=axis))
        computed = any(t is not None and p is None for t, p in zip(tensors, places))
        if here.axis != axis or computed:
            return []
        gain, shift, mean, variance = places
        name = "a norm without gain" if gain is None else self._layer_of(gain)
        permuted, scaled_before = here.nodes
        refused = scaled_before.root().refused
        if batch:
            n = x.shape[1]
            refused.setdefault("flip", "BatchNorm")
        else:
            n = math.prod(given["normalized_shape"])
            refused.setdefault("all", "LayerNorm, which reads all units at once")
        if n != permuted.root().n:
            here.refuse("all", f"{name}, which normalises over more than the units")
        scaled = self._node(SCALED, name, n)
        after = Flow((permuted, scaled), axis)
        if gain is None:
            scaled.refused["all"] = name
        self._add_weight(gain, after)
        self._add_weight(shift, after)
        self._add_weight(mean, here)
        self._add_weight(variance, here, power=2)
        return [after]

    def _commuting(self, step: Step) -> list[Flow]:
        """Test on random numbers which actions on the units pass through an operation unchanged.

        A swap of two units and a cyclic shift of all generate every permutation.
        """
        flows = {v: self._flows[v] for v in step.inputs if v in self._flows}
        sizes = {flow.n for flow in flows.values()}
        if len(sizes) != 1:
            return []
        first, *others = flows.values()
        n = first.n
        source = generator(0)
        drawn = _random(step, source, self._like.device)
        eye = torch.eye(n).to(self._like)
        moves = _moves(eye, source)

        def results(M: Tensor) -> list[Tensor]:
            inputs = dict(drawn)
            for v, flow in flows.items():
                inputs[v] = _applied(drawn[v], flow.axis, M)
            args, kwargs = step.filled(inputs)
            out = _listed(step.op(*args, **kwargs))
            return [t for t in out if t.is_floating_point()]

        try:
            before = results(eye)
            after = {name: results(M) for name, M in moves.items()}
        except (RuntimeError, IndexError):  # an operation that does not run on these numbers
            return []

        def passes(name: str, i: int, axis: int) -> bool:
            return _same(after[name][i], before[i], axis, moves[name])

        carried: list[Flow] = []
        for i, out in enumerate(before):
            axes = [first.axis, *reversed(range(out.ndim))]  # most operations keep the axis
            for axis in axes:
                if axis >= out.ndim or out.shape[axis] % n:
                    continue
                if passes("swap", i, axis) and passes("cycle", i, axis):
                    carried.append(first._replace(axis=axis))
                    break
        if len(carried) < len(before):
            return []
        for other in others:
            _merge(first, other)
        for action in ("scale", "flip"):
            kept = [passes(action, i, flow.axis) for i, flow in enumerate(carried)]
            if not all(kept):
                first.refuse(action, _name(step))
        return carried

    def _add_weight(
        self,
        address: Tensor | None,
        rows: Flow,
        power: int = 1,
        columns: Flow | None = None,
        groups: int = 1,
    ) -> None:
        """Add the weights of a tensor, if it is there, and count their use."""
        if address is None:
            return
        self.weights.append(Weight(address, rows, power, columns, groups))
        self._uses[address] += 1

    def _layer_of(self, address: Tensor) -> str:
        """Name the module that holds a tensor."""
        first = int(address.flatten()[0])
        return self.name_of(first).rpartition(".")[0]

    def _node(self, kind: int, name: str, n: int) -> Node:
        """Add a layer of n units."""
        node = Node(name, n, len(self.nodes))
        self.nodes.append((kind, node))
        return node


def _moves(eye: Tensor, source: torch.Generator) -> dict[str, Tensor]:
    """Draw one matrix (n, n) of each action on n units."""
    n = len(eye)
    swapped = [1, 0, *range(2, n)]
    scale = 0.5 + torch.rand(n, generator=source, dtype=torch.float32)
    sign = (-1.0) ** torch.arange(1, n + 1)
    return {
        "swap": eye[swapped] if n > 1 else eye,
        "cycle": eye.roll(1, 0),
        "scale": scale.to(eye).diag(),
        "flip": sign.to(eye).diag(),
    }


def _applied(t: Tensor, axis: int, M: Tensor) -> Tensor:
    """Apply a matrix (n, n) to the units along an axis."""
    last = t.movedim(axis, -1)
    units = last.unflatten(-1, (len(M), -1))
    moved = torch.einsum("...ij,ik->...kj", units, M.to(t))
    return moved.flatten(-2).movedim(-1, axis).contiguous()


def _random(step: Step, source: torch.Generator, device: torch.device) -> Env:
    """Draw random values for the inputs of a step.

    Integers may be indices: they stay below the length of each axis longer than 1, as an index out
    of range would break the process's use of a GPU.
    """
    shapes = [
        t.shape for t in tree_leaves((step.args, step.kwargs)) if isinstance(t, Value | Tensor)
    ]
    shortest = min((side for shape in shapes for side in shape if side > 1), default=2)
    drawn: Env = {}
    for v in step.inputs:
        if v.dtype in INTEGERS:
            values = torch.randint(shortest, v.shape, generator=source)
        else:
            values = 4 * torch.randn(v.shape, generator=source, dtype=torch.float32)
        drawn[v] = values.to(device, v.dtype)
    return drawn


def _same(after: Tensor, before: Tensor, axis: int, M: Tensor) -> bool:
    """Tell whether a matrix applied to the units of `before` gives `after`."""
    expected = _applied(before, axis, M)
    return torch.allclose(
        after,
        expected,
        rtol=1e-3,
        atol=1e-4,
        equal_nan=True,
    )


def _listed(results: Tensor | Sequence[Tensor]) -> Sequence[Tensor]:
    return [results] if isinstance(results, Tensor) else results


def _name(step: Step) -> str:
    return step.op._schema.name.removeprefix("aten::")


def _merge(a: Flow, b: Flow) -> None:
    """Merge the units of a sum."""
    for pair in zip(a.nodes, b.nodes):
        roots = [node.root() for node in pair]
        first, second = sorted(roots, key=lambda node: node.at)
        if first is not second:
            first.refused = second.refused | first.refused
            second.same = first
