"""Outputs of a module as one tensor, whatever container they come in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor


def logits_of(outputs: Any) -> Tensor:
    """The tensor itself, or the `logits` of an object or dict, as Hugging Face's models return them.

    Raises:
        TypeError: For anything else.
    """
    if isinstance(outputs, Tensor):
        return outputs
    logits = outputs.get("logits") if isinstance(outputs, Mapping) else getattr(outputs, "logits", None)  # a foreign object
    if isinstance(logits, Tensor):
        return logits
    raise TypeError(
        f"the module must return a tensor, or an object or dict with logits, got {type(outputs).__name__}: "
        "wrap it in a module that returns the tensor (N, C)"
    )
