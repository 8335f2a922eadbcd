"""Inputs other than one floating tensor: images as bytes, several tensors, streams.

All follow one contract (hence its length).  Code that reads inputs uses len, `x[index]`,
`x.split(n)`, shape, device, dtype and `to`, as of a tensor (N, ...), and gets what a module takes;
`run` passes it to the module.  `x.take(index)` is a selection of the same kind, `x.describe()` the
shape in words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import register_pytree_node

from flatviz.checks import usable
from flatviz.core.arithmetic import users_device

AHEAD = 2  # batches that a stream reads in advance
MAX_BYTES = 2**28  # of images as floats; larger sets are converted batch by batch


Index = int | slice | Tensor | Sequence[int] | tuple


@runtime_checkable
class Examples(Protocol):
    """A data set with a length and `examples[i]`, such as torch's."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> object: ...


class _Sized:
    """Base class of N inputs whose batches are computed on request."""

    @property
    def shape(self) -> torch.Size:
        """Shape (N, ...) of all."""
        raise NotImplementedError

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of batches."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Number of dimensions of a batch."""
        return len(self.shape)

    def numel(self) -> int:
        """Number of elements of all inputs."""
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        """Whether batches are floating."""
        return self.dtype.is_floating_point


@dataclass(frozen=True, eq=False)
class Pixels(_Sized):
    """Images (N, C, H, W) stored as bytes, a quarter of the memory of floats.

    Batches are (bytes / 255 - mean) / std on their device.  mean and std are (C,), one a channel,
    by default 0 and 1.
    """

    bytes: Tensor
    mean: Tensor | None = None
    std: Tensor | None = None
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", usable(self.bytes))
        if self.bytes.dtype != torch.uint8 or self.bytes.ndim != 4:
            raise ValueError(
                f"pixels must be uint8 of shape (N, C, H, W), got {self.bytes.dtype}"
                f" {tuple(self.bytes.shape)}"
            )
        channels = self.bytes.shape[1]
        for name, least in (("mean", -torch.inf), ("std", 0.0)):
            if (value := getattr(self, name)) is None:
                continue
            value = torch.as_tensor(value, dtype=self.dtype).to(self.bytes.device).view(-1)
            if len(value) != channels or not bool(
                torch.isfinite(value).all() and (value > least).all()
            ):
                wanted = f"{channels} finite numbers" + " > 0" * (name == "std")
                raise ValueError(f"{name} must be {wanted}, one a channel, got {value.tolist()}")
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> torch.Size:
        """(N, C, H, W)."""
        return self.bytes.shape

    @property
    def device(self) -> torch.device:
        """Device of the bytes and of their batches."""
        return self.bytes.device

    def __getitem__(self, index: Index) -> Tensor:
        if isinstance(index, tuple):
            return self._floats(self.bytes)[index]
        return self._floats(self.bytes[index])

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """Iterate over batches of floats."""
        return map(self._floats, self.bytes.split(size))

    def take(self, index: Tensor) -> Pixels:
        """Return the images at `index`, as bytes."""
        return Pixels(self.bytes[index], self.mean, self.std, self.dtype)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Pixels:
        """Copy the bytes to a device, with batches in `dtype`."""
        return Pixels(self.bytes.to(device), self.mean, self.std, dtype or self.dtype)

    def describe(self) -> str:
        """Return shape and dtype as text."""
        return f"x {tuple(self.shape)} uint8"

    def _floats(self, pixels: Tensor) -> Tensor:
        x = pixels.to(self.dtype).div_(255)
        x = x if self.mean is None else x.sub_(self.mean.view(-1, 1, 1))
        return x if self.std is None else x.div_(self.std.view(-1, 1, 1))


