"""The colour of a loss: one scale for surfaces and samples, linear, logarithmic, or in square roots."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.plots.theme import INK, LOSS_SCALE, even_ticks, log_ticks, numbers, short
from flatviz.results import Projection, Surface

CLIP = 0.98  # share of a surface's cells that the colours resolve, where the highest few would take most of the scale
FAR = 0.25  # of the scale: how much those few must take before it is cut
NEAR_END = 0.1  # of the scale: ticks nearer than this to a marked end give way to it


@dataclass(frozen=True)
class ColorScale:
    """Colours from `lo` to `hi`, in the unit of the values.

    log: colours count in powers of ten; root: in square roots, in which a quadratic bowl is a cone.
    below, above: whether values lie beyond that end; the bar then marks it with ≤ or ≥.
    """

    lo: float
    hi: float
    log: bool = False
    root: bool = False
    below: bool = False
    above: bool = False

    @classmethod
    def over(cls, values: Tensor, color_range: tuple[float, float] | None = None, log: bool | None = None) -> ColorScale:
        """The scale of the finite `values`, or of a given range; logarithmic where all are positive and span a decade.

        Without a range it ends at the 98th percentile where the values above that would take a quarter of it.
        """
        least, most = float(values.min()), float(values.max())
        lo, hi = color_range or (least, most)
        scale = cls(lo, hi, (lo > 0 and hi / lo > 10) if log is None else log and lo > 0)
        if color_range is None and len(values) > 1:
            scale = scale._cut(float(values.double().quantile(CLIP)))
        return replace(scale, below=least < scale.lo, above=most > scale.hi)

    @classmethod
    def of(cls, surface: Surface, color_range: tuple[float, float] | None = None, log: bool | None = None) -> ColorScale:
        """The scale of a surface's finite values, or of a given range.  Raises ValueError where no value is finite."""
        finite = surface.values[torch.isfinite(surface.values)]
        if finite.numel() == 0:
            raise ValueError(
                f"the surface must have a finite value, got {surface.n_diverged} diverged cells: shrink the extent"
            )
        return cls.over(finite, color_range, log)

    def _cut(self, top: float) -> ColorScale:
        """The same, ending at `top` where that leaves out a large part of it."""
        (start, end), (cut,) = self.ends, self(torch.tensor([top], dtype=torch.float64)).tolist()
        return replace(self, hi=top) if end - cut > FAR * (end - start) and cut > start else self

    def __call__(self, values: Tensor) -> Tensor:
        """Values as the colours count them."""
        if self.root:
            return values.clamp_min(0).sqrt()
        return values.clamp_min(torch.finfo(values.dtype).tiny).log10() if self.log else values

    @property
    def ends(self) -> tuple[float, float]:
        """First and last value, as the colours count them."""
        if self.root:
            return math.sqrt(max(self.lo, 0.0)), math.sqrt(max(self.hi, 0.0))
        return (math.log10(self.lo), math.log10(self.hi)) if self.log else (self.lo, self.hi)

    def bar(self, label: str) -> dict:
        """A colour bar whose ticks are in the unit of the values."""
        ticks, texts = self._ticks()
        title = dict(text=label, side="right")
        return dict(title=title, thickness=14, outlinewidth=0, len=1.0, x=1.02, tickvals=ticks, ticktext=texts)

    def _ticks(self) -> tuple[list[float], list[str]]:
        if self.root:
            marks = [0.0, *(m * 10.0**e for e in range(-4, 6) for m in (1, 2, 5))]
            inside = [m for m in marks if self.lo <= m <= self.hi * 1.001]
            ticks, texts = [math.sqrt(m) for m in inside], [short(m) for m in inside]
        else:
            ticks, texts = (log_ticks if self.log else even_ticks)(self.lo, self.hi)
        (start, end), marked = self.ends, []
        marked += [(start, f"≤ {short(self.lo)}")] if self.below else []
        marked += [(end, f"≥ {short(self.hi)}")] if self.above else []
        room, kept = NEAR_END * (end - start), []
        taken = [place for place, _ in marked]
        order = sorted(zip(ticks, texts), key=lambda tick: (tick[0] != 0, -tick[0]))
        for place, text in order:  # small values crowd a scale of roots: 0 and the larger stay
            if all(abs(place - other) > (room if self.root or marked else 0) for other in taken):
                kept.append((place, text))
                taken += [place] if self.root else []
        places = sorted([*kept, *marked])
        return [p for p, _ in places], [t for _, t in places]

    def marker(self, values: Tensor | None) -> dict:
        """Colours of marks on this scale, without a bar; ink where there are no values."""
        if values is None:
            return dict(color=INK)
        lo, hi = self.ends
        return dict(color=numbers(self(values)), colorscale=LOSS_SCALE, cmin=lo, cmax=hi)


def first_draws(projection: Projection, n: int) -> Projection:
    """The first n samples of a projection."""
    values = None if projection.values is None else projection.values[:n]
    return replace(projection, coords=projection.coords[:n], distance=projection.distance[:n], values=values)


def values_of(projection: Projection) -> Tensor:
    """True losses (S,), NaN where none were computed."""
    return torch.full_like(projection.distance, math.nan) if projection.values is None else projection.values
