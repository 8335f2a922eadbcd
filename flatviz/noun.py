"""What makes a class a noun, and the first of them: the history of a fit, which every posterior carries."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any, dataclass_transform

from torch import Tensor


def one_line(result: Any) -> str:
    """Type and fields on one line: tensors by shape, long tuples by length; fields at their default are left out."""
    known = {f.name: (vars(result)[f.name], f.default) for f in dataclasses.fields(result) if f.name in vars(result)}
    shown = [_shown(name, value) for name, (value, default) in known.items() if value is not default and value is not None]
    text = ", ".join(shown)
    return f"{type(result).__name__}({text if len(text) < 100 else text[:97] + '...'})"


def _shown(name: str, value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{name} {tuple(value.shape)}"
    if isinstance(value, tuple) and (len(value) > 3 or any(dataclasses.is_dataclass(v) for v in value)):
        return f"{name}: {len(value)}"
    if isinstance(value, dict):
        return f"{name}: {', '.join(map(str, value)) or 'none'}"
    known = isinstance(value, (str, bool, int, float, tuple, type(None)))
    return f"{name}={value!r}" if known else f"{name}: {type(value).__name__}"


@dataclass_transform(eq_default=False, frozen_default=True)
def noun(cls: type | None = None, *, made_by: str = "") -> type:
    """A frozen dataclass whose repr is one line; `made_by` says in errors which verb makes one."""
    if cls is None:
        return partial(noun, made_by=made_by)
    cls.__repr__, cls.made_by = one_line, made_by
    return dataclass(frozen=True, eq=False)(cls)


@noun
class History:
    """What a fit recorded at each step: `loss`, `kl` (nats) and `sharpness`, the loss gained by the ascent; (T,) each.

    `validation` is the loss of the validation data at each check, of a fit that was given some.  `pull` (D,) is the mean over the
    steps of d_i (h_i / tau + P_ii) - leverage_i of a Gaussian's widths, 0 at their fixed point.  `notes` are remarks on the
    fit, as that its loss ended far above where it began.
    """

    loss: Tensor
    kl: Tensor | None = None
    sharpness: Tensor | None = None
    validation: Tensor | None = None
    pull: Tensor | None = None
    notes: tuple[str, ...] = ()
