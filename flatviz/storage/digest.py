"""What values depend on, as a hash: a network besides its weights, a fit by its arguments."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from flatviz.core.net import Net
from flatviz.storage.cache import tensor_digest


def net_digest(net: Net) -> str:
    """A hash of all a network's outputs depend on besides its treated weights: code, attributes, hooks, the rest."""
    treated = {b.name for b in net.blocks}
    rest = [p for n, p in net.module.named_parameters() if n not in treated]
    text = f"{[tuple(b) for b in net.blocks]} {_modules(net.module, {id(net.module)})}"
    return tensor_digest(*rest, *net.buffers().values(), text=text)


def value_digest(value: Any) -> str:
    """A hash of settings of any kind: tensors by their bytes, functions by their code and what they close over."""
    return hashlib.sha256(_told(value, set()).encode()).hexdigest()[:16]


WATCHED = {"checkpoint", "progress", "label"}  # what changes nothing of a fit's result


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """A hash of a fit's arguments, `locals()` on its first line; empty without a checkpoint, for which alone it is."""
    if arguments.get("checkpoint") is None:
        return ""
    return value_digest({name: value for name, value in arguments.items() if name not in WATCHED})


PLAIN = (int, float, str, tuple, list, dict, Tensor, np.ndarray, partial)
REGISTERED = {"_parameters", "_buffers", "_modules"}  # told by their tensors


def _modules(module: nn.Module, seen: set[int]) -> list[str]:
    return [f"{name} {_module(part, seen)}" for name, part in module.named_modules()]


def _module(module: nn.Module, seen: set[int]) -> str:
    """A module's class with the code of its own bases, and every attribute that is no tensor of it; hooks among them."""
    own = {k: v for k, v in vars(module).items() if k not in REGISTERED}
    hooks = {k: list(v.values()) if k.endswith(("_hooks", "_pre_hooks")) and v else v for k, v in own.items()}
    return f"{_class(type(module), seen)} {_told(hooks, seen)}"


def _class(kind: type, seen: set[int]) -> str:
    name = f"{kind.__module__}.{kind.__qualname__}"
    if _theirs(kind) or id(kind) in seen:
        return name
    seen.add(id(kind))
    own = {k: v for k, v in vars(kind).items() if not k.startswith("__") or k in ("__init__", "__call__", "__getattr__")}
    return f"{name} {_told(own, seen)} {[_class(base, seen) for base in kind.__bases__]}"


def _theirs(thing: Any) -> bool:
    """Whether it is of torch or of Python: known by its version, which every key holds."""
    return (thing.__module__ or "").partition(".")[0] in {"torch", "builtins", "functools", "typing", "abc", "math", "numpy"}


def _told(value: Any, seen: set[int]) -> str:
    """All that a value holds, as text that another process would write too."""
    if isinstance(value, Tensor):
        return tensor_digest(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, (str, bytes, int, float, complex, bool, type(None))):
        return repr(value)
    if isinstance(value, (frozenset, set)):
        return f"{{{', '.join(sorted(_told(v, seen) for v in value))}}}"
    if isinstance(value, partial):
        return f"partial {_told([value.func, value.args, value.keywords], seen)}"
    if isinstance(value, (staticmethod, classmethod, property)):
        return _told([getattr(value, k, None) for k in ("__func__", "fget")], seen)
    if inspect.ismodule(value):
        return value.__name__
    if isinstance(value, type):
        return _class(value, seen)
    if inspect.iscode(value):
        return f"{value.co_code.hex()} {value.co_names} {_told(value.co_consts, seen)}"
    if id(value) in seen:
        return "seen"
    seen = seen | {id(value)}  # on the way down, so that the same thing twice is told twice and a ring ends
    if isinstance(value, Net):
        return f"{net_digest(value)} {tensor_digest(value.w)}"
    if isinstance(value, nn.Module):
        return f"{_modules(value, seen)} {_told(dict(value.state_dict()), seen)}"
    if isinstance(value, torch.Generator):
        return tensor_digest(value.get_state())
    if dataclasses.is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name != "history"}
        return type(value).__qualname__ + _told(named, seen)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_told(value[key], seen)}' for key in sorted(value, key=str))}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_told(v, seen) for v in value)}]"
    if inspect.ismethod(value):
        return _told([value.__func__, value.__self__], seen)
    if inspect.isfunction(value):
        return _function(value, seen)
    if type(value).__repr__ is object.__repr__ and hasattr(value, "__dict__"):
        return type(value).__qualname__ + _told(vars(value), seen)
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _function(f: Any, seen: set[int]) -> str:
    """A function by its code, defaults, what it closes over, and the functions and plain values it names."""
    name = f"{f.__module__}.{f.__qualname__}"
    if _theirs(f):
        return name
    cells = list(inspect.getclosurevars(f).nonlocals.values())
    if name.startswith("flatviz."):  # its code is known by a digest of its own
        return f"{name} {_told(cells, seen)}"
    named = [f.__globals__[n] for n in f.__code__.co_names if n in f.__globals__]
    plain = [v for v in named if inspect.isfunction(v) or isinstance(v, PLAIN)]
    return f"{name} {_told([f.__code__, f.__defaults__, f.__kwdefaults__, cells, plain], seen)}"
