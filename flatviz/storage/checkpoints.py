"""A run's state on disk: tensors and random generators, saved while it runs and read back to resume it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from flatviz.storage.files import DamagedFileError, read_checked, set_aside, write_checked

State = dict[str, Tensor | list[Tensor] | torch.Generator]
STEP, KIND = "step", "checkpoint"


def save_state(state: State, step: int, path: str | Path, about: str) -> None:
    """Write the state after `step` steps of the run that `about` describes: safetensors (no code) with a checksum.

    A write that fails, because the disk is full or the folder read-only, is a warning: no run is lost by it.
    """
    tensors = {STEP: torch.tensor(step)}
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            tensors[name] = value.get_state()
        elif isinstance(value, list):
            if value:
                tensors[name] = torch.stack(value)
        else:
            tensors[name] = value
    try:
        cpu = {name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}
        write_checked(path, KIND, _safetensors().save(cpu, metadata={"about": about}))
    except OSError as error:
        warnings.warn(f"checkpoint not saved at step {step}: {error}; the run goes on without it", stacklevel=2)


def load_state(state: State, path: str | Path, about: str) -> int:
    """Put what `save_state` wrote into `state`, in place; the steps done so far, 0 where there is no file.

    A damaged file, or one of something else, is renamed to `<name>.damaged` with a warning, and the run starts anew.

    Raises:
        ValueError: For the checkpoint of another run.
        ImportError: Without safetensors; `state` is then as it was.
    """
    library = _safetensors()  # before the run, not at its first checkpoint
    if not Path(path).exists():
        return 0
    try:
        body = read_checked(path, KIND)
    except DamagedFileError as error:
        warnings.warn(f"checkpoint {path}: {error}; {set_aside(path)}, starting anew", stacklevel=2)
        return 0
    tensors = library.load(body)
    header = json.loads(body[8 : 8 + int.from_bytes(body[:8], "little")])  # behind its length, 8 bytes
    if (written_about := header["__metadata__"]["about"]) != about:
        raise ValueError(
            f"checkpoint must be of this run, {about!r}, got that of {written_about!r} in {path}: name another file"
        )
    _check_layout(state, tensors, path)
    device = next((v.device for v in state.values() if isinstance(v, Tensor)), torch.device("cpu"))
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            value.set_state(tensors[name])
        elif isinstance(value, list):
            value[:] = tensors[name].to(device).unbind() if name in tensors else []
        else:
            value.copy_(tensors[name])
    return int(tensors[STEP])


def _check_layout(state: State, tensors: dict[str, Tensor], path: str | Path) -> None:
    """Another version of flatviz may keep other quantities for the same run."""
    shapes = {name: value.shape for name, value in state.items() if isinstance(value, Tensor)}
    needed = {name for name, value in state.items() if not isinstance(value, list)} | {STEP}
    wrong = (needed - tensors.keys()) | (tensors.keys() - state.keys() - {STEP})
    wrong |= {name for name, shape in shapes.items() if name in tensors and tensors[name].shape != shape}
    if wrong:
        text = f"got other {', '.join(sorted(wrong))} in {path}, of another version of flatviz: name another file"
        raise ValueError(f"checkpoint must be of this run, {text}")


def _safetensors() -> ModuleType:
    """`safetensors.torch`.  Raises ImportError, with what to install, where it is not there."""
    try:
        import safetensors.torch as found  # optional: only checkpoints need it
    except ImportError as error:
        raise ImportError("a checkpoint needs safetensors: pip install 'flatviz[checkpoint]'") from error
    return found
