"""When does SA-BMA help?  A declared grid around the published scripts' setting, searched on a few seeds, confirmed once on fresh ones.

In each case SA-BMA and SAM on the mean have three radii, VI three lengths (half, one and two times their steps, so never
more gradients than they take); one of each three is chosen by validation NLL, averaged over the seeds of the search.
Differences are of the test split, seed by seed.  The confirmation fits what was chosen again, on seeds that chose nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_choice
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.datasets.corruptions import corrupt
from flatviz.experiments.measures import SEVERITY, SHIFTS
from flatviz.experiments.settings import PUBLISHED
from flatviz.families.choice import with_head_std
from flatviz.families.members import fit_member
from flatviz.families.preparation import BATCHNORM, PLAIN
from flatviz.families.tour import prepare
from flatviz.families.tune import scored, with_validation
from flatviz.gaussian import Gaussian
from flatviz.posteriors import METHODS
from flatviz.results import Posterior
from flatviz.storage.cache import cached
from flatviz.studies.cases import QUANTITIES, Case
from flatviz.studies.claims import Difference, Verdict, judge

BASELINES = ("VI, equal steps", "VI, equal gradients", "VI, chosen", "SAM on the mean")  # "SA-BMA" is compared with each
RADII = {
    "mlp": {"sabma": (0.5, 1.0, 2.0), "sam_mu": (0.05, 0.1, 0.2)},
    "conv": {"sabma": (0.05, 0.2, 0.8), "sam_mu": (0.01, 0.03, 0.1)},  # by a pilot on seed 1000: its prior is wider
}
RECIPES = {"mlp": PLAIN, "conv": BATCHNORM}
VI_SHARES = (0.5, 1.0, 2.0)
N_DRAWS = 30
SHIFTED_EVERY = 2  # test images of which one is corrupted: five kinds cost more than the fits
CLAIMS_EACH = 5  # claims named for confirmation against each baseline
MOST_SETTINGS = {"mlp": 6, "conv": 2}  # settings named that have to be trained


@dataclass(frozen=True)
class Outcome:
    """What a case gave: the radius or steps chosen for each method, and values (seeds, 4) of `QUANTITIES`, by competitor."""

    case: Case
    seeds: tuple[int, ...]
    choice: Mapping[str, float]
    values: Mapping[str, Tensor]

    def differences(self, baseline: str) -> list[Difference]:
        """SA-BMA's quantities less the baseline's."""
        columns = [QUANTITIES.index(q) for q in self.case.quantities]
        values = (self.values["SA-BMA"] - self.values[check_choice(baseline, BASELINES, "baseline")])[:, columns]
        return [Difference(self.case, baseline, q, values[:, i]) for i, q in enumerate(self.case.quantities)]


class Bench:
    """Runs cases on one kind of network; prepared networks and the fits of the last case stay in memory."""

    def __init__(self, model: str, epochs: int = 60) -> None:
        self.model, self.epochs = check_choice(model, tuple(RADII), "model"), epochs
        self.prepared = lru_cache(maxsize=64)(self._prepare)
        self.fitted = lru_cache(maxsize=16)(self._fit)
        self.known: dict[tuple, list[float]] = {}  # scores on whole splits, which the cases of shift share

    def run(self, case: Case, seeds: Sequence[int], choice: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Choice and scores of a case; `choice` is made by validation NLL unless it is given."""
        asked = self.candidates(case) if choice is None else {m: (v,) for m, v in choice.items()}
        lengths = {float(case.steps), 2.0 * case.steps}
        asked = asked | {"vi": tuple(sorted(lengths | set(asked["vi"])))}
        fits = {seed: self.fitted(case.trained, seed, tuple(asked.items())) for seed in seeds}
        if choice is None:
            choice = {m: min(values, key=lambda v: self._validation(case, fits, (m, v))) for m, values in asked.items()}
        chosen = {
            "SA-BMA": ("sabma", choice["sabma"]),
            "VI, equal steps": ("vi", float(case.steps)),
            "VI, equal gradients": ("vi", 2.0 * case.steps),
            "VI, chosen": ("vi", choice["vi"]),
            "SAM on the mean": ("sam_mu", choice["sam_mu"]),
        }
        score = lru_cache(maxsize=None)(lambda seed, member: self._scores(case, seed, member, fits[seed]))
        values = {name: torch.stack([score(seed, member) for seed in seeds]) for name, member in chosen.items()}
        return {"choice": dict(choice), "values": values}

    def candidates(self, case: Case) -> dict[str, tuple[float, ...]]:
        """Method -> what is chosen from: radii, and steps of VI."""
        return RADII[self.model] | {"vi": tuple(float(round(share * case.steps)) for share in VI_SHARES)}

    def _prepare(self, seed: int, shots: int, degrees: float, rank: int, scale: float) -> tuple[Net, Task, Data, Gaussian]:
        how = dict(seed=seed, shots=shots, degrees=degrees, rank=rank, epochs=self.epochs)
        how |= {"recipe": replace(RECIPES[self.model], scale=scale)} if scale else {}
        net, task, prior = prepare(self.model, **how)
        return net, *with_validation(task, seed), prior

    def _of(self, case: Case, seed: int) -> tuple[Net, Task, Data, Gaussian]:
        return self.prepared(seed, case.shots, case.degrees, case.rank, case.scale)

    def _fit(self, case: Case, seed: int, asked: tuple[tuple[str, tuple[float, ...]], ...]) -> dict[tuple, Posterior]:
        """(method, radius or steps) -> posterior; one that diverged is left out."""
        net, task, _, prior = self._of(case, seed)
        return _members(net, task, with_head_std(net, prior, case.head_std), case, dict(asked), seed)

    def _validation(self, case: Case, fits: Mapping[int, Mapping], member: tuple[str, float]) -> float:
        """Mean validation NLL over seeds; inf where a fit diverged."""
        return sum(self._on_split("validation", case, seed, member, fits[seed])[0] for seed in fits) / len(fits)

    def _scores(self, case: Case, seed: int, member: tuple[str, float], fits: Mapping) -> Tensor:
        """`QUANTITIES` on the test split of one fit; NaN where it diverged."""
        _, task, _, _ = self._of(case, seed)
        kinds = [(case.shift, case.severity)] if case.shift else [(kind, SEVERITY) for kind in SHIFTS]
        clean = self._on_split("test", case, seed, member, fits)
        part = task.test.subset(torch.arange(0, len(task.test), SHIFTED_EVERY))
        shifted = [self._predicted(case, seed, member, fits, corrupt(part, *kind, seed=seed))[0] for kind in kinds]
        values = torch.tensor([*clean, sum(shifted) / len(shifted)], dtype=torch.float64)
        return values if bool(values.isfinite().all()) else torch.full_like(values, torch.nan)

    def _on_split(self, split: str, case: Case, seed: int, member: tuple[str, float], fits: Mapping) -> list[float]:
        """NLL, accuracy and ECE on the validation or the test split."""
        key = (split, case.trained, seed, member)
        if key not in self.known:
            _, task, validation, _ = self._of(case, seed)
            self.known[key] = self._predicted(case, seed, member, fits, validation if split == "validation" else task.test)
        return self.known[key]

    def _predicted(self, case: Case, seed: int, member: tuple[str, float], fits: Mapping, data: Data) -> list[float]:
        """NLL, accuracy and ECE on `data`; inf where the fit diverged."""
        if member not in fits:
            return [float("inf")] * 3
        net = self._of(case, seed)[0]
        scores = scored(net, METHODS[member[0]], fits[member], data, seed=seed + 1, n_draws=N_DRAWS).scores
        return [float(scores[name][-1]) for name in ("nll", "accuracy", "ece")]


