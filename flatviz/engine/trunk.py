"""Activations of a network before its first treated weight, computed once.

A network f(w, x) whose treated weights w come late is g(w, h(x)).  The trunk h holds no treated
weight, and its BatchNorm statistics are fixed, so that h(x) is the same at every w.  `torch.fx`
finds the end of h in a copy of the module: a node *moves* if it holds a treated weight or reads a
moving node; h(x) is all that moving nodes read of the others.

`cut_of` gives g and h; fits and objectives compute with g on kept rows h(x) (`kept`), within the
bytes of FLATVIZ_TRUNK (0: never).  Results, digests and checkpoints are of the whole network.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, fx, nn

from flatviz.core import (
    Fields,
    Inputs,
    Net,
    differentiable,
    generator,
    randn_like,
    run,
    saved_rng,
    threads,
)
from flatviz.core.arithmetic import float32_flags
from flatviz.core.inputs import Pixels
from flatviz.core.modules import transformed
from flatviz.engine.cost import Work, work_of
from flatviz.engine.determinism import same_to_rounding, two_points

SWITCH = "FLATVIZ_TRUNK"  # bytes of kept rows in the environment; 0: no cut at all
BYTES = 2**30  # by default on a CPU
CARD_SHARE = 8  # and this part of a card
LEAST_MACS = (
    10**6
)  # multiply-adds an example that a cut must save: smaller networks wait for Python
LEAST_SHARE = 0.2  # of a pass that a cut must save
CHECKED = (8, 3)  # examples on which a cut is compared with the whole network
SPREAD = 8  # kept rows that each user computes again
CUTS = 4  # of one module that are remembered
CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
Rows = Tensor  # (N, F): an example's crossing values side by side


class NoCut(Exception):
    """The network cannot be cut; its text says why."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A network as `tail(w, rows(x))`.

    Args:
        rows: Inputs (n, ...) -> crossing values (n, F).
        tail: The network from there on, with the same treated weights in the same order.
        floats: F.
        bytes: Of one row.
        work: Of the tail, for an example.
        before: Name of the first treated weight, for texts.
    """

    rows: Callable[[Tensor], Rows]
    tail: Net
    floats: int
    bytes: int
    work: Work
    before: str
    fixed: list[Tensor]  # weights and buffers of the net that it was made of
    eps: float  # rounding of the precision of rows


class Tail(nn.Module):
    """The layers from the cut on, by their names in the whole module."""

    def __init__(self, forward: Callable[..., object]) -> None:
        super().__init__()
        self._flatviz_forward = forward

    def forward(self, rows: Rows) -> object:
        """Compute the module's outputs from kept rows."""
        return self._flatviz_forward(self, rows)


def bound(device: torch.device) -> int:
    """Bytes of rows that may be kept.  Never what is free, so that a resumed run decides alike."""
    given = os.environ.get(SWITCH)
    if given is not None:
        if not given.isdecimal():
            raise ValueError(f"{SWITCH} must be a number of bytes, 0 for none, got {given!r}")
        return int(given)
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory // CARD_SHARE
    return BYTES


_CUTS: WeakKeyDictionary[nn.Module, OrderedDict[object, Cut | str]] = WeakKeyDictionary()
_LOCK = RLock()


def cut_of(
    net: Net,
    x: Tensor | Inputs,
    precision: str | None = None,
    *,
    work: Work | None = None,
    make: bool = True,
) -> Cut | None:
    """Return the network cut before its first treated weight; None where it is to run in full.

    It is made and checked once for a module at its present weights and statistics.

    precision: In which rows are computed, as `Training.precision`.
    work: Of an example, where it was measured before.
    make: Make it where it was not asked for before.
    """
    found = cut_or_reason(net, x, precision, work=work, make=make)
    return found if isinstance(found, Cut) else None


