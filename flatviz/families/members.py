"""Posteriors of a family: how each method is fitted on shared ground, with tuned settings."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from torch import Tensor

from flatviz.checks import check_radius
from flatviz.core import Data, Inputs, Likelihood, Net, Objective, Progress, Task, track
from flatviz.families.tasks import Engine, run_each
from flatviz.metrics.prediction import predict
from flatviz.objectives.network import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Tuned
from flatviz.results import Draws, Family, Gaussian, Member, Posterior, Prediction
from flatviz.training.driver import Diverged
from flatviz.training.gradient import PLAIN, Training
from flatviz.training.settings import Setting
from flatviz.words import check_choice


@dataclass(frozen=True)
class Choice:
    """Settings in place of a record's, radius, and standard deviation of the prior on the head.

    None keeps the default.
    """

    made_by = "flatviz.families.members.read_choices reads a file of them"

    settings: Mapping[str, Setting] = field(default_factory=dict)
    radius: float | None = None
    head_std: float | None = None

    def __str__(self) -> str:
        """Write the settings as text."""
        return (
            str(Tuned({**self.settings, "radius": self.radius, "head_std": self.head_std}))
            or "as in the record"
        )


Choices = Mapping[str, Choice]
T = TypeVar("T")


def with_head_std(net: Net, prior: Gaussian, head_std: float | None) -> Gaussian:
    """Return the prior with another standard deviation on the head's weights; None keeps it."""
    if head_std is None:
        return prior
    log_std = prior.log_std.clone()
    for block in net.blocks:
        if block.kind == "head":
            log_std[block.slice] = math.log(head_std)
    return replace(prior, log_std=log_std)


def read_choices(path: str | Path) -> dict[str, Choice]:
    """Read the choices of a file of `flatviz run tune`, by method; refuse any other file."""
    try:
        methods = json.loads(Path(path).read_text(encoding="utf-8"))["methods"]
        return {
            name: Choice(entry["settings"], entry["radius"], entry["head_std"])
            for name, entry in methods.items()
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"a tuning must be a file that flatviz run tune wrote, got {path}: {error}: run it"
            " again"
        ) from error


Radii = Mapping[str, Sequence[float]]  # radii by method
Fitted = dict[tuple[str, float, int], Posterior]  # posteriors by method, radius and seed


