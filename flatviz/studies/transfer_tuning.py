"""Settings for the transfer study: equal trials for every method at equal gradients, on validation splits as small as the shots.

The tuning's seeds are not those of the study.  Its images come from one pool, so that the validation images of one seed may be
among the test images of another; the scores of the test split are not looked at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch.quasirandom import SobolEngine

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.progress import Progress, track
from flatviz.engine.trunk import cache_trunk
from flatviz.families.choice import Choice
from flatviz.families.tune import Trial, Tuning, tried
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.storage.cache import cached
from flatviz.studies.transfer_seed import TargetSeed
from flatviz.studies.transfer_setting import Classes, Make, Scheme, Sizes, method_of, steps_of
from flatviz.studies.transfer_source import SourceNetwork, source_network

SEEDS = (1000, 1001)
SPANS = {"source_lr": (0.02, 0.3), "swag_lr": (0.001, 0.05), "scale": (1.0, 4096.0)}  # on log scales


@dataclass(frozen=True)
class SourceTuning:
    """Rates of pre-training and of SWAG and the factor on its covariance, tried; the validation NLL of VI, inf where none learned."""

    tried: tuple[dict[str, float], ...]
    nll: tuple[float, ...]
    seeds: tuple[int, ...]

    @property
    def best(self) -> dict[str, float]:
        """Those of the lowest score.  Raises ValueError where none learned."""
        score, best = min(zip(self.nll, self.tried), key=lambda pair: pair[0])
        if not math.isfinite(score):
            raise ValueError(f"one of {len(self.tried)} recipes must learn, got none: give more trials, or another model")
        return best

    def to_dict(self) -> dict[str, Any]:
        """The choice and how it was made, as plain values for a JSON file."""
        scores = [round(s, 4) if math.isfinite(s) else None for s in self.nll]
        return {**self.best, "validation_nll": min(s for s in scores if s is not None), "validation_nll_of_the_command": scores[0],
                "trials": len(scores), "did_not_learn": scores.count(None), "seeds": list(self.seeds)}  # fmt: skip


def tune_transfer(
    data: Data,
    classes: Classes,
    make: Make,
    *,
    methods: Sequence[str],
    trials: int,
    seeds: Sequence[int] = SEEDS,
    pretrained: bool = False,
    sizes: Sizes | None = None,
    scheme: Scheme | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Tuning]:
    """`trials` settings for each method, those of its record first, scored by validation NLL averaged over `seeds`.

    Rate, temperature, weight decay, radius and the head's prior width are tuned where a method has them, at points of one Sobol
    sequence; steps are those of `sizes.gradients`, and SWAG's snapshots those of the record.  All else as in `study_transfer`.
    """
    check_count(trials, "trials"), check_count(len(seeds), "number of tuning seeds")
    sizes, scheme = sizes or Sizes(), scheme or Scheme()
    how = dict(pretrained=pretrained, sizes=sizes, scheme=scheme, progress=progress, say=say)
    source = source_network(data, classes, make, **how)
    prepared: list[TargetSeed] = []
    results: dict[str, Tuning] = {}
    for name in track([method_of(m) for m in methods], "tuning", progress):
        about = dict(method=METHODS[name], trials=trials, seeds=list(seeds), sizes=sizes, scheme=scheme, **source.about)

        def compute(method: Method = METHODS[name]) -> list[dict[str, Any]]:
            if not prepared:
                prepared.extend(_prepared(data, classes, source, sizes, scheme, seeds))
            return _tried(method, prepared, trials)

        rows, _ = cached("transfer-tuning", compute, label=name, say=say, **about)
        choices = (Trial(Choice(**row["choice"]), row["nll"]) for row in rows)
        results[name] = Tuning(name, tuple(choices), tuple(seeds), type(source.net.module).__name__)
        best = results[name].to_dict()
        say(f"{METHODS[name].label}: {results[name].chosen}; validation NLL {best['validation_nll']}, "
            f"{best['validation_nll_of_the_record']} by the record")  # fmt: skip
    return results


def tune_source(
    data: Data,
    classes: Classes,
    make: Make,
    *,
    trials: int,
    seeds: Sequence[int] = SEEDS,
    pretrained: bool = False,
    sizes: Sizes | None = None,
    scheme: Scheme | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> SourceTuning:
    """`trials` rates of pre-training and SWAG and factors on its covariance, the given ones first, by VI's validation NLL.

    Each trial pre-trains a network of its own, but for weights from a file, where only the factor is tried.
    """
    check_count(trials, "trials"), check_count(len(seeds), "number of tuning seeds")
    sizes, scheme = sizes or Sizes(), scheme or Scheme()
    own = {"source_lr": sizes.source_lr, "swag_lr": sizes.swag_rate, "scale": scheme.scale}
    free = [name for name in SPANS if name == "scale" or (not pretrained and (name == "source_lr" or scheme.prior == "swag"))]
    points = SobolEngine(len(free), scramble=True, seed=0).draw(max(1, trials - 1)).tolist()[: trials - 1]
    recipes = [own, *({**own, **{name: _place(name, u) for name, u in zip(free, point)}} for point in points)]
    scores = []
    for recipe in track(recipes, "recipes", progress):
        given = dict(zip(("sizes", "scheme"), with_source(sizes, scheme, recipe)))
        try:
            one = tune_transfer(
                data, classes, make, methods=["vi"], trials=1, seeds=seeds, pretrained=pretrained, **given, say=say
            )
            scores.append(one["vi"].trials[0].score)
        except ValueError as error:
            if not any(word in str(error) for word in ("finite", "must learn", "that learned")):
                raise
            say(f"{recipe}: {error}")
            scores.append(math.inf)
    return SourceTuning(tuple(recipes), tuple(scores), tuple(seeds))


def with_source(sizes: Sizes, scheme: Scheme, recipe: Mapping[str, float]) -> tuple[Sizes, Scheme]:
    """Sizes with the rates of a recipe, and the scheme with its factor."""
    rates = {name: recipe[name] for name in ("source_lr", "swag_lr")}
    return replace(sizes, **rates), replace(scheme, scale=recipe["scale"])


def read_source(path: str | Path) -> dict[str, float] | None:
    """The recipe of a file that `flatviz transfer --recipe` wrote; None where it holds none."""
    held = json.loads(Path(path).read_text(encoding="utf-8")).get("source")
    return None if held is None else {name: held[name] for name in SPANS}


def _place(name: str, u: float) -> float:
    low, high = SPANS[name]
    return float(f"{low * (high / low) ** u:.3g}")


def _prepared(
    data: Data, classes: Classes, source: SourceNetwork, sizes: Sizes, scheme: Scheme, seeds: Sequence[int]
) -> list[TargetSeed]:
    return [TargetSeed.of(data, classes, source.net, source.prior, sizes, scheme, seed) for seed in seeds]


def _tried(method: Method, prepared: Sequence[TargetSeed], trials: int) -> list[dict[str, Any]]:
    """Choices and their validation NLL, as `tried` gives them."""
    cases = []
    for one in prepared:
        validation = cache_trunk(one.net, one.task.validation)[1] if one.scheme.keeps_trunk else one.task.validation
        cases.append((one.late, replace(one.task, train=one.train, validation=validation), validation, one.prior))
    first = prepared[0]
    fixed = steps_of(method, first.net, first.sizes.gradients)
    if method.warm_start:  # its snapshots count as steps
        fixed |= {"snapshots": method.tuned(first.net).settings.get("snapshots", 0)}
    return tried(method, cases, [one.seed for one in prepared], trials, fixed=fixed, head_std=first.scheme.head_std)