def cut_or_reason(
    net: Net,
    x: Tensor | Inputs,
    precision: str | None = None,
    *,
    work: Work | None = None,
    make: bool = True,
) -> Cut | str:
    """Return the cut, or why there is none; "" where none is to be expected."""
    unusual = isinstance(x, Fields) or net.trunk is not None or isinstance(net.module, Tail)
    small = work is not None and work.macs < LEAST_MACS
    if unusual or small or not bound(net.device) or len(x) == 0:
        return ""
    if torch.is_autocast_enabled(net.device.type):  # the user's, which rows must not depend on
        return ""
    with net._slots.lock:
        treated = {block.name for block in net.blocks}
        weights = [p for name, p in net.module.named_parameters() if name not in treated]
        fixed = [*weights, *net.module.buffers(), *net._buffers.values()]
    if not weights or any(t.is_inference() for t in fixed):
        return ""
    key = (
        tuple(block.name for block in net.blocks),
        tuple(x.shape[1:]),
        x.dtype,
        net.w.dtype,
        net.device,
        precision,
        float32_flags() if net.w.is_cuda else torch.get_float32_matmul_precision(),
        tuple((id(t), t._version) for t in fixed),
    )
    with _LOCK:
        cuts = _CUTS.setdefault(net.module, OrderedDict())
        if key in cuts:
            cuts.move_to_end(key)
            return cuts[key]
    if not make or transformed():  # where no other graph can be made
        return ""
    try:
        found: Cut | str = _checked_cut(net, x, precision, fixed, work)
    except NoCut as error:
        found = str(error)
    with _LOCK:
        cuts[key] = found
        while len(cuts) > CUTS:
            cuts.popitem(last=False)
    return found


def _checked_cut(
    net: Net,
    x: Tensor | Inputs,
    precision: str | None,
    fixed: list[Tensor],
    work: Work | None,
) -> Cut:
    places = torch.linspace(0, len(x) - 1, min(len(x), max(CHECKED)), dtype=torch.float64)
    few = x[places.round().long().to(x.device)]
    if isinstance(few, Fields):
        raise NoCut("")
    with torch.inference_mode(False), saved_rng():
        seen = net.look(few)
        whole = work_of(net, few) if work is None else work
        if whole.macs < LEAST_MACS or seen.draws or seen.again:
            raise NoCut("")
        names = [block.name for block in net.blocks]
        halves: Halves | None = None
        reason = ""
        try:
            halves = _by_trace(net, few, names, precision)
        except NoCut as error:
            reason = str(error)
        except Exception as error:  # the user's code runs on stand-ins for tensors
            reason = f"torch.fx cannot follow the module ({type(error).__name__}: {error})"
        if halves is None:
            halves = _by_module(net, few, names, precision, reason)
        try:
            cut = _joined(net, few, halves, whole, fixed, precision)
            _check(net, cut, few, precision)
        except NoCut as error:
            if reason and str(error):
                raise NoCut(f"{reason}; {error}") from None
            raise
    return cut


@dataclass(frozen=True, eq=False)
class Halves:
    """Two modules: the first gives crossing tensors, the second takes them packed, (N, F)."""

    crossing: Callable[[Tensor], Sequence[Tensor]]
    tail: Tail
    channels_last: bool

    def rows(self, x: Tensor) -> Rows:
        """Pack the crossing tensors of a batch."""
        parts = []
        for t in self.crossing(x):
            parts.append(pack(t, self.channels_last))
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def pack(t: Tensor, channels_last: bool) -> Tensor:
    """Flatten a crossing tensor (N, ...) to (N, F), images channels last where asked."""
    if channels_last and t.ndim == 4:
        t = t.permute(0, 2, 3, 1)
    return t.reshape(len(t), -1)


def unpack(rows: Rows, start: int, shape: tuple[int, ...], channels_last: bool) -> Tensor:
    """Return the crossing tensor (N, *shape) that begins at number `start` of a row."""
    n = rows.size(0)
    part = rows[:, start : start + math.prod(shape)]
    if channels_last and len(shape) == 3:
        c, h, w = shape
        return part.reshape(n, h, w, c).permute(0, 3, 1, 2)
    return part.reshape(n, *shape)


