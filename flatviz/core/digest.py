"""What values depend on, as a hash: a network besides its weights, a fit by its arguments."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from flatviz.core.cache import tensor_digest
from flatviz.core.net import Net


def net_digest(net: Net) -> str:
    """A hash of all a network's outputs depend on: modules and their code, which weights are treated, the rest."""
    treated = {b.name for b in net.blocks}
    rest = [p for n, p in net.module.named_parameters() if n not in treated]
    kinds = sorted({type(m) for m in net.module.modules()}, key=lambda kind: kind.__qualname__)
    text = f"{net.module} {[tuple(b) for b in net.blocks]} {[_source(kind) for kind in kinds]}"
    return tensor_digest(*rest, *net.buffers().values(), text=text)


def _source(kind: type) -> str:
    """The code of a module's class; torch's own is known by its version, which every key holds."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind.__module__.startswith("torch."):
        return name
    try:
        return name + inspect.getsource(kind)
    except (OSError, TypeError):  # written in a prompt: its source is not to be had
        return name


WATCHED = {"checkpoint", "progress", "label"}  # what changes nothing of a fit's result


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """A hash of a fit's arguments, `locals()` on its first line; empty without a checkpoint, for which alone it is."""
    if arguments.get("checkpoint") is None:
        return ""
    told = _told({name: value for name, value in arguments.items() if name not in WATCHED})
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _told(value: Any) -> str:
    """All that a value holds, as text; tensors by their digests, functions by their code and what they close over."""
    if isinstance(value, Tensor):
        return tensor_digest(value)
    if isinstance(value, Net):
        return f"{net_digest(value)} {tensor_digest(value.w)}"
    if isinstance(value, nn.Module):
        return f"{value} {_told(dict(value.state_dict()))}"
    if isinstance(value, torch.Generator):
        return tensor_digest(value.get_state())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__ + _told(
            {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name != "history"}
        )
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_told(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_told, value)) + "]"
    if isinstance(value, partial):
        return f"partial {_told(value.func)} {_told(value.args)} {_told(value.keywords)}"
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return f"{value.__module__}.{value.__qualname__} {value.__code__.co_code.hex()} {_told(value.__code__.co_consts)} {_told(cells)}"
    if inspect.iscode(value):
        return f"{value.co_code.hex()} {_told(value.co_consts)}"
    if type(value).__repr__ is object.__repr__ and hasattr(value, "__dict__"):
        return type(value).__qualname__ + _told(vars(value))
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
