"""Values that stream to disk point by point: a run killed at any moment goes on where it was."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path

import torch
from torch import Tensor

from flatviz.storage.cache import cache_folder, cache_key
from flatviz.storage.files import atomic_path

RECORD = struct.Struct("<qdI")  # index, value, checksum of both


class PointStore:
    """A file of (index, value) records under a hash of everything that matters; `plan` is how they were computed.

    A record is whole or ignored.  A second process on the same file only repeats work, never spoils it.
    """

    def __init__(self, folder: str | Path | bool, **settings: object) -> None:
        base = cache_folder() / "slices" if folder is True else Path(str(folder))
        where = {"machine": machine(), "threads": torch.get_num_threads()}
        self.path = base / f"{cache_key(**settings, **where)}.points"
        self.plan: dict | None = None
        self._start = 0
        if self.path.exists():
            with self.path.open("rb") as file:
                head = file.readline()
            try:
                self.plan, self._start = json.loads(head), len(head)
            except ValueError:  # damaged: as if it were not there; `begin` writes over it
                self.path.unlink(missing_ok=True)

    def begin(self, plan: dict | None) -> None:
        """Write how the points are computed; once, before the first of them."""
        if self._start:
            return
        head = (json.dumps(plan) + "\n").encode()
        with atomic_path(self.path) as partial:
            partial.write_bytes(head)
        self.plan, self._start = plan, len(head)

    def read(self, values: Tensor) -> Tensor:
        """Fill `values` (S,) with what is stored; the mask (S,) of those points."""
        done = torch.zeros(values.numel(), dtype=torch.bool)
        body = self.path.read_bytes()[self._start :] if self.path.exists() else b""
        body = body[: len(body) // RECORD.size * RECORD.size]
        for index, value, check in RECORD.iter_unpack(body):
            if check == _check(index, value) and 0 <= index < values.numel():
                values[index], done[index] = value, True
        return done

    def append(self, indices: list[int], values: list[float]) -> None:
        """Add records, in one write."""
        text = b"".join(RECORD.pack(i, v, _check(i, v)) for i, v in zip(indices, values))
        with self.path.open("ab", buffering=0) as file:
            spare = (file.seek(0, os.SEEK_END) - self._start) % RECORD.size
            file.write(b"\0" * ((RECORD.size - spare) % RECORD.size) + text)  # complete a torn record before it


def machine() -> str:
    """What floating-point results depend on besides the program."""
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return f"{torch.backends.cpu.get_cpu_capability()} {card}"


def _check(index: int, value: float) -> int:
    return zlib.crc32(struct.pack("<qd", index, value))
