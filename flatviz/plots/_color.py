"""The colour of a loss: one scale for surfaces and samples, linear or logarithmic."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.plots._theme import LOSS_SCALE, log_ticks, numbers
from flatviz.results import Projection


def values_of(projection: Projection) -> Tensor:
    """True losses (S,), NaN where none were computed."""
    return torch.full_like(projection.distance, math.nan) if projection.values is None else projection.values


def scaled(values: Tensor, log: bool) -> object:
    """Values as the colour axis counts them."""
    return numbers(values.clamp_min(torch.finfo(values.dtype).tiny).log10() if log else values)


def color_axis(lo: float, hi: float, log: bool, label: str) -> dict:
    """The shared colour scale, with ticks in the values' own unit."""
    bar = dict(title=dict(text=label, side="right"), thickness=14, outlinewidth=0, len=0.96)
    if not log:
        return dict(colorscale=LOSS_SCALE, cmin=lo, cmax=hi, colorbar=bar)
    ticks, texts = log_ticks(lo, hi)
    return dict(
        colorscale=LOSS_SCALE, cmin=math.log10(lo), cmax=math.log10(hi), colorbar=bar | dict(tickvals=ticks, ticktext=texts)
    )
