"""The live laboratory: sliders for radius and ensemble size, and fits on demand."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import ipywidgets
import traitlets

from flatviz.catalog import TEMPERATURE
from flatviz.checks import check_count, check_is, check_radius
from flatviz.families.convergence import ConvergenceGap, gap_of_member
from flatviz.families.members import Cell, Fitting, Radii
from flatviz.pages.bundle import check_measured
from flatviz.pages.document import Json
from flatviz.pages.page import family_page
from flatviz.posteriors import METHODS
from flatviz.results import Family
from flatviz.storage.files import write_text
from flatviz.widgets.members import LOOK, check_look, first_radii, log_stops
from flatviz.widgets.session import N_DRAWS, Session, Shown
from flatviz.widgets.view import (
    CONTROLS,
    NOT_DRAWN,
    FamilyView,
    register,
    show_snapshot,
    snapshot,
    snapshot_html,
)
from flatviz.words import check_choice

SLIDERS = ("method", "radius", "n_draws")
FITTED = ("radius", "method", "look")  # controls at whose values a member is fitted


class Lab(ipywidgets.VBox):
    """Surface with samples, eigenvalues, scores and reliability of a family of posteriors, live.

    fits: network, task, prior, seed and settings of every fit; `fv.lab` makes them of what it is
    given. family: one that `fv.families.measure` returned; without it `run` fits one in the
    background. radii: method -> radii of that first family.  The slider starts at the
    radius that was tuned for the method. measuring: settings of `fv.families.measure` for the first
    family, where fewer draws or points must do. The traits `radius`, `n_draws`, `method` and `look`
    are those of the controls, `state` holds them all as a dict that can be set again.  A radius
    that is not fitted yet is fitted in the background, on the planes and scales of the family; Stop
    ends that.  `lab.family` holds all members fitted so far, `lab.wait()` returns when the
    background is idle, `lab.error` is what went wrong there, "" for nothing, `lab.status` the line
    beside the progress bar; what was fitted before stays. `lab.to_html(path)` writes a page that
    needs no kernel; `lab.repeat()` adds bands over seeds; `lab.convergence()` measures the gap;
    `lab.made` lists the steps of `fv.lab`.  A cell that runs again closes its former lab. Raises
    ValueError for a trait that the controls could not have.
    """

    radius = traitlets.Float(1.0)
    n_draws = traitlets.Int(10)
    method = traitlets.Unicode("sabma")
    look = traitlets.Dict()
    _ready = False  # set when the arguments are stored
    made: tuple[str, ...] = ()

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
        fits = replace(fits, net=net, progress=False)
        radii = fits.radii(radii or first_radii(net))
        if family is not None:
            check_measured(family)
        self._tuned = {name: method.tuned(net) for name, method in METHODS.items()}
        self._methods = tuple(radii)
        measuring = {"n_draws": N_DRAWS} | dict(measuring or {})
        self._session = Session(fits, radii, measuring, self)
        self._most = measuring["n_draws"]
        self.status = ""
        self._has_snapshot = False
        self.view = FamilyView(self._checked, self._on_request)
        super().__init__([self.view])
        for name in CONTROLS:
            traitlets.link((self, name), (self.view, name))
        chosen = fits.choice(self.method).radius
        if chosen is not None:
            self.radius = chosen
        self._ready = True
        self.view.observe(self._fit_shown, names=list(FITTED))
        register(self)
        if family is not None:
            self._session.take(family)
            self._session.report(1.0, "ready")

    @traitlets.validate("radius", "n_draws", "method", "look")
    def _validate_control(self, proposal: dict) -> object:
        return self._checked(proposal["trait"].name, proposal["value"])

    def _checked(self, name: str, value: Json) -> object:
        """Return a value that this control may have."""
        if name == "radius":
            return check_radius(value, "radius")
        if name == "method":
            return check_choice(value, self._methods, "method")
        if name == "look":
            return check_look(value, self._methods)
        if check_count(value, "n_draws") > self._most:
            raise ValueError(
                f"n_draws must be at most {self._most}, the draws of each member, got {value}:"
                " lower it, or give a family that fv.families.measure made with a larger n_draws"
            )
        return value

    @property
    def state(self) -> dict[str, Json]:
        """The values of the controls, as a dict.

        Setting all names or some changes them: `lab.state = {"radius": 2.0}`.
        """
        controls = {name: getattr(self, name) for name in SLIDERS}
        return controls | LOOK | self.look

    @state.setter
    def state(self, wanted: Mapping[str, object]) -> None:
        for name in wanted:
            check_choice(name, (*SLIDERS, *LOOK), "a name of state")
        state = self.state | dict(wanted)
        controls = {name: state[name] for name in SLIDERS if name in wanted}
        controls["look"] = {name: state[name] for name in LOOK}
        for name, value in controls.items():  # all are checked before any is set
            self._checked(name, value)
        for name, value in controls.items():
            setattr(self, name, value)

    @property
    def family(self) -> Family | None:
        """All members fitted so far; None before the first family is there."""
        return self._session.family

    @property
    def error(self) -> str:
        """Error of the work in the background, "" for none."""
        return self._session.error

    def run(self) -> None:
        """Fit what is missing: the first family, or the radii that the controls show."""
        if self.family is None:
            self._session.start()
        else:
            self._session.fit(self._cells(), again=True)

    def repeat(self, seeds: int = 2) -> None:
        """Fit every member again with further seeds in the background, for bands over seeds.

        A request for another fit ends that.
        """
        check_count(seeds, "seeds")
        self._session.repeat(seeds)

    def convergence(self) -> ConvergenceGap:
        """Measure the convergence of the member nearest to the controls, by `convergence_gap`.

        It takes a fit of four times its steps.

        Raises:
            ValueError: Before the first family is fitted, and for a method without this gap.
        """
        family = self._session.require_family()
        member = family[family.index(self.method, self.radius)]
        return gap_of_member(self._session.fits, member)

    def stop(self) -> None:
        """Stop the work in the background, after the step in progress.

        Members fitted so far stay.
        """
        self._session.stop()

    def close(self) -> None:
        """Stop for good, and remove the lab from every page; `family` stays."""
        if self._ready:
            self._session.close()
            for widget in (self.view.layout, self.layout, self.view):
                widget.close()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the background is idle; False if that took longer than `timeout` seconds."""
        return self._session.wait(timeout)

    @property
    def busy(self) -> bool:
        """Whether anything is fitted or measured."""
        return self._session.busy

    @property
    def stops(self) -> dict[str, list[float]]:
        """Radii that each method's slider offers beside the fitted ones: 0, then log steps."""
        stops = {}
        for method, radii in self._session.radii.items():
            if any(radii):
                of_method = log_stops(radii, self._tuned[method].largest)
                if METHODS[method].unit == TEMPERATURE:
                    of_method = of_method[1:]  # T = 0 is no temperature
                stops[method] = of_method
        return stops

    def to_html(self, path: str | Path, *, title: str = "flatviz: a family of posteriors") -> Path:
        """Write the members fitted so far as one page with the same controls.

        It needs no kernel and no network.

        Raises:
            ValueError: Before the first family is fitted.
        """
        family = self._session.require_family()
        fits = self._session.fits
        lead = (
            f"Posteriors over the {fits.net.dim} treated weights of a network on {fits.task.name}."
        )
        shown = dict(fits.fit or {})
        if fits.lr_scale != 1:
            shown["lr_scale"] = fits.lr_scale
        settings = ", ".join(f"{name} {value}" for name, value in shown.items())
        page = family_page(
            family,
            title=title,
            lead=lead,
            facts={"network": repr(fits.net), "settings": settings or "as tuned"},
            start=(self.method, self.radius, self.n_draws),
            code=["# family: lab.family of the lab that wrote this page"],
            look=self.look,
        )
        return write_text(path, page)

    def _repr_mimebundle_(self, **kwargs: object) -> object:
        name = self.view.channel.model_id
        self._has_snapshot = show_snapshot(snapshot_html(name, NOT_DRAWN), name)
        self.view.appear()
        bundle = super()._repr_mimebundle_(**kwargs)
        # The snapshot shows it where no widget can be shown
        return bundle | {"text/plain": ""} if self._has_snapshot else bundle

    def _on_request(self, want: str, content: dict) -> None:
        """Answer a request of a page."""
        if want == "run":
            self.run()
        elif want == "seeds" and self.family is not None:
            self.repeat()
        elif want == "stop":
            self.stop()
        elif self._has_snapshot:
            name = self.view.channel.model_id
            picture = snapshot(content, name)
            if picture:
                show_snapshot(picture, name, again=True)

    def _fit_shown(self, change: object) -> None:
        self._session.fit(self._cells())

    def _cells(self) -> list[Cell]:
        """Method and radius of A and B."""
        cells = [(self.view.method, self.view.radius)]
        other = self.view.look.get("compare")
        if other:
            cells.append((other["method"], float(other["radius"])))
        return cells

    def settle(self, family: Family) -> None:
        """Move the controls to members of this family, which is shown next."""
        self._methods = family.methods
        self._most = family.n_draws
        self.n_draws = min(self.n_draws, self._most)
        if self.method not in family.methods:
            self.method = family.methods[-1]
        nearest = family.index(self.method, self.radius)
        self.radius = family[nearest].radius

    def show(self, shown: Shown) -> None:
        """Show a rough or a whole family in place of the one before."""
        family = shown.family
        defaults = {}
        for method in family.methods:
            if method in self._tuned:
                nearest = family.index(method, self._tuned[method].radius)
                defaults[method] = family[nearest].radius
        self.view.show_family(
            family,
            stops=self.stops,
            live=True,
            code=["# lab: the Lab of this notebook", "family = lab.family"],
            defaults=defaults,
            note=shown.note,
        )

    def add(self, shown: Shown) -> None:
        """Show the last member of the family too."""
        last = [len(shown.family) - 1]
        self.view.add_members(shown.family, last, note=shown.note, only=shown.views)

    def report(self, share: float, text: str) -> None:
        """Show the share that is done, and of what."""
        self.status = text
        self.view.show_status(share, text, self.busy, self.error)