class _Tracer(fx.Tracer):
    """Trace a copy of a module, down to layers and to parts without a treated weight."""

    def __init__(self, treated: set[int], mine: set[int]) -> None:
        super().__init__()
        self._treated = treated
        self._mine = mine  # ids of the modules of the copy

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Tell whether a module is one node."""
        if not any(id(p) in self._treated for p in m.parameters()):
            return True
        if isinstance(m, CONTAINERS):
            return False
        return any(c.__module__.startswith("torch.nn.modules.") for c in type(m).__mro__[:-2])

    def call_module(
        self, m: nn.Module, forward: Callable, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        """Record a call; modules of other threads, which fx patches as well, run as they are."""
        if id(m) not in self._mine:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)


def _by_trace(net: Net, few: Tensor, names: list[str], precision: str | None) -> Halves:
    """Cut the module by its graph."""
    root = net.to_module().eval().requires_grad_(False)
    treated = {id(root.get_parameter(name)) for name in names}
    signature = list(inspect.signature(root.forward).parameters.values())
    concrete = {p.name: p.default for p in signature[1:] if p.default is not p.empty}
    tracer = _Tracer(treated, set(map(id, root.modules())))
    with torch.no_grad():
        graph = tracer.trace(root, concrete)
    nodes = list(graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder" and node.users]
    if len(inputs) != 1:
        raise NoCut("the module takes several inputs")
    depends, moves = _sorted(root, nodes, inputs[0], treated)
    read = {b for node in moves for b in node.all_input_nodes}
    crossing = [node for node in nodes if node in read & depends - moves]
    if not moves or not crossing:
        raise NoCut("")
    if crossing == [inputs[0]]:
        raise NoCut("")
    channels_last = net.w.is_cuda or precision is not None
    values = []
    with _precision(net.device, precision):
        for n in (2, 3):
            some = few[torch.arange(n, device=few.device) % len(few)]
            values.append(_values(root, nodes, moves, crossing, inputs[0], some))
    pairs = zip(crossing, *values)
    kinds = [_kind(node, two, three, net, precision) for node, two, three in pairs]
    tensors = [node for node, kind in zip(crossing, kinds) if isinstance(kind, tuple)]
    if not tensors:
        raise NoCut("no tensor crosses the cut")
    tail = fx.Graph()
    rows = tail.placeholder("rows")
    copies: dict[fx.Node, Any] = {}
    start = 0
    for node, kind in zip(crossing, kinds):
        if isinstance(kind, tuple):
            copies[node] = tail.call_function(unpack, (rows, start, kind, channels_last))
            start += math.prod(kind)
        elif isinstance(kind, _Constant):
            copies[node] = kind.value
        else:
            copies[node] = tail.call_method("size", (rows, 0))
    for node in nodes:
        constant = node.op != "placeholder" and node not in depends
        if node in moves or constant and node.op != "output":
            copies[node] = _copied(tail, node, copies)
    module = _skeleton(root, tail, names)
    first = fx.Graph()
    mine: dict[fx.Node, Any] = {}
    for node in nodes:
        unused = node.op == "placeholder" and node is not inputs[0]
        if node not in moves and node.op != "output" and not unused:
            mine[node] = first.node_copy(node, mine.__getitem__)
    first.output(tuple(mine[node] for node in tensors))
    trunk = fx.GraphModule(root, first)

    def crossed(x: Tensor) -> Sequence[Tensor]:
        return trunk(x)

    return Halves(crossed, module, channels_last)


ROWS = object()  # a crossing integer that is the number of rows


@dataclass(frozen=True)
class _Constant:
    value: object


def _sorted(
    root: nn.Module, nodes: list[fx.Node], x: fx.Node, treated: set[int]
) -> tuple[set[fx.Node], set[fx.Node]]:
    """Return the nodes that depend on the inputs, and those that a treated weight moves."""
    depends = {x}
    moves = set[fx.Node]()
    for node in nodes:
        before = node.all_input_nodes
        holds = False
        if node.op == "call_module":
            layer = root.get_submodule(str(node.target))
            holds = any(id(p) in treated for p in layer.parameters())
        elif node.op == "get_attr":
            holds = id(operator.attrgetter(str(node.target))(root)) in treated
        if holds or moves.intersection(before):
            moves.add(node)
        if depends.intersection(before):
            depends.add(node)
    if nodes[-1] not in moves:
        raise NoCut("the outputs depend on no treated weight")
    return depends, moves


def _values(
    root: nn.Module,
    nodes: list[fx.Node],
    moves: set[fx.Node],
    crossing: list[fx.Node],
    x: fx.Node,
    inputs: Tensor,
) -> list[object]:
    """Compute the crossing values of a batch."""
    graph = fx.Graph()
    mine: dict[fx.Node, Any] = {}
    for node in nodes:
        unused = node.op == "placeholder" and node is not x
        if node not in moves and node.op != "output" and not unused:
            mine[node] = graph.node_copy(node, mine.__getitem__)
    graph.output([mine[node] for node in crossing])
    with torch.no_grad():
        return list(fx.GraphModule(root, graph)(inputs.clone()))


def _kind(
    node: fx.Node, two: object, three: object, net: Net, precision: str | None
) -> tuple[int, ...] | object:
    """Return a crossing tensor's shape without rows, ROWS, or a constant."""
    if isinstance(two, Tensor) and isinstance(three, Tensor):
        shape = tuple(two.shape[1:])
        rows = two.ndim > 0 and (len(two), *shape) == (2, *shape) and len(three) == 3
        dtypes = {net.w.dtype}
        if precision is not None:
            dtypes.add(getattr(torch, precision))
        if not rows or tuple(three.shape[1:]) != shape or two.dtype not in dtypes:
            raise NoCut(
                f"{node.name} crosses the cut, {tuple(two.shape)} in {two.dtype} of 2 examples"
            )
        return shape
    if (two, three) == (2, 3):
        return ROWS
    if type(two) is type(three) and two == three:
        return _Constant(two)
    raise NoCut(f"{node.name} crosses the cut, {two!r} of 2 examples and {three!r} of 3")


