"""Checks of what a plot takes; their errors name the verb that returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from flatviz.checks import check_is
from flatviz.results import Curve, Persistence, Prediction, Projection, Sharpness, Spectrum, Surface

MADE_BY = {
    Surface: "slice_plane returns one",
    Curve: "slice_line and slice_path return one",
    Spectrum: "top_eigenpairs returns one",
    Projection: "project returns one",
    Prediction: "predict returns one",
    Sharpness: "sharpness returns one",
    Persistence: "persistence returns one",
}


def check_noun(value: object, kind: type, name: str) -> None:
    """One result of this kind."""
    check_is(value, kind, name, MADE_BY[kind])


def check_on(surface: object, projection: object) -> None:
    """A surface, and what is drawn on it, if anything: a projection onto the same plane."""
    check_noun(surface, Surface, "surface")
    if projection is None:
        return
    check_noun(projection, Projection, "projection")
    here, there = surface.plane, projection.plane
    if here is not there and not (torch.equal(here.origin, there.origin) and torch.equal(here.axes, there.axes)):
        raise ValueError("projection and surface live in different planes: project onto surface.plane")


def one_or_several(value: Any, kind: type, name: str) -> list:
    """A list of results of this kind, from one or a sequence of them."""
    results = list(value) if isinstance(value, Sequence) else [value]
    for one in results:
        check_noun(one, kind, name)
    return results


def by_method(value: Any, kind: type, name: str) -> dict[str | None, Any]:
    """Method -> result of this kind, from a mapping, or from one result (of no method: None)."""
    results = dict(value) if isinstance(value, Mapping) else {None: value}
    for one in results.values():
        check_noun(one, kind, name)
    return results
