"""A network's forward pass as the list of torch operations that ran, to run it at many weights.

A loss surface needs one network at thousands of points w = w0 + sum_i c_i d_i.  The pass is
recorded once, and its operations are sorted (`Program`).  Those that no weight enters run once
(frozen).  The result of one that is affine in the weights is a sum of parts, each computed once
(affine).  The rest runs at each point (varying).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from flatviz.core import Dispatch, Fields, Net, draws, run, saved_rng
from flatviz.engine.batchnorm import convolved, normalized
from flatviz.engine.cost import multiply_adds
from flatviz.private import Functions, cached_property

aten = torch.ops.aten
# Operations that depend on values: a number read for a branch, or values that set a shape
REFUSED = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


class Value:
    """Stand-in for a tensor of the trace: the flat weights, the inputs, or a step's result."""

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
        leaves = tree_leaves((self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, Value)]

    @property
    def results(self) -> list[Value]:
        """Values that the step computes and something reads."""
        return [v for v in self.outs if v is not None]

    def filled(self, env: Env) -> tuple[list, dict[str, object]]:
        """Return the arguments with the tensors of `env` in place of values."""

        def tensor_of(leaf: object) -> object:
            return env[leaf] if isinstance(leaf, Value) else leaf

        args, kwargs = tree_map(tensor_of, (self.args, self.kwargs))
        return list(args), kwargs


def recorded(net: Net, x: Tensor | Fields) -> tuple[Value, Value, Value, list[Step]]:
    """Record the operations of `net(w, x)`: weights, inputs, outputs and steps.

    Fields of inputs are constants.  Every operation that reaches torch is recorded, those of hooks
    and patched methods included.  `functionalize` replaces in-place operations by those that return
    new tensors, so nothing is written into `x`.  An error means that operations depend on values,
    or that the module writes into its weights or constants.
    """
    inputs = x if isinstance(x, Tensor) else torch.empty(0)  # fields are constants of the trace
    recorder = _Recorder(net.w, inputs)

    def outputs(w: Tensor, x: Tensor | Fields) -> Tensor:
        with net.installed(w):
            return run(net.module, x)

    pure = torch.func.functionalize(outputs, remove="mutations")
    with torch.inference_mode(False), torch.no_grad(), saved_rng(), _NoMemory(), recorder:
        out = pure(net.w, x)
    return recorder.w, recorder.x, recorder.values[out], recorder.steps


class _Refused(Exception):
    """The forward pass cannot be traced."""


