"""Settings of pre-training and SWAG chosen by trials, for a task and a network that the package has no settings for.

A trial pre-trains, makes the prior, fits VI as its record says, and is scored on the validation split; one in which a stage
leaves a network that did not learn counts as diverged.  The scores of the test split are not looked at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from torch.quasirandom import SobolEngine

from flatviz.checks import check_count
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.families.members import fit_member
from flatviz.families.preparation import Model, Recipe, TaskOf, build_model, cache_name, model_name, recipe_for, task_for
from flatviz.families.tour import prepare
from flatviz.families.tune import scored, with_validation
from flatviz.posteriors import METHODS
from flatviz.storage.cache import cached

EPOCHS = (30, 60, 120)
SPANS = {"lr": (0.01, 0.3), "swag_lr": (0.005, 0.1), "scale": (16.0, 16384.0)}  # on log scales


@dataclass(frozen=True)
class RecipeTuning:
    """Recipes, the first that of the package, and the validation NLL of VI of each seed, inf where a stage did not learn."""

    recipes: tuple[Recipe, ...]
    nll: tuple[tuple[float, ...], ...]
    seeds: tuple[int, ...]
    model: str

    @property
    def scores(self) -> tuple[float, ...]:
        """Mean over the seeds of each recipe."""
        return tuple(sum(values) / len(values) for values in self.nll)

    @property
    def best(self) -> Recipe:
        """The recipe with the lowest score.  Raises ValueError where none learned."""
        score, recipe = min(zip(self.scores, self.recipes), key=lambda pair: pair[0])
        if not math.isfinite(score):
            raise ValueError(f"one of {len(self.recipes)} recipes must learn, got none: give more trials, or another model")
        return recipe

    def to_dict(self) -> dict[str, Any]:
        """The choice and how it was made, as plain values for a JSON file."""
        scores = self.scores
        return {
            **asdict(self.best),
            "validation_nll": round(min(scores), 4),
            "validation_nll_of_the_package": round(scores[0], 4) if math.isfinite(scores[0]) else None,
            "trials": len(scores),
            "did_not_learn": sum(not math.isfinite(score) for score in scores),
            "seeds": list(self.seeds),
            "model": self.model,
        }


def tune_recipe(
    trials: int = 8,
    *,
    seeds: Sequence[int] = (1000, 1001),
    task: TaskOf = "digits",
    model: Model = "mlp",
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> RecipeTuning:
    """`trials` recipes, the package's own first, the others at points of one Sobol sequence, scored by VI's validation NLL.

    task and model as in `prepare`; each trial of each seed is kept in the cache folder.
    """
    check_count(trials, "trials"), check_count(len(seeds), "number of seeds")
    own = recipe_for(Net.from_module(build_model(model, task_for(task, seeds[0]).for_source(), seed=seeds[0])))
    points = SobolEngine(1 + len(SPANS), scramble=True, seed=0).draw(max(1, trials - 1)).tolist()[: trials - 1]
    recipes = (own, *(_recipe(own, point) for point in points))
    nll: list[tuple[float, ...]] = []
    for recipe in track(recipes, "tuning", progress):
        values = []
        for seed in seeds:
            about = dict(recipe=recipe, seed=seed, task=cache_name(task, seed), model=model, vi=METHODS["vi"])
            values.append(cached("tune_recipe", lambda r=recipe, s=seed: _nll(r, s, task, model, say), say=say, **about)[0])
        nll.append(tuple(values))
    return RecipeTuning(recipes, tuple(nll), tuple(seeds), model_name(model))


def _recipe(own: Recipe, point: Sequence[float]) -> Recipe:
    first, *rest = point
    values = {name: float(f"{low * (high / low) ** u:.3g}") for (name, (low, high)), u in zip(SPANS.items(), rest)}
    epochs = EPOCHS[min(int(first * len(EPOCHS)), len(EPOCHS) - 1)]
    return replace(own, epochs=epochs, last_lr=values["lr"] / 2, **values)


def _nll(recipe: Recipe, seed: int, task: TaskOf, model: Model, say: Callable[[str], None]) -> float:
    """Validation NLL of VI; inf where a stage diverged or left a network that did not learn."""
    given, validation = with_validation(task_for(task, seed), seed)
    try:
        net, drawn, prior = prepare(model, task=given, seed=seed, recipe=recipe)
        q = fit_member(net, drawn, prior, "vi", seed=seed)
        value = float(scored(net, METHODS["vi"], q, validation, seed=seed + 1).scores["nll"][-1])
    except ValueError as error:
        if "finite" not in str(error) and "learned" not in str(error):
            raise
        say(f"{recipe}: {error}")
        return math.inf
    return value if math.isfinite(value) else math.inf


def read_recipe(path: str | Path) -> Recipe | None:
    """The recipe of a file that `flatviz tune --recipe` wrote; None where it holds none."""
    held = json.loads(Path(path).read_text(encoding="utf-8")).get("recipe")
    return None if held is None else Recipe(**{name: held[name] for name in asdict(Recipe())})
