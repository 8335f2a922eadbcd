"""The work behind a lab in stages: a rough family, the first one, members and bands on demand."""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from flatviz.core import Progress
from flatviz.families.family import extend, measure, repeat_family
from flatviz.families.members import Cell, Fitting, groups_of
from flatviz.pages.document import Json
from flatviz.posteriors import METHODS
from flatviz.results import Family, Member
from flatviz.widgets.members import member_name, views_in_sight
from flatviz.widgets.worker import Stopped, Weights, Worker

N_DRAWS = 30  # of each member, so the largest ensemble
# figures of a quick first family
COARSE = dict(n_draws=10, n_spectra=2, k=2, resolution=15, around_resolution=9)
STEPS = 20  # of a preview: a tenth of a whole fit or less
ROUGH_STEPS = 60  # of VI in the rough family
# labels of stages
ROUGH = "rough picture"
DRAWING = "drawing"
# work in steps of a fit of one gradient: of the rough family, of the figures of a member
ROUGH_WORK = 300.0
DRAWN = 150.0


@dataclass(frozen=True)
class Shown:
    """A family as a page gets it: members beside a note on them, and the views that are drawn.

    views: names; None for all.
    """

    family: Family
    note: str = ""
    views: Sequence[str] | None = None


def rough_family(fits: Fitting, radii: Mapping[str, Sequence[float]]) -> Shown | None:
    """Fit VI by a few steps and SA-BMA, at its default radius, by fewer; measure coarsely.

    None where a complete fit is hardly longer, where the family has other methods, and where this
    short fit fails: the complete fits report a network's errors.
    """
    steps = steps_of(fits, "vi")
    if steps <= 2 * ROUGH_STEPS or not {"vi", "sabma"} <= radii.keys():
        return None
    short = replace(fits, fit={**(fits.fit or {}), "steps": ROUGH_STEPS})
    radius = METHODS["sabma"].tuned(fits.net).radius
    try:
        start = short.member("vi", 0.0)
        members = [Member("vi", 0.0, METHODS["vi"].unit, start)]
        flat = fits.preview("sabma", radius, start, STEPS)
        if flat is not None:
            members.append(Member("sabma", radius, METHODS["sabma"].unit, flat))
        family = measured(fits, Family(tuple(members)), COARSE)
    except Exception:
        return None
    return Shown(family, f", rough: few of {steps:.0f} steps")


def steps_of(fits: Fitting, method: str) -> float:
    """Return the steps of a complete fit of a method."""
    return fits.keywords(method).get("steps", ROUGH_STEPS)


def measured(fits: Fitting, family: Family, measuring: Mapping[str, int]) -> Family:
    """Measure a family at the seed after that of its fits."""
    return measure(
        fits.net,
        fits.task,
        family,
        seed=fits.seed + 1,
        progress=fits.progress,
        **measuring,
    )


def first_family(
    fits: Fitting,
    radii: Mapping[str, Sequence[float]],
    measuring: Mapping[str, int],
    fail: Callable[[str, float, Exception], None],
) -> Family:
    """Fit all radii, without those that fail, and measure them."""
    return measured(fits, fits.family(radii, fail=fail), measuring)


def preview_of(
    fits: Fitting,
    family: Family,
    method: str,
    radius: float,
    look: Mapping[str, Json],
) -> Shown | None:
    """Fit `STEPS` steps from the nearest member and measure what is in sight.

    The rest waits for the complete fit.  None for a method that cannot start at a posterior.
    """
    near = family[family.index(method, radius)]
    q = fits.preview(method, radius, near.posterior, STEPS)
    if q is None:
        return None
    sight = views_in_sight(family, look)
    needs = [name for view in sight for name in view.needs]
    note = f", preview: {STEPS} steps from radius {near.radius:.3g}"
    part = extend(fits, family, method, radius, q, needs)
    return Shown(part, note, [view.name for view in sight])


def work_of_family(
    fits: Fitting, radii: Mapping[str, Sequence[float]], measuring: Mapping[str, int]
) -> Weights:
    """Expected work of `rough_family` and `first_family`, in steps of a fit of one gradient."""
    asked = [(method, radius) for method, some in radii.items() for radius in some]
    cells = dict.fromkeys(fits.key(*cell) for cell in asked)
    fitting = []
    for method, some in groups_of(cells, together=True):
        gradients = len(some)  # of a step; a perturbation takes a second one
        if METHODS[method].look.perturbation:
            gradients += sum(radius > 0 for radius in some)
        fitting.append(steps_of(fits, method) * gradients)
    sizes = {"n_spectra": 5, "resolution": 41, "around_resolution": 31} | dict(measuring)
    member = 40 * sizes["n_spectra"] + sizes["around_resolution"] ** 2 / 5
    return {
        ROUGH: [ROUGH_WORK],
        "fitting": fitting,
        "surface": [sizes["resolution"] ** 2 / 20],
        "measuring": [member] * len(cells),
        DRAWING: [DRAWN * len(cells)],
    }


