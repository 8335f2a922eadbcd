"""A step that did not fit into memory: how many bytes it asked for, and what to lower."""

from __future__ import annotations

import re

import torch
from torch import Tensor

UNITS = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
ASKED = re.compile(r"[Tt]ried to allocate ([\d.]+) ?(bytes|[KMGT]iB|B)")


def out_of_memory(error: RuntimeError, label: str, index: Tensor | None, device: torch.device) -> MemoryError | None:
    """The error of a step that found no memory, or None where `error` is another one.

    The bytes are what was in use on the device and what was asked for beyond it: the least that the step needs.
    """
    text = str(error)
    if not isinstance(error, torch.OutOfMemoryError) and "DefaultCPUAllocator" not in text:
        return None
    found = ASKED.search(text)
    asked = int(float(found[1]) * UNITS[found[2]]) if found else 0
    used = torch.cuda.memory_allocated(device) if device.type == "cuda" else 0
    batch = "all examples at once" if index is None else f"{index.shape[-1]} examples a step"
    also = f", {used:,} in use and {asked:,} asked for beyond," if used else ""
    return MemoryError(
        f"{label} must fit into the memory of {device}, got a step that needs at least {used + asked:,} bytes{also} with {batch}: "
        "lower batch_size, or give training=fv.Training(accumulate=2, precision='bfloat16'): half the examples at a time, of half the size"
    )
