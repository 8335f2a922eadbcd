"""All methods and their flat-seeking versions on one task over seeds: scores, uncertainty, curvature, cost."""

from __future__ import annotations

import csv
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_count
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.experiments.reference import COMMITTED, Reference, reference_of, weights_mmd
from flatviz.families.choice import Choices
from flatviz.families.members import fit_member
from flatviz.families.preparation import (
    Model,
    Recipe,
    TaskOf,
    build_model,
    cache_name,
    model_name,
    recipe_for,
    task_for,
    task_name,
)
from flatviz.families.tasks import cached_each, each, quiet
from flatviz.families.tour import prepare
from flatviz.families.tune import scored
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.exactness import agreement, total_variation
from flatviz.metrics.uncertainty import mutual_information
from flatviz.objectives.nll import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.results import Gaussian, Posterior
from flatviz.training.run import Checkpoint

QUANTITIES = ("accuracy", "nll", "ece", "brier", "mi", "lambda1", "ratio", "agreement", "tv", "mmd", "seconds", "gradients")
N_DRAWS = 30


@dataclass(frozen=True)
class Comparison:
    """Values (seeds, 12) of `QUANTITIES` for each method, NaN where it diverged; a point has no draws to differ (mi 0).

    Those of the reference posterior are NaN where there is none.  recipe: how the source network was trained.
    """

    values: dict[str, Tensor]
    seeds: tuple[int, ...]
    task: str
    model: str = "mlp"
    recipe: Recipe | None = None

    def diverged(self, method: str) -> Tensor:
        """Whether it did, of each seed, (seeds,)."""
        return self.of(method, "accuracy").isnan()

    def of(self, method: str, quantity: str) -> Tensor:
        """One quantity of a method, (seeds,)."""
        return self.values[method][:, QUANTITIES.index(quantity)]