def _members(net: Net, task: Task, prior: Gaussian, case: Case, asked: Mapping[str, tuple[float, ...]], seed: int) -> dict:
    settings = {**PUBLISHED, "steps": case.steps, "kl_weight": case.kl_weight}
    settings |= {"weight_decay": 0.0} if case.kl_weight > 0 else {}  # the KL takes its place
    fits: dict[tuple[str, float], Posterior] = {}
    for name in ("sabma", "sam_mu"):
        keywords = {k: v for k, v in METHODS[name].keywords(net, settings=settings).items() if k != "radius"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of members left out: so they are here
                radii = METHODS[name].fit_radii(net, task.train, prior, radii=asked[name], seeds=[seed], **keywords)
            fits |= {(name, radius): q for (radius, _), q in radii.items()}
        except ValueError as error:
            _only_divergence(error)
    for steps in asked["vi"]:
        try:
            fits["vi", steps] = fit_member(net, task, prior, "vi", seed=seed, fit=settings | {"steps": int(steps)})
        except ValueError as error:
            _only_divergence(error)
    return fits


def _only_divergence(error: ValueError) -> None:
    if "finite" not in str(error):
        raise error


def search(
    cases: Sequence[Case],
    seeds: Sequence[int],
    *,
    model: str = "mlp",
    choices: Mapping[Case, Mapping[str, float]] | None = None,
    epochs: int = 60,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[Outcome]:
    """Every case on every seed; each case is kept in the cache folder.

    choices: radii and steps already chosen, by case, in place of a choice on these seeds: so a confirmation is run.
    """
    bench, outcomes = Bench(model, epochs), []
    for case in track(tuple(cases), "searching", progress):
        choice = None if choices is None else dict(choices[case])
        about = dict(case=asdict(case), seeds=list(seeds), model=model, choice=choice, epochs=epochs, n_draws=N_DRAWS)
        about["methods"] = [METHODS[m] for m in ("sabma", "sam_mu", "vi")]
        row, _ = cached("search", partial(bench.run, case, seeds, choice), label=str(case), say=say, **about)
        outcomes.append(Outcome(case, tuple(seeds), row["choice"], row["values"]))
    return outcomes


@dataclass(frozen=True)
class Gain:
    """One difference of a search: whether all of its seeds agree that SA-BMA is better, and its p."""

    case: Case
    baseline: str
    quantity: str
    agreed: bool
    p_value: float


@dataclass(frozen=True)
class Searched:
    """What a confirmation needs of a search: its seeds, what it chose in each case, its differences."""

    seeds: tuple[int, ...]
    choices: Mapping[Case, Mapping[str, float]]
    gains: tuple[Gain, ...]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Searched:
        """From the outcomes themselves; `read_searched` has it from a file."""
        every = [d for o in outcomes for b in BASELINES for d in o.differences(b)]
        gains = [Gain(d.cell, d.baseline, d.quantity, d.n_better == len(d.values), d.p_value) for d in every]
        return cls(outcomes[0].seeds, {o.case: o.choice for o in outcomes}, tuple(gains))


def named(searched: Searched, model: str = "mlp") -> list[Gain]:
    """The claims that a search makes: gains in which all seeds agree, by their p from the smallest.

    At most `CLAIMS_EACH` against one baseline, and none that would be of a setting beyond the model's `MOST_SETTINGS`.
    """
    agreed = [gain for gain in searched.gains if gain.agreed and math.isfinite(gain.p_value)]
    claims: list[Gain] = []
    for gain in sorted(agreed, key=lambda gain: gain.p_value):
        settings = {claim.case.trained for claim in claims} | {gain.case.trained}
        if len(settings) <= MOST_SETTINGS[model] and sum(c.baseline == gain.baseline for c in claims) < CLAIMS_EACH:
            claims.append(gain)
    return sorted(claims, key=lambda gain: BASELINES.index(gain.baseline))


def confirm(
    searched: Searched,
    seeds: Sequence[int],
    *,
    model: str = "mlp",
    epochs: int = 60,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[list[Outcome], list[Verdict]]:
    """The named cases and the published scripts' setting on fresh seeds with what the search chose, and a verdict on each claim (Holm)."""
    shared = set(seeds) & set(searched.seeds)
    if shared:
        raise ValueError(f"seeds of a confirmation must be fresh, got {sorted(shared)} of the search: take others")
    claims = named(searched, model)
    wanted = {claim.case for claim in claims} | {Case()}
    choices = {case: choice for case, choice in searched.choices.items() if case in wanted}
    fresh = search(tuple(choices), seeds, model=model, choices=choices, epochs=epochs, progress=progress, say=say)
    by_claim = {(d.cell, d.baseline, d.quantity): d for o in fresh for b in BASELINES for d in o.differences(b)}
    return fresh, judge([by_claim[c.case, c.baseline, c.quantity] for c in claims])
