"""Words that pictures share: titles, numbers with their nouns, what a share is of."""

from __future__ import annotations

import torch

from flatviz.results import Plane, Spectrum, Surface


def title_of(surface: Surface) -> str:
    """What is drawn over which plane."""
    return f"{capital(surface.label)}, {surface.plane.name}"


def capital(text: str) -> str:
    """The same, beginning with a capital; other letters stay."""
    return text[0].upper() + text[1:]


def ends_text(surface: Surface) -> str:
    """The lowest and the highest finite value."""
    finite = surface.values[torch.isfinite(surface.values)]
    return f"from {finite.min():.3g} to {finite.max():.3g}"


def share_of(plane: Plane) -> str:
    """What `explained` is a share of: variance where the origin is the mean (PCA of draws), else squared distance."""
    draws = plane.name.startswith("PCA") and "path" not in plane.name
    return "variance" if draws else "squared distance"


def ends_of(spectrum: Spectrum) -> str:
    """Which end of the spectrum was asked for: the order of the values says it."""
    return "smallest" if spectrum.values[0] < spectrum.values[-1] else "largest"


def matrix_of(spectrum: Spectrum) -> str:
    """Of which matrix the eigenvalues are."""
    return {"hessian": "Hessian", "ggn": "Gauss-Newton", "fisher": "empirical Fisher"}[spectrum.curvature]


def counted(n: int, thing: str) -> str:
    """1 valley, 2 valleys."""
    return f"{n} {thing}{'s' * (n != 1)}"
