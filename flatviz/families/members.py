"""Posteriors of a family: how each method is fitted on shared ground, with tuned settings."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TypeVar, cast

from torch import Tensor

from flatviz.checks import check_radius
from flatviz.core import Data, Inputs, Likelihood, Net, Objective, Progress, Task, track
from flatviz.families.tasks import Engine, run_each
from flatviz.metrics.prediction import predict
from flatviz.objectives.network import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.entries import Tuned
from flatviz.results import Draws, Family, Gaussian, Member, Posterior, Prediction
from flatviz.training.driver import Diverged
from flatviz.training.gradient import PLAIN, Ascent, Training
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
        beside = {"radius": self.radius, "head_std": self.head_std}
        return str(Tuned({**self.settings, **beside})) or "as in the record"


Choices = Mapping[str, Choice]
Settings = Mapping[str, Setting]
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
        text = Path(path).read_text(encoding="utf-8")
        methods = json.loads(text)["methods"]
        return {
            name: Choice(entry["settings"], entry["radius"], entry["head_std"])
            for name, entry in methods.items()
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"a tuning must be a file that flatviz run tune wrote, got {path}: {error}: run it"
            " again"
        ) from error


Cell = tuple[str, float]  # method and radius
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

    def prior_of(self, method: str) -> Gaussian:
        """Return the prior of a method's fit, of tuned width."""
        head_std = self.choice(method).head_std
        return with_head_std(self.net, self.prior, head_std)

    def settings_of(self, method: str) -> dict[str, Setting]:
        """Return the settings of a method's fit that differ from its record: `fit`, then tuned."""
        tuned = self.choice(method).settings
        return {**tuned, **(self.fit or {})}

    def keywords(
        self,
        method: str,
        radius: float | None = None,
        settings: Settings | None = None,
    ) -> dict[str, Setting]:
        """Keywords of a method's fit, at its `settings_of` by default, with what all fits share."""
        if settings is None:
            settings = self.settings_of(method)
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
        if radii is None:
            tours = {name: method.tuned(self.net).tour for name, method in METHODS.items()}
            radii = {name: tour for name, tour in tours.items() if tour}
        checked = {}
        for name, some in radii.items():
            check_choice(name, tuple(METHODS), "a method of radii")
            for radius in some:
                check_radius(radius, "radius")
            checked[name] = tuple(some)
            tuned = self.choice(name).radius
            if tuned is not None:
                checked[name] = tuple(sorted({*some, tuned}))
        return checked

    def key(self, method: str, radius: float) -> Cell:
        """Return method and radius under which a member is fitted.

        At radius 0 SAM and SA-BMA are VI: one fit, unless they were tuned to other settings.
        """
        other = METHODS[method].at_zero
        if radius or other is None:
            return method, radius
        mine = replace(self.choice(method), radius=None)
        theirs = replace(self.choice(other), radius=None)
        return other if mine == theirs else method, 0.0

    def member(self, method: str, radius: float | None = None) -> Posterior:
        """Fit one method; radius None is the chosen one, else that of its record."""
        record = METHODS[check_choice(method, tuple(METHODS), "method")]
        settings = self.settings_of(method)
        if radius is None:
            radius = self.choice(method).radius
        is_zero = radius is not None and check_radius(radius, "radius") == 0
        if is_zero and record.at_zero is not None:
            record = METHODS[record.at_zero]
            radius = None
        keywords = self._shared() | self.keywords(record.name, radius, settings)
        net = self.net
        if record.warm_start:
            net = self._started(method, keywords.get("ascent"))
        given = [net, self.task.train]
        if record.needs_prior:
            given.append(self.prior_of(method))
        return record.fit(*given, **keywords)

    def _started(self, method: str, ascent: Ascent | None) -> Net:
        """Return the net at SGD's solution, at those settings of a method that were chosen."""
        usual = METHODS[method].tuned(self.net).settings
        chosen = self.choice(method).settings
        changed = {name: v for name, v in chosen.items() if usual.get(name) != v}
        changed |= self.fit or {}
        keywords = self._shared() | self.keywords("sgd", settings=changed)
        if ascent is not None:
            keywords["ascent"] = ascent
        solution = METHODS["sgd"].fit(self.net, self.task.train, **keywords)
        return self.net.at(solution.center)

    def preview(
        self,
        method: str,
        radius: float,
        near: Posterior,
        steps: int,
    ) -> Posterior | None:
        """Fit a method at `radius` by `steps` steps from `near`, its posterior at another radius.

        None for a method that cannot start at a posterior, at radius 0, and where a whole fit has
        no more than twice these steps.
        """
        record = METHODS[method]
        has_start = record.look.perturbation is not None and isinstance(near, Gaussian)
        if radius == 0 or not has_start:
            return None
        keywords = self._shared() | self.keywords(method, radius)
        if keywords["steps"] <= 2 * steps:
            return None
        keywords |= dict(steps=steps, start=near, start_scale=1.0)
        prior = self.prior_of(method)
        return record.fit(self.net, self.task.train, prior, **keywords)

    def members(
        self,
        keys: Iterable[Cell],
        seeds: Sequence[int],
        engine: Engine = None,
    ) -> Fitted:
        """Fit all (method, radius) at all seeds; a fit that diverges beside others is left out.

        Radii above 0 and seeds of one method are trained together where it can.  engine: an
        executor whose workers share the fits, also the radii of one method.
        """
        shared = self if engine is None else replace(self, progress=False)
        groups = groups_of(keys, together=engine is None)
        items = [(method, radii, seeds) for method, radii in groups]
        # Several seeds, trained together, have one bar: their fit's
        progress = self.progress if len(seeds) == 1 else False
        results = run_each(
            _fit_group,
            shared,
            items,
            engine=engine,
            label="fitting",
            progress=progress,
        )
        fitted: Fitted = {}
        for _, some in results:
            fitted |= some
        return fitted

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
        asked: dict[Cell, Cell] = {}  # with the key of its fit
        for method, some in radii.items():
            for radius in map(float, some):
                asked[method, radius] = self.key(method, radius)
        keys = dict.fromkeys(asked.values())
        fitted: Fitted = {}
        failed: Exception = ValueError("a family must have a member, got no radii")
        try:
            fitted = self.members(keys, [self.seed], engine)
        except Exception:  # a user's network may raise any error
            if fail is None:
                raise
        for method, radius in keys:
            if (method, radius, self.seed) in fitted:
                continue
            try:  # diverged beside others; alone it raises
                fitted[method, radius, self.seed] = self.member(method, radius)
            except Exception as error:
                if fail is None:
                    raise
                fail(method, radius, error)
                failed = error
        if not fitted:
            raise failed
        members = []
        for (method, radius), key in asked.items():
            q = fitted.get((*key, self.seed))
            if q is not None:
                unit = METHODS[method].unit
                members.append(Member(method, radius, unit, q))
        return Family(tuple(members))

    def _shared(self) -> dict[str, Setting]:
        """Return seed, progress, and a likelihood other than that of classes.

        A fit of classifiers alone need not take a likelihood.
        """
        shared: dict[str, Setting] = dict(seed=self.seed, progress=self.progress)
        if self.task.likelihood != "categorical":
            shared["likelihood"] = self.task.likelihood
        return shared


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
    if isinstance(q, Draws):
        return min(n_draws, len(q.W))
    return n_draws


