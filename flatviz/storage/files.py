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
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

START = b'{"__metadata__":{"flatviz":"'  # of the header, behind its length in 8 bytes
# where the checksum stands
AT = 8 + len(START)
DIGITS = 64
STALE = 3600.0  # seconds since the last write, after which a partial file is abandoned


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

    In `with atomic_path(p) as q:` the block writes to q.  A file that is replaced keeps its mode,
    and a symbolic link stays one.  Leftovers of a killed process are removed after STALE seconds.

    Raises:
        ValueError: As `check_regular`.

    Yields:
        q, which becomes p when the block succeeds, and is removed when it fails.
    """
    path = Path(os.path.realpath(check_regular(path)))
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(".flatviz-*.part"):
        with suppress(OSError):  # another user's, or removed by now
            if left.lstat().st_mtime < time.time() - STALE:
                left.unlink()
    partial = path.with_name(f".flatviz-{secrets.token_hex(8)}.part")
    partial.open("xb").close()  # fails where a file exists
    try:
        if path.exists():
            shutil.copymode(path, partial)
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file completely or not at all."""
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return Path(path)


def write_file(
    path: str | Path,
    kind: str,
    about: object,
    tensors: dict[str, Tensor],
) -> None:
    """Write tensors, and `about` as JSON.

    Raises:
        OSError: If the disk refuses it.
        TypeError: For tensors of a type that the format does not know, as complex128.
    """
    text = json.dumps({"kind": kind, "about": about})
    apart = {}  # without shared memory, which the format refuses
    for name, t in tensors.items():
        apart[name] = t.detach().cpu().clone(memory_format=torch.contiguous_format)
    try:
        content = bytearray(save(apart, {"flatviz": f"{DIGITS * '0'} {text}"}))
    except KeyError as error:
        raise TypeError(
            f"tensors must have a type of safetensors, got {error}: save real and imaginary part"
        ) from error
    content[AT : AT + DIGITS] = _checksum(content)
    with atomic_path(path) as partial, partial.open("wb") as file:
        file.write(content)


def read_file(path: str | Path, kind: str) -> tuple[Any, dict[str, Tensor]]:
    """Read `about` and the tensors, on the CPU, from a file of `write_file` of this kind.

    No code in the file is ever run.

    Raises:
        DamagedFileError: For any other file; its text says what is wrong with it.
    """
    content = Path(path).read_bytes()
    wanted = f"expected a {kind} with its checksum"
    if content.startswith(b"flatviz "):
        raise DamagedFileError(
            f"{wanted}, got a file of an older flatviz, whose format is no longer read"
        )
    if content[8:AT] != START or content[AT : AT + DIGITS] != _checksum(content):
        raise DamagedFileError(f"{wanted}, got a damaged file, or one of something else")
    end = 8 + int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8:end])["__metadata__"]
    header = json.loads(metadata["flatviz"][DIGITS:])
    if header["kind"] != kind:
        raise DamagedFileError(f"{wanted}, got one that holds {header['kind']}")
    return header["about"], load(content)


def _checksum(content: bytes | bytearray) -> bytes:
    """Hash the file's content except the checksum itself."""
    checksum = hashlib.sha256(content[:AT])
    checksum.update(memoryview(content)[AT + DIGITS :])
    return checksum.hexdigest().encode()


def set_aside(path: str | Path) -> str:
    """Rename a damaged file to `<name>.damaged`; return a sentence that says so."""
    aside = Path(path).with_name(f"{Path(path).name}.damaged")
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"not set aside ({error})"
    return f"set aside as {aside}"


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

    Without a file it is 0.  A damaged file, or one of another kind, is renamed to `<name>.damaged`
    with a warning, and the run starts from the beginning.

    Raises:
        ValueError: For the checkpoint of another run, or of another version of flatviz, whose
            state may differ.
    """
    if not check_regular(path).exists():
        return 0
    try:
        about, tensors = read_file(path, "checkpoint")
    except DamagedFileError as error:
        warnings.warn(f"checkpoint {path}: {error}; {set_aside(path)}, starting anew", stacklevel=2)
        return 0
    is_other = about["run"] != run
    if is_other or about.get("layout") != _layout(state):
        came = f"that of {about['run']!r}" if is_other else "one of another version of flatviz"
        raise ValueError(
            f"checkpoint must be of this run, {run!r}, got {came} in {path}: name another file"
        )
    devices = [value.device for value in state.values() if isinstance(value, Tensor)]
    device = devices[0] if devices else torch.device("cpu")
    for name, value in state.items():
        if isinstance(value, torch.Generator):
            value.set_state(tensors[name])
        elif isinstance(value, list):
            value[:] = tensors[name].to(device).unbind() if name in tensors else []
        else:
            value.copy_(tensors[name])
    return about["step"]


def _layout(state: State) -> dict[str, list[int] | str]:
    """Describe each part of a state: its kind, and a tensor's shape."""
    layout: dict[str, list[int] | str] = {}
    for name, value in state.items():
        layout[name] = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
    return layout
