"""Tensors with texts beside them as bytes: safetensors, which hold no code and which other programs read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType

from torch import Tensor


def library() -> ModuleType:
    """`safetensors.torch`.  Raises ImportError, with what to install, where it is not there."""
    try:
        import safetensors.torch as found  # optional: only stored results and checkpoints need it
    except ImportError as error:
        raise ImportError("a file of tensors, as a checkpoint, needs safetensors: pip install 'flatviz[checkpoint]'") from error
    return found


def to_bytes(tensors: Mapping[str, Tensor], **texts: str) -> bytes:
    """The tensors, copied to the CPU, with texts by name in the JSON header."""
    return library().save({name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}, metadata=texts)


def from_bytes(body: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and texts of what `to_bytes` wrote: a JSON header behind its length, 8 bytes, and the numbers."""
    tensors = library().load(body)
    return tensors, json.loads(body[8 : 8 + int.from_bytes(body[:8], "little")]).get("__metadata__", {})
