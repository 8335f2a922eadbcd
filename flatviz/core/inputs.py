"""Inputs that are no plain tensor of floats: images kept as bytes, and several tensors by name, as for text.

Whoever reads inputs uses len, `x[index]`, `x.split(n)`, shape, device, dtype and `to`, as of a tensor (N, ...): what comes out
is what a module takes.  `run` hands it over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import register_pytree_node

from flatviz.checks import usable

HELD = 2**28  # bytes of images, as floats, that are converted as a whole where a tensor is of use


class Inputs:
    """N inputs, of which batches are made when they are asked for.

    A kind of them has `shape` (N, ...) of all and `device` of batches; x[index] and `split`, which give what a module takes; `take`
    (some of them, of this kind), `to` (batches on a device, floats in a dtype) and `describe` (shape and type in words).
    """

    shape: torch.Size

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Of a batch."""
        return len(self.shape)

    def numel(self) -> int:
        """Numbers in all inputs."""
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        """Whether batches are."""
        return self.dtype.is_floating_point


@dataclass(frozen=True, eq=False)
class Pixels(Inputs):
    """Images (N, C, H, W) kept as bytes, a quarter of the memory; batches are (bytes / 255 - mean) / std, on their device.

    mean, std: (C,) of channels; None: 0 and 1.
    """

    bytes: Tensor
    mean: Tensor | None = None
    std: Tensor | None = None
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", usable(self.bytes))
        if self.bytes.dtype != torch.uint8 or self.bytes.ndim != 4:
            raise ValueError(f"pixels must be uint8 of shape (N, C, H, W), got {self.bytes.dtype} {tuple(self.bytes.shape)}")
        channels = self.bytes.shape[1]
        for name, least in (("mean", -torch.inf), ("std", 0.0)):
            value = getattr(self, name)
            if value is None:
                continue
            value = torch.as_tensor(value, dtype=self.dtype).to(self.bytes.device).view(-1)
            if len(value) != channels or not bool(torch.isfinite(value).all() and (value > least).all()):
                wanted = f"{channels} finite numbers" + " > 0" * (name == "std")
                raise ValueError(f"{name} must be {wanted}, one a channel, got {value.tolist()}")
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> torch.Size:
        """(N, C, H, W)."""
        return self.bytes.shape

    @property
    def device(self) -> torch.device:
        """Where the bytes are, and what is made of them."""
        return self.bytes.device

    def __getitem__(self, index: Any) -> Tensor:
        return self._floats(self.bytes)[index] if isinstance(index, tuple) else self._floats(self.bytes[index])

    def split(self, size: int | list[int]) -> Iterator[Tensor]:
        """Batches of floats, made one by one."""
        return map(self._floats, self.bytes.split(size))

    def take(self, index: Tensor) -> Pixels:
        """The images at `index`, still bytes."""
        return Pixels(self.bytes[index], self.mean, self.std, self.dtype)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Pixels:
        """The same bytes on a device, floats in `dtype`."""
        return Pixels(self.bytes.to(device), self.mean, self.std, dtype or self.dtype)

    def describe(self) -> str:
        """Shape and type."""
        return f"x {tuple(self.shape)} uint8"

    def _floats(self, pixels: Tensor) -> Tensor:
        x = pixels.to(self.dtype).div_(255)
        shape = (-1, 1, 1)
        x = x if self.mean is None else x.sub_(self.mean.view(shape))
        return x if self.std is None else x.div_(self.std.view(shape))


@dataclass(frozen=True, eq=False)
class Fields(Inputs):
    """Several tensors (N, ...) by name, which a module takes as keywords: module(input_ids=..., attention_mask=...)."""

    named: Mapping[str, Tensor]

    @property
    def _first(self) -> Tensor:
        return next(iter(self.named.values()))

    @property
    def shape(self) -> torch.Size:
        """That of the first field."""
        return self._first.shape

    @property
    def dtype(self) -> torch.dtype:
        """That of the first field."""
        return self._first.dtype

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self._first.device

    def numel(self) -> int:
        """Numbers in all fields."""
        return sum(t.numel() for t in self.named.values())

    def element_size(self) -> int:
        """Bytes of a number of the first field."""
        return self._first.element_size()

    def _each(self, change: Callable[[Tensor], Tensor]) -> Fields:
        return Fields({name: change(t) for name, t in self.named.items()})

    def clone(self) -> Fields:
        """A copy that shares nothing."""
        return self._each(torch.clone)

    def detach(self) -> Fields:
        """The same without history."""
        return self._each(torch.detach)

    def __getitem__(self, index: Any) -> Fields:
        return self._each(lambda t: t[index])

    def split(self, size: int | list[int]) -> list[Fields]:
        """Batches in their order."""
        parts = [t.split(size) for t in self.named.values()]
        return [Fields(dict(zip(self.named, part))) for part in zip(*parts)]

    def take(self, index: Tensor) -> Fields:
        """The inputs at `index`."""
        return self[index]

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Fields:
        """The same on a device, floating fields in `dtype`."""
        return self._each(lambda t: t.to(device, dtype if t.is_floating_point() else None))

    def describe(self) -> str:
        """Names and shapes."""
        return ", ".join(f"{name} {tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}" for name, t in self.named.items())


register_pytree_node(Fields, lambda x: (list(x.named.values()), list(x.named)), lambda v, names: Fields(dict(zip(names, v))))


def run(module: nn.Module, x: Tensor | Fields, named: dict[str, Tensor] | None = None) -> Tensor:
    """Outputs of a module for a batch; named inputs go in as keywords.

    named: tensors in the places of its parameters and buffers of these names.

    Raises:
        TypeError: Where it returns neither a tensor nor an object or dict with `logits`, as Hugging Face's models do.
    """
    args, fields = ((), dict(x.named)) if isinstance(x, Fields) else ((x,), {})
    outputs = module(*args, **fields) if named is None else functional_call(module, named, args, fields)
    if isinstance(outputs, Tensor):
        return outputs
    logits = outputs.get("logits") if isinstance(outputs, Mapping) else getattr(outputs, "logits", None)  # a foreign object
    if not isinstance(logits, Tensor):
        raise TypeError(
            f"the module must return a tensor, or an object or dict with logits, got {type(outputs).__name__}: "
            "wrap it in a module that returns the tensor (N, C)"
        )
    return logits


def tensors_of(x: Tensor | Fields) -> list[Tensor]:
    """The tensors of a batch."""
    return list(x.named.values()) if isinstance(x, Fields) else [x]
