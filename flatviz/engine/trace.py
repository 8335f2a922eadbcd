"""A network's forward pass written down as the torch operations that ran, on one batch of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from flatviz.core.dispatch import Dispatch, draws
from flatviz.core.inputs import run
from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng

aten = torch.ops.aten
# Operations that depend on values: a number read for a branch, a result whose shape depends on them.
REFUSED = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


class Value:
    """A tensor of the trace: the flat weights, the inputs, or a result of a step."""

    __slots__ = ("shape", "dtype", "itemsize")

    def __init__(self, tensor: Tensor) -> None:
        self.shape, self.dtype, self.itemsize = tensor.shape, tensor.dtype, tensor.element_size()


@dataclass(frozen=True, eq=False)
class Step:
    """outs = op(*args, **kwargs); a `Value` stands for a tensor of the trace, any other tensor is a constant."""

    op: Callable[..., Any]
    args: tuple
    kwargs: dict[str, Any]
    outs: tuple[Value | None, ...]

    @cached_property
    def inputs(self) -> list[Value]:
        """Values that the step reads."""
        return [a for a in tree_leaves((self.args, self.kwargs)) if isinstance(a, Value)]

    @property
    def results(self) -> list[Value]:
        """Values that the step gives and something reads."""
        return [v for v in self.outs if v is not None]


@dataclass(frozen=True, eq=False)
class Trace:
    """Steps from the flat weights `w` (D,) and a batch of inputs `x` to the outputs; none of them writes in place."""

    w: Value
    x: Value
    out: Value
    steps: list[Step]


def trace_of(net: Net, x: Tensor) -> Trace | None:
    """What `net(w, x)` runs for inputs of the shape, dtype and memory order of `x`.

    None where that depends on values, or where the module writes into its weights or constants.  All that Python does in
    the pass is seen, hooks and patched methods included: what is written down is what reached torch.  `functionalize`
    turns operations in place into those that give new tensors, so nothing is written into `x`.
    """
    recorder = _Recorder(net.w, x)

    def outputs(w: Tensor, x: Tensor) -> Tensor:
        with net.installed(w):
            return run(net.module, x)

    try:
        with torch.inference_mode(False), torch.no_grad(), saved_rng(), _NoMemory(), recorder:
            out = torch.func.functionalize(outputs, remove="mutations")(net.w, x)
        return Trace(recorder.w, recorder.x, recorder.values[out], recorder.steps)
    except Exception:  # the user's code runs on stand-ins for tensors: any error means it cannot be traced
        return None


class _Refused(Exception):
    """The forward pass cannot be written down."""


class _NoMemory(TorchFunctionMode):
    """Refuses what reads a tensor's memory past torch: that of `functionalize`'s stand-ins is none, and the process would crash."""

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if func in (Tensor.numpy, Tensor.__array__, Tensor.data_ptr):
            raise _Refused
        return func(*args, **(kwargs or {}))


class _Recorder(Dispatch):
    """Notes each operation.  Tensors are known by identity and are not kept alive: a trace takes no more memory than a pass."""

    def __init__(self, w: Tensor, x: Tensor) -> None:
        super().__init__()
        self.w, self.x = Value(w), Value(x)
        self.steps: list[Step] = []
        self.values = WeakTensorKeyDictionary({w: self.w, x: self.x})

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func is aten.copy_.default and self.values.get(args[0]) is self.x:
            return args[0]  # the end of functionalize, where the caller's inputs would be overwritten
        if func is aten.as_strided_.default:  # pooling in channels-last order corrects the strides of its result
            before = args[0].clone()
            if torch.equal(before, func(*args, **kwargs)):
                return args[0]
        if func._schema.is_mutable or REFUSED & set(func.tags) or draws(func, args, kwargs):
            raise _Refused(f"{func} writes into what outlives the pass, or depends on values")
        result = func(*args, **kwargs)
        tensors = [result] if isinstance(result, Tensor) else list(result)
        outs = tuple(Value(t) if isinstance(t, Tensor) else None for t in tensors)
        self.steps.append(Step(func, *tree_map(self._named, (args, kwargs)), outs))
        self.values.update({t: v for t, v in zip(tensors, outs) if v is not None})
        return result

    def _named(self, leaf: Any) -> Any:
        return self.values.get(leaf, leaf) if isinstance(leaf, Tensor) else leaf
