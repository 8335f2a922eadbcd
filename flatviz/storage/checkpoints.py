"""A run's state on disk: tensors and random generators, saved while it runs and read back to resume it."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import Tensor

from flatviz.storage.files import DamagedFileError, read_file, set_aside, write_file

State = dict[str, Tensor | list[Tensor] | torch.Generator]
KIND = "checkpoint"


def save_state(state: State, step: int, path: str | Path, run: str) -> None:
    """Write the state after `step` steps of the run that `run` describes.

    A write that fails, because the disk is full or the folder read-only, is a warning: no run is lost by it.
    """
    tensors = {}
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            tensors[name] = value.get_state()
        elif isinstance(value, Tensor) or value:  # of an empty list there is nothing to stack
            tensors[name] = value if isinstance(value, Tensor) else torch.stack(value)
    try:
        write_file(path, KIND, {"run": run, "step": step, "layout": _layout(state)}, tensors)
    except OSError as error:
        warnings.warn(f"checkpoint not saved at step {step}: {error}; the run goes on without it", stacklevel=2)


def load_state(state: State, path: str | Path, run: str) -> int:
    """Put what `save_state` wrote into `state`, in place; the steps done so far, 0 where there is no file.

    A damaged file, or one of something else, is renamed to `<name>.damaged` with a warning, and the run starts anew.

    Raises:
        ValueError: For the checkpoint of another run, or of another version of flatviz, which may keep other quantities.
    """
    if not Path(path).exists():
        return 0
    try:
        about, tensors = read_file(path, KIND)
    except DamagedFileError as error:
        warnings.warn(f"checkpoint {path}: {error}; {set_aside(path)}, starting anew", stacklevel=2)
        return 0
    if about["run"] != run or about.get("layout") != _layout(state):
        came = f"that of {about['run']!r}" if about["run"] != run else "one of another version of flatviz"
        raise ValueError(f"checkpoint must be of this run, {run!r}, got {came} in {path}: name another file")
    device = next((v.device for v in state.values() if isinstance(v, Tensor)), torch.device("cpu"))
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            value.set_state(tensors[name])
        elif isinstance(value, list):
            value[:] = tensors[name].to(device).unbind() if name in tensors else []
        else:
            value.copy_(tensors[name])
    return about["step"]


def _layout(state: State) -> dict[str, list[int] | str]:
    """The kind of each part of a state, of a tensor its shape."""
    return {name: list(value.shape) if isinstance(value, Tensor) else type(value).__name__ for name, value in state.items()}
