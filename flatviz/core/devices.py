"""Which device to compute on."""

from __future__ import annotations

import torch

from flatviz.checks import check_choice, check_device


def pick_device(name: str = "auto") -> torch.device:
    """`auto` (CUDA where there is one), `cpu` or `cuda`.  Raises RuntimeError for CUDA that is not there."""
    check_choice(name, ("auto", "cpu", "cuda"), "device")
    if name == "cuda":
        check_device(name, way_out="--device cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