def compare(
    seeds: int,
    *,
    task: TaskOf = "digits",
    model: Model = "mlp",
    recipe: Recipe | None = None,
    methods: Sequence[str] | None = None,
    n_spectra: int = 3,
    tuned: Choices | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    engine: Any = None,
    say: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Fit and measure the methods (default all of `METHODS`, flat-seeking versions too) for seeds 0..seeds-1.

    Split, network and noise all follow the seed; a `Task` in place of a name is the same for all seeds.

    Scores are of the test split with up to 30 draws; lambda1 and lambda1 / lambda5 are means over `n_spectra` draws of the
    Hessian of the training loss; gradients is what one training step costs, in gradients of one network.  Agreement and tv
    are those of the predictions to the reference posterior's, mmd that of the treated weights to its draws
    (`studies/reference.py`), which exist for the digits and the MLP alone.
    task: a name, a `Task`, or a function of the seed; model: a name, or a function task -> module; recipe: as in `prepare`.
    tuned: settings chosen by `tune`, by method, in place of those of the records.
    checkpoint: a folder, in which each fit saves its state and resumes from it.  engine: a `dask.distributed` Client, whose
    workers share seeds and methods; a lost one costs only the fits it had.
    Each method of each seed is kept in the cache folder.  Raises ValueError for an unknown method or task.
    """
    check_count(seeds, "seeds")
    asked = tuple(METHODS if methods is None else methods)
    for method in asked:
        check_choice(method, tuple(METHODS), "method")
    cells = [(seed, method) for seed in range(seeds) for method in asked]
    tasks = {seed: cache_name(task, seed) for seed in range(seeds)}
    about = dict(
        model=model, recipe=recipe, n_spectra=n_spectra, reference=COMMITTED.read_bytes() if COMMITTED.is_file() else b""
    )
    settings = [about | dict(task=tasks[s], seed=s, method=METHODS[m], tuned=(tuned or {}).get(m)) for s, m in cells]
    heard = say if engine is None else quiet
    prepared = {seed: partial(_prepared, seed, task, model, recipe, heard) for seed in range(seeds)}

    def compute(missing: list[int]) -> Iterator[tuple[int, Tensor]]:
        left = Counter(cells[i][0] for i in missing)
        how = dict(tuned=tuned, n_spectra=n_spectra, folder=checkpoint, say=heard)
        items = [(cells[i][0], (METHODS[cells[i][1]], cells[i][0], how)) for i in missing]
        for at, row in each(_row, prepared, items, engine=engine, label="comparing", progress=progress):
            yield at, row
            seed = items[at][0]
            left[seed] -= 1
            if not left[seed]:
                say(f"seed {seed}: {len(asked)} methods")

    rows = dict(zip(cells, cached_each("compare", settings, compute, say=say)))
    values = {m: torch.stack([rows[seed, m] for seed in range(seeds)]) for m in asked}
    used = recipe or recipe_for(Net.from_module(build_model(model, task_for(task, 0).for_source(), seed=0)))
    return Comparison(values, tuple(range(seeds)), task_name(task), model_name(model), used)


def _prepared(
    seed: int, task: TaskOf, model: Model, recipe: Recipe | None, say: Callable[[str], None]
) -> tuple[Net, Task, Gaussian, Reference | None]:
    """What all methods of a seed share; the reference posterior is that of the digits and the MLP."""
    net, drawn, prior = prepare(model, task=task_for(task, seed), seed=seed, recipe=recipe)
    if (task, model, recipe) != ("digits", "mlp", None):
        return net, drawn, prior, None
    return net, drawn, prior, reference_of(net, drawn, prior, seed=seed, say=say)


def _row(given: tuple[Net, Task, Gaussian, Reference | None], cell: tuple[Method, int, dict]) -> Tensor:
    """Values (12,) of one method and seed, NaN where it diverged."""
    (net, task, prior, reference), (method, seed, how) = given, cell
    checkpoint = None
    if how["folder"] is not None:
        folder = Path(how["folder"]) / f"seed {seed}"
        folder.mkdir(parents=True, exist_ok=True)
        checkpoint = folder / method.name
    started = time.perf_counter()
    try:
        q = fit_member(net, task, prior, method.name, seed=seed, tuned=how["tuned"], checkpoint=checkpoint)
        seconds = time.perf_counter() - started
        return _measured(net, task, q, method, seed, how["n_spectra"], reference, seconds)
    except ValueError as error:
        if "finite" not in str(error):
            raise
        how["say"](f"seed {seed}: {method.name} diverged: {error}")
        return torch.full((len(QUANTITIES),), math.nan)


def _measured(
    net: Net, task: Task, q: Posterior, method: Method, seed: int, n_spectra: int, reference: Reference | None, seconds: float
) -> Tensor:
    prediction = scored(net, method, q, task.test, seed=seed + 1, n_draws=N_DRAWS)
    f, W = nll(net, task.train), q.sample(min(n_spectra, prediction.n_draws), seed=seed + 1)
    spectra = torch.stack([top_eigenpairs(f, w, 5, iters=40, seed=seed).values for w in W])
    scores = [prediction.scores[k][-1] for k in ("accuracy", "nll", "ece", "brier")]
    mi = mutual_information(prediction).mean()
    near = [math.nan] * 3
    if reference is not None:
        near = [agreement(prediction, reference.probabilities), total_variation(prediction, reference.probabilities)]
        near.append(weights_mmd(q, reference, seed=seed + 1))
    return torch.stack(
        [
            *scores,
            mi,
            spectra[:, 0].mean(),
            (spectra[:, 0] / spectra[:, 4]).mean(),
            *torch.tensor(near),
            *torch.tensor([seconds, gradients(net, method)]),
        ]
    ).double()


def gradients(net: Net, method: Method) -> int:
    """Gradients of one network that a training step takes, over all members."""
    return method.gradients * method.tuned(net).settings.get("members", 1)


def read_comparison(path: Path) -> Comparison:
    """What `flatviz compare --csv` wrote.  Raises ValueError for another file."""
    values: dict[str, list[list[float]]] = {}
    seeds: dict[int, None] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                task = row["task"]
                values.setdefault(row["method"], []).append([float(row[q]) for q in QUANTITIES])
                seeds[int(row["seed"])] = None
        return Comparison({m: torch.tensor(v, dtype=torch.float64) for m, v in values.items()}, tuple(seeds), task)
    except (KeyError, TypeError, ValueError, UnboundLocalError) as error:
        raise ValueError(f"a comparison must be a file that flatviz compare --csv wrote, got {path}: {error}") from error
