"""The members of a lab's family: which are fitted first, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flatviz.catalog import NO_UNIT
from flatviz.core.net import Net
from flatviz.plots.theme import style
from flatviz.posteriors import METHODS

STEPS_PER_DECADE = 10


def first_radii(net: Net) -> dict[str, tuple[float, ...]]:
    """Methods and radii that a lab fits before anybody moves a slider; each method's default radius is among them."""
    radii = {}
    for name, method in METHODS.items():
        if (tuned := method.tuned(net)).lab:
            default = () if method.unit == NO_UNIT else (tuned.radius,)
            radii[name] = tuple(sorted({*tuned.lab, *default}))
    return radii


def coarse_radii(net: Net) -> dict[str, tuple[float, ...]]:
    """The few members that a lab fits first when time is short: VI, and SA-BMA at its default radius; others on demand."""
    return {"vi": (0.0,), "sabma": (0.0, METHODS["sabma"].tuned(net).radius)}


def log_stops(radii: Sequence[float], largest: float = 0.0) -> list[float]:
    """Radii that a slider offers beside these fitted ones: 0, then log steps up to `largest` (0: twice the largest fitted)."""
    first = sorted(r for r in radii if r > 0)
    low = math.floor(STEPS_PER_DECADE * math.log10(first[0] / 4))
    high = math.floor(STEPS_PER_DECADE * math.log10(largest or 2 * first[-1]))
    steps = [float(f"{10 ** (i / STEPS_PER_DECADE):.2g}") for i in range(low, high + 1)]
    return [0.0, *(s for s in steps if min(abs(s / r - 1) for r in first) > 0.06)]


def member_name(method: str, radius: float) -> str:
    """Method and radius as a reader knows them."""
    return f"{style(method).label}, radius {radius:.3g}" if METHODS[method].unit != NO_UNIT else style(method).label
