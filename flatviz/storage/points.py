"""Values stored point by point while they are computed: a run killed at any moment loses the points at work, no others."""

from __future__ import annotations

import json
import os
import struct
import warnings
import zlib
from pathlib import Path

import torch
from torch import Tensor

from flatviz.storage.cache import cache_folder, cache_key
from flatviz.storage.files import atomic_path, first_line, set_aside

RECORD = struct.Struct("<qdI")  # index, value, CRC-32 of both
LONGEST = 1 << 20  # bytes of a line of the header, so that a file of something else is not read to its end


class PointStore:
    """A file of (index, value) records under a hash of `settings`; `plan` says how the values are computed.

    Its header is the first line of any checked file, and the plan as one line of JSON.  A record is whole or ignored; a
    second process on the same file repeats work and spoils nothing.  A damaged header: the file is set aside with a
    warning.  A full disk: a warning, and the points are no longer stored.
    """

    def __init__(self, folder: str | Path | bool, **settings: object) -> None:
        base = cache_folder() / "slices" if folder is True else Path(str(folder))
        where = {"machine": machine(), "threads": torch.get_num_threads()}
        self.path = base / f"{cache_key(**settings, **where)}.points"
        self.plan: dict | None = None
        self._start = 0  # of the records; 0 where there is no file to read or append to
        if self.path.exists():
            self._open()

    def _open(self) -> None:
        try:
            with self.path.open("rb") as file:
                first, plan = file.readline(LONGEST), file.readline(LONGEST)
        except OSError as error:
            warnings.warn(f"unreadable, so computed again: {self.path}: {error}", stacklevel=3)
            return
        if first == first_line("points", plan):
            self.plan, self._start = json.loads(plan), len(first + plan)
        else:
            warnings.warn(f"damaged, so computed again: {self.path}: {set_aside(self.path)}", stacklevel=3)

    def begin(self, plan: dict | None, *, anew: bool = False) -> None:
        """Write how the points are computed; once, before the first of them.  anew: discard the points stored before."""
        if self._start and not anew:
            return
        line = f"{json.dumps(plan)}\n".encode()
        header = first_line("points", line) + line
        try:
            with atomic_path(self.path) as partial:
                partial.write_bytes(header)
            self.plan, self._start = plan, len(header)
        except OSError as error:
            self._stop(error)

    def read(self, values: Tensor) -> Tensor:
        """Fill `values` (S,) with what is stored; the mask (S,) of those points."""
        done = torch.zeros(values.numel(), dtype=torch.bool)
        body = self.path.read_bytes()[self._start :] if self._start else b""
        for index, value, checksum in RECORD.iter_unpack(body[: len(body) // RECORD.size * RECORD.size]):
            if checksum == _checksum(index, value) and 0 <= index < values.numel():
                values[index], done[index] = value, True
        return done

    def append(self, indices: list[int], values: list[float]) -> None:
        """Add records, in one write."""
        if not self._start:
            return
        records = b"".join(RECORD.pack(i, v, _checksum(i, v)) for i, v in zip(indices, values))
        try:
            with self.path.open("ab") as file:
                torn = (file.seek(0, os.SEEK_END) - self._start) % RECORD.size  # bytes of a record that a kill cut short
                file.write(b"\0" * (-torn % RECORD.size) + records)
        except OSError as error:
            self._stop(error)

    def _stop(self, error: OSError) -> None:
        self._start = 0
        warnings.warn(f"points not stored in {self.path}: {error}; they are computed all the same", stacklevel=3)


def machine() -> str:
    """What floating-point results depend on besides the program."""
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return f"{torch.backends.cpu.get_cpu_capability()} {card}"


def _checksum(index: int, value: float) -> int:
    return zlib.crc32(struct.pack("<qd", index, value))
