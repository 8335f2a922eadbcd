"""The members of a lab's family: which are fitted first, what they are called, and how those that fail are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from flatviz.catalog import NO_UNIT
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.families.choice import Choices
from flatviz.families.members import family_of, fit_member, same_member
from flatviz.plots.theme import style
from flatviz.posteriors import METHODS
from flatviz.results import Family, Gaussian, Posterior
from flatviz.widgets.worker import Stopped

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


def fit_each(
    net: Net,
    task: Task,
    prior: Gaussian,
    radii: Mapping[str, Sequence[float]],
    fail: Callable[[str, float, Exception], None],
    *,
    seed: int,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
) -> Family:
    """The family that `fit_family` makes, its members fitted one after the other; `fail` is called with those that raise.

    Raises:
        Stopped: Where the user stopped it.
        Exception: The first error, where all members fail.
    """
    fitted: dict[tuple[str, float], Posterior | Exception] = {}
    asked = [(method, float(r)) for method, values in radii.items() for r in values]
    for key in dict.fromkeys(same_member(*cell, tuned) for cell in asked):
        try:
            fitted[key] = fit_member(net, task, prior, *key, seed=seed, fit=fit, tuned=tuned, progress=progress)
        except Stopped:
            raise
        except Exception as error:  # whatever a network of the user's raises
            fitted[key] = error
            fail(*key, error)
    kept = [(m, r, q) for m, r in asked if not isinstance(q := fitted[same_member(m, r, tuned)], Exception)]
    if not kept:
        first = next(iter(fitted.values()))
        raise first
    return family_of([cell for *cell, _ in kept], [q for *_, q in kept])
