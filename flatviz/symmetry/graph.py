"""Reader of a module's graph: its hidden units, and the weights that lead into and out of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from flatviz.core import Net

# (positively homogeneous, odd) of what acts on each unit alone; names as torch writes them, without underscores
ELEMENTWISE = {
    **dict.fromkeys(("relu", "leakyrelu", "maxpool1d", "maxpool2d", "adaptivemaxpool1d", "adaptivemaxpool2d"), (True, False)),
    **dict.fromkeys(("tanh", "hardtanh", "softsign", "softshrink", "hardshrink", "tanhshrink", "sin"), (False, True)),
    **dict.fromkeys(("gelu", "silu", "sigmoid", "softplus", "elu", "selu", "celu", "mish", "relu6"), (False, False)),
    **dict.fromkeys(("hardswish", "hardsigmoid", "logsigmoid", "exp", "square"), (False, False)),
    **dict.fromkeys(("identity", "contiguous", "dropout", "dropout1d", "dropout2d", "neg", "mean"), (True, True)),
    **dict.fromkeys(("avgpool1d", "avgpool2d", "adaptiveavgpool1d", "adaptiveavgpool2d"), (True, True)),
}
FLATTEN, ADD, SHAPES = ("flatten", "view", "reshape", "squeeze"), ("add", "iadd"), ("size", "getattr", "getitem", "dim")


@dataclass(eq=False)
class Node:
    """One layer of hidden units while the module is read: two that a residual connection ties become one."""

    name: str
    n: int
    at: int = -1  # its place in the order of execution; -1: the inputs
    refused: dict[str, str] = field(default_factory=dict)  # action -> why it does not hold; "all": of any action
    same: Node | None = None

    def root(self) -> Node:
        """The node that stands for all that were tied to this one."""
        return self if self.same is None else self.same.root()


class Flow(NamedTuple):
    """Units between two layers, once as those permuted and once as those scaled."""

    permuted: Node
    scaled: Node


# permuted units, scaled units, power of their factor: 2 of a variance
Rows = tuple[Node, Node, float]


@dataclass
class Reading:
    """Result of reading a graph: for each parameter or statistic, the units of its rows and of its columns."""

    rows: dict[str, Rows] = field(default_factory=dict)  # name -> its rows
    columns: dict[str, tuple[Flow, int, int]] = field(default_factory=dict)  # name -> flow, columns a unit, groups
    groups: list[tuple[Node, Node, int]] = field(default_factory=list)  # a grouped convolution: units in, units out
    nodes: list[tuple[str, Node]] = field(default_factory=list)  # ("permuted" or "scaled", node) in order of execution


def read_graph(net: Net) -> Reading:
    """Follow an input through `net.module` with torch.fx.

    Raises:
        TypeError: For a module whose forward pass depends on its input's values.
    """
    try:
        graph = fx.Tracer().trace(net.module)
    except (fx.proxy.TraceError, TypeError, RuntimeError) as error:
        raise TypeError(
            f"symmetries need a module whose graph torch.fx can trace, got {type(net.module).__name__} ({error}): "
            "write its forward pass without conditions on the input"
        ) from error
    return _Reader(net).read(graph)


class _Reader:
    def __init__(self, net: Net) -> None:
        self.parts = dict(net.module.named_modules())
        self.reading = Reading()
        self.flows: dict[fx.Node, Flow] = {}
        self.used: dict[str, list[Flow]] = {}
        unknown = Node("inputs", 0, refused={"all": "the inputs, or a path that no rule follows"})
        self.unknown = Flow(unknown, unknown)

    def read(self, graph: fx.Graph) -> Reading:
        for node in graph.nodes:
            sources = list(self._sources(node.args, node.kwargs))
            if node.op == "output":
                for s in sources:
                    _refuse("all", "the outputs", *s)
            elif node.op != "placeholder":
                self.flows[node] = self._apply(node, sources)
        return self.reading

    def _sources(self, *values: Any) -> Iterator[Flow]:
        for value in values:
            if isinstance(value, fx.Node) and value in self.flows:
                yield self.flows[value]
            elif isinstance(value, (tuple, list)):
                yield from self._sources(*value)
            elif isinstance(value, dict):
                yield from self._sources(*value.values())

    def _apply(self, node: fx.Node, sources: list[Flow]) -> Flow:
        part = self.parts[node.target] if node.op == "call_module" else None
        here = sources[0] if sources else self.unknown
        if isinstance(part, nn.Linear) or (isinstance(part, _ConvNd) and not part.transposed):
            return self._layer(str(node.target), part, here)
        if isinstance(part, (_BatchNorm, nn.LayerNorm)):
            return self._norm(str(node.target), part, here)
        name = _operation(node, part)
        if name in SHAPES or (part is None and not sources) or (name in FLATTEN and _keeps_units(node, part)):
            return here
        if name in ADD and len(sources) == 2:
            return _tied(*sources)
        shown = type(part).__name__ if part is not None else name
        if name in ELEMENTWISE and _averages_places(name, node):
            _elementwise(name, shown, here)
            return here
        for s in sources:
            _refuse("all", shown, *s)
        return self.unknown

    def _layer(self, name: str, part: nn.Linear | _ConvNd, here: Flow) -> Flow:
        out = self._units(name, part.weight.shape[0])
        groups = part.groups if isinstance(part, _ConvNd) else 1
        self._rows(name, part, out)
        width = here.permuted.root().n or here.scaled.root().n  # 0: gains of a norm on a path that no rule follows scale alone
        inside = part.weight.shape[1] * groups
        if width and inside % width:
            _refuse("all", f"{name}, which mixes its units", *here)
        elif width:
            self.reading.columns[f"{name}.weight"] = (here, inside // width, groups)
        if groups > 1:
            self.reading.groups.append((here.permuted, out.permuted, groups))
        self._once(name, here, out)
        return out

    def _norm(self, name: str, part: _BatchNorm | nn.LayerNorm, here: Flow) -> Flow:
        """Gain and shift begin other units for scaling; a permutation moves them too."""
        wide = f"{name}, which normalises over more than the units"
        if isinstance(part, nn.LayerNorm):
            _refuse("all", "LayerNorm, which reads all units at once", here.scaled)
            if part.normalized_shape != (here.permuted.root().n,):
                _refuse("all", wide, *here)
        else:
            _refuse("flip", "BatchNorm", here.scaled)
            if part.track_running_stats:
                self.reading.rows[f"{name}.running_mean"] = (*here, 1.0)
                self.reading.rows[f"{name}.running_var"] = (*here, 2.0)
        after = Flow(here.permuted, self._node("scaled", name, 0 if part.weight is None else len(part.weight)))
        if part.weight is None or part.weight.ndim > 1:
            _refuse("all", wide if part.weight is not None else f"{name}, which has no gain to scale", after.scaled)
        self._rows(name, part, after)
        self._once(name, here, after)
        return after

    def _rows(self, name: str, part: nn.Module, units: Flow) -> None:
        """Weight and bias of a part, where it has them, hold a row for each of these units."""
        own = {f"{name}.{key}" for key, _ in part.named_parameters(recurse=False)}
        self.reading.rows |= {key: (*units, 1.0) for key in (f"{name}.weight", f"{name}.bias") if key in own}

    def _units(self, name: str, n: int) -> Flow:
        return Flow(self._node("permuted", name, n), self._node("scaled", name, n))

    def _node(self, kind: str, name: str, n: int) -> Node:
        node = Node(name, n, len(self.reading.nodes))
        self.reading.nodes.append((kind, node))
        return node

    def _once(self, name: str, *flows: Flow) -> None:
        seen = self.used.setdefault(name, [])
        seen += flows
        for s in seen if len(seen) > len(flows) else ():
            _refuse("all", f"{name}, which is used twice", *s)


def _refuse(action: str, reason: str, *nodes: Node) -> None:
    for node in nodes:
        node.root().refused.setdefault(action, reason)


def _elementwise(name: str, shown: str, here: Flow) -> None:
    for holds, action in zip(ELEMENTWISE[name], ("scale", "flip")):
        if not holds:
            _refuse(action, shown, *here)


def _tied(a: Flow, b: Flow) -> Flow:
    """The units of a sum: those of both are one."""
    for pair in zip(a, b):
        first, second = sorted((node.root() for node in pair), key=lambda node: node.at)
        if first is second:
            continue
        if first.n != second.n:  # one of them is the input, or a broadcast
            first.refused.setdefault("all", second.refused.get("all", "a sum of unlike layers"))
            second.refused.setdefault("all", first.refused["all"])
            continue
        first.refused = second.refused | first.refused
        second.same = first
    return a


def _averages_places(name: str, node: fx.Node) -> bool:
    """A mean keeps units apart where it leaves axes 0 and 1 alone."""
    axes = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    return name != "mean" or set(axes if isinstance(axes, (tuple, list)) else (axes,)) <= {2, 3, -1, -2}


def _keeps_units(node: fx.Node, part: nn.Module | None) -> bool:
    """(B, C, ...) -> (B, C ...): flatten from axis 1, or a view of two axes."""
    if part is not None:
        return (part.start_dim, part.end_dim) == (1, -1)
    name = _operation(node, part)
    if name in ("view", "reshape"):
        shape = node.args[1] if len(node.args) == 2 and isinstance(node.args[1], (tuple, list)) else node.args[1:]
        return len(shape) == 2
    return name == "squeeze" or (node.args[1:] or (node.kwargs.get("start_dim", 0),)) in ((1,), (1, -1))


def _operation(node: fx.Node, part: nn.Module | None) -> str:
    """Name a node's computation as `ELEMENTWISE` writes it: a module's type, a function's name, a method, without underscores."""
    if part is not None:
        name = type(part).__name__
    else:  # torch.fx: the target of a function is the function, of a method or an attribute its name
        name = node.target if isinstance(node.target, str) else node.target.__name__
    return name.lower().replace("_", "")
