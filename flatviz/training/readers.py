"""Which layer reads what a dropout layer gives, seen in one pass and in the autograd graph that it leaves."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.nn.modules.conv import _ConvNd

from flatviz.core.net import Net
from flatviz.training.masked import CHANNELS, mask_shape

SAME_VALUES = ("ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "CloneBackward0")  # a flatten, say


class Call(NamedTuple):
    """One call of a layer, with the node and shape of what it reads; of a dropout layer, of what it gives."""

    name: str
    part: nn.Module
    node: Node | None
    shape: torch.Size


class Dropped(NamedTuple):
    """One call of a dropout layer: its rate and the layer that stands for it, or "" and why there is none."""

    name: str
    rate: float
    reader: str
    why: str = ""


def trace(net: Net, x: Tensor, dropouts: dict[str, float]) -> tuple[list[str], list[Dropped]]:
    """Linears and convolutions in order of execution, and the calls of the `dropouts`, in one pass in evaluation mode."""
    layers: list[Call] = []
    own: list[Call] = []
    module = net.to_module().eval()

    def layer_hook(name: str):
        def see(part: nn.Module, args: tuple, out: Tensor) -> None:
            layers.append(Call(name, part, args[0].grad_fn, args[0].shape))

        return see

    def dropout_hook(name: str):
        def see(part: nn.Module, args: tuple, out: Tensor) -> Tensor:
            fresh = (out if out.requires_grad else out.detach().requires_grad_()).clone()  # a node of its own, to look for
            own.append(Call(name, part, fresh.grad_fn, fresh.shape))
            return fresh

        return see

    for name, part in module.named_modules():
        if isinstance(part, nn.Linear) or (isinstance(part, _ConvNd) and part.groups == 1 and not part.transposed):
            part.register_forward_hook(layer_hook(name))
        elif name in dropouts:
            part.register_forward_hook(dropout_hook(name))
    with torch.enable_grad():
        reads = _reads(module(x.clone()).grad_fn)
    holders = Counter(id(p) for part in module.modules() for p in part._parameters.values())
    return list(dict.fromkeys(c.name for c in layers)), [_dropped(c, dropouts, layers, reads, holders) for c in own]


def _dropped(call: Call, dropouts: dict[str, float], layers: list[Call], reads: Counter, holders: Counter) -> Dropped:
    """The one reader of a dropout layer's call whose weight's columns are what is dropped."""
    name, rate = call.name, dropouts[call.name]
    found = [(layer, path) for layer in layers if (path := _path(layer.node, call.node))]
    if not found:
        return Dropped(name, rate, "", "elsewhere")
    layer, path = found[0]
    if len(found) > 1 or any(reads[node] != 1 for node in path):
        return Dropped(name, rate, "", f"before {layer.name!r} and read a second time")
    if sum(other.name == layer.name for other in layers) > 1 or holders[id(layer.part.weight)] > 1:
        return Dropped(name, rate, "", f"before {layer.name!r}, whose weight is used twice")
    if not _same_units(call, layer):
        return Dropped(name, rate, "", f"before {layer.name!r}, where a {type(call.part).__name__} drops no whole columns")
    return Dropped(name, rate, layer.name)


def _same_units(call: Call, layer: Call) -> bool:
    """Whether what the dropout drops at once is what one column of the layer's weight reads."""
    gives, takes = mask_shape(call.part, call.shape), mask_shape(layer.part, layer.shape)
    if isinstance(call.part, CHANNELS) and len(call.shape) < 3:
        return False  # torch takes it for one example without a batch
    if call.shape == layer.shape and gives == takes:
        return True
    every = torch.Size(gives).numel() == call.shape.numel()  # each value has a mask of its own: its order does not matter
    return every and takes == list(layer.shape) and len(layer.shape) == 2 and layer.shape[0] == call.shape[0]


def _path(node: Node | None, goal: Node | None) -> list[Node]:
    """The nodes from `node` to `goal` if nothing but a change of shape lies between them, else none."""
    path = []
    while node is not None and goal is not None:
        path.append(node)
        if node is goal:
            return path
        node = node.next_functions[0][0] if node.name() in SAME_VALUES else None
    return []


def _reads(root: Node | None) -> Counter:
    """How often each node of the graph under `root` is read."""
    reads, todo, seen = Counter(), [root], {root}
    while todo:
        node = todo.pop()
        for below, _ in node.next_functions if node is not None else ():
            reads[below] += 1
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return reads
