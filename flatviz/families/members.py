"""Members of a family: one method at one radius, or at several that it trains together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flatviz.checks import check_choice, check_radius
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.families.choice import Choices, choice_of, with_head_std
from flatviz.families.tasks import each, workers
from flatviz.metrics.prediction import predict
from flatviz.posteriors import METHODS
from flatviz.results import Draws, Family, Gaussian, Member, Posterior, Prediction

Fitted = dict[tuple[str, float, int], Posterior]  # by method, radius and seed


def fit_member(
    net: Net,
    task: Task,
    prior: Gaussian,
    method: str,
    radius: float | None = None,
    *,
    seed: int,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
) -> Posterior:
    """One method of `METHODS` fitted on `task.train`, with the settings of its record.

    radius: None is that of the record; fit: values in place of those settings, where the method has them (steps, lr ...).
    tuned: method -> settings, radius and width of the prior that `tune` chose; `fit` and `radius` go before them.
    A method that starts at SGD's solution fits that by SGD's record, and by the choices that differ from the method's record.
    """
    record, choice = METHODS[check_choice(method, tuple(METHODS), "method")], choice_of(tuned, method)
    check_settings(fit)
    prior, settings = chosen(net, prior, method, fit, tuned)
    radius = choice.radius if radius is None else radius
    if radius is not None and check_radius(radius, "radius") == 0 and record.at_zero is not None:
        record, radius = METHODS[record.at_zero], None
    keywords = record.keywords(net, radius=radius, settings=settings)
    if record.warm_start:
        changed = {name: v for name, v in choice.settings.items() if METHODS[method].tuned(net).settings.get(name) != v}
        start = METHODS["sgd"].keywords(net, settings={**changed, **(fit or {})})
        ascent = {name: value for name, value in keywords.items() if name == "ascent"}
        sgd = METHODS["sgd"].fit(net, task.train, seed=seed, progress=progress, **start, **ascent)
        net = net.at(sgd.center)
    given = (prior,) if record.needs_prior else ()
    return record.fit(net, task.train, *given, seed=seed, progress=progress, **keywords)


def unless_diverged(fit: Callable, /, *given: Any, **how: Any) -> Any:
    """fit(*given, **how), of one member or of several; None where the fit, or all of them, diverged."""
    try:
        return fit(*given, **how)
    except ValueError as error:
        if "finite" not in str(error):
            raise
        return None


def chosen(net: Net, prior: Gaussian, method: str, fit: Mapping | None, tuned: Choices | None) -> tuple[Gaussian, dict]:
    """The prior and the settings of a method's fit: those of `fit`, else those that were chosen for the method."""
    choice = choice_of(tuned, method)
    return with_head_std(net, prior, choice.head_std), {**choice.settings, **(fit or {})}


def predicted(net: Net, q: Posterior, data: Data | Any, n_draws: int, *, seed: int, progress: Progress = False) -> Prediction:
    """The prediction of `n_draws` draws, or of all that `q` has, with the BatchNorm statistics of the net."""
    statistics = "frozen" if net.has_batchnorm else None
    return predict(net, q, data, count(q, n_draws), seed=seed, batchnorm=statistics, progress=progress)


def count(q: Posterior, n_draws: int) -> int:
    """How many of `n_draws` draws a posterior has: one of a point."""
    return min(n_draws, len(q.W)) if isinstance(q, Draws) else n_draws


def family_of(cells: Sequence[tuple[str, float]], posteriors: Iterable[Posterior]) -> Family:
    """A family that is not measured, of (method, radius) and their posteriors."""
    return Family(tuple(Member(m, float(r), METHODS[m].unit, q) for (m, r), q in zip(cells, posteriors)))


def once(family: Family, function: Callable[[Member], Any], label: str = "", progress: Progress = False) -> list[Any]:
    """function(member) of every member, asked once for those that share a posterior: radius 0 of several methods."""
    first: dict[int, Member] = {}
    for member in family:
        first.setdefault(id(member.posterior), member)
    values = {key: function(member) for key, member in track(list(first.items()), label, progress)}
    return [values[id(member.posterior)] for member in family]


def with_maps(family: Family, rows: Iterable[Mapping[str, Any]]) -> Family:
    """With these among the `maps` of its members, one row each."""
    return family.each(maps=[m.maps | row for m, row in zip(family, rows)])


