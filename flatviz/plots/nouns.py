"""What a plot draws together: results of one plane, one or several results, results by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from flatviz.results import Projection, Surface


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


def by_method(value: Any) -> dict[str | None, Any]:
    """Method -> result, from a mapping, or from one result (of no method: None)."""
    return dict(value) if isinstance(value, Mapping) else {None: value}
