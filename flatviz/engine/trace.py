"""A module's steps, written down by torch.fx, and which of them change what another gave."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_leaves

from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng


def graph_of(net: Net, x: Tensor) -> fx.Graph | None:
    """The traced module, or None where its control flow hangs on values, or it does not run on a few inputs `x`.

    Further inputs have their default values.  `meta["writes"]` of a step: what else it changes while it runs on `x`.
    """
    bound = _defaults(net.module)
    try:
        graph = fx.Tracer().trace(net.module, concrete_args=bound or None)
        places = [n for n in graph.nodes if n.op == "placeholder"]
        for node, value in zip(places[1:], bound.values(), strict=True):
            node.meta["default"] = value
        returned = [n for n in graph.nodes if n.op == "output"][0].args[0]
        if not isinstance(returned, fx.Node):
            return None
        with torch.no_grad(), saved_rng():
            _note_writes(graph, net.module, x.clone())
    except Exception:  # tracing runs the user's code on stand-ins: any error means it cannot be traced
        return None
    return graph


def step(n: fx.Node, env: dict[fx.Node, Any], root: nn.Module, modules: dict[str, nn.Module]) -> Any:
    """What a step gives, from the values of those before it."""
    if n.op == "get_attr":
        return attribute(root, n.target)
    args = fx.node.map_arg(n.args, env.__getitem__)
    kwargs = fx.node.map_arg(n.kwargs, env.__getitem__)
    if n.op == "call_module":
        return modules[n.target](*args, **kwargs)
    if n.op == "call_method":
        return getattr(args[0], n.target)(*args[1:], **kwargs)
    return n.target(*args, **kwargs)


def _defaults(module: nn.Module) -> dict[str, Any]:
    """The inputs of a module after the first, at their default values."""
    further = list(inspect.signature(type(module).forward).parameters.values())[2:]
    return {p.name: p.default for p in further if p.default is not p.empty}


def _note_writes(graph: fx.Graph, root: nn.Module, x: Tensor) -> None:
    """Run step by step and see by their version counters which tensors a step changes besides its own."""
    modules, env, held = dict(root.named_modules()), {}, {}
    for n in graph.nodes:
        if n.op == "output":
            return
        before = {m: [t._version for t in tensors] for m, tensors in held.items()}
        env[n] = n.meta.get("default", x) if n.op == "placeholder" else step(n, env, root, modules)
        n.meta["writes"] = {m for m, versions in before.items() if [t._version for t in held[m]] != versions}
        held[n] = [t for t in tree_leaves(env[n]) if isinstance(t, Tensor) and not t.is_inference()]


def attribute(module: nn.Module, path: str) -> Any:
    """What a dotted name stands for."""
    owner, _, name = path.rpartition(".")
    return getattr(module.get_submodule(owner), name)
