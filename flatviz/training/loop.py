"""The loop that every fit runs: a state changed step by step, kept in a file from which a stopped run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from flatviz.core.progress import Progress, track
from flatviz.storage.cache import atomic_path

State = dict[str, Tensor | list[Tensor] | torch.Generator]
Update = Callable[[int, Tensor | None], None]  # (step, index of the minibatch): changes the state in place
Checkpoint = str | Path | None
SAVE_EVERY = 30.0  # seconds


def advance(
    state: State,
    update: Update,
    batches: Iterator[Tensor | None],
    steps: int,
    *,
    run: str,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    label: str = "training",
) -> None:
    """Call `update(step, next(batches))` for each step.  `state` is everything that `update` changes, in place.

    With a `checkpoint` path the state goes there (safetensors: tensors, no code) twice a minute, at the end, and when
    `progress` cancels; if the file exists, the run goes on from it and ends as if it had never stopped.  `run` is a
    hash of all that makes the run: ValueError where the file is of another one.
    """
    about = f"{label} of {steps} steps, arguments {run}"
    done = 0 if checkpoint is None else _restore(state, Path(checkpoint), about)
    for _ in range(done):
        next(batches)
    saved, whole = time.monotonic(), True
    try:
        for step in track(range(done, steps), label, progress):
            index, whole = next(batches), False
            update(step, index)
            done, whole = step + 1, True
            if checkpoint is not None and time.monotonic() - saved > SAVE_EVERY:
                _write(state, done, Path(checkpoint), about)
                saved = time.monotonic()
    finally:
        if checkpoint is not None and whole:  # an update that was cut short left a state that never was
            _write(state, done, Path(checkpoint), about)


def _write(state: State, done: int, path: Path, about: str) -> None:
    save_file, _ = _safetensors()
    tensors = {"step": torch.tensor(done)}
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            tensors[name] = value.get_state()
        elif isinstance(value, list):
            if value:
                tensors[name] = torch.stack(value).detach().cpu()
        else:
            tensors[name] = value.detach().cpu().clone().contiguous()
    with atomic_path(path) as partial:
        save_file(tensors, partial, metadata={"about": about})


def _restore(state: State, path: Path, about: str) -> int:
    """Steps done so far; 0 where there is no file."""
    if not path.exists():
        return 0
    _, safe_open = _safetensors()
    with safe_open(path, framework="pt") as file:
        told = (file.metadata() or {}).get("about")
        if told != about:
            raise ValueError(f"checkpoint must be of this run, {about!r}, got that of {told!r} in {path}: name another file")
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    device = next((v.device for v in state.values() if isinstance(v, Tensor)), torch.device("cpu"))
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            value.set_state(tensors[name])
        elif isinstance(value, list):
            value[:] = tensors[name].to(device).unbind() if name in tensors else []
        else:
            value.copy_(tensors[name])
    return int(tensors["step"])


def _safetensors() -> tuple:
    try:
        from safetensors import safe_open  # optional: only a run with a checkpoint needs it
        from safetensors.torch import save_file
    except ImportError as error:
        raise ImportError(
            "a checkpoint needs safetensors: pip install 'flatviz[checkpoint]', or leave checkpoint out"
        ) from error
    return save_file, safe_open
