"""What flat-seeking does and does not do at our scale: sharpness, scores, shift and nearness to HMC, seed by seed.

Each seed makes its own split, network, prior and noise, and every cell of a seed shares them, so cells are compared within
a seed.  VI is there at several lengths: a flat-seeking step takes two gradients, and a longer VI is flatter as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.datasets.corruptions import corrupt
from flatviz.families.choice import Choices, choice_of, with_head_std
from flatviz.families.family import fit_family
from flatviz.families.members import check_settings, fit_member
from flatviz.families.preparation import Model, TaskOf, cache_name, task_for
from flatviz.families.tasks import cached_each, each, quiet
from flatviz.families.tour import prepare
from flatviz.gaussian import Gaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.exactness import agreement, total_variation
from flatviz.metrics.predict import predict
from flatviz.objectives.nll import MeanNLL, nll
from flatviz.posteriors import METHODS
from flatviz.results import Posterior
from flatviz.studies import reference

QUANTITIES = (
    "lambda1", "train", "nll", "accuracy", "ece", "shifted_nll", "shifted_accuracy", "shifted_ece", "agreement",
    "tv", "mmd",
)  # fmt: skip
SHIFTS, SEVERITY = ("gaussian_noise", "translate", "rotate", "contrast", "gaussian_blur"), 3
VI_SHARES = (0.25, 0.5, 1.0, 2.0)  # of the methods' steps


@dataclass(frozen=True)
class Setting:
    """A prior and an objective that the methods share: standard deviation of the prior on the head, settings of each fit."""

    label: str
    head_std: float
    fit: Mapping[str, float]


PUBLISHED = dict(kl_weight=0.0, start_scale=1.0, weight_decay=5e-4)  # the published scripts; decay on the mean only
TEMPERED = {name: METHODS["vi"].plain.settings[name] for name in PUBLISHED}  # what tour and lab fit, the reference's posterior

SETTINGS = {
    "plain": Setting("KL weight 0, weight decay 5e-4 on the mean: the published scripts", 0.1, PUBLISHED),
    "tempered": Setting(
        f"KL weight {reference.KL_WEIGHT:g}, standard deviation {reference.HEAD_STD:g} on the head: tour, lab and reference",
        reference.HEAD_STD,
        TEMPERED,
    ),
    "tuned": Setting("settings, radius and prior width of each method chosen by flatviz tune", reference.HEAD_STD, {}),
}


class Cell(NamedTuple):
    """One fit: key of `SETTINGS`, method, radius, and its steps as a share of VI's in that setting."""

    setting: str
    method: str
    radius: float
    share: float = 1.0


@dataclass(frozen=True)
class Evidence:
    """Values (seeds, 11) of `QUANTITIES` for each cell."""

    values: dict[Cell, Tensor]
    seeds: tuple[int, ...]

    def of(self, cell: Cell, quantity: str) -> Tensor:
        """One quantity of a cell, (seeds,)."""
        return self.values[cell][:, QUANTITIES.index(quantity)]


def gather(
    seeds: int,
    *,
    task: TaskOf = "digits",
    model: Model = "mlp",
    n_draws: int = 30,
    n_spectra: int = 5,
    epochs: int = 60,
    fit: Mapping | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
    engine: Any = None,
    say: Callable[[str], None] = lambda text: None,
) -> Evidence:
    """Fit and measure the methods of the evidence for seeds 0..seeds-1, the radii of one method trained together.

    lambda1 is the mean over `n_spectra` draws of the largest eigenvalue of the training loss's Hessian over the treated
    weights; train the mean loss of those draws; scores are of the test split with `n_draws` draws, shifted_ ones means over
    `SHIFTS` at severity 3; agreement, tv and mmd compare with HMC's predictions and draws, NaN for another
    model than "mlp" or another task than the digits, as shifted_ ones are where inputs are no images.
    epochs: of pre-training; fit: settings in place of the methods' own; grid: method -> radii in place of those of `METHODS`.
    tuned: method -> what `tune` chose for it, on other seeds; without it there is no setting "tuned".
    engine: a `dask.distributed` Client, whose workers share the seeds; a lost one costs only the seeds it had.
    Each seed is kept in the cache folder.
    """
    check_settings(fit)
    fit, grid = dict(fit or {}), {m: tuple(r) for m, r in (grid or evidence_radii()).items()}
    about = dict(model=model, n_draws=n_draws, n_spectra=n_spectra, epochs=epochs, grid=grid, fit=fit, tuned=tuned)
    about |= {"methods": {m: METHODS[m] for m in grid}, "reference": reference.committed_digest()}
    settings = [about | {"seed": seed, "task": cache_name(task, seed)} for seed in range(seeds)]
    how = (progress, say) if engine is None else (False, quiet)
    given = (task, model, n_draws, n_spectra, epochs, fit, grid, tuned, *how)

    def compute(missing: list[int]) -> Iterator[tuple[int, dict[str, Tensor]]]:
        return each(_seed_of, {0: given}, [(0, seed) for seed in missing], engine=engine, label="seeds", progress=progress)

    labels = [f"seed {seed}" for seed in range(seeds)]
    per_seed = cached_each("evidence", settings, compute, labels=labels, say=say)
    values = {Cell(*_parsed(name)): torch.stack([of_seed[name] for of_seed in per_seed]) for name in per_seed[0]}
    return Evidence(values, tuple(range(seeds)))


def evidence_radii() -> dict[str, tuple[float, ...]]:
    """Methods of the evidence and their radii."""
    return {name: m.evidence for name, m in METHODS.items() if m.evidence}


