"""A network's forward pass as the torch operations that ran.

Each step runs where it costs least: once, as a sum of parts, or at each point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from flatviz.core import Dispatch, Fields, Net, draws, run, saved_rng
from flatviz.engine.batchnorm import convolved, normalized
from flatviz.engine.cost import multiply_adds
from flatviz.private import Functions

aten = torch.ops.aten
# Operations that depend on values: a number read for a branch, a result whose shape depends on
# them.
REFUSED = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


class Value:
    """A tensor of the trace: the flat weights, the inputs, or the result of a step."""

    __slots__ = ("shape", "dtype", "itemsize")

    def __init__(self, tensor: Tensor) -> None:
        self.shape = tensor.shape
        self.dtype = tensor.dtype
        self.itemsize = tensor.element_size()


@dataclass(frozen=True, eq=False)
class Step:
    """One operation of the trace: outs = op(*args, **kwargs), where arguments may be `Value`s."""

    op: Any  # an OpOverload; of merged steps also a function
    args: tuple
    kwargs: dict[str, object]
    outs: tuple[Value | None, ...]

    @cached_property
    def inputs(self) -> list[Value]:
        """Values that the step reads."""
        return [a for a in tree_leaves((self.args, self.kwargs)) if isinstance(a, Value)]

    @property
    def results(self) -> list[Value]:
        """Values that the step computes and something reads."""
        return [v for v in self.outs if v is not None]

    def filled(self, env: Env) -> tuple[list, dict[str, object]]:
        """Return the arguments with the tensors of `env` in place of values."""
        args, kwargs = tree_map(
            lambda a: env[a] if isinstance(a, Value) else a, (self.args, self.kwargs)
        )
        return list(args), kwargs


def recorded(net: Net, x: Tensor | Fields) -> tuple[Value, Value, Value, list[Step]]:
    """Record the operations of `net(w, x)`: weights, inputs, outputs and steps.

    Fields of inputs are constants.  Every operation that reaches torch is recorded, those of hooks
    and patched methods included.  `functionalize` replaces in-place operations by those that return
    new tensors, so nothing is written into `x`.  An error means that operations depend on values,
    or that the module writes into its weights or constants.
    """
    recorder = _Recorder(net.w, x if isinstance(x, Tensor) else torch.empty(0))

    def outputs(w: Tensor, x: Tensor | Fields) -> Tensor:
        with net.installed(w):
            return run(net.module, x)

    with torch.inference_mode(False), torch.no_grad(), saved_rng(), _NoMemory(), recorder:
        out = torch.func.functionalize(outputs, remove="mutations")(net.w, x)
    return recorder.w, recorder.x, recorder.values[out], recorder.steps


class _Refused(Exception):
    """The forward pass cannot be traced."""


class _NoMemory(Functions):
    """Refuse operations that read a tensor's memory past torch.

    The tensors of `functionalize` have none, and the process would crash.
    """

    def called(self, function: Callable[..., object], args: tuple, kwargs: dict) -> object:
        """Run one function that does not read memory."""
        if function in (Tensor.numpy, Tensor.__array__, Tensor.data_ptr):
            raise _Refused
        return function(*args, **kwargs)


class _Recorder(Dispatch):
    """Record each operation.

    Tensors are identified by `id` and not kept alive, so a trace takes no more memory than a pass.
    """

    def __init__(self, w: Tensor, x: Tensor) -> None:
        super().__init__()
        self.w = Value(w)
        self.x = Value(x)
        self.steps: list[Step] = []
        self.values = WeakTensorKeyDictionary({w: self.w, x: self.x})

    def called(self, operation: OpOverload, args: tuple, kwargs: dict) -> object:
        """Run and record one operation."""
        if operation is aten.copy_.default and self.values.get(args[0]) is self.x:
            # functionalize ends by a copy into the caller's inputs, which is left out
            return args[0]
        # Pooling in channels-last order corrects the strides of its result
        if operation is aten.as_strided_.default:
            before = args[0].clone()
            if torch.equal(before, operation(*args, **kwargs)):
                return args[0]
        refused = REFUSED & set(operation.tags) or draws(operation, args, kwargs)
        if operation._schema.is_mutable or refused:
            raise _Refused(f"{operation} writes into what outlives the pass, or depends on values")
        result = operation(*args, **kwargs)
        tensors = [result] if isinstance(result, Tensor) else list(result)
        outs = tuple(Value(t) if isinstance(t, Tensor) else None for t in tensors)
        args, kwargs = tree_map(self._named, (args, kwargs))
        self.steps.append(Step(operation, args, kwargs, outs))
        self.values.update({t: v for t, v in zip(tensors, outs) if v is not None})
        return result

    def _named(self, leaf: object) -> object:
        return self.values.get(leaf, leaf) if isinstance(leaf, Tensor) else leaf


Env = dict[Value | None, Any]  # tensors by the value they stand for

# Their arguments: input, weight, bias, mean, var, training, momentum, eps
NORMS = {aten.native_batch_norm.default, aten.cudnn_batch_norm.default}
AFFINE = {  # operations that are affine in the arguments at these places, the others fixed
    aten.addmm.default: (0, 2),
    aten.mm.default: (1,),
    aten.embedding.default: (0,),
    aten.convolution.default: (1, 2),
    **dict.fromkeys(NORMS, (1, 2)),
    aten.native_layer_norm.default: (2, 3),
    aten.native_group_norm.default: (1, 2),
}
# In any memory order of the tensor
VIEWS = dict.fromkeys((aten.view.default, aten._unsafe_view.default), torch.reshape)


class Program:
    """Steps, none in place, from the flat weights `w` (D,) and inputs `x` to `out`, in four kinds.

    Attributes:
        views: Steps that are views of the flat weights.
        frozen: Steps that no treated weight enters; they run once for each batch.
        affine: Steps that are affine in views, all else being frozen: their result at
            w0 + sum_i c_i d_i is base + sum_i c_i part_i.
        varying: All others, as `_merged` rewrites them: fewer, and in place where nothing else
            reads.
    """

    def __init__(self, w: Value, x: Value, out: Value, steps: list[Step]) -> None:
        self._w = w
        self._x = x
        self._out = out
        self._varying = {w}
        self._views = {w}
        self.views: list[Step] = []
        self.frozen: list[Step] = []
        rest: list[Step] = []
        for s in _needed(steps, out):
            if not self._varying.intersection(s.inputs):
                self.frozen.append(s)
                continue
            self._varying.update(s.results)
            is_view = s.op.is_view and self._views.issuperset(s.inputs)
            (self.views if is_view else rest).append(s)
            if is_view:
                self._views.update(s.results)
        self.affine = list(filter(self._is_affine, rest))
        self.varying = [s for s in rest if s not in self.affine]
        steps = _merged(self.affine, self.varying, out)
        inputs = [s.inputs for s in steps]
        self._read = {v for read in inputs for v in read} | {out}
        self.kept = self._read - self._varying
        last = {v: i for i, read in enumerate(inputs) for v in read if v is not out}
        # Freed at once, so that memory is used again
        unread = [[v for v, at in last.items() if at == i] for i in range(len(inputs))]
        self._calls = [(_compiled(s), values) for s, values in zip(steps, unread)]

    @property
    def widest(self) -> int:
        """Bytes of the largest tensor computed at each point."""
        results = [v for s in self.affine + self.varying for v in s.results]
        return max((v.shape.numel() * v.itemsize for v in results), default=0)

    @property
    def layer(self) -> float:
        """Mean multiply-adds of a product or convolution computed at each point; 0 without any."""
        macs = list(filter(None, (multiply_adds(s.op, s.args, s.outs[0]) for s in self.varying)))
        return sum(macs) / max(len(macs), 1)

    def start(
        self, x: Tensor, origin: Tensor, axes: Tensor
    ) -> tuple[Env, list[tuple[Tensor, ...]]]:
        """Compute the frozen values that the varying steps read, and the parts of affine steps.

        The parts are the result at `origin` and the derivatives along `axes`.
        """
        env = _run(self.frozen, {self._x: x})

        def results(w: Tensor) -> list[Tensor]:
            at = _run(self.affine, env | _run(self.views, {self._w: w}))
            return [at[s.outs[0]] for s in self.affine]

        layers = [results(origin)]
        rest = results(torch.zeros_like(origin)) if len(axes) else []  # zero, or what constants add
        layers += [[a - b for a, b in zip(results(axis), rest)] for axis in axes]
        return {v: env[v] for v in self.kept}, list(zip(*layers))

    def weights(self, w: Tensor) -> Env:
        """Return the weights as the varying steps read them: views of `w` (D,)."""
        return {v: t for v, t in _run(self.views, {self._w: w}).items() if v in self._read}

    def run(self, kept: Env, weights: Env, affine: list[Tensor]) -> Tensor:
        """Compute the network's output; `affine` are the affine steps' results."""
        env = kept | weights
        env.update((s.outs[0], result) for s, result in zip(self.affine, affine))
        for call, unread in self._calls:
            call(env)
            for value in unread:
                del env[value]
        return env[self._out]

    def _is_affine(self, s: Step) -> bool:
        if s.op not in AFFINE or _is_other_kind(s):
            return False
        moved = [s.args[i] for i in AFFINE[s.op] if i < len(s.args) and s.args[i] in self._varying]
        return self._views.issuperset(moved) and len(moved) == len(
            self._varying.intersection(s.inputs)
        )


def _is_other_kind(s: Step) -> bool:
    """Tell whether a step is a BatchNorm on batch statistics, or a transposed convolution."""
    return bool(s.op in NORMS and s.args[5] or s.op is aten.convolution.default and s.args[6])


# Outputs below which a layer's product and softmax are several times faster with classes as rows
NARROW = 32
IN_PLACE = {aten.relu.default: aten.relu_.default, aten.add.Tensor: aten.add_.Tensor}
FRESH = {*AFFINE, *IN_PLACE}  # operations whose result shares no memory with an argument
POOL = aten.max_pool2d_with_indices.default


def _merged(affine: list[Step], steps: list[Step], out: Value) -> list[Step]:
    """Rewrite steps as fewer or faster ones, whose results differ by rounding.

    They write into tensors that nothing else reads.
    """
    reads = Counter(v for s in steps for v in s.inputs) + Counter([out])
    by = {s.outs[0]: s for s in affine + steps if s.op in FRESH and not _is_other_kind(s)}
    merged: list[Step] = []
    for s in steps:
        first = s.args[0]
        result = s.outs[0] or out
        before: Any = by.get(first) if isinstance(first, Value) and reads[first] == 1 else None
        if s.op in NORMS and not _is_other_kind(s) and s.args[3].dtype == first.dtype:
            folded = before in merged and before.op is aten.convolution.default
            args = (*s.args[1:5], s.args[7])
            s = (
                Step(convolved, (*args, *before.args), {}, s.outs)
                if folded
                else Step(normalized, (*args, first), {}, s.outs)
            )
            merged = [other for other in merged if not (folded and other is before)]
        elif (
            s.op in IN_PLACE
            and before is not None
            and (first.shape, first.dtype) == (result.shape, result.dtype)
        ):
            s = Step(IN_PLACE[s.op], s.args, s.kwargs, s.outs)
        elif (
            s.op is aten.addmm.default
            and not s.kwargs
            and len(first.shape) == 1
            and result.shape[1] <= NARROW
        ):
            s = Step(_transposed, s.args, {}, s.outs)
        elif (
            s.op is POOL
            and s.args[1:] == ([2, 2], [2, 2])
            and s.outs[1] is None
            and not any(n % 2 for n in first.shape[2:])
        ):
            s = Step(_largest_of_four, (first,), {}, s.outs)
        merged.append(s)
    return merged


def _transposed(bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Compute `addmm` with the outputs of an example as a column."""
    return torch.addmm(bias[:, None], weight.t(), x.t()).t()


