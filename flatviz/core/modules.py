"""A user's module: its copy, and what one pass of it writes, reads and draws."""

import sys
import weakref
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from functools import cache
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from flatviz.core.arithmetic import OfProcess
from flatviz.private import Dispatch, draws, named

# Of a copy: the addresses of the original's tensors
_ORIGINS: WeakKeyDictionary[nn.Module, list[weakref.ref]] = WeakKeyDictionary()

# take separate memory, not any part of a vector
ALIGNED = {torch.ops.aten.view_as_complex.default, torch.ops.aten.view.dtype}


def copied(module: nn.Module) -> nn.Module:
    """Copy a module so that nothing is shared.

    Activations that it stored during a pass (`self.last = h`) are detached in the copy.  A
    `forward` or hook that uses the original's weights is found later, when the copy runs (`Watch`).

    Raises:
        ValueError: For a module whose copy's forward pass would not use the copy's parameters:
            scripted, lazy, with old-style weight norm, with a lock, or returning itself for a copy.
    """
    _refuse(module)
    stored = tree_leaves([{**vars(m), "_modules": None} for m in module.modules()])
    memo = {}
    for t in stored:
        if isinstance(t, Tensor) and t.requires_grad and not isinstance(t, nn.Parameter):
            memo[id(t)] = t.detach().clone()
    try:
        copy = deepcopy(module, memo)
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"module must be one that can be copied, got {type(module).__name__}, of which"
            f" copy.deepcopy says: {error}: make locks, files and connections outside the module,"
            " or leave them out in __getstate__"
        ) from error
    tensors = [*module.parameters(), *module.buffers()]
    originals = set(map(id, (*module.modules(), *tensors)))
    for part in (*copy.modules(), *copy.parameters(), *copy.buffers()):
        if id(part) in originals:
            raise ValueError(
                f"module must be one that can be copied, got {type(part).__name__}, whose"
                " __deepcopy__ returns itself: remove that"
            )
    earlier = _ORIGINS.get(module, [])
    _ORIGINS[copy] = earlier + list(map(weakref.ref, tensors))
    return copy


def check_unchanged(module: nn.Module, duplicate: nn.Module) -> None:
    """Refuse a copy whose weights eval() changed, as it does where layers merge others (LoRA)."""
    for (name, old), new in zip(module.named_parameters(), duplicate.parameters()):
        if not torch.equal(old, new) and not bool(old.isnan().any()):
            raise ValueError(
                f"eval() must leave weights as they are, got others in {name}, merged from treated"
                " ones (LoRA): turn merging off, or merge before and treat what is left"
            )


def memory_of(*tensors: Tensor) -> set[int]:
    """Return the memory addresses of tensors."""
    return {t.untyped_storage().data_ptr() for t in tensors} - {0}


def memory_of_originals(module: nn.Module) -> set[int]:
    """Return the addresses of weights and buffers of the modules that `module` was copied from.

    Those that are gone by now are left out.
    """
    tensors = [ref() for ref in _ORIGINS.get(module, [])]
    return memory_of(*(tensor for tensor in tensors if tensor is not None))


def _refuse(module: nn.Module) -> None:
    """Refuse modules whose forward pass reads weights elsewhere than in their parameters."""
    for name, part in module.named_modules():
        where = f"in {name!r}" if name else f"of class {type(part).__name__}"
        if isinstance(part, torch.jit.ScriptModule):
            raise ValueError(
                f"module must be Python, got a scripted one {where}: give the module that torch.jit"
                " compiled"
            )
        own = (*part._parameters.values(), *part._buffers.values())
        if any(map(is_lazy, own)):
            raise ValueError(
                f"weights must have shapes, got an uninitialised lazy layer {where}: run module(x)"
                " once before"
            )
        for hook in part._forward_pre_hooks.values():
            kind = type(hook).__module__.removeprefix("torch.nn.utils.")
            if kind in ("weight_norm", "spectral_norm"):
                raise ValueError(
                    f"module must hold its weights as parameters, got the old {kind} {where}: use "
                    f"torch.nn.utils.parametrizations.{kind}, or torch.nn.utils.remove_{kind} first"
                )


class Watch(Dispatch):
    """Record writes, reads of foreign memory, and random numbers of a pass.

    `wrote`: into the tensors `given` (or it needs them aligned).  `read`: memory that it must not
    read.  `drew`: random numbers.
    """

    def __init__(
        self,
        given: Iterable[Tensor] = (),
        foreign: Iterable[int] = (),
    ) -> None:
        super().__init__()
        self.wrote = self.read = self.drew = False
        self._memory = memory_of(*given)
        self._foreign = set(foreign)

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run and record one operation."""
        arguments = named(operation, args, kwargs)
        places = [place.name for place in operation._schema.arguments if place.is_write]
        written = _memory_in([arguments.get(name) for name in places])
        self.wrote |= operation in ALIGNED or not self._memory.isdisjoint(written)
        self.read |= not self._foreign.isdisjoint(_memory_in(arguments))
        self.drew |= draws(operation, args, kwargs)
        return operation(*args, **kwargs)


def _memory_in(values: object) -> set[int]:
    tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]
    return memory_of(*(t for t in tensors if t.layout == torch.strided))


def eager() -> AbstractContextManager:
    """Run compiled functions uncompiled, so that `Watch` sees their operations.

    It does nothing where no function is compiled.
    """
    return _stance().block(True) if "torch._dynamo.eval_frame" in sys.modules else nullcontext()


@cache
def _stance() -> OfProcess:
    compiler = sys.modules["torch._dynamo.eval_frame"]
    return OfProcess(
        lambda: (compiler._stance,),
        lambda stance: compiler._set_stance(*stance),
        (compiler.DynamoStance("force_eager"),),
    )


def with_dense_gradients(module: nn.Module) -> list[str]:
    """Make the gradients of all embeddings dense; return the names of those that were sparse."""
    tables = []
    for name, layer in module.named_modules():
        if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)) and layer.sparse:
            layer.sparse = False
            tables.append(name)
    return tables


def transformed() -> bool:
    """Tell whether a function transform (grad, vmap, jvp) is active."""
    return torch._C._functorch.peek_interpreter_stack() is not None