def _copied(graph: fx.Graph, node: fx.Node, copies: dict[fx.Node, Any]) -> Any:
    """Copy a node, whose arguments may be constants by now."""
    args = fx.map_arg(node.args, copies.__getitem__)
    kwargs = fx.map_arg(node.kwargs, copies.__getitem__)
    if node.op == "output":
        return graph.output(args[0])
    return graph.create_node(node.op, node.target, args, kwargs, node.name)


def _skeleton(root: nn.Module, graph: fx.Graph, names: list[str]) -> Tail:
    """Build a module with the layers that a graph calls, by their names and in their order."""
    tail = Tail(type(fx.GraphModule(root, graph)).forward)
    called = {str(node.target) for node in graph.nodes if node.op == "call_module"}
    for name, layer in root.named_modules():
        if name in called:
            _place(tail, name, layer)
    reads = [str(node.target) for node in graph.nodes if node.op == "get_attr"]
    for name in (*reads, *names):
        try:
            operator.attrgetter(name)(tail)
        except AttributeError:
            _place(tail, name, operator.attrgetter(name)(root))
    return tail


def _place(tail: nn.Module, name: str, value: object) -> None:
    """Set an attribute of a module inside, with empty modules on the way."""
    *outer, last = name.split(".")
    parent = tail
    for key in outer:
        if key not in parent._modules:
            parent.add_module(key, nn.Module())
        parent = parent.get_submodule(key)
    if isinstance(value, nn.Module):
        parent.add_module(last, value)
    elif isinstance(value, nn.Parameter):
        parent.register_parameter(last, value)
    elif isinstance(value, Tensor):
        parent.register_buffer(last, value)
    else:
        setattr(parent, last, value)


def _by_module(
    net: Net, few: Tensor, names: list[str], precision: str | None, reason: str
) -> Halves:
    """Cut before the one module that holds all treated weights."""
    layers = [name.partition(".parametrizations.")[0].split(".")[:-1] for name in names]
    name = ".".join(os.path.commonprefix(layers))  # which takes lists of any kind
    if not name:
        raise NoCut(reason)
    root = net.to_module().eval().requires_grad_(False)
    calls: list[tuple] = []
    root.get_submodule(name).register_forward_pre_hook(lambda _, given: calls.append(given))

    def crossed(x: Tensor) -> Sequence[Tensor]:
        calls.clear()
        run(root, x)
        lengths = [len(t) for given in calls for t in given if isinstance(t, Tensor)]
        if len(calls) != 1 or lengths != [len(x)] or len(calls[0]) != 1:
            raise NoCut(f"{reason}; {name} does not run once, on one tensor of a row an example")
        return [calls[0][0]]

    channels_last = net.w.is_cuda or precision is not None
    with torch.no_grad(), _precision(net.device, precision):
        (z,) = crossed(few[:1].clone())
    shape = tuple(z.shape[1:])
    whole = net.to_module().eval().requires_grad_(False)  # a copy without the hook

    def forward(tail: nn.Module, rows: Rows) -> object:
        return tail.get_submodule(name)(unpack(rows, 0, shape, channels_last))

    tail = Tail(forward)
    _place(tail, name, whole.get_submodule(name))
    return Halves(crossed, tail, channels_last)


def _precision(device: torch.device, precision: str | None) -> AbstractContextManager:
    if precision is None:
        return nullcontext()
    return torch.autocast(device.type, dtype=getattr(torch, precision))


def _joined(
    net: Net,
    few: Tensor,
    halves: Halves,
    whole: Work,
    fixed: list[Tensor],
    precision: str | None,
) -> Cut:
    """Make the tail a net, and see whether enough is saved."""
    channels_last = halves.channels_last
    dtype = net.w.dtype

    def rows(x: Tensor) -> Rows:
        if channels_last and x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        with torch.no_grad(), _precision(net.device, precision):
            # a first layer may work in place
            return halves.rows(x.clone()).to(dtype)

    kinds = {block.name: block.kind for block in net.blocks}
    some = rows(few[:2])
    tail = Net.of_parts(halves.tail, kinds, some, net.frozen)
    work = work_of(tail, some)
    saved = whole.macs - work.macs
    if saved < max(LEAST_MACS, LEAST_SHARE * whole.macs):
        raise NoCut("")
    before = net.blocks[0].name
    row = some[0]
    eps = 0.0 if precision is None else torch.finfo(getattr(torch, precision)).eps
    return Cut(rows, tail, row.numel(), row.numel() * row.element_size(), work, before, fixed, eps)


