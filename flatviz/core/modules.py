"""A user's module: copied whatever it holds, refused where it cannot be, and watched for what it writes into."""

from __future__ import annotations

import copy
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def copied(module: nn.Module) -> nn.Module:
    """A copy that shares nothing; activations that the module kept from a pass (`self.last = h`) are cut from their graph.

    Raises ValueError for what cannot be copied so that the copy's parameters are those that its forward pass uses:
    scripted, lazy and old-style weight-normed modules, a `forward` or hook that calls another module, what holds a lock.
    """
    _refuse(module)
    kept = [t for m in module.modules() for t in tree_leaves(_own(m)) if isinstance(t, Tensor) and t.grad_fn is not None]
    memo = {id(t): t.detach().clone() for t in kept}
    try:
        return copy.deepcopy(module, memo)
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"module must be one that can be copied, got {type(module).__name__}, of which copy.deepcopy says: {error}: "
            "make locks, files and connections outside the module, or leave them out in __getstate__"
        ) from error


def _own(module: nn.Module) -> list[Any]:
    return [value for key, value in vars(module).items() if key != "_modules"]


def _refuse(module: nn.Module) -> None:
    for name, part in module.named_modules():
        where = f"in {name!r}" if name else f"of class {type(part).__name__}"
        if isinstance(part, torch.jit.ScriptModule):
            raise ValueError(f"module must be Python, got a scripted one {where}: give the module that torch.jit compiled")
        if isinstance(part, LazyModuleMixin) and part.has_uninitialized_params():
            raise ValueError(f"weights must have shapes, got an uninitialised lazy layer {where}: run module(x) once before")
        for hook in part._forward_pre_hooks.values():
            if type(hook).__module__ in ("torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm"):
                kind = type(hook).__module__.rpartition(".")[2]
                raise ValueError(
                    f"module must hold its weights as parameters, got the old {kind} {where}: use "
                    f"torch.nn.utils.parametrizations.{kind}, or torch.nn.utils.remove_{kind} first"
                )
        calls = [*vars(part).values(), *part._forward_hooks.values(), *part._forward_pre_hooks.values()]
        if any(isinstance(call, FunctionType) and _holds_a_module(call) for call in calls):
            raise ValueError(
                f"module must call its own parts, got a forward, hook or other function {where} that closes over a module "
                "or parameter, which every copy would go on to use: write a subclass, or use types.MethodType(function, module)"
            )


def _holds_a_module(call: FunctionType) -> bool:
    """Whether closure or defaults hold a module, its method or a parameter: `copy.deepcopy` leaves functions as they are."""
    held = [*(call.__defaults__ or ()), *(call.__kwdefaults__ or {}).values()]
    for cell in call.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # an empty cell
            continue
    return any(isinstance(getattr(h, "__self__", h), (nn.Module, nn.Parameter)) for h in tree_leaves(held))


class WriteWatch(TorchDispatchMode):
    """Sees whether any operation writes into the memory of the tensors given, under whatever name; `seen` says so."""

    def __init__(self, *tensors: Tensor) -> None:
        super().__init__()
        self.seen = False
        self._memory = {t.untyped_storage().data_ptr() for t in tensors}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, with sympy: 1.5 s and 150 MB

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            given = dict(zip((a.name for a in func._schema.arguments), args)) | kwargs
            written = [given.get(a.name) for a in func._schema.arguments if a.is_write]
            written = [t for t in tree_leaves(written) if isinstance(t, Tensor)]
            self.seen |= any(t.untyped_storage().data_ptr() in self._memory for t in written)
        return func(*args, **kwargs)