class _NoMemory(Functions):
    """Refuse operations that read a tensor's memory outside torch.

    The tensors of `functionalize` have none, and the process would crash.
    """

    def called(
        self,
        function: Callable[..., object],
        args: tuple,
        kwargs: dict,
    ) -> object:
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

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run and record one operation."""
        if operation is aten.copy_.default and self.values.get(args[0]) is self.x:
            # functionalize ends by a copy into the caller's inputs, which is left out
            return args[0]
        if operation is aten.as_strided_.default:
            # Pooling in channels-last order corrects the strides of its result; one that changes
            # values is refused below
            before = args[0].clone()
            if torch.equal(before, operation(*args, **kwargs)):
                return args[0]
        depends = REFUSED & set(operation.tags) or draws(operation, args, kwargs)
        if operation._schema.is_mutable or depends:
            raise _Refused(
                f"{operation} writes into what outlives the pass, draws, or depends on values"
            )
        result = operation(*args, **kwargs)
        tensors = [result] if isinstance(result, Tensor) else list(result)
        outs = []
        for t in tensors:
            outs.append(Value(t) if isinstance(t, Tensor) else None)
        args, kwargs = tree_map(self._named, (args, kwargs))
        self.steps.append(Step(operation, args, kwargs, tuple(outs)))
        for t, value in zip(tensors, outs):
            if value is not None:
                self.values[t] = value
        return result

    def _named(self, leaf: object) -> object:
        return self.values.get(leaf, leaf) if isinstance(leaf, Tensor) else leaf


Env = dict[Value | None, Any]  # tensors by the value they stand for

# BatchNorm, with arguments input, weight, bias, mean, var, training, momentum, eps
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
# reshape in place of view, as inputs may be in another memory order, such as channels-last
VIEWS = dict.fromkeys((aten.view.default, aten._unsafe_view.default), torch.reshape)


class Program:
    """Steps from the flat weights `w` (D,) and inputs `x` to `out`, sorted into four kinds.

    Attributes:
        views: Steps that are views of the flat weights.
        frozen: Steps that no weight enters; they run once for each batch.
        affine: Steps that are affine in views, all else being frozen: their result at
            w0 + sum_i c_i d_i is base + sum_i c_i part_i.
        varying: All others.  `run` calls them as `_merged` rewrites them: fewer, and in place where
            nothing else reads.
        kept: Frozen values that the varying steps read.
    """

    def __init__(
        self,
        w: Value,
        x: Value,
        out: Value,
        steps: list[Step],
    ) -> None:
        self._w = w
        self._x = x
        self._out = out
        self._moving = {w}  # values that the weights enter
        self._weight_views = {w}
        self.views: list[Step] = []
        self.frozen: list[Step] = []
        moving_steps: list[Step] = []
        for s in _needed(steps, out):
            if not self._moving.intersection(s.inputs):
                self.frozen.append(s)
                continue
            self._moving.update(s.results)
            if s.op.is_view and self._weight_views.issuperset(s.inputs):
                self.views.append(s)
                self._weight_views.update(s.results)
            else:
                moving_steps.append(s)
        self.affine = list(filter(self._is_affine, moving_steps))
        self.varying = [s for s in moving_steps if s not in self.affine]
        merged = _merged(self.affine, self.varying, out)
        last_read = {v: i for i, s in enumerate(merged) for v in s.inputs}
        self._read = {out, *last_read}
        self.kept = self._read - self._moving
        self._calls = []
        for i, s in enumerate(merged):
            # Values that no later step reads: `run` frees them, so that memory is used again
            unread = [v for v in set(s.inputs) if last_read[v] == i and v is not out]
            self._calls.append((_compiled(s), unread))

    @property
    def widest(self) -> int:
        """Bytes of the largest tensor computed at each point."""
        widest = 0
        for s in self.affine + self.varying:
            for v in s.results:
                widest = max(widest, v.shape.numel() * v.itemsize)
        return widest

    @property
    def layer(self) -> float:
        """Mean multiply-adds of a product or convolution computed at each point; 0 without any."""
        of_steps = [multiply_adds(s.op, s.args, s.outs[0]) for s in self.varying]
        n_products = sum(macs > 0 for macs in of_steps)
        return sum(of_steps) / max(n_products, 1)

    def start(
        self, x: Tensor, origin: Tensor, axes: Tensor
    ) -> tuple[Env, list[tuple[Tensor, ...]]]:
        """Compute the frozen values that the varying steps read, and the parts of affine steps.

        The parts are the result at `origin` and the derivatives along `axes`.
        """
        env = _run(self.frozen, {self._x: x})

        def results(w: Tensor) -> list[Tensor]:
            views = _run(self.views, {self._w: w})
            computed = _run(self.affine, env | views)
            return [computed[s.outs[0]] for s in self.affine]

        along = [results(origin)]
        constants = results(torch.zeros_like(origin))  # zero, or what constants add
        for axis in axes:
            derivatives = [a - b for a, b in zip(results(axis), constants)]
            along.append(derivatives)
        parts_of_steps = list(zip(*along))
        return {v: env[v] for v in self.kept}, parts_of_steps

    def weights(self, w: Tensor) -> Env:
        """Return the weights as the varying steps read them: views of `w` (D,)."""
        views = _run(self.views, {self._w: w})
        return {v: t for v, t in views.items() if v in self._read}

    def run(self, kept: Env, weights: Env, affine: list[Tensor]) -> Tensor:
        """Compute the network's output.

        kept, weights: from `start` and `weights`.
        affine: the affine steps' results; their memory is written over.
        """
        env = kept | weights
        for s, result in zip(self.affine, affine):
            env[s.outs[0]] = result
        for call, unread in self._calls:
            call(env)
            for value in unread:
                del env[value]
        return env[self._out]

    def _is_affine(self, s: Step) -> bool:
        _, *others = s.outs
        are_read = any(value is not None for value in others)  # as the mean of a LayerNorm
        if s.op not in AFFINE or _is_other_kind(s) or are_read:
            return False
        arguments = [s.args[i] for i in AFFINE[s.op] if i < len(s.args)]
        moving = [v for v in arguments if v in self._moving]
        all_moving = self._moving.intersection(s.inputs)
        return self._weight_views.issuperset(moving) and len(moving) == len(all_moving)


def _is_other_kind(s: Step) -> bool:
    """Tell whether a step is a BatchNorm on batch statistics, or a transposed convolution."""
    if s.op in NORMS:
        return bool(s.args[5])
    return s.op is aten.convolution.default and bool(s.args[6])


# Outputs up to which a layer's product and softmax are several times faster on transposed outputs
NARROW = 32
IN_PLACE = {aten.relu.default: aten.relu_.default, aten.add.Tensor: aten.add_.Tensor}
FRESH = {*AFFINE, *IN_PLACE}  # operations whose result shares no memory with an argument


def _merged(affine: list[Step], steps: list[Step], out: Value) -> list[Step]:
    """Rewrite steps as fewer or faster ones, whose results differ by rounding.

    They write into tensors that nothing else reads.
    """
    reads: Counter[Value | None] = Counter(v for s in steps for v in s.inputs)
    reads[out] += 1
    # Steps by their result, where it is read once
    read_once = {}
    for s in affine + steps:
        is_fresh = s.op in FRESH and not _is_other_kind(s)
        if is_fresh and reads[s.outs[0]] == 1:
            read_once[s.outs[0]] = s
    merged: list[Step] = []
    for s in steps:
        first = s.args[0]
        before = read_once.get(first) if isinstance(first, Value) else None
        if _is_frozen_norm(s):
            convolution = None
            if before in merged and before.op is aten.convolution.default:
                convolution = before
                merged.remove(convolution)
            s = _scaled(s, convolution)
        elif s.op in IN_PLACE and before is not None and _alike(first, s.outs[0]):
            s = replace(s, op=IN_PLACE[s.op])
        elif _is_narrow(s):
            s = replace(s, op=_transposed)
        elif _pools_four(s):
            s = Step(_largest_of_four, (first,), {}, s.outs)
        merged.append(s)
    return merged


def _is_frozen_norm(s: Step) -> bool:
    """Tell whether a step is a BatchNorm on fixed statistics, of the dtype of its input."""
    if s.op not in NORMS or _is_other_kind(s):
        return False
    x, _, _, mean, *_ = s.args
    return mean.dtype == x.dtype


def _scaled(norm: Step, convolution: Step | None) -> Step:
    """Return a BatchNorm as one scale and shift, of the weights of a convolution before it."""
    x, gain, shift, mean, var, *_, eps = norm.args
    statistics = (gain, shift, mean, var, eps)
    if convolution is None:
        return Step(normalized, (*statistics, x), {}, norm.outs)
    return Step(convolved, (*statistics, *convolution.args), {}, norm.outs)


def _alike(a: Value, b: Value | None) -> bool:
    """Tell whether one can take the other's memory."""
    return b is not None and (a.shape, a.dtype) == (b.shape, b.dtype)


