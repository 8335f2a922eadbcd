"""The colour of a loss: one scale for surfaces and samples, linear or logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.plots.theme import INK, LOSS_SCALE, even_ticks, log_ticks, numbers
from flatviz.results import Projection, Surface


@dataclass(frozen=True)
class ColorScale:
    """Colours from `lo` to `hi`, in the values' own unit; `log` counts in powers of ten."""

    lo: float
    hi: float
    log: bool

    @classmethod
    def over(cls, values: Tensor, color_range: tuple[float, float] | None = None, log: bool | None = None) -> ColorScale:
        """The scale of the finite `values`, or of a given range; logarithmic where all are positive and span a decade."""
        lo, hi = color_range or (float(values.min()), float(values.max()))
        return cls(lo, hi, (lo > 0 and hi / lo > 10) if log is None else log and lo > 0)

    @classmethod
    def of(cls, surface: Surface, color_range: tuple[float, float] | None = None, log: bool | None = None) -> ColorScale:
        """The scale of a surface's finite values, or of a given range.  Raises ValueError where no value is finite."""
        finite = surface.values[torch.isfinite(surface.values)]
        if finite.numel() == 0:
            raise ValueError(
                f"the surface must have a finite value, got {surface.n_diverged} diverged cells: shrink the extent"
            )
        return cls.over(finite, color_range, log)

    def __call__(self, values: Tensor) -> Tensor:
        """Values as the colours count them."""
        return values.clamp_min(torch.finfo(values.dtype).tiny).log10() if self.log else values

    @property
    def ends(self) -> tuple[float, float]:
        """First and last value, as the colours count them."""
        return (math.log10(self.lo), math.log10(self.hi)) if self.log else (self.lo, self.hi)

    def bar(self, label: str) -> dict:
        """A colour bar whose ticks are in the values' own unit."""
        ticks, texts = (log_ticks if self.log else even_ticks)(self.lo, self.hi)
        title = dict(text=label, side="right")
        return dict(title=title, thickness=14, outlinewidth=0, len=1.0, tickvals=ticks, ticktext=texts)

    def marker(self, values: Tensor | None) -> dict:
        """Marker colours on this scale, without a bar of their own; ink where there are no values."""
        if values is None:
            return dict(color=INK)
        lo, hi = self.ends
        return dict(color=numbers(self(values)), colorscale=LOSS_SCALE, cmin=lo, cmax=hi, showscale=False)


def first_draws(projection: Projection, n: int) -> Projection:
    """The first n samples of a projection."""
    values = None if projection.values is None else projection.values[:n]
    return replace(projection, coords=projection.coords[:n], distance=projection.distance[:n], values=values)


def values_of(projection: Projection) -> Tensor:
    """True losses (S,), NaN where none were computed."""
    return torch.full_like(projection.distance, math.nan) if projection.values is None else projection.values
