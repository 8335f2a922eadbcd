"""Values stored point by point while they are computed: a run killed at any moment loses the points at work, no others."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import torch
from torch import Tensor

from flatviz.storage.cache import cache_folder, cache_key
from flatviz.storage.files import DamagedFileError, read_header, set_aside, write_file

KIND = "points"
RECORD = struct.Struct("<dd")  # value, CRC-32 of it and its index


class PointStore:
    """A file of `n` values with their checksums, "points" (n, 2), under a hash of `settings`; `plan` says how they are computed.

    A value is whole or ignored; a second process on the same file repeats work and spoils nothing.  A damaged header: the file is
    set aside with a warning.  A full disk: a warning, and the points are no longer stored.
    """

    def __init__(self, folder: str | Path | bool, n: int, **settings: object) -> None:
        base = cache_folder() / "slices" if folder is True else Path(str(folder))
        where = {"machine": machine(), "threads": torch.get_num_threads()}
        self.path = base / f"{cache_key(n=n, **settings, **where)}.safetensors"
        self.plan: dict | None = None
        self._n, self._start = n, 0  # of the records; 0 where there is no file to read or write into
        try:
            if self.path.exists():
                self.plan, self._start = read_header(self.path, KIND)
        except DamagedFileError as error:
            warnings.warn(f"damaged, so computed again: {self.path}: {error}; {set_aside(self.path)}", stacklevel=2)
        except OSError as error:
            warnings.warn(f"unreadable, so computed again: {self.path}: {error}", stacklevel=2)

    def begin(self, plan: dict | None, *, anew: bool = False) -> None:
        """Write how the points are computed; once, before the first of them.  anew: discard the points stored before."""
        if self._start and not anew:
            return
        none = torch.full((self._n, 2), -1.0, dtype=torch.float64)
        try:
            self.plan, self._start = plan, write_file(self.path, KIND, plan, {"points": none}, grows=True)
        except OSError as error:
            self._stop(error)

    def read(self, values: Tensor) -> Tensor:
        """Fill `values` (n,) with what is stored; the mask (n,) of those points."""
        done = torch.zeros(self._n, dtype=torch.bool)
        body = self.path.read_bytes()[self._start :][: RECORD.size * self._n] if self._start else b""
        for i, (value, checksum) in enumerate(RECORD.iter_unpack(body[: len(body) // RECORD.size * RECORD.size])):
            if checksum == _checksum(i, value):
                values[i], done[i] = value, True
        return done

    def append(self, indices: list[int], values: list[float]) -> None:
        """Add values at their places."""
        if not self._start:
            return
        try:
            with self.path.open("rb+") as file:
                for i, value in zip(indices, values):
                    file.seek(self._start + RECORD.size * i)
                    file.write(RECORD.pack(value, _checksum(i, value)))
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
