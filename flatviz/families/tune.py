"""Settings chosen by one rule for every method: the same number of trials, scored on a validation split as small as the shots.

The scores of the test split are not looked at.  Trial 0 is the settings of the method's record, so that a choice is never
worse on the validation splits than what stands in the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from flatviz.catalog import NO_UNIT
from flatviz.checks import check_choice, check_count
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.datasets.few_shot import hold_out
from flatviz.families.choice import Choice
from flatviz.families.members import fit_member
from flatviz.families.preparation import Model, Recipe, TaskOf, cache_name, model_name, task_for
from flatviz.families.tour import HEAD_STD as RECORD_HEAD_STD
from flatviz.families.tour import prepare
from flatviz.gaussian import Gaussian
from flatviz.metrics.linearised import predict_linearised
from flatviz.metrics.predict import predict
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.results import Draws, Posterior, Prediction
from flatviz.storage.cache import cached

Place = Callable[[float], Any]  # from 0..1 to a value


@dataclass(frozen=True)
class Trial:
    """A choice, and the validation NLL of each seed."""

    choice: Choice
    nll: tuple[float, ...]

    @property
    def score(self) -> float:
        """Mean validation NLL over the seeds; inf where a run diverged."""
        return sum(self.nll) / len(self.nll) if all(map(math.isfinite, self.nll)) else math.inf


@dataclass(frozen=True)
class Tuning:
    """What `tune` tried for one method: its trials, the first of them the record's settings, and where they were scored."""

    method: str
    trials: tuple[Trial, ...]
    seeds: tuple[int, ...]
    model: str

    @property
    def best(self) -> Trial:
        """The trial with the lowest mean validation NLL."""
        return min(self.trials, key=lambda trial: trial.score)

    @property
    def chosen(self) -> str:
        """What the best trial sets otherwise than the record, as text."""
        record, best = self.trials[0].choice, self.best.choice
        settings = {name: value for name, value in best.settings.items() if record.settings.get(name) != value}
        radius = best.radius if best.radius != record.radius else None
        return str(Choice(settings, radius, best.head_std if best.head_std != record.head_std else None))

    def to_dict(self) -> dict[str, Any]:
        """The choice and how it was made, as plain values for a JSON file."""
        best = self.best
        return {
            **asdict(best.choice),
            "validation_nll": round(best.score, 4),
            "validation_nll_of_the_record": round(self.trials[0].score, 4),
            "trials": len(self.trials),
            "diverged": sum(not math.isfinite(t.score) for t in self.trials),
            "seeds": list(self.seeds),
            "model": self.model,
        }


def _log(low: float, high: float) -> Place:
    return lambda u: float(f"{low * (high / low) ** u:.3g}")


def _one_of(*values: Any) -> Place:
    return lambda u: values[min(int(u * len(values)), len(values) - 1)]


SPACE: dict[str, Place] = {  # a setting is tuned where a method has it
    "lr": _log(0.004, 0.2),
    "steps": _one_of(150, 300, 600),
    "kl_weight": _log(1e-3, 1.0),
    "temperature": _log(1e-2, 1.0),
    "weight_decay": _log(1e-5, 1e-2),
    "snapshots": _one_of(10, 20, 40),
}
NATURAL_LR = _log(0.2, 2.0)  # of a method whose own rate is 1, that of natural-gradient steps
HEAD_STD = _log(0.1, 1.0)  # of the prior, where a method takes one
LEAST_RADIUS = 0.05  # of the largest


def space_of(method: Method, net: Net, fixed: Collection[str] = ()) -> dict[str, Place]:
    """What is tuned for a method on this kind of net: its settings in `SPACE` that are not fixed, its radius, the prior's width."""
    tuned = method.tuned(net)
    space = {name: place for name, place in SPACE.items() if name in tuned.settings and name not in fixed}
    if "lr" in space and tuned.settings["lr"] == 1:
        space["lr"] = NATURAL_LR
    if method.unit != NO_UNIT or method.ascent is not None:
        largest = tuned.largest or 5 * tuned.radius
        space["radius"] = _log(LEAST_RADIUS * largest, largest)
    return space | ({"head_std": HEAD_STD} if method.needs_prior else {})


def record_of(method: Method, net: Net, *, head_std: float = RECORD_HEAD_STD) -> Choice:
    """What stands in a method's record, written out, so that a choice keeps its meaning when the record changes."""
    tuned, has_radius = method.tuned(net), method.unit != NO_UNIT or method.ascent is not None
    return Choice(dict(tuned.settings), tuned.radius if has_radius else None, head_std if method.needs_prior else None)


