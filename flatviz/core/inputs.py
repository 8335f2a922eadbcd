"""Inputs other than one floating tensor: images as bytes, and several tensors.

These and streams follow one contract.  Code that reads inputs uses len, `x[index]`,
`x.split(n)`, shape, device, dtype and `to`, as of a tensor (N, ...), and gets what a module takes;
`run` passes it to the module.  `x.take(index)` is a selection of the same kind, `x.describe()` the
shape in words.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import register_pytree_node

from flatviz.checks import usable
from flatviz.core.arithmetic import users_device

MAX_BYTES = 2**28  # of images as floats; larger sets are converted batch by batch

FEW = 16  # images that show the range of all
HIGHEST = 16.0  # of images that were scaled; scikit-learn's digits go as far
CHANNELS = (1, 3, 4)  # of an image: gray, colour, colour with opacity

Index = int | slice | Tensor | Sequence[int] | tuple


def channels_first(value: object, ndim: int) -> object:
    """Convert an image of PIL, and bytes with channels last, to (C, H, W); others stay.

    Bytes are an array or a tensor, (H, W, C) for ndim 3 and (N, H, W, C) for ndim 4, with 1, 3 or 4
    channels and another number of rows and columns.
    """
    pil = sys.modules.get("PIL.Image")  # whoever has such an image has imported it
    if pil is not None and isinstance(value, pil.Image):
        image = value.convert("RGB" if value.mode in ("P", "CMYK", "YCbCr") else value.mode)
        image = image.convert("L") if image.mode in ("1", "LA") else image
        array = torch.from_numpy(np.array(image))
        return array[None] if array.ndim == 2 else array.permute(2, 0, 1).contiguous()
    if not isinstance(value, (np.ndarray, Tensor)) or value.dtype not in (np.uint8, torch.uint8):
        return value
    last = value.ndim == ndim and value.shape[-1] in CHANNELS
    if not last or value.shape[-3] in CHANNELS or value.shape[-2] in CHANNELS:
        return value
    bytes = value if isinstance(value, Tensor) else torch.tensor(np.ascontiguousarray(value))
    return bytes.movedim(-1, -3).contiguous()


def warn_of_bytes(x: Tensor | Pixels | Sized) -> None:
    """Warn of floating images with values up to 255, which no network was trained on."""
    is_image = x.ndim == 4 and x.shape[1] in CHANNELS and x.is_floating_point()
    if not is_image or isinstance(x, Fields):
        return
    few: Tensor = x[:FEW]  # type: ignore[index]
    low, high = map(float, few.detach().aminmax())
    if low >= 0 and high > HIGHEST:
        warnings.warn(
            f"images are from 0 to 1, or normalised as the network was trained, got values up to"
            f" {high:g}: give bytes (uint8), which become 0 to 1, divide by 255, or apply the"
            " network's transform",
            stacklevel=5,
        )


class Sized:
    """Base class of N inputs: what follows from their shape and dtype."""

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
class Pixels(Sized):
    """Images (N, C, H, W) stored as bytes, a quarter of the memory of floats.

    Batches are floats from 0 to 1 on their device.
    """

    bytes: Tensor
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", usable(self.bytes))
        if self.bytes.dtype != torch.uint8 or self.bytes.ndim != 4:
            raise ValueError(
                f"pixels must be uint8 of shape (N, C, H, W), got {self.bytes.dtype}"
                f" {tuple(self.bytes.shape)}"
            )

    @property
    def shape(self) -> torch.Size:
        """Shape (N, C, H, W)."""
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

    def take(self, index: Tensor | slice) -> Pixels:
        """Return the images at `index`, as bytes."""
        return replace(self, bytes=self.bytes[index])

    def to(
        self,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Pixels:
        """Copy the bytes to a device, with batches in `dtype`."""
        return replace(self, bytes=self.bytes.to(device), dtype=dtype or self.dtype)

    def describe(self) -> str:
        """Return shape and dtype as text."""
        return f"x {tuple(self.shape)} uint8"

    def _floats(self, pixels: Tensor) -> Tensor:
        return pixels.to(self.dtype).div_(255)


@dataclass(frozen=True, eq=False)
class Fields(Sized):
    """Several tensors (N, ...), which a module takes as keywords or in order.

    named: by their keywords, as in module(input_ids=..., attention_mask=...); or by 0, 1, ... for
        module(left, right).
    """

    named: Mapping[str | int, Tensor]

    def first(self) -> Tensor:
        """Return the first field."""
        return next(iter(self.named.values()))

    @property
    def shape(self) -> torch.Size:
        """Shape (N, ...) of the first field."""
        return self.first().shape

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of the first field."""
        return self.first().dtype

    @property
    def device(self) -> torch.device:
        """Device of the fields."""
        return self.first().device

    def numel(self) -> int:
        """Number of elements of all fields."""
        return sum(t.numel() for t in self.named.values())

    def element_size(self) -> int:
        """Return the bytes of an element of the first field."""
        return self.first().element_size()

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
        split = [t.split(size) for t in self.named.values()]
        batches = []
        for parts in zip(*split):
            batches.append(Fields(dict(zip(self.named, parts))))
        return batches

    def take(self, index: Tensor | slice) -> Fields:
        """Return the inputs at `index`."""
        return self[index]

    def to(
        self,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Fields:
        """Copy to a device, with floating fields in `dtype`."""
        return self._each(lambda t: t.to(device, dtype if t.is_floating_point() else None))

    def describe(self) -> str:
        """Return names and shapes as text."""
        texts = []
        for key, t in self.named.items():
            name = f"x{key}" if isinstance(key, int) else key
            texts.append(f"{name} {tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}")
        return ", ".join(texts)


register_pytree_node(
    Fields,
    lambda x: (list(x.named.values()), list(x.named)),
    lambda v, names: Fields(dict(zip(names, v))),
)


def run(module: nn.Module, x: Tensor | Fields) -> Tensor:
    """Compute a module's outputs for a batch; named inputs are passed as keywords.

    Raises:
        TypeError: If it returns neither a tensor nor an object or dict with `logits`, as models of
            Hugging Face do.
    """
    inputs = x.named if isinstance(x, Fields) else {0: x}
    args = [t for k, t in inputs.items() if isinstance(k, int)]
    fields = {k: t for k, t in inputs.items() if isinstance(k, str)}
    with users_device():
        outputs = module(*args, **fields)
    if isinstance(outputs, Tensor):
        return outputs
    is_dict = isinstance(outputs, Mapping)
    logits = outputs.get("logits") if is_dict else getattr(outputs, "logits", None)
    if not isinstance(logits, Tensor):
        raise TypeError(
            "the module must return a tensor, or an object or dict with logits, got"
            f" {type(outputs).__name__}: wrap it in a module that returns the tensor (N, C)"
        )
    return logits


def tensors_of(x: Tensor | Fields) -> list[Tensor]:
    """List the tensors of a batch."""
    return list(x.named.values()) if isinstance(x, Fields) else [x]
