"""The live laboratory: sliders for radius and ensemble size over posteriors that are fitted as you ask for them."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence

import ipywidgets
import traitlets

from flatviz.checks import check_choice, check_count, check_is, check_radius
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors import METHODS
from flatviz.results import Family, Gaussian
from flatviz.studies.choice import Choices, choice_of
from flatviz.studies.family import extend, fit_family, fit_member, measure, with_chosen
from flatviz.widgets.view import FamilyView
from flatviz.widgets.worker import Worker

STEPS_PER_DECADE = 10
N_DRAWS = 30  # of each member, so the largest ensemble


class FlatnessLab(ipywidgets.VBox):
    """Surface with samples, eigenvalues, scores and reliability of a family of posteriors, live.

    net, task, prior: what `transfer` returned, and the task whose `train` is fitted and whose `test` is scored.
    family: one that `fv.measure` returned; without it a coarse one is fitted in the background at once.
    radii: method -> radii of that first family; fit: settings of every fit (kl_weight, steps, lr ...), beside those at
    which a net of this kind learns (with BatchNorm a smaller lr and smaller radii); seed: of all.
    tuned: method -> settings and radius that `flatviz tune` chose, `flatviz.studies.choice.read_choices(path)`; the slider starts
    at that radius.
    The traits `radius`, `n_draws` and `method` are those of the controls.  A radius that is not fitted yet is fitted in
    the background, on the planes and scales of the family; Stop ends that.  `lab.family` holds all members fitted so far,
    `lab.wait()` returns when the background is idle.
    Raises ValueError where prior and net do not belong together, and for a trait that the controls could not have.
    """

    radius = traitlets.Float(1.0)
    n_draws = traitlets.Int(10)
    method = traitlets.Unicode("sabma")
    _worker: Worker | None = None
    _parts: tuple[ipywidgets.Widget, ...] = ()

    def __init__(
        self,
        net: Net,
        task: Task,
        prior: Gaussian,
        *,
        family: Family | None = None,
        radii: Mapping[str, Sequence[float]] | None = None,
        fit: Mapping | None = None,
        tuned: Choices | None = None,
        seed: int = 0,
    ) -> None:
        do = "use what fv.transfer returned"
        check_is(net, Net, "net", do)
        check_is(task, Task, "task", "it needs data to learn from and to be judged on, fv.Task(source, train, test, n_classes)")
        check_is(prior, Gaussian, "prior", do)
        if prior.dim != net.dim:
            raise ValueError(
                f"prior must cover the net's {net.dim} treated weights, got {prior.dim}: use what transfer returned"
            )
        self._net, self._task, self._prior = net.copy(), task, prior
        radii = dict(radii or {name: m.tuned(net).lab for name, m in METHODS.items() if m.tuned(net).lab})
        self._radii = with_chosen(radii, tuned)
        for method, values in self._radii.items():
            check_choice(method, tuple(METHODS), "a method of radii")
            for r in values:
                check_radius(r)
        if family is not None and (family.surface is None or not family.prediction):
            raise ValueError("family must be measured, got one without its surface: use what fv.measure returned")
        self._methods, self._most = tuple(self._radii), N_DRAWS
        self._largest = {name: m.tuned(net).largest for name, m in METHODS.items() if m.tuned(net).largest}
        self._fit, self._tuned, self._seed = dict(fit or {}), dict(tuned or {}), seed
        self.family: Family | None = None
        self.view = FamilyView(self._checked)
        self._button = ipywidgets.Button(description="Stop", icon="stop", layout=ipywidgets.Layout(width="90px"))
        self._bar = ipywidgets.FloatProgress(min=0, max=1, layout=ipywidgets.Layout(width="200px"))
        self._status = ipywidgets.Label("")
        row = ipywidgets.HBox([self._button, self._bar, self._status])
        super().__init__([row, self.view])
        styled = (self._button, self._bar, self._status)
        layouts = [w.layout for w in (*styled, row, self.view, self)]
        self._parts = (*styled, *(w.style for w in styled), *layouts, row, self.view)
        for name in ("radius", "n_draws", "method"):
            traitlets.link((self, name), (self.view, name))
        if (chosen := choice_of(tuned, self.method).radius) is not None:
            self.radius = chosen
        self._worker, self._button_lock = Worker(self._report), threading.RLock()
        self._button.on_click(lambda _: self.stop() if self._worker.busy else self.run())
        self.view.observe(lambda _: self._wanted(), names=["radius", "method"])
        if family is None:
            self.run()
        else:
            self._take(family)
            self._report(1.0, "ready")

    @traitlets.validate("radius", "n_draws", "method")
    def _validate_control(self, proposal: dict) -> object:
        return self._checked(proposal["trait"].name, proposal["value"])

    def _checked(self, name: str, value: object) -> object:
        """A value that this control may have."""
        if name == "radius":
            return check_radius(value)
        if name == "method":
            return check_choice(value, self._methods, "method")
        if name == "n_draws" and check_count(value, "n_draws") > self._most:
            more = "lower it, or give a family that fv.measure made with a larger n_draws"
            raise ValueError(f"n_draws must be at most {self._most}, the draws of each member, got {value}: {more}")
        return value

    def run(self) -> None:
        """Fit what is missing: the first family, or the radius that the slider stands at."""
        if self.family is not None:
            self._wanted(again=True)
            return
        self._worker.submit("family", self._first_family)
        self._show_button()

    def stop(self) -> None:
        """Stop what runs in the background, after the step in progress; members fitted so far stay."""
        self._worker.stop()

    def close(self) -> None:
        """Stop for good, and remove the lab from every page; `family` stays."""
        if self._worker is not None:  # else its arguments were refused
            self._worker.close()
        for widget in self._parts:
            widget.close()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Until the background is idle; False if that took longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    @property
    def status(self) -> str:
        """The line beside the progress bar."""
        return self._status.value

    @property
    def stops(self) -> dict[str, list[float]]:
        """Radii that each method's slider offers beside the fitted ones: 0, then log steps."""
        stops = {}
        for method, radii in self._radii.items():
            first = sorted(r for r in radii if r > 0)
            if not first:
                continue
            low = math.floor(STEPS_PER_DECADE * math.log10(first[0] / 4))
            high = math.floor(STEPS_PER_DECADE * math.log10(self._largest.get(method, 2 * first[-1])))
            steps = [float(f"{10 ** (i / STEPS_PER_DECADE):.2g}") for i in range(low, high + 1)]
            stops[method] = [0.0, *(s for s in steps if min(abs(s / r - 1) for r in first) > 0.06)]
        return stops

    def _first_family(self, progress: Progress) -> None:
        settings = dict(seed=self._seed, fit=self._fit, tuned=self._tuned, progress=progress)
        family = fit_family(self._net, self._task, self._prior, radii=self._radii, **settings)
        self._take(measure(self._net, self._task, family, seed=self._seed + 1, n_draws=N_DRAWS, progress=progress))

    def _take(self, family: Family) -> None:
        self._methods, self._most = family.methods, max(p.n_draws for p in family.prediction)
        self.n_draws = min(self.n_draws, self._most)
        if self.method not in family.methods:
            self.method = family.methods[-1]
        self.radius = family.radius[family.index(self.method, self.radius)]  # the controls start at a fitted one
        self.family = family
        self.view.show_family(family, stops=self.stops)

    def _wanted(self, again: bool = False) -> None:
        """Fit the radius that the controls stand at, if it is not fitted yet."""
        method, radius, family = self.view.method, self.view.radius, self.family
        if family is None or method not in family.methods or len(family.radii(method)) < 2:
            return
        if any(math.isclose(radius, r, rel_tol=1e-6) for r in family.radii(method)):
            if not again:
                self._worker.stop()  # the reader moved on to a radius that is fitted
            return
        name = f"radius {radius:.3g}"
        self._report(0.0, f"{name}: fitting")
        self._worker.submit(name, lambda progress: self._fit_one(method, radius, progress))
        self._show_button()

    def _fit_one(self, method: str, radius: float, progress: Progress) -> None:
        settings = dict(seed=self._seed, fit=self._fit, tuned=self._tuned, progress=progress)
        posterior = fit_member(self._net, self._task, self._prior, method, radius, **settings)
        settings = dict(seed=self._seed + 1, progress=progress)
        self.family = extend(self._net, self._task, self.family, method, radius, posterior, **settings)
        self.view.add_members(self.family, [len(self.family) - 1])

    def _report(self, share: float, text: str) -> None:
        self._bar.value = share
        self._status.value = text
        self._show_button()

    def _show_button(self) -> None:
        with self._button_lock:  # called from two threads: the lock orders check and update
            busy = self._worker.busy
            self._button.description, self._button.icon = ("Stop", "stop") if busy else ("Run", "play")
