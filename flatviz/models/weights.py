"""Weights from a local file, so that a machine without network works: safetensors, or a state dict that torch.save wrote."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from flatviz.core.modules import copied
from flatviz.core.treated import find_head

SUFFIXES = (".safetensors", ".pth", ".pt", ".bin")
COUNTER = "num_batches_tracked"  # torchvision's older files lack it; it counts batches and changes no output


def load_weights(
    module: nn.Module, path: str | Path, *, new_head: bool = False, head: str | None = None, example: Tensor | None = None
) -> nn.Module:
    """A copy of `module` with the weights and statistics of a file; every name and shape must fit.

    Args:
        module: the network; it is not changed.
        path: `.safetensors`, or `.pth`, `.pt`, `.bin` with a state dict as torchvision publishes them, read with
            `weights_only=True`, so that no code in the file runs.  A dict with `state_dict` or `model`, and names that all
            begin with `module.` (of DataParallel), are understood.
        new_head: the head keeps the values that it has in `module`, whatever the file holds for it: for other classes.
        head: its name (default: the last Linear or 1x1 convolution that runs).
        example: a batch of inputs to find the head by.

    Raises:
        FileNotFoundError: For a path where there is no file.
        ValueError: For a damaged file, another kind of content, NaN, and for names or shapes that do not fit, which
            are named.
    """
    state, loaded = read_state(path), copied(module)
    own = module.state_dict()
    kept = {n: v for n, v in own.items() if n.endswith(COUNTER)}
    if new_head:
        name = head if head is not None else find_head(copied(module).eval(), example)
        kept |= {n: v for n, v in own.items() if n.startswith(f"{name}.")}
        state = {n: v for n, v in state.items() if not n.startswith(f"{name}.")}
    for name, value in state.items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise ValueError(f"weights must be finite, got NaN or inf in {name} of {str(path)!r}: take another file")
    try:
        loaded.load_state_dict({**kept, **state})
    except RuntimeError as error:  # it names what is missing, unknown or of another shape
        raise ValueError(
            f"the weights of {str(path)!r} must fit the module, got {error}: make the module that they belong to; "
            "where only the head differs, new_head=True leaves it as it is"
        ) from error
    return loaded


def read_state(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a file by name.  Raises as `load_weights`."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a file of weights, got {str(path)!r}, which is not there: check its name")
    if path.suffix not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    content = _content(path)
    for key in ("state_dict", "model"):
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
    if not isinstance(content, Mapping) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise ValueError(
            f"path must hold a state dict, names with tensors, got a {type(content).__name__} in {str(path)!r}: "
            "save module.state_dict()"
        )
    parallel = all(name.startswith("module.") for name in content)
    return {name.removeprefix("module.") if parallel else name: value for name, value in content.items()}


def _content(path: Path) -> Any:
    try:
        return load_file(path) if path.suffix == ".safetensors" else torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"path must hold tensors alone, as torch.save(module.state_dict(), path) writes them, got {str(path)!r}, "
            f"{path.stat().st_size} bytes: {reason}: it is damaged, get it again, or holds objects that would run code"
        ) from error
