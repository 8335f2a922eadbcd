"""The trunk's activations, computed once: where only later layers are treated, fits and figures start at the first of them.

A network f(w, x) whose treated weights w come late is g(w, h(x)): h, the trunk, holds no treated weight and its BatchNorm
statistics stay, so that h(x) is the same at every w.  `cache_trunk` gives g as a `Net` and h(x) as a `Data`.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, fx, nn

from flatviz.checks import FilePath, NonNegative
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "uint8": torch.uint8}
TOLERANCE = {"float32": 1e-4, "bfloat16": 0.05, "uint8": 0.05}  # of the outputs' spread: both keep eight bits of a number
CHECKED, BATCH = 8, 256


@public
def cache_trunk(
    net: Net,
    data: Data,
    *,
    memory: NonNegative = 2e9,
    precision: Literal["float32", "bfloat16", "uint8"] | None = None,
    path: FilePath | None = None,
    progress: Progress = False,
) -> tuple[Net, Data]:
    """The net from its first treated layer on, and `data` as that layer sees it: (net, data), for every verb as before.

    The net that is returned has the same treated weights in the same order, so a prior or posterior of one is one of the
    other.  How much is saved follows from where the first treated layer stands: with the head alone treated nearly all of a
    step, with all norm layers of a ResNet no more than the first convolution.  BatchNorm of the trunk keeps its statistics:
    what is fitted so is what `batchnorm="frozen"` fits.

    Args:
        net: with at least one layer before the first treated one.
        data: what is passed through the trunk; a test set, or each corrupted copy of it, needs a call of its own.
        memory: bytes that the activations may take; beyond, they go in half precision to a memory-mapped file.
        precision: "float32", "bfloat16" or "uint8" (256 steps over the range of each tensor); None: float32 where they fit
            into `memory`, else bfloat16.
        path: of that file (default: in the system's folder for temporary files, removed when the process ends); where it is
            given, the activations lie there whatever their size; a file that is there already is an error.
        progress: True, None (where a terminal watches) or a function.

    Outputs on the first examples are compared with the plain network's, at its own weights and at others.

    Raises:
        ValueError: Where the first layer is treated already, for a network whose forward pass `torch.fx` cannot
            follow, and where outputs differ by more than the precision explains.

    Example:
        >>> import torch, flatviz as fv
        >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        >>> net = fv.Net.from_module(module, lambda name: name.startswith("2."))
        >>> data = fv.Data(torch.randn(10, 4), torch.arange(10) % 3)
        >>> late, features = fv.engine.cache_trunk(net, data)
        >>> features.x.shape, bool(torch.allclose(late(net.w, features.x), net(net.w, data.x), atol=1e-6))
        (torch.Size([10, 8]), True)
    """
    _check_passes(net, data.x[:2])
    graph, frontier = _followed(net, data.x[:2])
    trunk = _trunk(graph, frontier)
    with torch.no_grad():
        shapes = [tuple(part.shape[1:]) for part in trunk(data.x[:2])]
    numbers = sum(map(math.prod, shapes)) * len(data)
    chosen = precision or ("float32" if 4 * numbers <= memory and path is None else "bfloat16")
    on_disk = path is not None or PRECISIONS[chosen].itemsize * numbers > memory
    packing = Packing(shapes, chosen, _ranges(trunk, data, len(shapes)) if chosen == "uint8" else [(0.0, 1.0)] * len(shapes))
    x = _stored(trunk, data, packing, _file(path) if on_disk else None, progress)
    # a Net puts weights in the order of the dict: that of the whole network, not of the tail's layers
    late = Net(_tail(graph, frontier, packing, net), {b.name: b.kind for b in net.blocks}, x[:2])
    _compare(net, late, data.x[:CHECKED], x[:CHECKED], chosen)
    return late, Data(x, data.y)


@dataclass(frozen=True)
class Packing:
    """How the trunk's outputs lie in one row of numbers: shapes of one example's, precision, range of each for uint8."""

    shapes: list[tuple[int, ...]]
    precision: str
    ranges: list[tuple[float, float]]

    @property
    def sizes(self) -> list[int]:
        """Numbers of each."""
        return [math.prod(shape) for shape in self.shapes]

    def pack(self, parts: tuple[Tensor, ...]) -> Tensor:
        """Outputs of the trunk (n, ...) as rows (n, numbers)."""
        rows = [p.flatten(1) for p in parts]
        if self.precision == "uint8":
            rows = [((p - low) * (255 / (high - low))).round().clamp(0, 255) for p, (low, high) in zip(rows, self.ranges)]
        return torch.cat(rows, 1).to(PRECISIONS[self.precision])


def _unpacked(z: Tensor, like: Tensor, start: int, stop: int, shape: tuple[int, ...], low: float, step: float) -> Tensor:
    """One output of the trunk from rows (n, numbers), in the dtype of the weights `like`."""
    part = z[:, start:stop].to(like.dtype)
    part = part if step == 1.0 else part * step + low
    return part.unflatten(1, shape) if len(shape) != 1 else part


def _check_passes(net: Net, x: Tensor) -> None:
    try:
        with torch.no_grad():
            net(net.w, x)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise ValueError(f"data must hold inputs of {net!r}, got {tuple(x.shape[1:])}: {error}") from error


def _followed(net: Net, x: Tensor) -> tuple[fx.GraphModule, list[fx.Node]]:
    """The forward pass as a graph, and its values that no treated weight touches but something after reads."""
    module = net.to_module().eval().requires_grad_(False)
    name = type(module).__name__
    try:
        graph = fx.symbolic_trace(module)
    except Exception as error:  # the user's code runs on stand-ins for tensors
        raise ValueError(
            f"the trunk must be one that torch.fx can follow, got {name}: {error}: fit on the images themselves"
        ) from error
    treated = {b.name for b in net.blocks}
    varying: set[fx.Node] = set()
    for node in graph.graph.nodes:
        own = node.op == "call_module" and any(n.startswith(f"{node.target}.") for n in treated)
        if own or (node.op == "get_attr" and node.target in treated) or varying.intersection(node.all_input_nodes):
            varying.add(node)
    frontier = [n for n in graph.graph.nodes if n not in varying and n.op != "get_attr" and varying.intersection(n.users)]
    if any(n.op == "placeholder" for n in frontier):
        raise ValueError(
            f"a trunk must come before the first treated layer, got {name}, whose inputs reach one directly: fit on the images"
        )
    seen = _Values(graph)
    seen.run(x)
    odd = [n.name for n in frontier if not isinstance(seen.values[n], Tensor) or seen.values[n].shape[:1] != x.shape[:1]]
    if odd or not frontier:
        raise ValueError(
            f"the trunk must give tensors of one row an example, got {', '.join(odd) or 'none'} in {name}: fit on the images themselves"
        )
    return graph, frontier


class _Values(fx.Interpreter):
    """Keeps what every node gives."""

    def __init__(self, graph: fx.GraphModule) -> None:
        super().__init__(graph)
        self.values: dict[fx.Node, object] = {}

    def run_node(self, n: fx.Node) -> object:
        self.values[n] = super().run_node(n)
        return self.values[n]


def _trunk(module: fx.GraphModule, frontier: list[fx.Node]) -> fx.GraphModule:
    """X -> the frontier's values."""
    graph, made = fx.Graph(), {}
    needed = _before(frontier)
    for node in module.graph.nodes:
        if node in needed or node.op == "placeholder":
            made[node] = graph.node_copy(node, made.__getitem__)
    graph.output(tuple(made[n] for n in frontier))
    return fx.GraphModule(module, graph)


def _tail(module: fx.GraphModule, frontier: list[fx.Node], packing: Packing, net: Net) -> nn.Module:
    """Packed values -> outputs, with the treated parameters under their names."""
    graph, made, start = fx.Graph(), {}, 0
    z, like = graph.placeholder("z"), graph.get_attr(net.blocks[0].name)
    for node, size, shape, (low, high) in zip(frontier, packing.sizes, packing.shapes, packing.ranges):
        step = (high - low) / 255 if packing.precision == "uint8" else 1.0
        made[node] = graph.call_function(_unpacked, (z, like, start, start + size, shape, low, step))
        start += size
    output = next(n for n in module.graph.nodes if n.op == "output")
    needed = _before([output], stop=set(frontier))
    for node in module.graph.nodes:
        if node in needed and node not in made and node.op != "placeholder":
            made[node] = graph.node_copy(node, made.__getitem__)
    return fx.GraphModule(module, graph).eval().requires_grad_(False)


def _before(nodes: list[fx.Node], stop: set[fx.Node] = frozenset()) -> set[fx.Node]:
    """The nodes and all that they are computed from, not past those of `stop`."""
    found, open_nodes = set(), list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += [] if node in stop else node.all_input_nodes
    return found


def _batches(trunk: fx.GraphModule, data: Data, progress: Progress = False):
    """The trunk's outputs, a batch at a time."""
    with torch.no_grad():
        for start in track(range(0, len(data), BATCH), "trunk", progress):
            yield start, trunk(data.x[start : start + BATCH])


def _ranges(trunk: fx.GraphModule, data: Data, n: int) -> list[tuple[float, float]]:
    lows, highs = [math.inf] * n, [-math.inf] * n
    for _, parts in _batches(trunk, data):
        lows = [min(low, float(p.min())) for low, p in zip(lows, parts)]
        highs = [max(high, float(p.max())) for high, p in zip(highs, parts)]
    return [(low, high if high > low else low + 1.0) for low, high in zip(lows, highs)]


def _stored(trunk: fx.GraphModule, data: Data, packing: Packing, path: Path | None, progress: Progress) -> Tensor:
    shape, dtype = (len(data), sum(packing.sizes)), PRECISIONS[packing.precision]
    if path is None:
        x = torch.empty(shape, dtype=dtype, device=data.x.device)
    else:
        x = torch.from_file(str(path), shared=True, size=math.prod(shape), dtype=dtype).view(shape)
    for start, parts in _batches(trunk, data, progress):
        rows = packing.pack(parts)
        x[start : start + len(rows)] = rows.to(x.device)
    return x


def _file(path: str | Path | None) -> Path:
    """Where the activations go: the path given, or a file that the system forgets with the process."""
    if path is not None:
        if Path(path).exists():
            raise FileExistsError(f"path must name a new file, got {str(path)!r}, which is there: remove it, or name another")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return Path(path)
    folder = tempfile.TemporaryDirectory(prefix="flatviz-trunk-")
    _FOLDERS.append(folder)
    return Path(folder.name) / "activations"


_FOLDERS: list[tempfile.TemporaryDirectory] = []  # removed when the process ends


def _compare(net: Net, late: Net, x: Tensor, z: Tensor, precision: str) -> None:
    """That both paths give one answer, at the net's weights and at others."""
    with torch.no_grad():
        for w in (net.w, net.w + 0.1 * net.w.abs().mean() * torch.sign(net.w)):
            plain, short = net(w, x), late(w, z)
            error, spread = float((plain - short).abs().max()), float(plain.std() if plain.numel() > 1 else plain.abs().max())
            if not error <= TOLERANCE[precision] * max(spread, 1e-3):
                raise ValueError(
                    f"outputs from kept activations must be the network's, got a difference of {error:.2g} in {precision} where "
                    f"outputs spread by {spread:.2g}: use precision='float32', or fit on the images themselves"
                )
