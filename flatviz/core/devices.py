"""Which device to compute on."""

from __future__ import annotations

import torch

from flatviz._checks import check_choice


def pick_device(name: str = "auto") -> torch.device:
    """`auto` (CUDA where there is one), `cpu` or `cuda`.  Raises RuntimeError for CUDA that is not there."""
    check_choice(name, ("auto", "cpu", "cuda"), "device")
    if name == "cuda" and not torch.cuda.is_available():
        built = "a CPU-only build" if torch.version.cuda is None else f"built for CUDA {torch.version.cuda}"
        raise RuntimeError(
            f"device must be usable, got 'cuda' but torch {torch.__version__} ({built}) sees no GPU: "
            "use --device cpu, or run `flatviz doctor` for what is missing"
        )
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