@dataclass(frozen=True, eq=False)
class Fields(_Sized):
    """Several tensors (N, ...), which a module takes as keywords or in order.

    named: by their keywords, as in module(input_ids=..., attention_mask=...); or by 0, 1, ... for
        module(left, right).
    """

    named: Mapping[str | int, Tensor]

    @property
    def shape(self) -> torch.Size:
        """Shape (N, ...) of the first field."""
        return tensors_of(self)[0].shape

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of the first field."""
        return tensors_of(self)[0].dtype

    @property
    def device(self) -> torch.device:
        """Device of the fields."""
        return tensors_of(self)[0].device

    def numel(self) -> int:
        """Number of elements of all fields."""
        return sum(t.numel() for t in self.named.values())

    def element_size(self) -> int:
        """Return the bytes of an element of the first field."""
        return tensors_of(self)[0].element_size()

    def _each(self, change: Callable[[Tensor], Tensor]) -> Fields:
        return Fields({name: change(t) for name, t in self.named.items()})

    def clone(self) -> Fields:
        """Copy all fields."""
        return self._each(torch.clone)

    def detach(self) -> Fields:
        """Detach all fields from their graphs."""
        return self._each(torch.detach)

    def __getitem__(self, index: Index) -> Fields:
        return self._each(lambda t: t[index])

    def split(self, size: int | list[int]) -> list[Fields]:
        """Split into batches, in order."""
        parts = [t.split(size) for t in self.named.values()]
        return [Fields(dict(zip(self.named, part))) for part in zip(*parts)]

    def take(self, index: Tensor) -> Fields:
        """Return the inputs at `index`."""
        return self[index]

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Fields:
        """Copy to a device, with floating fields in `dtype`."""
        return self._each(lambda t: t.to(device, dtype if t.is_floating_point() else None))

    def describe(self) -> str:
        """Return names and shapes as text."""
        named = ((f"x{k}" if isinstance(k, int) else k, t) for k, t in self.named.items())
        return ", ".join(
            f"{name} {tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}" for name, t in named
        )


register_pytree_node(
    Fields,
    lambda x: (list(x.named.values()), list(x.named)),
    lambda v, names: Fields(dict(zip(names, v))),
)


@dataclass(frozen=True, eq=False)
class Stream(_Sized):
    """Inputs of a data set `examples[i] -> (x, y)` at `index`, read when needed.

    `stream` makes one.  A batch is read by `workers` threads, pinned and copied to the device;
    bytes become floats from 0 to 1.  As the files may change on disk, results are cached only
    where `content` is given, a text that changes with them.
    """

    examples: Examples
    index: Tensor
    example_shape: torch.Size
    workers: int = 2
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32
    content: object = None

    def __getstate__(self) -> dict[str, object]:
        if self.content is None:
            raise TypeError("the content of a stream is not known before it is read")
        return dict(vars(self))

    @property
    def shape(self) -> torch.Size:
        """(N, ...)."""
        return torch.Size((len(self.index), *self.example_shape))

    def __getitem__(self, index: Index) -> Tensor:
        """Read the inputs at `index`: an integer, a slice or several integers."""
        if isinstance(index, int):
            return self[[index]][0]
        (batch,) = self._batches(
            [self.index[index if isinstance(index, slice) else torch.as_tensor(index).cpu()]]
        )
        return self._floats(batch)

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """Iterate over all inputs in batches, in order, while threads read the next ones."""
        return map(self._floats, self._batches(self.index.split(size)))

    def read(self) -> Tensor:
        """Read all inputs into memory as the data set gives them; bytes stay bytes."""
        (batch,) = self._batches([self.index])
        return batch.to(self.device)

    def take(self, index: Tensor) -> Stream:
        """Return the inputs at `index`, unread."""
        return replace(self, index=self.index[index.cpu() if isinstance(index, Tensor) else index])

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Stream:
        """Return the same stream with batches on a device, floating ones in `dtype`."""
        dtype = self.dtype if dtype is None or not self.is_floating_point() else dtype
        return replace(
            self, device=self.device if device is None else torch.device(device), dtype=dtype
        )

    def describe(self) -> str:
        """Return shape and dtype as text."""
        return (
            f"x {tuple(self.shape)} {str(self.dtype).removeprefix('torch.')}, streamed by"
            f" {self.workers} threads"
        )

    def _batches(self, parts: Iterable[Tensor]) -> Iterator[Tensor]:
        """Iterate over the inputs of each part, while threads read the next ones."""
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
            raise ValueError(
                f"inputs must be of one shape, {tuple(self.example_shape)}, got others: give a"
                " transform"
            )
        return x

    def _floats(self, x: Tensor) -> Tensor:
        """Move a batch to the device, as floats."""
        if self.device.type == "cuda":
            x = x.pin_memory().to(self.device, non_blocking=True)
        x = Pixels(x)[:] if x.dtype == torch.uint8 and x.ndim == 4 else x
        if x.is_floating_point() and not bool(torch.isfinite(x).all()):
            raise ValueError("x must be finite, got NaN or inf values in a batch: clean them")
        return x.to(self.dtype) if x.is_floating_point() else x


Inputs = Pixels | Fields | Stream


def pair_of(pair: object, i: int) -> tuple[Tensor, object]:
    """Split an example of a stream into input and label."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], Tensor):
        got = f"got {type(pair).__name__} at {i}"
        raise TypeError(
            f"each example must be a pair (x tensor, y), {got}: give a transform, or use"
            " fv.datasets.data_from"
        )
    return pair[0], pair[1]


def run(module: nn.Module, x: Tensor | Fields, named: dict[str, Tensor] | None = None) -> Tensor:
    """Compute a module's outputs for a batch; named inputs are passed as keywords.

    named: tensors to use in place of the parameters and buffers of these names.

    Raises:
        TypeError: If it returns neither a tensor nor an object or dict with `logits`, as models of
            Hugging Face do.
    """
    inputs = x.named if isinstance(x, Fields) else {0: x}
    args = tuple(t for k, t in inputs.items() if isinstance(k, int))
    fields = {k: t for k, t in inputs.items() if isinstance(k, str)}
    with users_device():
        outputs = (
            module(*args, **fields)
            if named is None
            else functional_call(module, named, args, fields)
        )
    if isinstance(outputs, Tensor):
        return outputs
    # A foreign object
    logits = (
        outputs.get("logits") if isinstance(outputs, Mapping) else getattr(outputs, "logits", None)
    )
    if not isinstance(logits, Tensor):
        raise TypeError(
            "the module must return a tensor, or an object or dict with logits, got"
            f" {type(outputs).__name__}: wrap it in a module that returns the tensor (N, C)"
        )
    return logits


def tensors_of(x: Tensor | Fields) -> list[Tensor]:
    """List the tensors of a batch."""
    return list(x.named.values()) if isinstance(x, Fields) else [x]