@dataclass(frozen=True)
class Fitting:
    """Network, task, prior, seed of the noise, and settings shared by all fits of a family.

    Args:
        fit: Values in place of the settings of the methods' records, each where the method has it
            (steps, lr ...).
        tuned: Method -> settings, radius and width of the prior that `tune` chose; `fit` has
            priority.
        lr_scale: Factor on the rates.
        training: How minibatches pass.

    Raises:
        ValueError: For a setting of `fit` that no method has, and where prior and net do not belong
            together.
    """

    net: Net
    task: Task
    prior: Gaussian
    seed: int
    fit: Mapping[str, Setting] | None = None
    tuned: Choices | None = None
    progress: Progress = False
    lr_scale: float = 1.0
    training: Training = PLAIN

    def __post_init__(self) -> None:
        check_settings(self.fit)
        if self.prior.dim != self.net.dim:
            raise ValueError(
                f"prior must cover the net's {self.net.dim} treated weights, got {self.prior.dim}:"
                " use what fv.transfer returned"
            )

    def choice(self, method: str) -> Choice:
        """Return the choice for a method, empty where it was not tuned."""
        return (self.tuned or {}).get(method, Choice())

    def keywords_of(self, method: str) -> tuple[Gaussian, dict[str, Setting]]:
        """Return the prior and the settings of a method's fit, from `fit` or tuned."""
        choice = self.choice(method)
        return with_head_std(self.net, self.prior, choice.head_std), {
            **choice.settings,
            **(self.fit or {}),
        }

    def keywords(
        self, method: str, settings: Mapping[str, Setting], radius: float | None = None
    ) -> dict[str, Setting]:
        """Keywords of a method's fit, with what all fits share."""
        return METHODS[method].keywords(
            self.net,
            radius=radius,
            settings=settings,
            lr_scale=self.lr_scale,
            training=self.training,
        )

    def radii(self, radii: Radii | None = None) -> dict[str, tuple[float, ...]]:
        """Return the radii of each method, with the tuned one among them.

        None: those of the tour for this kind of net.

        Raises:
            ValueError: For an unknown method, or a radius below 0.
        """
        for method, some in (radii or {}).items():
            check_choice(method, tuple(METHODS), "a method of radii")
            for radius in some:
                check_radius(radius, "radius")
        if radii is None:
            tours = {name: method.tuned(self.net).tour for name, method in METHODS.items()}
            radii = {name: tour for name, tour in tours.items() if tour}
        every = {}
        for name, some in radii.items():
            chosen = self.choice(name).radius
            every[name] = tuple(some) if chosen is None else tuple(sorted({*some, chosen}))
        return every

    def key(self, method: str, radius: float) -> tuple[str, float]:
        """Return method and radius under which a member is fitted."""
        other = METHODS[method].at_zero
        if radius or other is None:
            return method, radius
        mine = self.choice(method)
        theirs = self.choice(other)
        alike = (mine.settings, mine.head_std) == (theirs.settings, theirs.head_std)
        return other if alike else method, 0.0

    def member(self, method: str, radius: float | None = None) -> Posterior:
        """Fit one method; radius None is the chosen one, else that of its record."""
        record = METHODS[check_choice(method, tuple(METHODS), "method")]
        choice = self.choice(method)
        prior, settings = self.keywords_of(method)
        radius = choice.radius if radius is None else radius
        is_zero = radius is not None and check_radius(radius, "radius") == 0
        if is_zero and record.at_zero is not None:
            record = METHODS[record.at_zero]
            radius = None
        keywords = self.keywords(record.name, settings, radius)
        net = self.net
        how = self._how()
        if record.warm_start:
            changed = {
                name: v
                for name, v in choice.settings.items()
                if METHODS[method].tuned(net).settings.get(name) != v
            }
            start = self.keywords("sgd", {**changed, **(self.fit or {})})
            ascent = {name: value for name, value in keywords.items() if name == "ascent"}
            solution = METHODS["sgd"].fit(net, self.task.train, **how, **start, **ascent)
            net = net.at(solution.center)
        priors = (prior,) if record.needs_prior else ()
        return record.fit(net, self.task.train, *priors, **how, **keywords)

    def preview(self, method: str, radius: float, near: Posterior, steps: int) -> Posterior | None:
        """A short `member`.

        `steps` steps of a method at `radius`, from `near`, its posterior at another radius.

        None for a method that cannot start at a posterior, at radius 0, and where a whole fit has
        no more than twice these steps.
        """
        record = METHODS[method]
        if record.look.perturbation is None or radius == 0 or not isinstance(near, Gaussian):
            return None
        prior, settings = self.keywords_of(method)
        keywords = self.keywords(method, settings, radius)
        if keywords["steps"] <= 2 * steps:
            return None
        keywords |= dict(steps=steps, start=near, start_scale=1.0)
        return record.fit(self.net, self.task.train, prior, **self._how(), **keywords)

    def members(
        self, keys: Iterable[tuple[str, float]], seeds: Sequence[int], engine: Engine = None
    ) -> Fitted:
        """Fit all (method, radius) at all seeds; a fit that diverges beside others is left out.

        Radii above 0 and seeds of one method are trained together where it can.  engine: an
        executor whose workers share the fits, also the radii of one method.
        """
        shared = self if engine is None else replace(self, progress=False)
        items = [(*group, seeds) for group in groups_of(keys, engine is None)]
        # Several seeds, trained together, have one bar: their fit's
        progress = self.progress if len(seeds) == 1 else False
        run = run_each(_fit_group, shared, items, engine=engine, label="fitting", progress=progress)
        return {key: q for _, some in run for key, q in some.items()}

    def family(
        self,
        radii: Radii,
        engine: Engine = None,
        fail: Callable[[str, float, Exception], None] | None = None,
    ) -> Family:
        """Fit the family of `fit_family`.

        fail: called with each error, whose member is then left out; None raises it.

        Raises:
            Exception: The last error, where all members fail.
        """
        asked = [(m, float(r)) for m, rs in radii.items() for r in rs]
        keys = dict.fromkeys(self.key(*cell) for cell in asked)
        fitted = {}
        failed: Exception = ValueError("a family must have a member, got no radii")
        try:
            fitted = self.members(keys, [self.seed], engine)
        except Exception:  # a user's network may raise any error
            if fail is None:
                raise
        for key in keys:
            if (*key, self.seed) not in fitted:  # diverged beside others; alone it raises
                try:
                    fitted[*key, self.seed] = self.member(*key)
                except Exception as error:
                    if fail is None:
                        raise
                    fail(*key, error)
                    failed = error
        if not fitted:
            raise failed
        members = []
        for method, radius in dict.fromkeys(asked):
            place = (*self.key(method, radius), self.seed)
            if place in fitted:
                members.append(Member(method, radius, METHODS[method].unit, fitted[place]))
        return Family(tuple(members))

    def _how(self) -> dict[str, Setting]:
        """Return seed, progress, and a likelihood other than that of classes.

        A fit of classifiers alone need not take a likelihood.
        """
        other = self.task.likelihood != "categorical"
        return dict(seed=self.seed, progress=self.progress) | (
            dict(likelihood=self.task.likelihood) if other else {}
        )


