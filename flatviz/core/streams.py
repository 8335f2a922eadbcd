"""Inputs that are read from a data set when they are needed, as they do not fit in memory.

torch's `DataLoader` reads them: by worker processes, ahead of the computation, where it has some.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from flatviz.core.inputs import Fields, Index, Pixels, Sized, channels_first
from flatviz.core.seeds import generator

AT_ONCE = 256  # most examples that are read as one piece
LOOKED_AT = 8  # examples that stand for all where a network is looked at


@runtime_checkable
class Examples(Protocol):
    """A data set with a length and `examples[i]`, such as torch's."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> object: ...


class Reading(NamedTuple):
    """Arguments of a `DataLoader` that say how it reads, at its own defaults.

    collate_fn: makes a batch (x, y) of a list of pairs; None stacks x.
    """

    num_workers: int = 0
    collate_fn: Callable[[list], Any] | None = None
    worker_init_fn: Callable[[int], object] | None = None
    multiprocessing_context: Any = None
    prefetch_factor: int | None = None
    timeout: float = 0


@dataclass(frozen=True, eq=False)
class Stream(Sized):
    """Inputs of a data set `examples[i] -> (x, y)` at `index`, read when needed.

    `fv.datasets.stream` makes one.  Images in bytes become floats from 0 to 1.  The files may
    change on disk, so results are cached only where `content` is given: a value that changes with
    the files.
    """

    examples: Examples
    index: Tensor
    example_shape: torch.Size
    reading: Reading = Reading()
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32
    content: object = None
    looked: dict[int, Tensor] = field(default_factory=dict)  # few examples, by number

    def __getstate__(self) -> dict[str, object]:
        # Whoever hashes arguments pickles them: without `content` a stream has no hash
        if self.content is None:
            raise TypeError("the content of a stream is not known before it is read")
        return vars(self) | {"looked": {}}

    @property
    def shape(self) -> torch.Size:
        """Shape (N, ...) of all inputs."""
        return torch.Size((len(self.index), *self.example_shape))

    def __getitem__(self, index: Index) -> Tensor:
        """Read the inputs at `index`: an integer, a slice or several integers."""
        if isinstance(index, int):
            return self[[index]][0]
        chosen = self.take(index)
        return chosen.placed(chosen.read())

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """Iterate over all inputs in batches, in order, while workers read the next ones."""
        return map(self.placed, self.pieces(self.index.split(size)))

    def read(self) -> Tensor:
        """Read all inputs into memory as the data set gives them; bytes stay bytes."""
        return torch.cat(list(self.pieces(self.index.split(AT_ONCE)))).to(self.device)

    def few(self) -> Tensor:
        """Return a few examples from all over, which stand for all in a look at a network.

        They are read once, whatever is made of this stream.
        """
        spread = torch.linspace(0, len(self) - 1, min(len(self), LOOKED_AT), dtype=torch.float64)
        numbers = self.index[spread.round().long()].tolist()
        if missing := [i for i in numbers if i not in self.looked]:
            (rows,) = self.pieces([torch.tensor(missing)])
            self.looked.update(zip(missing, rows))
        return self.placed(torch.stack([self.looked[i] for i in numbers]))

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
        workers = self.reading.num_workers
        by = f" by {workers} workers" if workers else ""
        return f"x {tuple(self.shape)} {kind}, streamed{by}"

    @property
    def note(self) -> str:
        """Say why it is read without its workers, where it is."""
        if self.reading.num_workers and multiprocessing.current_process().daemon:
            return "a daemon process starts no others, so that it reads its examples by itself"
        return ""

    def pieces(self, numbers: Iterable[Tensor]) -> Generator[Tensor, None, None]:
        """Read the inputs with these numbers in the data set, as it gives them.

        Workers read ahead where there are several pieces; they end with the iterator.

        Yields:
            The inputs of each piece.

        Raises:
            ValueError: For inputs of several shapes, or NaN.
        """
        reading = self.reading
        one = isinstance(numbers, Sequence) and len(numbers) == 1
        if self.note or one or not reading.num_workers:
            reading = Reading(collate_fn=reading.collate_fn)
        collate = Collation(self.example_shape, reading.collate_fn)
        loader: DataLoader = DataLoader(
            Pairs(self.examples),  # type: ignore[arg-type]
            batch_sampler=map(Tensor.tolist, numbers),
            pin_memory=self.device.type == "cuda",  # so that copies run beside the computation
            generator=generator(0),  # torch's global one is the user's
            **reading._replace(collate_fn=collate)._asdict(),
        )
        for piece in loader:
            if isinstance(piece, str):
                raise ValueError(piece)
            yield piece

    def placed(self, x: Tensor) -> Tensor:
        """Move a batch to the device: images in bytes as floats from 0 to 1, floats in `dtype`."""
        x = x.to(self.device, non_blocking=True)
        if x.dtype == torch.uint8 and x.ndim == 4:
            return x.to(self.dtype).div_(255)
        return x.to(self.dtype) if x.is_floating_point() else x  # integers such as tokens stay


@dataclass(frozen=True)
class Pairs:
    """A data set whose examples are pairs, or an error."""

    examples: Examples

    def __getitem__(self, i: int) -> tuple[Tensor, object]:
        return pair_of(self.examples[i], i)


@dataclass(frozen=True)
class Collation:
    """Inputs of a list of pairs as one tensor, checked where they are read.

    A fault is returned as text, as an error would arrive from a worker with its traceback.
    """

    shape: torch.Size
    collate: Callable[[list], Any] | None = None

    def __call__(self, pairs: list) -> Tensor | str:
        """Return inputs (n, ...) of one shape, finite."""
        if self.collate is not None:
            x, _ = collated(self.collate, pairs)
        elif any(x.shape != self.shape for x, _ in pairs):
            return f"inputs must be of one shape, {tuple(self.shape)}, got others: give a transform"
        else:
            x = torch.stack([x for x, _ in pairs])
        if x.shape != (len(pairs), *self.shape):
            return (
                f"inputs must be of one shape, {tuple(self.shape)}, got a batch of shape"
                f" {tuple(x.shape)} from the loader's collate_fn: pad all alike"
            )
        if x.is_floating_point() and not bool(torch.isfinite(x).all()):
            return "x must be finite, got NaN or inf values in a batch: clean them"
        return x


def collated(collate: Callable[[list], Any], pairs: list) -> tuple[Tensor, Any]:
    """Return the batch (x, y) that a loader's collate_fn makes.

    Raises:
        TypeError: For anything but a pair with a tensor.
    """
    batch = collate(pairs)
    is_pair = isinstance(batch, (tuple, list)) and len(batch) == 2
    if not is_pair or not isinstance(batch[0], Tensor):
        raise TypeError(
            f"the loader's collate_fn must return (x tensor, y), got {type(batch).__name__}: use"
            " fv.datasets.data_from, or write it so"
        )
    return batch[0], batch[1]


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


def looked_at(x: Tensor | Inputs) -> Tensor | Inputs:
    """Return what stands for inputs where a network is looked at: of a stream a few examples."""
    return x.few() if isinstance(x, Stream) else x
