"""The live laboratory: sliders for radius and ensemble size, and fits on demand.

Its parts are read together (hence its length).
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets

from flatviz.catalog import TEMPERATURE
from flatviz.checks import check_count, check_is, check_radius
from flatviz.core import Progress
from flatviz.families.convergence import ConvergenceGap, gap_of_member
from flatviz.families.family import extend, measure, repeat_family
from flatviz.families.members import Fitting, Radii
from flatviz.pages.bundle import check_measured
from flatviz.pages.page import family_page
from flatviz.posteriors import METHODS
from flatviz.results import Family
from flatviz.storage.files import write_text
from flatviz.widgets.members import (
    LOOK,
    check_look,
    first_radii,
    log_stops,
    member_name,
    show_preview,
)
from flatviz.widgets.view import (
    CONTROLS,
    NOT_DRAWN,
    FamilyView,
    register,
    show_still,
    still,
    still_html,
)
from flatviz.widgets.worker import Worker
from flatviz.words import check_choice

N_DRAWS = 30  # of each member, so the largest ensemble


class Lab(ipywidgets.VBox):
    """Surface with samples, eigenvalues, scores and reliability of a family of posteriors, live.

    `fv.lab` makes one.  The traits `radius`, `n_draws`, `method` and `look` are the controls;
    `state` holds them all as a dict that can be set again.  A radius that is not fitted yet is
    fitted in the background, on the planes and scales of the family; Stop ends that.  A cell that
    runs again closes its former lab.

    `lab.family` has all members fitted so far.  `lab.wait()` returns when the background is idle,
    `lab.error` is the text of an error there ("" for none), `lab.status` the line beside the
    progress bar.  `lab.to_html(path)` writes a page that needs no kernel; `lab.repeat()` adds bands
    over seeds; `lab.convergence()` measures the gap; `lab.made` lists the steps of `fv.lab`.

    Args:
        fits: Network, task, prior, seed and settings of every fit.
        family: A result of `fv.families.measure`; without it a coarse one is fitted in the
            background at once.
        radii: Method -> radii of that first family.  The slider starts at the method's tuned
            radius.
        measuring: Settings of `fv.families.measure` for the first family, for fewer draws or
            points.

    Raises ValueError for a trait that the controls could not have.
    """

    radius = traitlets.Float(1.0)
    n_draws = traitlets.Int(10)
    method = traitlets.Unicode("sabma")
    look = traitlets.Dict()
    _ready = False  # set when the arguments are stored
    made: tuple[str, ...] = ()
    _under_way: Sequence[tuple[str, float]] = ()

    def __init__(
        self,
        fits: Fitting,
        *,
        family: Family | None = None,
        radii: Radii | None = None,
        measuring: Mapping | None = None,
    ) -> None:
        check_is(
            fits,
            Fitting,
            "fits",
            "fv.lab makes a lab of what fv.transfer returned, or of any network",
        )
        net = fits.net.copy()
        self._fits = replace(fits, net=net, progress=False)
        self._radii = self._fits.radii(radii or first_radii(net))
        if family is not None:
            check_measured(family)
        self._tuned = {name: m.tuned(net) for name, m in METHODS.items()}
        self._measuring = {"n_draws": N_DRAWS, **(measuring or {})}
        self._methods = tuple(self._radii)
        self._most = self._measuring["n_draws"]
        self.family: Family | None = None
        self.error = ""
        self.status = ""
        self._kept_still = False
        self.view = FamilyView(self._checked, self._hear)
        super().__init__([self.view])
        for name in CONTROLS:
            traitlets.link((self, name), (self.view, name))
        if (chosen := self._fits.choice(self.method).radius) is not None:
            self.radius = chosen
        self._ready = True
        self._worker = Worker(self._report)
        self._report_lock = threading.RLock()
        self.view.observe(lambda _: self._wanted(), names=["radius", "method", "look"])
        register(self)
        if family is None:
            self.run()
        else:
            self._take(family)
            self._report(1.0, "ready")

    @traitlets.validate("radius", "n_draws", "method", "look")
    def _validate_control(self, proposal: dict) -> object:
        return self._checked(proposal["trait"].name, proposal["value"])

    def _checked(self, name: str, value: Any) -> object:
        """Return a value that this control may have."""
        if name == "radius":
            return check_radius(value, "radius")
        if name == "method":
            return check_choice(value, self._methods, "method")
        if name == "look":
            return check_look(value, self._methods)
        if name == "n_draws" and check_count(value, "n_draws") > self._most:
            more = "lower it, or give a family that fv.families.measure made with a larger n_draws"
            raise ValueError(
                f"n_draws must be at most {self._most}, the draws of each member, got {value}:"
                f" {more}"
            )
        return value

    @property
    def state(self) -> dict[str, Any]:
        """The values of the controls, as a dict.

        Setting all names or some changes them: `lab.state = {"radius": 2.0}`.
        """
        return {
            "method": self.method,
            "radius": self.radius,
            "n_draws": self.n_draws,
            **LOOK,
            **self.look,
        }

    @state.setter
    def state(self, wanted: Mapping[str, Any]) -> None:
        for name in wanted:
            check_choice(name, ("method", "radius", "n_draws", *LOOK), "a name of state")
        look = {name: value for name, value in (self.state | dict(wanted)).items() if name in LOOK}
        controls = {
            name: wanted[name] for name in ("method", "radius", "n_draws") if name in wanted
        } | {"look": look}
        for name, value in controls.items():  # all are checked before any is set
            self._checked(name, value)
        for name, value in controls.items():
            setattr(self, name, value)

    def run(self) -> None:
        """Fit what is missing: the first family, or the radii of the controls."""
        if self.family is not None:
            self._wanted(again=True)
            return
        self._begin("first family", self._first_family)

    def repeat(self, seeds: int = 2) -> None:
        """Fit every member again with further seeds in the background, for bands over seeds.

        A request for another fit ends that.
        """
        check_count(seeds, "seeds")
        self._known()
        self._under_way = ()
        self._begin("bands over seeds", lambda progress: self._repeat(seeds, progress))

    def convergence(self) -> ConvergenceGap:
        """Measure the convergence of the member nearest to the controls, by `convergence_gap`.

        It takes a fit of four times its steps.

        Raises:
            ValueError: Before the first family is fitted, and for a method without this gap.
        """
        family = self._known()
        return gap_of_member(self._fits, family[family.index(self.method, self.radius)])

    def stop(self) -> None:
        """Stop the work in the background, after the step in progress.

        Members fitted so far stay.
        """
        self._worker.stop()

    def close(self) -> None:
        """Stop for good, and remove the lab from every page; `family` stays."""
        if self._ready:
            self._worker.close()
            for widget in (self.view.layout, self.layout, self.view):
                widget.close()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the background is idle; False if that took longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    @property
    def busy(self) -> bool:
        """Whether anything is fitted or measured."""
        return self._worker.busy

    @property
    def stops(self) -> dict[str, list[float]]:
        """Radii that each method's slider offers beside the fitted ones: 0, then log steps."""
        stops = {m: log_stops(r, self._tuned[m].largest) for m, r in self._radii.items() if any(r)}
        # T = 0 is no temperature
        return {m: some[METHODS[m].unit == TEMPERATURE :] for m, some in stops.items()}

    def to_html(self, path: str | Path, *, title: str = "flatviz: a family of posteriors") -> Path:
        """Write the members fitted so far as one page with the same controls.

        It needs no kernel and no network.

        Raises:
            ValueError: Before the first family is fitted.
        """
        family = self._known()
        fits = self._fits
        lead = (
            f"Posteriors over the {fits.net.dim} treated weights of a network on {fits.task.name}."
        )
        scale = {} if fits.lr_scale == 1 else {"lr_scale": fits.lr_scale}
        shown = {**(fits.fit or {}), **scale}
        settings = ", ".join(f"{k} {v}" for k, v in shown.items()) or "as tuned"
        facts = {"network": repr(fits.net), "settings": settings}
        start = (self.method, self.radius, self.n_draws)
        code = ["# family: lab.family of the lab that wrote this page"]
        page = family_page(
            family, title=title, lead=lead, facts=facts, start=start, code=code, look=self.look
        )
        return write_text(path, page)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        name = self.view.channel.model_id
        self._kept_still = show_still(still_html(name, NOT_DRAWN), name)
        self.view.appear()
        bundle = super()._repr_mimebundle_(**kwargs)
        # The still shows it where no widget can be shown
        return bundle | {"text/plain": ""} if self._kept_still else bundle

    def _hear(self, want: str, content: dict) -> None:
        """Answer a request of a page."""
        if want == "run":
            self.run()
        elif want == "seeds" and self.family is not None:
            self.repeat()
        elif want == "stop":
            self.stop()
        elif self._kept_still and (picture := still(content, self.view.channel.model_id)):
            show_still(picture, self.view.channel.model_id, again=True)

    def _known(self) -> Family:
        """Return the family; a ValueError before the first one is there."""
        if self.family is None:
            raise ValueError(
                "the lab must have its first family, got none yet: call lab.wait() first"
            )
        return self.family

    def _first_family(self, progress: Progress) -> None:
        fits = replace(self._fits, progress=progress)
        family = fits.family(self._radii, fail=self._fail)
        family = measure(
            fits.net, fits.task, family, seed=fits.seed + 1, progress=progress, **self._measuring
        )
        self._take(family)

    def _take(self, family: Family) -> None:
        self._methods = family.methods
        self._most = family.n_draws
        self.n_draws = min(self.n_draws, self._most)
        if self.method not in family.methods:
            self.method = family.methods[-1]
        # The controls start at a fitted one
        self.radius = family[family.index(self.method, self.radius)].radius
        self.family = family
        defaults = {
            m: family[family.index(m, self._tuned[m].radius)].radius
            for m in family.methods
            if m in self._tuned
        }
        code = ["# lab: the Lab of this notebook", "family = lab.family"]
        self.view.show_family(family, stops=self.stops, live=True, code=code, defaults=defaults)

    def _repeat(self, seeds: int, progress: Progress) -> None:
        more = range(self._fits.seed + 1, self._fits.seed + seeds + 1)
        self._take(repeat_family(replace(self._fits, progress=progress), self._known(), more))

    def _missing(self) -> list[tuple[str, float]]:
        """Return method and radius of A and B, where they are not fitted."""
        other = self.view.look.get("compare")
        family = self.family
        places = [(self.view.method, self.view.radius)] + (
            [(other["method"], float(other["radius"]))] if other else []
        )
        if family is None:
            return []
        open_to = [(m, r) for m, r in places if m in family.methods and len(family.radii(m)) > 1]
        return [
            (m, r)
            for m, r in open_to
            if not any(math.isclose(r, have, rel_tol=1e-6) for have in family.radii(m))
        ]

    def _wanted(self, again: bool = False) -> None:
        """Fit the radii of the controls, where they are not fitted yet."""
        if self.family is None:
            return
        missing = self._missing()
        if missing == self._under_way and self._worker.busy:
            return
        if not missing:
            if self._under_way and not again:
                self._under_way = ()
                self._worker.stop()  # the controls now show a fitted radius
            return
        self._under_way = missing
        names = " and ".join(member_name(*cell) for cell in missing)
        self._begin(
            names, lambda progress: self._fit_all(missing, replace(self._fits, progress=progress))
        )

    def _fit_all(self, cells: Sequence[tuple[str, float]], fits: Fitting) -> None:
        for method, radius in cells:
            try:
                show_preview(fits, self._known(), method, radius, self._show_member, self.look)
                self.family = extend(
                    fits, self._known(), method, radius, fits.member(method, radius)
                )
            except Exception as error:
                self._fail(method, radius, error)
                raise
            self._show_member(self.family)

    def _show_member(self, family: Family, note: str = "", only: list[str] | None = None) -> None:
        self.view.add_members(family, [len(family) - 1], note=note, only=only)

    def _fail(self, method: str, radius: float, error: Exception) -> None:
        """Show an error and keep the figures."""
        line = f"{member_name(method, radius)}: {type(error).__name__}: {error}"
        self.error = "\n".join(filter(None, [self.error, line]))

    def _begin(self, name: str, work: Callable[[Progress], object]) -> None:
        """Do this in the background, in place of the work that runs there."""
        self.error = ""
        self._worker.submit(name, work)
        self._report(0.0, f"{name}: fitting")

    def _report(self, share: float, text: str) -> None:
        with self._report_lock:  # two threads call it, so reading and sending are locked together
            self.status = text
            self.view.show_status(share, text, self._worker.busy, self.error)