def _is_narrow(s: Step) -> bool:
    """Tell whether a step is a Linear layer of few outputs."""
    if s.op is not aten.addmm.default or s.kwargs or s.outs[0] is None:
        return False
    bias = s.args[0]
    return len(bias.shape) == 1 and s.outs[0].shape[1] <= NARROW


def _pools_four(s: Step) -> bool:
    """Tell whether a step takes the largest of 2 x 2 places, of images with even sides."""
    if s.op is not aten.max_pool2d_with_indices.default or s.outs[1] is not None:
        return False
    x, *window = s.args  # size and stride, by default the size
    even = not any(side % 2 for side in x.shape[-2:])
    return even and window in ([[2, 2]], [[2, 2], [2, 2]])


def _transposed(bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Compute `addmm` with the outputs of an example as a column."""
    columns = torch.addmm(bias[:, None], weight.t(), x.t())
    return columns.t()


def _largest_of_four(x: Tensor) -> Tensor:
    """Pool 2 x 2 places, without torch's search for the index."""
    left = x[..., ::2]
    right = x[..., 1::2]
    of_row = torch.maximum(left, right)
    upper = of_row[..., ::2, :]
    lower = of_row[..., 1::2, :]
    return torch.maximum(upper, lower)


def _run(steps: list[Step], env: Env) -> Env:
    """Run steps, which add their results to `env`, and return it."""
    for step in steps:
        _compiled(step)(env)
    return env


def _needed(steps: list[Step], out: Value) -> list[Step]:
    """Return the steps that the output depends on."""
    wanted = {out}
    kept = []
    for s in reversed(steps):
        if wanted.intersection(s.outs):
            outs = tuple(v if v in wanted else None for v in s.outs)
            kept.append(replace(s, outs=outs))
            wanted.update(s.inputs)
    return kept[::-1]


def _compiled(s: Step) -> Callable[[Env], None]:
    """Compile a step to call(env): env[outs] = op(*args), with values from `env`."""
    op = VIEWS.get(s.op, s.op)
    outs = s.outs
    places = [(i, a) for i, a in enumerate(s.args) if isinstance(a, Value)]
    nested = len(places) != len(s.inputs)  # a list of tensors, as for `cat`

    def call(env: Env) -> None:
        if nested:
            args, kwargs = s.filled(env)
            result = op(*args, **kwargs)
        else:
            args = list(s.args)
            for i, value in places:
                args[i] = env[value]
            result = op(*args, **s.kwargs)
        if isinstance(result, Tensor):
            env[outs[0]] = result
            return
        for out, t in zip(outs, result):
            if out is not None:
                env[out] = t

    return call
