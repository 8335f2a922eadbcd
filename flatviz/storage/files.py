"""The file format: safetensors, with the rest as JSON in its header, under a checksum.

    {"__metadata__": {"flatviz": "<SHA-256, in hex> {"kind": ..., "about": ...}"}, "<name>": ...}
    tensors

Any reader of safetensors opens such a file.  It is written completely or not at all.  The checksum
covers the file except the checksum itself, and is compared before anything is used.  `kind` is
"result" or "checkpoint".
"""

import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

START = b'{"__metadata__":{"flatviz":"'  # of the header, behind its length in 8 bytes
# where the checksum stands
AT = 8 + len(START)
DIGITS = 64


class DamagedFileError(ValueError):
    """A file whose content was changed, or was not written by this library."""


def check_regular(path: str | Path) -> Path:
    """Refuse a device, pipe or socket as a path, which a file would replace."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"a file must be a regular one, got {path}, which is a device, a pipe or a socket: name"
            " another"
        )
    return path


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Write a file completely or not at all.

    In `with atomic_path(p) as q:` the block writes to q.  A symbolic link stays one.

    Raises:
        ValueError: As `check_regular`.

    Yields:
        q, which becomes p when the block succeeds, and is removed when it fails.
    """
    path = Path(os.path.realpath(check_regular(path)))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".flatviz-{secrets.token_hex(8)}.part")
    unfinished.open("xb").close()  # fails where a file exists
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file completely or not at all."""
    with atomic_path(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return Path(path)


def write_file(path: str | Path, kind: str, about: object, tensors: dict[str, Tensor]) -> None:
    """Write tensors, and `about` as JSON.

    Raises:
        OSError: If the disk refuses it.
        TypeError: For tensors of a type that the format does not know, as complex128.
    """
    text = json.dumps({"kind": kind, "about": about})
    own_memory = partial(torch.clone, memory_format=torch.contiguous_format)
    apart = {name: own_memory(t.detach().cpu()) for name, t in tensors.items()}
    try:
        content = bytearray(save(apart, {"flatviz": f"{DIGITS * '0'} {text}"}))
    except KeyError as error:
        raise TypeError(
            f"tensors must have a type of safetensors, got {error}: save real and imaginary part"
        ) from error
    content[AT : AT + DIGITS] = _checksum(content)
    with atomic_path(path) as unfinished:
        unfinished.write_bytes(content)


def read_file(path: str | Path, kind: str) -> tuple[Any, dict[str, Tensor]]:
    """Read `about` and the tensors, on the CPU, from a file of `write_file` of this kind.

    No code in the file is ever run.

    Raises:
        DamagedFileError: For any other file; its text says what is wrong with it.
    """
    content = Path(path).read_bytes()
    wanted = f"expected a {kind} with its checksum"
    if content[8:AT] != START or content[AT : AT + DIGITS] != _checksum(content):
        raise DamagedFileError(f"{wanted}, got a damaged file, or one of something else")
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8:end])["__metadata__"]["flatviz"][DIGITS:])
    if header["kind"] != kind:
        raise DamagedFileError(f"{wanted}, got one that holds {header['kind']}")
    return header["about"], load(content)


def _checksum(content: bytes | bytearray) -> bytes:
    """Hash the file's content except the checksum itself."""
    checksum = hashlib.sha256(content[:AT])
    checksum.update(memoryview(content)[AT + DIGITS :])
    return checksum.hexdigest().encode()


State = dict[str, Tensor | list[Tensor] | torch.Generator]


def save_state(state: State, step: int, path: str | Path, run: str) -> None:
    """Write the state after `step` steps of the run that `run` describes.

    A write that fails, because the disk is full or the folder is read-only, is a warning, so that
    the run goes on.
    """
    tensors = {}
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            tensors[name] = value.get_state()
        elif isinstance(value, Tensor):
            tensors[name] = value
        elif value:  # of an empty list there is nothing to stack
            tensors[name] = torch.stack(value)
    about = {"run": run, "step": step, "layout": _layout(state)}
    try:
        write_file(path, "checkpoint", about, tensors)
    except OSError as error:
        warnings.warn(
            f"checkpoint not saved at step {step}: {error}; the run goes on without it",
            stacklevel=2,
        )


def load_state(state: State, path: str | Path, run: str) -> int:
    """Read a file of `save_state` into `state`, in place, and return its number of steps.

    Without a file it is 0.

    Raises:
        DamagedFileError: For a damaged file.
        ValueError: For the checkpoint of another run, or of another version of flatviz, whose state
            may differ.
    """
    if not check_regular(path).exists():
        return 0
    try:
        about, tensors = read_file(path, "checkpoint")
    except DamagedFileError as error:
        raise DamagedFileError(
            f"checkpoint must be of this run, {run!r}, {error} in {path}: name another file, or"
            " remove this one"
        ) from error
    came = None
    if about["run"] != run:
        came = f"that of {about['run']!r}"
    elif about["layout"] != _layout(state):
        came = "one of another version of flatviz"
    if came is not None:
        raise ValueError(
            f"checkpoint must be of this run, {run!r}, got {came} in {path}: name another file"
        )
    devices = [value.device for value in state.values() if isinstance(value, Tensor)]
    device = devices[0] if devices else torch.device("cpu")
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            value.set_state(tensors[name])
        elif isinstance(value, Tensor):
            value.copy_(tensors[name])
        elif name in tensors:
            value[:] = tensors[name].to(device).unbind()
        else:
            value.clear()
    return about["step"]


def _layout(state: State) -> dict[str, list[int] | str]:
    """Describe each part of a state: its kind, and a tensor's shape."""
    return {
        name: list(value.shape) if isinstance(value, Tensor) else type(value).__name__
        for name, value in state.items()
    }