def _parsed(name: str) -> tuple[str, str, float, float]:
    setting, method, radius, share = name.split("/")
    return setting, method, float(radius), float(share)


def _seed_of(given: tuple, seed: int) -> dict[str, Tensor]:
    return _one_seed(seed, *given)


def _one_seed(
    seed: int,
    task: TaskOf,
    model: Model,
    n_draws: int,
    n_spectra: int,
    epochs: int,
    fit: Mapping,
    grid: Mapping[str, Sequence[float]],
    tuned: Choices | None,
    progress: Progress,
    say: Callable[[str], None],
) -> dict[str, Tensor]:
    compared = task == "digits" and model == "mlp" and epochs == 60
    net, task, prior = prepare(model, task=task_for(task, seed), seed=seed, epochs=epochs, progress=progress)
    exact = reference.reference_of(net, task, prior, seed=seed, say=say) if compared else None
    measured = Measurement(net, task, n_draws, n_spectra, seed, exact)
    values = {}
    for setting in track([s for s in SETTINGS if tuned or s != "tuned"], f"seed {seed}", progress):
        if setting == "tuned":
            posteriors = _tuned_posteriors(net, task, prior, tuned, grid, seed, fit, progress)
        else:
            posteriors = _posteriors(net, task, prior, setting, grid, seed, fit, progress)
        for cell, q in posteriors:
            values["/".join(map(str, cell))] = measured(q)
    return values


def _posteriors(
    net: Net, task: Task, prior: Gaussian, setting: str, grid: Mapping, seed: int, fit: Mapping, progress: Progress
):
    """(cell, posterior) of one setting: every method and radius at its own steps, and VI at the shares of them."""
    chosen = SETTINGS[setting]
    prior, settings = with_head_std(net, prior, chosen.head_std), {**fit, **chosen.fit}
    family = fit_family(net, task, prior, radii=grid, seed=seed, fit=settings, progress=progress)
    for method, radius, q in zip(family.method, family.radius, family.posterior):
        yield Cell(setting, method, radius), q
    if "vi" not in grid:
        return
    steps = METHODS["vi"].keywords(net, settings=settings)["steps"]
    for share in VI_SHARES:
        if share != 1:
            length = max(1, round(share * steps))
            yield (
                Cell(setting, "vi", 0.0, share),
                fit_member(net, task, prior, "vi", seed=seed, fit={**settings, "steps": length}, progress=progress),
            )


def _tuned_posteriors(
    net: Net, task: Task, prior: Gaussian, tuned: Choices, grid: Mapping, seed: int, fit: Mapping, progress: Progress
):
    """(cell, posterior) of each method of the grid that was tuned, and VI at the shares and at the others' steps and gradients."""
    grid = [m for m in grid if m == "vi" or m in tuned]
    how = dict(seed=seed, fit=fit, tuned=tuned, progress=progress)
    steps = {m: {**METHODS[m].tuned(net).settings, **choice_of(tuned, m).settings, **fit}["steps"] for m in {"vi", *grid}}
    shares = dict.fromkeys((1.0, *VI_SHARES))
    for method in grid:
        if method != "vi":
            share = steps[method] / steps["vi"]
            shares |= {share: None, share * METHODS[method].gradients: None}
            yield (
                Cell("tuned", method, choice_of(tuned, method).radius or 0.0, share),
                fit_member(net, task, prior, method, **how),
            )
    for share in shares:
        length = {**fit, "steps": max(1, round(share * steps["vi"]))}
        yield Cell("tuned", "vi", 0.0, share), fit_member(net, task, prior, "vi", **{**how, "fit": length})


class Measurement:
    """Posterior -> values (11,) of `QUANTITIES`."""

    def __init__(
        self, net: Net, task: Task, n_draws: int, n_spectra: int, seed: int, exact: reference.Reference | None
    ) -> None:
        self.net, self.task, self.exact = net, task, exact
        self.n_draws, self.n_spectra, self.seed = n_draws, n_spectra, seed
        self.f: MeanNLL = nll(net, task.train)
        images = len(task.input_shape) == 3
        self.shifted = [corrupt(task.test, kind, SEVERITY, seed=seed) for kind in SHIFTS] if images else []
        self.batchnorm = "frozen" if net.has_batchnorm else None

    def __call__(self, q: Posterior) -> Tensor:
        """All of `QUANTITIES`."""
        W = q.sample(self.n_spectra, seed=self.seed + 1)
        sharp = [top_eigenpairs(self.f, w, 1, iters=40, seed=self.seed).values[0] for w in W]
        clean = self._predict(q, self.task.test)
        scores = [self._scores(self._predict(q, data)) for data in self.shifted] or [torch.full((3,), torch.nan)]
        shifted = torch.stack(scores).mean(0)
        exact = [float("nan")] * 3
        if self.exact is not None:
            near = [f(clean, self.exact.probabilities) for f in (agreement, total_variation)]
            exact = [*near, reference.weights_mmd(q, self.exact, seed=self.seed + 1)]
        geometry = torch.stack([torch.stack(sharp).mean(), self.f.many(W).mean()])
        return torch.cat([geometry, self._scores(clean), shifted, torch.tensor(exact)]).double().cpu()

    def _predict(self, q: Posterior, data: Data):
        return predict(self.net, q, data, self.n_draws, seed=self.seed + 1, batchnorm=self.batchnorm)

    @staticmethod
    def _scores(prediction) -> Tensor:
        return torch.stack([prediction.scores[name][-1] for name in ("nll", "accuracy", "ece")]).cpu()