def unless_diverged(fit: Callable[..., T], /, *given: object, **how: object) -> T | None:
    """Call fit(*given, **how), of one member or of several; None where all diverged."""
    try:
        return fit(*given, **how)
    except Diverged:
        return None


def predicted(
    net: Net,
    q: Posterior | Tensor,
    data: Data | Inputs | Tensor,
    n_draws: int,
    *,
    seed: int,
    likelihood: Likelihood = "categorical",
    progress: Progress = False,
) -> Prediction:
    """Predict by `n_draws` draws, or all of `q`, with the BatchNorm statistics of the net."""
    return predict(
        net,
        q,
        data,
        count(q, n_draws),
        seed=seed,
        batchnorm="frozen" if net.has_batchnorm else None,
        likelihood=likelihood,
        progress=progress,
    )


def training_nll(net: Net, task: Task) -> Objective:
    """Build the mean NLL of the training examples under the task's likelihood."""
    return nll(net, task.train, likelihood=task.likelihood)


def count(q: Posterior | Tensor, n_draws: int) -> int:
    """Count the draws of a posterior, at most `n_draws`: a point has one."""
    return min(n_draws, len(q.W)) if isinstance(q, Draws) else n_draws


def once(
    family: Family,
    function: Callable[[Member], T],
    label: str = "",
    progress: Progress = False,
) -> list[T]:
    """Call function(member) for every member, once for those that share a posterior."""
    values = {i: function(family[i]) for i in track(family.distinct, label, progress)}
    return [values[i] for i in family.first]


def with_maps(family: Family, rows: Iterable[Mapping[str, object]]) -> Family:
    """Add these to the `maps` of the members, one row each."""
    return family.each(maps=[{**m.maps, **row} for m, row in zip(family, rows)])


def check_settings(fit: Mapping | None) -> None:
    """Check that each name in `fit` is a setting of some method."""
    names = dict.fromkeys(name for m in METHODS.values() for name in m.plain.settings)
    for name in fit or {}:
        check_choice(name, tuple(names), "a setting of fit")


def groups_of(
    members: Iterable[tuple[str, float]], together: bool
) -> list[tuple[str, list[float]]]:
    """List (method, radii) of each fit: those trained together, and every other one alone."""
    radii: dict[str, list[float]] = {}
    for method, radius in members:
        radii.setdefault(method, []).append(radius)
    groups = []
    for method, every in radii.items():
        record = METHODS[method]
        joint = [r for r in every if together and record.fit_grid and record.in_grid(r)]
        groups += [(method, joint)] * bool(joint)
        groups += [(method, [r]) for r in every if r not in joint]
    # The longest first: workers end together
    return sorted(groups, key=lambda group: -len(group[1]))


def _fit_group(fits: Fitting, group: tuple[str, list[float], Sequence[int]]) -> Fitted:
    """Fit one group of `groups_of` at all seeds."""
    method, radii, seeds = group
    cells = [(radius, seed) for radius in radii for seed in seeds]
    fit_grid = METHODS[method].fit_grid
    joint = fit_grid is not None and all(map(METHODS[method].in_grid, radii))
    if len(cells) == 1 or fit_grid is None or not joint:
        quiet = fits if len(seeds) == 1 else replace(fits, progress=False)
        return {(method, r, s): replace(quiet, seed=s).member(method, r) for r, s in cells}
    prior, settings = fits.keywords_of(method)
    shared = dict(progress=fits.progress, likelihood=fits.task.likelihood)
    keywords = fits.keywords(method, settings) | shared | dict(radius=radii, seed=seeds)
    grid = fit_grid(fits.net, fits.task.train, prior, **keywords)
    return {(method, *key): q for key, q in grid.items()}