def fit_near(
    net: Net,
    task: Task,
    prior: Gaussian,
    method: str,
    radius: float,
    near: Posterior,
    steps: int,
    *,
    seed: int,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
) -> Posterior | None:
    """A preview of `fit_member`: `steps` steps of a method at `radius`, from `near`, its posterior at another radius.

    None for a method that cannot start at a posterior, at radius 0, and where a whole fit has no more than twice these steps.
    """
    record = METHODS[method]
    if record.look.perturbation is None or radius == 0 or not isinstance(near, Gaussian):
        return None
    prior, settings = chosen(net, prior, method, fit, tuned)
    keywords = record.keywords(net, radius=radius, settings=settings)
    if keywords["steps"] <= 2 * steps:
        return None
    keywords |= dict(steps=steps, start=near, start_scale=1.0)
    return record.fit(net, task.train, prior, seed=seed, progress=progress, **keywords)


def check_settings(fit: Mapping | None) -> None:
    """That each name in `fit` is a setting of some method, or "lr_scale"."""
    known = dict.fromkeys(["lr_scale", *(name for m in METHODS.values() for name in m.plain.settings)])
    for name in fit or {}:
        check_choice(name, tuple(known), "a setting of fit")


def same_member(method: str, radius: float, tuned: Choices | None = None) -> tuple[str, float]:
    """The method and radius under which a member is fitted: radius 0 may be another method, where that has the same settings."""
    other = METHODS[method].at_zero
    if radius or other is None:
        return method, radius
    mine, theirs = choice_of(tuned, method), choice_of(tuned, other)
    same = (mine.settings, mine.head_std) == (theirs.settings, theirs.head_std)
    return (other, 0.0) if same else (method, 0.0)


def groups_of(members: Iterable[tuple[str, float]], parts: int) -> list[tuple[str, list[float]]]:
    """(method, radii) of each fit: those that a method trains together, in so many parts, and every other one alone."""
    radii: dict[str, list[float]] = {}
    for method, radius in members:
        radii.setdefault(method, []).append(radius)
    groups = []
    for method, every in radii.items():
        joint = [r for r in every if r and METHODS[method].at_once]
        groups += [(method, some) for i in range(parts) if (some := joint[i::parts])]
        groups += [(method, [r]) for r in every if r not in joint]
    return sorted(groups, key=lambda group: -len(group[1]))  # the longest first: workers end together


def fit_all(
    net: Net,
    task: Task,
    prior: Gaussian,
    members: Iterable[tuple[str, float]],
    seeds: Sequence[int],
    *,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
    engine: Any = None,
) -> Fitted:
    """Posteriors of all members (method, radius) at all seeds; a fit that diverges beside others is left out.

    A method that can trains its radii above 0 and the seeds together.  engine: a `dask.distributed`
    Client whose workers share the fits.
    """
    about = dict(fit=fit, tuned=tuned, progress=progress if engine is None else False)
    groups = groups_of(members, 1 if engine is None else workers(engine))
    items = [(method, radii, seeds, about) for method, radii in groups]
    shown = progress if len(seeds) == 1 else False  # of several seeds the bar of those that are trained together says enough
    run = each(_fit_group, (net, task, prior), items, engine=engine, label="fitting", progress=shown)
    return {key: q for _, some in run for key, q in some.items()}


def _fit_group(given: tuple[Net, Task, Gaussian], group: tuple[str, list[float], Sequence[int], dict]) -> Fitted:
    """One group of `groups_of` at all seeds."""
    (net, task, prior), (method, radii, seeds, about) = given, group
    cells = [(radius, seed) for radius in radii for seed in seeds]
    if len(cells) == 1 or not (METHODS[method].at_once and all(radii)):
        about = about if len(seeds) == 1 else about | {"progress": False}
        return {(method, r, s): fit_member(net, task, prior, method, r, seed=s, **about) for r, s in cells}
    prior, settings = chosen(net, prior, method, about["fit"], about["tuned"])
    keywords = METHODS[method].keywords(net, settings=settings) | dict(radius=radii, seed=seeds)
    grid = METHODS[method].fit(net, task.train, prior, progress=about["progress"], **keywords)
    return {(method, radius, seed): q for (radius, seed), q in grid.items()}
