"""The trunk's activations, computed once: where only later layers are treated, fits and figures start at the first of them.

A network f(w, x) whose treated weights w come late is g(w, h(x)): h, the trunk, holds no treated weight and its BatchNorm
statistics stay, so that h(x) is the same at every w.  `cache_trunk` gives g as a `Net` and h(x) as a `Data`.
"""

import math

import torch
from torch import Tensor, fx, nn

from flatviz.core import Data, Net, Progress, public, track
from flatviz.engine.determinism import check_function, same_to_rounding, two_points

CHECKED, BATCH = 8, 256


@public
def cache_trunk(net: Net, data: Data, *, progress: Progress = False) -> tuple[Net, Data]:
    """The net from its first treated layer on, and `data` as that layer sees it: (net, data), for every verb as before.

    The net that is returned has the same treated weights in the same order, so a prior or posterior of one is one of the
    other.  How much is saved follows from where the first treated layer stands: with the head alone treated nearly all of a
    step, with all norm layers of a ResNet no more than the first convolution.  BatchNorm of the trunk keeps its statistics:
    what is fitted so is what `batchnorm="frozen"` fits.

    Args:
        net: with at least one layer before the first treated one.
        data: what is passed through the trunk; a test set, or each corrupted copy of it, needs a call of its own.
        progress: True, None (where a terminal watches) or a function.

    Outputs on the first examples are compared with the plain network's, at its own weights and at others.

    Raises:
        ValueError: Where the first layer is treated already, for a network whose forward pass `torch.fx` cannot
            follow, and where outputs differ by more than rounding.

    Example:
        >>> import torch, flatviz as fv
        >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        >>> net = fv.Net.from_module(module, lambda name: name.startswith("2."))
        >>> data = fv.Data(torch.randn(10, 4), torch.arange(10) % 3)
        >>> late, features = fv.engine.cache_trunk(net, data)
        >>> features.x.shape, bool(torch.allclose(late(net.w, features.x), net(net.w, data.x), atol=1e-6))
        (torch.Size([10, 8]), True)
    """
    check_function(net, data.x[:CHECKED])
    graph, frontier = _followed(net)
    trunk = _trunk(graph, frontier, data.x[:2])
    with torch.no_grad():
        shapes = [tuple(part.shape[1:]) for part in trunk(data.x[:2])]
    with torch.no_grad():
        starts = track(range(0, len(data), BATCH), "trunk", progress)
        x = torch.cat([torch.cat([part.flatten(1) for part in trunk(data.x[i : i + BATCH])], 1) for i in starts])
    # a Net puts weights in the order of the dict: that of the whole network, not of the tail's layers
    late = Net(_tail(graph, frontier, shapes, net), {b.name: b.kind for b in net.blocks}, x[:2], net.frozen)
    with torch.no_grad():
        if not all(same_to_rounding(late(w, x[:CHECKED]), net(w, data.x[:CHECKED])) for w in two_points(net)):
            raise ValueError("outputs from kept activations must be the network's, got others: fit on the images themselves")
    return late, Data(x, data.y)


def _unpacked(z: Tensor, like: Tensor, start: int, stop: int, shape: tuple[int, ...]) -> Tensor:
    """One output of the trunk from rows (n, numbers), in the dtype of the weights `like`."""
    return z[:, start:stop].to(like.dtype).reshape(-1, *shape)


def _followed(net: Net) -> tuple[fx.GraphModule, list[fx.Node]]:
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
    return graph, frontier


def _trunk(module: fx.GraphModule, frontier: list[fx.Node], x: Tensor) -> fx.GraphModule:
    """X -> the frontier's values, each a tensor of one row an example of `x`."""
    graph, copies = fx.Graph(), {}
    graph.graph_copy(module.graph, copies)
    graph.output(tuple(copies[n] for n in frontier))
    trunk = _without_unused(module, graph)
    odd = [n.name for n, v in zip(frontier, trunk(x)) if not isinstance(v, Tensor) or v.shape[:1] != x.shape[:1]]
    if odd or not frontier:
        raise ValueError(
            f"the trunk must give tensors of one row an example, got {', '.join(odd) or 'none'}: fit on the images themselves"
        )
    return trunk


def _tail(module: fx.GraphModule, frontier: list[fx.Node], shapes: list[tuple[int, ...]], net: Net) -> nn.Module:
    """Rows of the frontier's values -> outputs, with the treated parameters under their names."""
    graph, copies, start = fx.Graph(), {}, 0
    z, like = graph.placeholder("z"), graph.get_attr(net.blocks[0].name)
    for node, shape in zip(frontier, shapes):
        stop = start + math.prod(shape)
        copies[node] = graph.call_function(_unpacked, (z, like, start, stop, shape))
        start = stop
    graph.output(graph.graph_copy(module.graph, copies))
    return _without_unused(module, graph).eval().requires_grad_(False)


def _without_unused(module: fx.GraphModule, graph: fx.Graph) -> fx.GraphModule:
    """The graph's steps on the way to its outputs, and the layers that they call."""
    whole = fx.GraphModule(module, graph)
    whole.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))  # not even an assertion is left
    for node in [n for n in whole.graph.nodes if n.op == "placeholder" and not n.users]:
        whole.graph.erase_node(node)
    return fx.GraphModule(whole, whole.graph)
