"""What a plot draws together: results of one plane, one or several results, results by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flatviz.results import Spectrum


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