def with_validation(task: Task, seed: int) -> tuple[Task, Data]:
    """The task and its validation split; where it has none, one as small as the shots is taken out of its test split."""
    if task.validation is None:
        shots = max(1, len(task.train) // task.n_classes)
        validation, test = hold_out(task.test, shots, seed=seed)
        task = replace(task, validation=validation, test=test)
    return task, task.validation


def scored(net: Net, method: Method, q: Posterior, data: Data, *, seed: int, n_draws: int = 30) -> Prediction:
    """The prediction by which a method is judged: linearised for Laplace, all draws of a point or an ensemble."""
    if method.linearised:
        return predict_linearised(net, q, data, link="mc", n_draws=n_draws, seed=seed)
    statistics = "frozen" if net.has_batchnorm else None
    return predict(net, q, data, min(n_draws, len(q.W)) if isinstance(q, Draws) else n_draws, seed=seed, batchnorm=statistics)


def tune(
    methods: Sequence[str],
    *,
    trials: int = 16,
    seeds: Sequence[int] = (1000, 1001),
    task: TaskOf = "digits",
    model: Model = "mlp",
    epochs: int | None = None,
    recipe: Recipe | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Tuning]:
    """The same number of `trials` for each method scored by validation NLL averaged over `seeds`.

    Learning rate, steps, radius, temperature (`kl_weight`), weight decay and width of the prior are tuned where a method has
    them, at points of one Sobol sequence on log scales.  The seeds are not those of `compare` and `evidence`, 0, 1, 2 ...;
    all splits of the digits are of the same 1,797 scans, so the validation images of one seed are among the test images of others.
    task, model, epochs and recipe are as in `prepare`; a task without a validation split gives up as much of its test split.
    Each method is kept in the cache folder.  Raises ValueError for an unknown method.
    """
    check_count(trials, "trials"), check_count(len(seeds), "number of seeds")
    results: dict[str, Tuning] = {}
    cases: list[tuple[Net, Task, Data, Gaussian]] = []
    for name in track(methods, "tuning", progress):
        method = METHODS[check_choice(name, tuple(METHODS), "method")]

        def compute(method: Method = method) -> list[dict[str, Any]]:
            for seed in seeds[len(cases) :]:
                given = with_validation(task_for(task, seed), seed)[0]
                net, drawn, prior = prepare(model, task=given, seed=seed, epochs=epochs, recipe=recipe)
                cases.append((net, *with_validation(drawn, seed), prior))
            return tried(method, cases, seeds, trials)

        names = [cache_name(task, seed) for seed in seeds]
        about = dict(method=method, trials=trials, seeds=list(seeds), task=names, model=model, epochs=epochs, recipe=recipe)
        rows, _ = cached("tune", compute, label=name, say=say, **about)
        results[name] = Tuning(
            name, tuple(Trial(Choice(**row["choice"]), row["nll"]) for row in rows), tuple(seeds), model_name(model)
        )
    return results


def tried(
    method: Method,
    cases: Sequence[tuple],
    seeds: Sequence[int],
    trials: int,
    *,
    fixed: Mapping[str, Any] | None = None,
    head_std: float = RECORD_HEAD_STD,
) -> list[dict[str, Any]]:
    """Choices for a method, the record's first, each with its validation NLL on cases (net, task, validation, prior).

    fixed: settings that all trials have, as the steps at a number of gradients.  head_std: of the
    prior that the first trial has.
    """
    space = space_of(method, cases[0][0], fixed or {})
    record = record_of(method, cases[0][0], head_std=head_std)
    record = replace(record, settings={**record.settings, **(fixed or {})})
    choices = [record]
    points = SobolEngine(len(space), scramble=True, seed=0).draw(trials - 1) if space and trials > 1 else torch.zeros(0, 1)
    for point in points.tolist():
        values = {name: place(u) for (name, place), u in zip(space.items(), point)}
        radius, head_std = values.pop("radius", None), values.pop("head_std", None)
        choices.append(Choice({**record.settings, **values}, radius, head_std))
    return [
        {"choice": asdict(choice), "nll": tuple(_nll(method, choice, *case, seed=seed) for case, seed in zip(cases, seeds))}
        for choice in choices
    ]


def _nll(method: Method, choice: Choice, net: Net, task: Task, validation: Data, prior: Gaussian, *, seed: int) -> float:
    """Validation NLL of one fit; inf where it diverged."""
    try:
        q = fit_member(net, task, prior, method.name, seed=seed, tuned={method.name: choice})
        nll: Tensor = scored(net, method, q, validation, seed=seed + 1).scores["nll"][-1]
    except ValueError as error:
        if "finite" not in str(error):
            raise
        return math.inf
    return float(nll) if bool(torch.isfinite(nll)) else math.inf
