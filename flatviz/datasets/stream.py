"""Data sets that do not fit in memory: read batch by batch, always in one order, by threads that read ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, Subset

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.inputs import Inputs, Pixels
from flatviz.core.seeds import random_state

AHEAD = 2  # batches read before they are asked for
LOOKED = 8  # examples that are read twice


@dataclass(frozen=True, eq=False)
class Stream(Inputs):
    """Inputs of a data set `examples[i] -> (x, y)`, those at `index` in that order; `stream` returns one.

    A batch is read by `workers` threads, pinned and copied to the device; bytes become floats from 0 to 1.  What it reads
    may change on the disk: results on it are kept in a cache only where `content`, which changes with it, is given.
    """

    examples: Any
    index: Tensor
    example_shape: torch.Size
    workers: int = 2
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32
    content: Any = None

    def __getstate__(self) -> dict[str, Any]:
        if self.content is None:
            raise TypeError("the content of a stream is not known before it is read")
        return dict(vars(self))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def shape(self) -> torch.Size:
        """(N, ...)."""
        return torch.Size((len(self), *self.example_shape))

    def __getitem__(self, index: Any) -> Tensor:
        """The inputs at `index`: a whole number, a slice or whole numbers."""
        if isinstance(index, int):
            return self[[index]][0]
        (batch,) = self._batches([self.index[index if isinstance(index, slice) else torch.as_tensor(index).cpu()]])
        return self._floats(batch)

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """All inputs in their order, in batches; the next ones are read meanwhile."""
        return map(self._floats, self._batches(self.index.split(size)))

    def read(self) -> Tensor:
        """All inputs as the data set gives them, in memory: bytes stay bytes."""
        (batch,) = self._batches([self.index])
        return batch.to(self.device)

    def take(self, index: Tensor) -> Stream:
        """Some of them, read when asked for."""
        return replace(self, index=self.index[index.cpu() if isinstance(index, Tensor) else index])

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Stream:
        """The same with batches on a device, floating ones in `dtype`."""
        dtype = self.dtype if dtype is None or not self.is_floating_point() else dtype
        return replace(self, device=self.device if device is None else torch.device(device), dtype=dtype)

    def describe(self) -> str:
        """Shape and type."""
        return f"x {tuple(self.shape)} {str(self.dtype).removeprefix('torch.')}, streamed by {self.workers} threads"

    def _batches(self, parts: Iterable[Tensor]) -> Iterator[Tensor]:
        """The inputs at the numbers of each part, as the data set gives them; threads read the next parts meanwhile."""
        with ThreadPoolExecutor(self.workers) as threads:
            waiting: deque[Iterator[Tensor]] = deque()
            for part in parts:
                waiting.append(threads.map(self._read, part.tolist()))
                if len(waiting) > AHEAD:
                    yield torch.stack(list(waiting.popleft()))
            for rows in waiting:
                yield torch.stack(list(rows))

    def _read(self, i: int) -> Tensor:
        x = pair_of(self.examples[i], i)[0]
        if x.shape != self.example_shape:
            raise ValueError(f"inputs must be of one shape, {tuple(self.example_shape)}, got others: give a transform")
        return x

    def _floats(self, x: Tensor) -> Tensor:
        """A batch on the device, in floats."""
        if self.device.type == "cuda":
            x = x.pin_memory().to(self.device, non_blocking=True)
        x = Pixels(x)[:] if x.dtype == torch.uint8 and x.ndim == 4 else x
        if x.is_floating_point() and not bool(torch.isfinite(x).all()):
            raise ValueError("x must be finite, got NaN or inf values in a batch: clean them")
        return x.to(self.dtype) if x.is_floating_point() else x


def stream(examples: Any, *, workers: int = 2) -> Data:
    """A `Data` that reads a `torch.utils.data.Dataset` of (x tensor, y), or that of a `DataLoader`, when batches are asked for.

    The order is that of the data set, each time, so that an objective stays one function of the weights; minibatches of a
    fit read their own examples.  What needs all inputs at once (a full-batch gradient) reads them all.  Labels are the data set's
    `targets` or `labels`; without those every example is read once for its own.

    Args:
        examples: with a length and `examples[i]`; x of one shape.  Of a `DataLoader` its data set is taken, in its order.
        workers: threads that read.

    Raises:
        TypeError: For a data set without a length or without `examples[i]`: `data_from` reads those into memory.
        ValueError: For one with random transforms.

    Example:
        >>> import torch, flatviz as fv
        >>> pairs = torch.utils.data.TensorDataset(torch.rand(6, 3), torch.arange(6) % 2)
        >>> fv.datasets.stream(pairs)
        Data(6 examples, x (6, 3) float32, streamed by 2 threads, classes 0..1)
    """
    check_count(workers, "workers")
    if isinstance(examples, DataLoader):
        examples = examples.dataset
    if isinstance(examples, IterableDataset) or not (hasattr(examples, "__len__") and hasattr(examples, "__getitem__")):
        raise TypeError(
            f"a stream needs a data set with a length and examples[i], got {type(examples).__name__}: "
            "fv.datasets.data_from reads it into memory"
        )
    if len(examples) == 0:
        raise ValueError("examples must hold at least one (x, y), got an empty set")
    first = _read_twice(examples)
    dtype = torch.float32 if first.dtype == torch.uint8 and first.ndim == 3 else first.dtype
    y = _labels(examples)
    x = Stream(examples, torch.arange(len(examples)), first.shape, workers, dtype=dtype)
    return Data(x, y, class_names_of(examples, y))


def _read_twice(examples: Any) -> Tensor:
    """The first input, once a few examples are the same when they are read again and draw no random numbers."""
    before = random_state()
    few = torch.linspace(0, len(examples) - 1, min(len(examples), LOOKED)).long().tolist()
    first, again = ([pair_of(examples[i], i)[0] for i in few] for _ in range(2))
    same = (a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True) for a, b in zip(first, again))
    if before != random_state() or not all(same):
        raise ValueError(
            "examples must be the same each time they are read, got random ones (augmentation), of which no surface has one value: "
            "leave random transforms out, or draw once for all with fv.datasets.data_from"
        )
    return first[0]


def in_memory(data: Data) -> Data:
    """The same examples with those of a stream in memory, images in bytes as bytes; other data as they are."""
    return replace(data, x=data.x.read()) if isinstance(data.x, Stream) else data


def class_names_of(examples: Any, y: Tensor) -> tuple[str, ...]:
    """What a data set of someone else's calls the classes of its labels y, as torchvision's do in `classes`; () where it does not."""
    if isinstance(examples, DataLoader):
        examples = examples.dataset
    while isinstance(examples, Subset):
        examples = examples.dataset
    names = getattr(examples, "classes", None)  # a foreign object
    named = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    return tuple(names) if named and not y.is_floating_point() and len(names) > int(y.max()) else ()


def _labels(examples: Any) -> Tensor:
    """From the list that torchvision's data sets have of them, else by reading everything once."""
    for name in ("targets", "labels"):
        known = getattr(examples, name, None)  # a foreign object
        if known is not None and len(known) == len(examples):
            return torch.as_tensor(known)
    return torch.stack([torch.as_tensor(pair_of(examples[i], i)[1]) for i in range(len(examples))])


def pair_of(pair: Any, i: int) -> tuple[Tensor, Any]:
    """An example as its input and label."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], Tensor):
        raise TypeError(
            f"each example must be a pair (x tensor, y), got {type(pair).__name__} at {i}: give a transform to tensors"
        )
    return pair[0], pair[1]
