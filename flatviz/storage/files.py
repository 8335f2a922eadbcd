"""Files with a checksum: written whole or not at all, and known to be damaged before anything in them is used.

    flatviz <kind> <SHA-256 of the kind and the body, in hex>
    body

`kind` says what the body is: "result", "checkpoint" or "points".
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "flatviz"
STALE = 3600.0  # seconds since the last write, after which a partial file is nobody's any more


class DamagedFileError(ValueError):
    """A file whose content is not what was written, or was never written by this library."""


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A file that is written whole or not at all.

    In `with atomic_path(p) as q:` the block writes to q.

    A file that is replaced keeps its mode, and a symbolic link stays one.  What a killed process left behind goes after STALE.

    Yields:
        q, which becomes p when the block ends well, and is removed when not.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(".flatviz-*.part"):
        if left.stat().st_mtime < time.time() - STALE:
            left.unlink(missing_ok=True)
    partial = path.with_name(f".flatviz-{zlib.crc32(path.name.encode()):x}-{os.getpid()}-{threading.get_ident()}.part")
    try:
        partial.touch()
        if path.exists():
            shutil.copymode(path, partial)
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_checked(path: str | Path, kind: str, body: bytes | memoryview) -> None:
    """Write `body` under a first line with its kind and checksum.  Raises OSError where the disk takes it not."""
    with atomic_path(path) as partial, partial.open("wb") as file:
        file.write(first_line(kind, body))
        file.write(body)


def read_checked(path: str | Path, kind: str) -> bytes:
    """The body of a file that `write_checked` wrote with this kind.

    Raises:
        DamagedFileError: For any other file; its text says what is wrong with it.
    """
    content = Path(path).read_bytes()
    line, _, body = content.partition(b"\n")
    if line + b"\n" == first_line(kind, body):
        return body
    if content.startswith(f"{MARK} ".encode()):
        raise DamagedFileError(f"expected a {kind} with its checksum, got a damaged file or another kind of file")
    raise DamagedFileError(
        f"expected a {kind} with its checksum, got a file without one, of an older flatviz or of something else"
    )


def first_line(kind: str, body: bytes | memoryview) -> bytes:
    """What `write_checked` writes before the body."""
    checksum = hashlib.sha256(f"{kind}\n".encode())
    checksum.update(body)
    return f"{MARK} {kind} {checksum.hexdigest()}\n".encode()


def set_aside(path: str | Path) -> str:
    """Rename a damaged file to `<name>.damaged`, so that its place is free and nothing is lost; what was done, in words."""
    aside = Path(path).with_name(f"{Path(path).name}.damaged")
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"not set aside ({error})"
    return f"set aside as {aside}"
