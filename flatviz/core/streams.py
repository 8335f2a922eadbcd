"""Inputs that are read from a data set when they are needed, as they do not fit in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from flatviz.core.inputs import Fields, Index, Pixels, Sized, channels_first

AHEAD = 2  # batches that a stream reads in advance


@runtime_checkable
class Examples(Protocol):
    """A data set with a length and `examples[i]`, such as torch's."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> object: ...


@dataclass(frozen=True, eq=False)
class Stream(Sized):
    """Inputs of a data set `examples[i] -> (x, y)` at `index`, read when needed.

    `fv.datasets.stream` makes one.  `workers` threads read a batch.  Images in bytes become floats
    from 0 to 1.  The files may change on disk, so results are cached only where `content` is given:
    a value that changes with the files.
    """

    examples: Examples
    index: Tensor
    example_shape: torch.Size
    workers: int = 2
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32
    content: object = None

    def __getstate__(self) -> dict[str, object]:
        # Whoever hashes arguments pickles them: without `content` a stream has no hash
        if self.content is None:
            raise TypeError("the content of a stream is not known before it is read")
        return dict(vars(self))

    @property
    def shape(self) -> torch.Size:
        """Shape (N, ...) of all inputs."""
        return torch.Size((len(self.index), *self.example_shape))

    def __getitem__(self, index: Index) -> Tensor:
        """Read the inputs at `index`: an integer, a slice or several integers."""
        if isinstance(index, int):
            return self[[index]][0]
        chosen = self.take(index)
        return chosen._floats(chosen.read())

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """Iterate over all inputs in batches, in order, while threads read the next ones."""
        return map(self._floats, self._batches(self.index.split(size)))

    def read(self) -> Tensor:
        """Read all inputs into memory as the data set gives them; bytes stay bytes."""
        (batch,) = self._batches([self.index])
        return batch.to(self.device)

    def take(self, index: Index) -> Stream:
        """Return a stream of the inputs at `index`; nothing is read yet."""
        positions = index if isinstance(index, slice) else torch.as_tensor(index).cpu()
        return replace(self, index=self.index[positions])

    def to(
        self,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Stream:
        """Return the same stream with batches on `device` and, where they are floats, in `dtype`.

        None keeps what the stream has.
        """
        new_device = self.device if device is None else torch.device(device)
        if dtype is None or not self.is_floating_point():
            dtype = self.dtype
        return replace(self, device=new_device, dtype=dtype)

    def describe(self) -> str:
        """Return shape and dtype as text."""
        kind = str(self.dtype).removeprefix("torch.")
        return f"x {tuple(self.shape)} {kind}, streamed by {self.workers} threads"

    def _batches(self, parts: Iterable[Tensor]) -> Iterator[Tensor]:
        """Iterate over one batch for each part of the index, while threads read the next ones."""
        with ThreadPoolExecutor(self.workers) as threads:
            in_flight: deque[Iterator[Tensor]] = deque()  # batches that threads read, oldest first
            for part in parts:
                in_flight.append(threads.map(self._read, part.tolist()))
                if len(in_flight) > AHEAD:
                    yield torch.stack(list(in_flight.popleft()))
            for examples in in_flight:
                yield torch.stack(list(examples))

    def _read(self, i: int) -> Tensor:
        """Read the input of example `i` of the data set."""
        x, _ = pair_of(self.examples[i], i)
        if x.shape != self.example_shape:
            raise ValueError(
                f"inputs must be of one shape, {tuple(self.example_shape)}, got others: give a"
                " transform"
            )
        return x

    def _floats(self, x: Tensor) -> Tensor:
        """Move a batch to the device: images in bytes as floats from 0 to 1, floats in `dtype`."""
        if self.device.type == "cuda" and x.device.type == "cpu":
            x = x.pin_memory()  # so that the copy runs beside the computation
        x = x.to(self.device, non_blocking=True)
        if x.dtype == torch.uint8 and x.ndim == 4:
            return x.to(self.dtype).div_(255)
        if not x.is_floating_point():  # integers such as tokens stay
            return x
        if not bool(torch.isfinite(x).all()):
            raise ValueError("x must be finite, got NaN or inf values in a batch: clean them")
        return x.to(self.dtype)


Inputs = Pixels | Fields | Stream


def pair_of(pair: object, i: int) -> tuple[Tensor, object]:
    """Split example `i` of a data set into input and label; refuse all but a pair."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        x = channels_first(pair[0], 3)
        if isinstance(x, Tensor):
            return x, pair[1]
    raise TypeError(
        f"each example must be a pair (x tensor, y), got {type(pair).__name__} at {i}: give a"
        " transform, or use fv.datasets.data_from"
    )