def _largest_of_four(x: Tensor) -> Tensor:
    """Pool 2 x 2 places, without torch's search for the index."""
    x = torch.maximum(x[..., ::2], x[..., 1::2])
    return torch.maximum(x[..., ::2, :], x[..., 1::2, :])


def _run(steps: list[Step], env: Env) -> Env:
    for step in steps:
        _compiled(step)(env)
    return env


def _needed(steps: list[Step], out: Value) -> list[Step]:
    """Return the steps that the output depends on."""
    wanted = {out}
    kept = []
    for s in reversed(steps):
        if wanted.intersection(s.outs):
            kept.append(replace(s, outs=tuple(v if v in wanted else None for v in s.outs)))
            wanted.update(s.inputs)
    return kept[::-1]


def _compiled(s: Step) -> Callable[[Env], None]:
    """Compile a step to call(env): env[outs] = op(*args), with values from `env`."""
    op = VIEWS.get(s.op, s.op)
    outs = s.outs
    places = [(i, a) for i, a in enumerate(s.args) if isinstance(a, Value)]
    nested = len(places) != len(s.inputs)  # a list of tensors, as for `cat`

    def call(env: Env) -> None:
        args = list(s.args)
        kwargs = s.kwargs
        if nested:
            args, kwargs = s.filled(env)
        for i, value in places if not nested else ():
            args[i] = env[value]
        result = op(*args, **kwargs)
        if isinstance(result, Tensor):
            env[outs[0]] = result
        else:
            env.update((v, t) for v, t in zip(outs, result) if v is not None)

    return call
