"""A network's forward pass as a list of steps: what no treated weight touches, what is affine in them, and the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd

from flatviz.core.net import Net
from flatviz.engine.trace import attribute, step

RELUS = {torch.relu, F.relu}
FRESH = (nn.Linear, _ConvNd, _BatchNorm, nn.LayerNorm, nn.GroupNorm)  # their output is a tensor of its own


class Program:
    """Steps of `net` on one batch of inputs, in three kinds.

    frozen: no treated weight before them: run once for each batch.  affine: one layer with treated weights whose
    input is frozen, so its output at w0 + sum_i c_i d_i is base + sum_i c_i part_i.  varying: all others.
    A BatchNorm after a convolution is folded into its weights with `fold`.  Steps that write into another's output keep
    their place among those that read it: where the three kinds would change the order, they become varying.
    """

    def __init__(
        self, net: Net, graph: fx.Graph, *, reuse: bool = True, fold: bool = True, statistics: dict[str, Tensor] | None = None
    ) -> None:
        self.net, self.modules = net, dict(net.module.named_modules())
        self._statistics = net.buffers() if statistics is None else statistics  # a reduced precision folds the full ones
        self._slices = {id(p): b.slice for p, b in zip(net._parameters, net.blocks)}
        self.nodes = [n for n in graph.nodes if n.op not in ("placeholder", "output")]
        inputs = [n for n in graph.nodes if n.op == "placeholder"]
        self.x, self.out = inputs[0], next(n for n in graph.nodes if n.op == "output").args[0]
        self._bound = {n: n.meta["default"] for n in inputs[1:]}
        self._writes: dict[fx.Node, set[fx.Node]] = {n: n.meta.get("writes", set()) for n in self.nodes}
        varying = self._in_order()
        self._renewed = self.x in varying  # written into by a varying step, and read after it
        self.is_frozen = self.out not in varying
        self.affine = [n for n in self.nodes if reuse and n in varying and self._is_affine(n, varying)]
        self.folds: dict[fx.Node, fx.Node] = self._folds(varying) if fold else {}
        folded = set(self.folds.values())
        self.frozen = [n for n in self.nodes if n not in varying]
        self.varying = [n for n in self.nodes if n in varying and n not in self.affine and n not in folded]
        reads = {i for n in self.varying for i in self._inputs(n)} | {self.out}
        self.frontier = [n for n in [self.x, *self._bound, *self.frozen] if n in reads]
        self._spares = any(self.x in self._writes[n] for n in self.frozen)
        self.affine_inputs = [n.args[0] for n in self.affine]
        self._calls = [(n, self._call(n, varying)) for n in self.varying]
        self._last = self._last_uses()

    def run_frozen(self, x: Tensor) -> dict[fx.Node, Any]:
        """Values of the frontier and of the affine layers' inputs on `x`."""
        env: dict[fx.Node, Any] = {self.x: x.clone() if self._spares else x, **self._bound}
        for node in self.frozen:
            env[node] = self._plain(node, env)
        wanted = set(self.frontier) | set(self.affine_inputs)
        return {n: v for n, v in env.items() if n in wanted}

    def run_affine(self, env: dict[fx.Node, Any], weights: Tensor, *, direction: bool) -> list[Tensor]:
        """Each affine layer's output at `weights` (D,), or its derivative along them."""
        return [self._affine(n, env[n.args[0]], weights, direction) for n in self.affine]

    def prepare(self) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases of convolutions with the BatchNorm after them folded in, for the weights now in place."""
        ready = []
        for norm_node, conv_node in self.folds.items():
            norm, conv = self.modules[norm_node.target], self.modules[conv_node.target]
            mean, var = (self._statistics[f"{norm_node.target}.{key}"] for key in ("running_mean", "running_var"))
            scale = (var + norm.eps).rsqrt()
            scale = scale if norm.weight is None else scale * norm.weight
            shift = -mean * scale if conv.bias is None else (conv.bias - mean) * scale
            shift = shift if norm.bias is None else shift + norm.bias
            ready.append((conv.weight * scale.view(-1, *[1] * (conv.weight.ndim - 1)), shift))
        return ready

    def run(self, frontier: dict[fx.Node, Any], affine: list[Tensor], ready: list[tuple[Tensor, Tensor]]) -> Tensor:
        """The network's output, from the frontier, the affine layers' outputs and the folded weights."""
        env = dict(frontier)
        if self._renewed:
            env[self.x] = env[self.x].clone()
        env.update(zip(self.affine, affine))
        folded = dict(zip(self.folds, ready))
        for (node, call), dead in zip(self._calls, self._last):
            env[node] = call(env, folded.get(node))
            for old in dead:
                del env[old]
        return env[self.out]

    def _in_order(self) -> set[fx.Node]:
        """The varying steps, and those that must run with them so that what is written and read keeps its order."""
        late: set[fx.Node] = set()
        while True:
            varying = self._varying(late)
            more = self._misplaced(varying) - late
            if not more:
                return varying
            late |= more

    def _misplaced(self, varying: set[fx.Node]) -> set[fx.Node]:
        place, found = {n: i for i, n in enumerate(self.nodes)}, set()
        for n in self.nodes:
            for written in self._writes[n]:
                readers = [(place.get(r, len(place)), r) for r in written.users if r is not n]
                if n in varying:  # a copy will do where nothing reads it later, under this name or another
                    if written not in n.all_input_nodes or any(at > place[n] for at, _ in readers):
                        found.add(written)
                elif any(r in varying and at < place[n] for at, r in readers):
                    found.add(n)
        return found - varying

    def _varying(self, late: set[fx.Node]) -> set[fx.Node]:
        found = set(late)
        for n in self.nodes:
            own = n in late
            if n.op == "call_module":
                own = any(id(p) in self._slices for p in self.modules[n.target].parameters())
            elif n.op == "get_attr":
                own = id(attribute(self.net.module, n.target)) in self._slices
            if own or any(i in found for i in n.all_input_nodes):
                found.add(n)
        return found

    def _is_affine(self, n: fx.Node, varying: set[fx.Node]) -> bool:
        """One plain layer, linear in its own treated weights, with one frozen input."""
        if n.op != "call_module" or len(n.args) != 1 or n.kwargs or n.args[0] in varying:
            return False
        m = self.modules[n.target]
        kind = isinstance(m, (nn.Linear, nn.LayerNorm, nn.GroupNorm)) or (
            isinstance(m, _ConvNd) and not isinstance(m, _ConvTransposeNd)
        )
        norm = isinstance(m, _BatchNorm) and m.running_mean is not None
        plain = set(m._parameters) <= {"weight", "bias"} and not list(m.children()) and not m._forward_hooks
        return (kind or norm) and plain and not m._forward_pre_hooks

    def _folds(self, varying: set[fx.Node]) -> dict[fx.Node, fx.Node]:
        found = {}
        for n in self.nodes:
            if n.op != "call_module" or n not in varying or len(n.args) != 1 or not isinstance(n.args[0], fx.Node):
                continue
            norm, before = self.modules[n.target], n.args[0]
            if not isinstance(norm, _BatchNorm) or norm.running_mean is None or before.op != "call_module":
                continue
            conv = self.modules[before.target]
            plain = isinstance(conv, _ConvNd) and not isinstance(conv, _ConvTransposeNd) and not conv._forward_hooks
            if (
                plain
                and before in varying
                and before not in self.affine
                and len(before.users) == 1
                and not list(conv.children())
            ):
                found[n] = before
        return found

    def _inputs(self, n: fx.Node) -> list[fx.Node]:
        return [self.folds[n].args[0]] if n in self.folds else n.all_input_nodes

    def _last_uses(self) -> list[list[fx.Node]]:
        """After each varying step, the values that nothing later reads: gone at once, their memory is warm."""
        last: dict[fx.Node, int] = {}
        for i, n in enumerate(self.varying):
            for used in self._inputs(n):
                last[used] = i
        dead: list[list[fx.Node]] = [[] for _ in self.varying]
        for n, i in last.items():
            if n is not self.out:
                dead[i].append(n)
        return dead

    def _call(self, n: fx.Node, varying: set[fx.Node]) -> Callable[[dict, Any], Any]:
        if n in self.folds:
            conv, source = self.modules[self.folds[n].target], self.folds[n].args[0]
            return lambda env, ready: conv._conv_forward(env[source], ready[0], ready[1])
        spared = [i for i in self._writes[n] if i not in varying]
        if spared:  # they are kept from point to point
            return lambda env, _: self._plain(n, {**env, **{i: env[i].clone() for i in spared}})
        source = n.args[0] if n.args else None
        if _is_relu(n, self.modules) and source in varying and len(source.users) == 1 and self._fresh(source):
            return lambda env, _: torch.relu_(env[source])
        if n.op == "call_module" and len(n.args) == 1 and not n.kwargs and isinstance(source, fx.Node):
            module = self.modules[n.target]
            return lambda env, _: module(env[source])
        return lambda env, _: self._plain(n, env)

    def _fresh(self, n: fx.Node) -> bool:
        """Whether a step's output shares no memory with anything that is read later."""
        if n in self.affine or n in self.folds:
            return True
        if n.op == "call_module":
            return isinstance(self.modules[n.target], FRESH)
        return n.op == "call_function" and n.target in (operator.add, torch.add)

    def _plain(self, n: fx.Node, env: dict[fx.Node, Any]) -> Any:
        return step(n, env, self.net.module, self.modules)

    def _affine(self, n: fx.Node, x: Tensor, weights: Tensor, direction: bool) -> Tensor:
        m = self.modules[n.target]

        def part(p: nn.Parameter | None) -> Tensor | None:
            if p is None:
                return None
            own = self._slices.get(id(p))
            if own is None:  # not treated: its own value, which no direction moves
                return torch.zeros_like(p) if direction else p
            return weights[own].view(p.shape).to(x.dtype)

        weight, bias = part(self._parameter(m, "weight")), part(self._parameter(m, "bias"))
        if isinstance(m, nn.Linear):
            return F.linear(x, weight, bias)
        if isinstance(m, _ConvNd):
            return m._conv_forward(x, weight, bias)
        if isinstance(m, _BatchNorm):
            return F.batch_norm(x, m.running_mean, m.running_var, weight, bias, False, 0.0, m.eps)
        if isinstance(m, nn.GroupNorm):
            return F.group_norm(x, m.num_groups, weight, bias, m.eps)
        return F.layer_norm(x, m.normalized_shape, weight, bias, m.eps)

    def _parameter(self, m: nn.Module, name: str) -> nn.Parameter | None:
        """The module's own parameter, also while other tensors stand in its place."""
        return self._originals.get((id(m), name), m._parameters.get(name))

    @property
    def _originals(self) -> dict[tuple[int, str], nn.Parameter]:
        if "_kept" not in self.__dict__:
            slots = {(id(d), k): own for places, own in zip(self.net._slots, self.net._parameters) for d, k in places}
            self._kept = {
                (id(m), k): slots[id(m._parameters), k]
                for m in self.modules.values()
                for k in m._parameters
                if (id(m._parameters), k) in slots
            }
        return self._kept


def _is_relu(n: fx.Node, modules: dict[str, nn.Module]) -> bool:
    if len(n.args) != 1:
        return False
    if n.op == "call_module":
        return type(modules[n.target]) is nn.ReLU
    return (n.op == "call_function" and n.target in RELUS) or (n.op == "call_method" and n.target in ("relu", "relu_"))
