"""What a plot draws together: results of one plane, one or several results, results by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from flatviz.results import Projection, Spectrum, Surface, interval


def check_on(surface: Surface, projection: Projection | None) -> None:
    """That what is drawn on a surface is a projection onto the same plane."""
    if projection is None:
        return
    here, there = surface.plane, projection.plane
    if here is not there and not (torch.equal(here.origin, there.origin) and torch.equal(here.axes, there.axes)):
        raise ValueError("projection and surface live in different planes: project onto surface.plane")


def one_or_several(value: Any) -> list:
    """A list of results, from one or a sequence of them."""
    return list(value) if isinstance(value, Sequence) else [value]


def by_method(value: Any, wanted: str) -> dict[str | None, Any]:
    """Method -> result, from a mapping, or from one result (of no method: None).  Raises ValueError for none; `wanted`: what it is."""
    if isinstance(value, Mapping) and not value:
        raise ValueError(f"a figure by method needs at least one {wanted}, got none")
    return dict(value) if isinstance(value, Mapping) else {None: value}


def mean_lambda1(spectra: Sequence[Spectrum]) -> float:
    """The largest eigenvalue, averaged over draws."""
    return sum(float(s.values[0]) for s in spectra) / len(spectra)


def over_seeds(curves: Tensor) -> tuple[Tensor, Tensor]:
    """Means (N,) over the seeds of curves (seeds, N), and halves of their 95 % intervals, NaN for one seed."""
    means, halves = zip(*(interval(column) for column in curves.T))
    return torch.tensor(means), torch.tensor(halves)


def said_of_seeds(seeds: int, drawn: str) -> str:
    """What a figure says of its seeds; `drawn`: what shows their interval."""
    return f"{seeds} seeds, {drawn}: 95 % interval of the mean" if seeds > 1 else "one seed, so no interval"