def _check(net: Net, cut: Cut, few: Tensor, precision: str | None) -> None:
    """Compare outputs at two points and one gradient with the whole network's."""
    W = two_points(net)
    if not W[1].any():  # a head at 0, which compares nothing
        W[1] = 0.1 * randn_like(W[1], generator(0))
    for n in CHECKED:
        some = few[:n]
        rows = cut.rows(some)

        def passed(w: Tensor, x: Tensor, on: Net) -> Tensor:
            with _precision(net.device, precision):
                return on(w, x).to(w.dtype)

        with torch.no_grad():
            alike = all(
                same_to_rounding(passed(w, rows, cut.tail), passed(w, some, net), cut.eps)
                for w in W
            )
        if not alike:
            raise NoCut("outputs from kept activations are others")
    with differentiable():
        slopes = []
        for x, on in ((rows, cut.tail), (some, net)):
            w = W[1].clone().requires_grad_(True)
            out = passed(w, x, on)
            along = torch.linspace(1, 2, out.numel(), dtype=out.dtype, device=out.device)
            (slope,) = torch.autograd.grad((out * along.view_as(out)).sum(), w)
            slopes.append(slope)
    if not same_to_rounding(slopes[0], slopes[1], cut.eps):
        raise NoCut("gradients from kept activations are others")


@dataclass(eq=False)
class _Entry:
    rows: Rows
    refs: tuple[weakref.ref, ...]  # of what it was computed from, which may be gone


class _Store:
    """Rows of recent data sets, the least recently used dropped beyond `bound` bytes."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.entries: OrderedDict[object, _Entry] = OrderedDict()

    def get(self, key: object) -> Rows | None:
        """Return rows, where all they were computed from is alive."""
        with self.lock:
            self._drop_dead()
            entry = self.entries.get(key)
            if entry is None:
                return None
            self.entries.move_to_end(key)
            return entry.rows

    def put(self, key: object, rows: Rows, of: Sequence[object], most: int) -> None:
        """Keep rows."""
        with self.lock:
            self._drop_dead()
            self.entries[key] = _Entry(rows, tuple(map(weakref.ref, of)))
            self.entries.move_to_end(key)
            while sum(e.rows.nbytes for e in self.entries.values()) > most:
                self.entries.popitem(last=False)

    def _drop_dead(self) -> None:
        dead = [k for k, e in self.entries.items() if any(ref() is None for ref in e.refs)]
        for key in dead:
            del self.entries[key]


_STORE = _Store()


def fits(cut: Cut, net: Net, n: int) -> bool:
    """Tell whether the rows of `n` examples are within the bound."""
    return n * cut.bytes <= bound(net.device)


def source_of(x: Tensor | Inputs) -> Tensor | None:
    """Return the tensor that inputs are read from; None of a stream."""
    source = x.bytes if isinstance(x, Pixels) else x
    return source if isinstance(source, Tensor) and not source.is_inference() else None


def kept(cut: Cut, net: Net, x: Tensor | Inputs, work: Work, *, fill: bool = True) -> Rows | None:
    """Return the rows (N, F) of `x`, from the store where nothing has changed since.

    Eight of stored rows are computed again, as a write through `.data` is not seen otherwise.  None
    where some are NaN or inf, whose error the whole network explains.

    work: Of the whole network, by which batches are chosen.
    fill: Compute rows that are not in the store.
    """
    source = source_of(x)
    key = None if source is None else (id(cut), id(source), source._version, x.dtype)
    with torch.inference_mode(False), torch.no_grad(), saved_rng():
        rows = None if key is None else _STORE.get(key)
        if rows is not None and source is not None:
            places = torch.linspace(0, len(x) - 1, min(SPREAD, len(x)), dtype=torch.float64)
            index = places.round().long().to(source.device)
            few = x[index]
            if isinstance(few, Fields) or not same_to_rounding(rows[index], cut.rows(few), cut.eps):
                rows = None
        if rows is None and fill:
            size = work.chunk(net.device)
            with threads(work.layer * min(size, len(x))):
                batches = (part for part in x.split(size) if isinstance(part, Tensor))
                rows = torch.cat(list(map(cut.rows, batches)))
            if not rows.isfinite().all():
                return None
            if key is not None:
                _STORE.put(key, rows, (cut, source), bound(net.device))
    return rows
