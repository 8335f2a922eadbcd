"""Files with a checksum: written whole or not at all, and known to be damaged before anything in them is used.

    flatviz <kind> <SHA-256 of the kind and the body, in hex>
    body

`kind` says what the body is: "result", "checkpoint" or "points".
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

MARK = "flatviz"


class DamagedFileError(ValueError):
    """A file whose content is not what was written, or was never written by this library."""


class atomic_path:
    """`with atomic_path(p) as q`: write to q; it becomes p when the block ends well, and is removed when not."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        tag = f"{os.getpid()}-{threading.get_ident()}"
        self.partial = self.path.with_name(f".{self.path.name}.{tag}.part")
        return self.partial

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is None:
            os.replace(self.partial, self.path)
        else:
            self.partial.unlink(missing_ok=True)


def write_checked(path: str | Path, kind: str, body: bytes | memoryview) -> None:
    """Write `body` under a first line with its kind and checksum.  Raises OSError where the disk takes it not."""
    with atomic_path(path) as partial, partial.open("wb") as file:
        file.write(first_line(kind, body))
        file.write(body)


def read_checked(path: str | Path, kind: str) -> bytes:
    """The body of a file that `write_checked` wrote with this kind.

    Raises DamagedFileError for any other file; its text says what is wrong with it.
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
