"""Members of a family: one method at one radius, or at several that it trains together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flatviz.checks import check_choice, check_radius
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.families.choice import Choices, choice_of, with_head_std
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.results import Family, Gaussian, Member, Posterior
from flatviz.training.run import Checkpoint


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
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Posterior:
    """One method of `METHODS` fitted on `task.train`, with the settings of its record.

    radius: None is that of the record; fit: values in place of those settings, where the method has them (steps, lr ...).
    tuned: method -> settings, radius and width of the prior that `tune` chose; `fit` and `radius` go before them.
    A method that starts at SGD's solution fits that by SGD's record and what is chosen otherwise than its own.
    checkpoint: path to save to and resume from; that start has one beside it.
    """
    record, choice = METHODS[check_choice(method, tuple(METHODS), "method")], choice_of(tuned, method)
    prior = with_head_std(net, prior, choice.head_std)
    changed = {name: value for name, value in choice.settings.items() if record.tuned(net).settings.get(name) != value}
    start, fit = {**changed, **(fit or {})}, {**choice.settings, **(fit or {})}
    radius = choice.radius if radius is None else radius
    check_settings(fit)
    if radius is not None and check_radius(radius) == 0 and record.at_zero is not None:
        record, radius = METHODS[record.at_zero], None
    keywords = record.keywords(net, radius=radius, settings=fit)
    if record.warm_start:
        sgd = METHODS["sgd"]
        ascent = {name: value for name, value in keywords.items() if name == "ascent"}
        kept = None if checkpoint is None else f"{checkpoint}-start"
        how = dict(seed=seed, checkpoint=kept, progress=progress)
        net = net.at(sgd.fit(net, task.train, **how, **sgd.keywords(net, settings=start), **ascent).center)
    given = (prior,) if record.needs_prior else ()
    return record.fit(net, task.train, *given, seed=seed, checkpoint=checkpoint, progress=progress, **keywords)


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
    """So many steps of a method at `radius` from `near`, its posterior at another radius: a preview of `fit_member`.

    None for a method that cannot start at a
    posterior, at radius 0, and where a whole fit has no more than twice these steps.
    """
    record, choice = METHODS[method], choice_of(tuned, method)
    if record.look.perturbation is None or radius == 0 or not isinstance(near, Gaussian):
        return None
    prior, fit = with_head_std(net, prior, choice.head_std), {**choice.settings, **(fit or {})}
    keywords = record.keywords(net, radius=radius, settings=fit)
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


def fit_group(given: tuple[Net, Task, Gaussian], group: tuple[str, list[float], dict]) -> dict[tuple[str, float], Posterior]:
    """Posteriors of one method at some radii, trained together where there are several."""
    (net, task, prior), (method, radii, about) = given, group
    how = {name: about[name] for name in ("fit", "tuned", "progress")}
    how["checkpoint"] = None
    if about["folder"] is not None:
        Path(about["folder"]).mkdir(parents=True, exist_ok=True)
        how["checkpoint"] = Path(about["folder"]) / f"{method} {' '.join(f'{r:g}' for r in radii)}"
    if len(radii) == 1:
        return {(method, radii[0]): fit_member(net, task, prior, method, radii[0], seed=about["seed"], **how)}
    found = fit_radii(net, task, prior, METHODS[method], radii, [about["seed"]], **how)
    return {(method, radius): q for (radius, _), q in found.items()}


def fit_radii(
    net: Net,
    task: Task,
    prior: Gaussian,
    method: Method,
    radii: Sequence[float],
    seeds: Sequence[int],
    *,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> dict[tuple[float, int], Posterior]:
    """(radius, seed) -> posterior of several radii and seeds of one method, trained together."""
    choice = choice_of(tuned, method.name)
    prior, fit = with_head_std(net, prior, choice.head_std), {**choice.settings, **(fit or {})}
    settings = {name: value for name, value in method.keywords(net, settings=fit).items() if name != "radius"}
    how = dict(checkpoint=checkpoint, progress=progress)
    return method.fit(net, task.train, prior, radius=radii, seed=seeds, **how, **settings)