def once(
    family: Family,
    function: Callable[[Member], T],
    label: str = "",
    progress: Progress = False,
) -> list[T]:
    """Call function(member) for every member, once for those that share a posterior."""
    values = {}
    for i in track(family.distinct, label, progress):
        values[i] = function(family[i])
    return [values[i] for i in family.first]


def with_maps(family: Family, rows: Iterable[Mapping[str, object]]) -> Family:
    """Add these to the `maps` of the members, one row each."""
    maps = []
    for member, row in zip(family, rows):
        maps.append({**member.maps, **row})
    return family.each(maps=maps)


def check_settings(fit: Mapping | None) -> None:
    """Check that each name in `fit` is a setting of some method."""
    known: dict[str, Setting] = {}
    for method in METHODS.values():
        known |= method.plain.settings
    for name in fit or {}:
        check_choice(name, tuple(known), "a setting of fit")


def groups_of(
    members: Iterable[Cell],
    together: bool,
) -> list[tuple[str, list[float]]]:
    """List (method, radii) of each fit: those trained together, and every other one alone."""
    radii_of: dict[str, list[float]] = {}
    for method, radius in members:
        radii_of.setdefault(method, []).append(radius)
    groups = []
    for method, radii in radii_of.items():
        joint = []
        if together:
            joint = [radius for radius in radii if METHODS[method].in_grid(radius)]
        if joint:
            groups.append((method, joint))
        for radius in radii:
            if radius not in joint:
                groups.append((method, [radius]))
    # The longest first: workers end together
    return sorted(groups, key=lambda group: -len(group[1]))


def _fit_group(fits: Fitting, group: tuple[str, list[float], Sequence[int]]) -> Fitted:
    """Fit one group of `groups_of` at all seeds."""
    method, radii, seeds = group
    record = METHODS[method]
    fitted: Fitted = {}
    is_one = len(radii) == len(seeds) == 1
    if is_one or not all(map(record.in_grid, radii)):
        quiet = fits if len(seeds) == 1 else replace(fits, progress=False)
        for radius, seed in product(radii, seeds):
            of_seed = replace(quiet, seed=seed)
            fitted[method, radius, seed] = of_seed.member(method, radius)
        return fitted
    keywords = fits.keywords(method)
    keywords |= dict(progress=fits.progress, likelihood=fits.task.likelihood)
    keywords |= dict(radius=radii, seed=seeds)
    fit_grid = cast(Callable[..., Mapping], record.fit_grid)
    prior = fits.prior_of(method)
    grid = fit_grid(fits.net, fits.task.train, prior, **keywords)
    for (radius, seed), q in grid.items():
        fitted[method, radius, seed] = q
    return fitted
