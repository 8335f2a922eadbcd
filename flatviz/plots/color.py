"""Colours of a loss on one scale for surfaces and samples, and the marks of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from flatviz.catalog import Look
from flatviz.plots.theme import (
    INK,
    LOSS_SCALE,
    Figure,
    Property,
    even_ticks,
    log_ticks,
    numbers,
    points,
    scatter,
    short,
    span_of,
)
from flatviz.results import Projection

# Share of a surface's cells that the colours resolve, where the highest few take much of the scale
CLIP = 0.98
FAR = 0.25  # share of the scale that those few must take before it is cut
NEAR_END = 0.1  # share of the scale next to a marked end without ticks


@dataclass(frozen=True)
class ColorScale:
    """Colours from `lo` to `hi`, in the unit of the values.

    Args:
        log: Linear in powers of ten.
        root: Linear in square roots, so that a quadratic bowl is a cone.
        below, above: Whether values lie beyond that end; the bar then marks it with ≤ or ≥.
    """

    lo: float
    hi: float
    log: bool = False
    root: bool = False
    below: bool = False
    above: bool = False

    @classmethod
    def over(
        cls,
        values: Tensor,
        color_range: tuple[float, float] | None = None,
        log: bool | None = None,
    ) -> ColorScale:
        """Build the scale of the finite `values`, or of a given range.

        It is logarithmic where all are positive and span a decade.  Without a range it ends at the
        98th percentile where the values above that would take a quarter of it.

        Raises:
            ValueError: Where no value is finite.
        """
        finite = values[values.isfinite()]
        if not len(finite):
            raise ValueError(
                f"the surface must have a finite value, got {values.numel()} diverged cells: shrink"
                " the extent"
            )
        lowest, highest = span_of(finite)
        lo, hi = color_range or (lowest, highest)
        if log is None:
            log = lo > 0 and hi / lo > 10
        scale = cls(lo, hi, log=log and lo > 0)
        if color_range is None and len(finite) > 1:
            top = finite.double().quantile(CLIP)
            scale = scale._cut(float(top))
        return replace(scale, below=lowest < scale.lo, above=highest > scale.hi)

    def _cut(self, top: float) -> ColorScale:
        """Return the same scale, ending at `top` where that leaves out a large part of it."""
        start, end = self.ends
        shorter = replace(self, hi=top)
        cut = shorter.ends[1]
        far = end - cut > FAR * (end - start)
        return shorter if far and cut > start else self

    def __call__(self, values: Tensor) -> Tensor:
        """Convert values to the scale's coordinate (log or root)."""
        if self.root:
            return values.clamp_min(0).sqrt()
        if self.log:
            tiny = torch.finfo(values.dtype).tiny
            return values.clamp_min(tiny).log10()
        return values

    @property
    def ends(self) -> tuple[float, float]:
        """Return the first and last value in the scale's coordinate."""
        lo, hi = self._places([self.lo, self.hi])
        return lo, hi

    def _places(self, values: list[float]) -> list[float]:
        return self(torch.tensor(values, dtype=torch.float64)).tolist()

    def bar(self, label: str) -> dict:
        """Describe a colour bar whose ticks are in the unit of the values."""
        places, texts = zip(*self._ticks())
        title = dict(text=label, side="right")
        return dict(
            title=title,
            thickness=14,
            outlinewidth=0,
            len=1.0,
            x=1.02,
            tickvals=places,
            ticktext=texts,
        )

    def _ticks(self) -> list[tuple[float, str]]:
        """List position and text of each tick, none near a marked end."""
        start, end = self.ends
        labels = []
        if self.below:
            labels.append((start, f"≤ {short(self.lo)}"))
        if self.above:
            labels.append((end, f"≥ {short(self.hi)}"))
        taken = [place for place, _ in labels]
        near = NEAR_END * (end - start)
        values = self._marks()
        is_rounded = self.log or self.root or len(values) == 1
        ticks = list(zip(self._places(values), values))
        # 0 first, then from the largest: on a scale of roots small values are dense
        ticks.sort(key=lambda tick: (tick[0] != 0, -tick[0]))
        for place, value in ticks:
            if all(abs(place - other) > near for other in taken):
                text = short(value) if is_rounded else f"{value:.6g}"
                labels.append((place, text))
                if self.root:
                    taken.append(place)
        return sorted(labels)

    def _marks(self) -> list[float]:
        """List round values on the scale."""
        if self.log:
            return log_ticks(self.lo, self.hi)
        if not self.root:
            return even_ticks(self.lo, self.hi)
        steps = [m * 10.0**e for e in range(-4, 6) for m in (1, 2, 5)]
        return [mark for mark in [0.0, *steps] if self.lo <= mark <= self.hi * 1.001]

    def marker(self, values: Tensor | None) -> dict:
        """Describe colours of marks on this scale, without a bar; ink where there are no values."""
        if values is None:
            return dict(color=INK)
        lo, hi = self.ends
        return dict(
            color=numbers(self(values)),
            colorscale=LOSS_SCALE,
            cmin=lo,
            cmax=hi,
        )