class Audience(Protocol):
    """The part of a lab that its session reports to, from the session's thread."""

    look: Mapping[str, Json]  # state of the page, for what is in sight

    def settle(self, family: Family) -> None:
        """Move the controls to members of this family, which is shown next."""

    def show(self, shown: Shown) -> None:
        """Show a rough or a whole family in place of the one before."""

    def add(self, shown: Shown) -> None:
        """Show the last member of the family too."""

    def report(self, share: float, text: str) -> None:
        """Show the share that is done, and of what."""


class Session:
    """Fits and measures behind a lab, the newest request in place of what runs.

    `family` holds what was fitted, `error` what went wrong, "" for nothing.
    """

    def __init__(
        self,
        fits: Fitting,
        radii: Mapping[str, Sequence[float]],
        measuring: Mapping[str, int],
        audience: Audience,
    ) -> None:
        self.fits = fits
        self.radii = radii
        self.measuring = measuring
        self.family: Family | None = None
        self.error = ""
        self._audience = audience
        self._lock = threading.RLock()
        self._worker = Worker(self.report)
        self._under_way: Sequence[Cell] = ()
        self.stop = self._worker.stop
        self.close = self._worker.close
        self.wait = self._worker.wait

    @property
    def busy(self) -> bool:
        """Whether anything is fitted or measured."""
        return self._worker.busy

    def require_family(self) -> Family:
        """Return the family.  Raises ValueError before the first one is there."""
        if self.family is None:
            raise ValueError(
                "the lab must have its first family, got none yet: call lab.wait() first"
            )
        return self.family

    def take(self, family: Family) -> None:
        """Show a whole measured family."""
        self._audience.settle(family)
        self.family = family
        self._audience.show(Shown(family))

    def start(self) -> None:
        """Fit the first family."""
        weights = work_of_family(self.fits, self.radii, self.measuring)
        self._begin("first family", self._first, weights)

    def repeat(self, seeds: int) -> None:
        """Fit every member again with so many more seeds."""
        self.require_family()
        self._under_way = ()
        first = self.fits.seed + 1
        more = range(first, first + seeds)
        self._begin(
            "bands over seeds",
            lambda fits: self.take(repeat_family(fits, self.require_family(), more)),
        )

    def fit(self, cells: Sequence[Cell], *, again: bool = False) -> None:
        """Fit those of the cells that are missing; where none is, stop what was asked for before.

        again: leave the work of another kind that runs.
        """
        family = self.family
        if family is None:
            return
        missing = [cell for cell in cells if _lacks(family, *cell)]
        if missing == self._under_way and self.busy:
            return
        if missing:
            self._under_way = missing
            names = " and ".join(member_name(*cell) for cell in missing)
            self._begin(names, lambda fits: self._fit_all(missing, fits))
        elif self._under_way and not again:
            self._under_way = ()
            self.stop()  # the reader moved on to a radius that is fitted

    def report(self, share: float, text: str) -> None:
        """Report from the thread of the work or from that of the lab, one after the other."""
        with self._lock:
            self._audience.report(share, text)

    def _begin(
        self,
        name: str,
        work: Callable[[Fitting], object],
        weights: Weights | None = None,
    ) -> None:
        self.error = ""
        fits = self.fits

        def noting_errors(progress: Progress) -> None:
            try:
                work(replace(fits, progress=progress))
            except Stopped:
                raise
            except BaseException as error:  # SystemExit and KeyboardInterrupt of a user's code too
                if not self.error:  # otherwise that of each member is there
                    self.error = f"{name}: {type(error).__name__}: {error}"
                raise

        self._worker.submit(name, noting_errors, weights)
        self.report(0.0, f"{name}: fitting")

    def _first(self, fits: Fitting) -> None:
        quiet = replace(fits, progress=_quiet(fits.progress))
        rough = rough_family(quiet, self.radii)
        if rough is not None:
            self._audience.show(rough)
        family = first_family(fits, self.radii, self.measuring, self._fail)
        if callable(fits.progress):
            fits.progress(0, 1, DRAWING)
        self.take(family)

    def _fit_all(self, cells: Sequence[Cell], fits: Fitting) -> None:
        for method, radius in cells:
            try:
                before = self.require_family()
                preview = preview_of(fits, before, method, radius, self._audience.look)
                if preview is not None:
                    self._audience.add(preview)
                q = fits.member(method, radius)
                self.family = extend(fits, before, method, radius, q)
            except Exception as error:
                self._fail(method, radius, error)
                raise
            self._audience.add(Shown(self.family))

    def _fail(self, method: str, radius: float, error: Exception) -> None:
        """Keep what a page shows whole."""
        line = f"{member_name(method, radius)}: {type(error).__name__}: {error}"
        self.error = "\n".join(filter(None, [self.error, line]))


def _lacks(family: Family, method: str, radius: float) -> bool:
    """Whether a member at this radius could be fitted and is not there."""
    if method not in family.methods or len(family.radii(method)) < 2:
        return False
    near = family[family.index(method, radius)].radius
    return not math.isclose(radius, near, rel_tol=1e-6)


def _quiet(progress: Progress) -> Progress:
    """Report the rough stage as one step: Stop is heard, and the bar is of the whole."""
    if not callable(progress):
        return progress
    return lambda done, total, label: progress(0, 1, ROUGH)