def true_losses(projection: Projection) -> Tensor:
    """Return true losses (S,), NaN where none were computed."""
    if projection.values is None:
        return torch.full_like(projection.distance, math.nan)
    return projection.values


RING = 2.5  # px, width of the ring that shows the loss
RIM = 4.0  # px, by which the white rim with its line of ink is wider than the marker
# Not the theme's colours, which a page inverts on dark paper
LIGHT = "#fefefe"
OUTER = "#1e2832"


def add_samples(
    fig: Figure,
    coords: Tensor,
    size: Tensor | float,
    values: Tensor,
    scale: ColorScale | None,
    look: Look,
    **hovering: Property,
) -> None:
    """Add circles that follow the controls, one a draw: filled by method, ringed by true loss.

    A white rim with a line of ink separates them from any colour below.

    hovering: `hover` and `customdata` of the circles, as in `scatter`.
    """
    sizes = torch.as_tensor(size, dtype=torch.float32).expand(len(coords))
    follows = ["x", "y", "marker.size"]
    edge = dict(color=OUTER, width=1)
    # plotly's default opacity is 0.7 where sizes differ
    marker = dict(color=LIGHT, opacity=1, size=numbers(sizes + RIM), line=edge)
    rims = points(coords, "markers", "rim", marker=marker)
    fig.add_live(rims, *follows, rows="draws")
    ring = dict(width=RING, color=LIGHT)
    if scale is not None and bool(values.isfinite().any()):
        ring |= scale.marker(values)
        follows.append("marker.line.color")
    marker = dict(color=look.color, opacity=1, size=numbers(sizes), line=ring)
    samples = points(coords, "markers", "samples", marker=marker, **hovering)
    path = f"data.{len(fig.data)}.marker.color"
    fig.add_live(samples, *follows, "customdata", rows="draws")
    fig.follow({path: look.color}, rows="all", trace="samples")


def add_key(fig: Figure, look: Look) -> None:
    """Add an entry of the legend for the selected method, which follows the controls."""
    marker = dict(color=look.color, size=11, line=dict(color=OUTER, width=1))
    key = scatter([None], [None], "markers", look.label, legend=True, marker=marker)
    fig.add_live(key, "name", "marker.color")


def add_crosses(
    fig: Figure,
    coords: Tensor,
    look: Look,
    *,
    shown: bool,
) -> None:
    """Add small crosses of a method beside the selected one.

    shown: False where it is the selected one itself.
    """
    rim = f"{look.label}, rim"

    def add(size: int, color: str, name: str, **seen: Property) -> None:
        marker = dict(symbol="cross", size=size, color=color)
        cross = points(coords, "markers", name, marker=marker, visible=shown, **seen)
        fig.add_live(cross, "visible")

    add(12, OUTER, rim)
    add(10, LIGHT, rim)
    add(7, look.color, look.label, legend=True, hoverinfo="name")


def add_color_bar(fig: Figure, scale: ColorScale, label: str) -> None:
    """Add the colour bar of rings, for which plotly has none."""
    lowest = torch.tensor([scale.lo], dtype=torch.float64)
    bar = dict(showscale=True, colorbar=scale.bar(label), size=0.1)
    marker = scale.marker(lowest) | bar
    fig.add_trace(scatter([None], [None], "markers", "colours", marker=marker))
