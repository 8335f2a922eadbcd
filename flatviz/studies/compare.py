"""All methods and their flat-seeking versions on one task over seeds: scores, uncertainty, curvature, cost."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_count
from flatviz.core.ascent import SAM
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.linearised import predict_linearised
from flatviz.metrics.predict import predict
from flatviz.metrics.uncertainty import mutual_information
from flatviz.objectives.nll import nll
from flatviz.posteriors import FITS, fit_csgld, fit_multi, fit_ptl, fit_swag
from flatviz.results import Draws, Gaussian, Mixture, Posterior
from flatviz.storage.cache import cached
from flatviz.storage.digest import value_digest
from flatviz.studies.tour import prepare

TASKS = ("digits",)
RADIUS = 0.1  # of SAM in the flat-seeking versions, Euclidean
QUANTITIES = ("accuracy", "nll", "ece", "brier", "mi", "lambda1", "ratio", "seconds", "gradients")
N_DRAWS = 30

_POINT = dict(steps=300, lr=0.05)
_TAIL = dict(snapshots=20, lr=0.05, batch_size=10)  # of all hundred examples at once SGD has no noise to sketch
_CHAIN = dict(n_draws=N_DRAWS, burn_in=300, thin=20)
_CYCLES = dict(n_draws=28, cycles=4, cycle_steps=150, lr=0.05)
_GAUSSIAN = dict(kl_weight=0.0, weight_decay=5e-4, steps=300, lr=0.05)
SETTINGS: dict[str, dict] = {
    "sgd": _POINT | dict(batchnorm="frozen"),
    "swa": _TAIL,
    "swag_diag": _TAIL,
    "swag": _TAIL,
    "mfvi": dict(moped=0.1, prior_std=0.3, steps=300, lr=0.05),
    "vi": _GAUSSIAN,
    "sabma": _GAUSSIAN | dict(radius=1.0),
    "bsam": dict(steps=300),
    "laplace": _POINT | dict(prior_precision="marginal"),
    "sgld": _CHAIN,
    "sghmc": _CHAIN,
    "csgld": _CYCLES,
    "emcmc": _CHAIN,
    "ptl": dict(fit=partial(fit_csgld, **_CYCLES), floor=0.3),
    "dropout": _POINT | dict(n_draws=N_DRAWS),
    "ensemble": _POINT | dict(members=5, batch_size=None),
    "multiswag": _POINT | dict(members=3, batch_size=None),
}
COMPOSED = {"ptl": fit_ptl, "multiswag": fit_multi}
WARM = ("swa", "swag_diag", "swag", "sgld", "sghmc", "emcmc")  # they sample around a solution, so they get one first


@dataclass(frozen=True)
class Comparison:
    """Values (seeds, 9) of `QUANTITIES` for each method, NaN where it diverged; a point has no draws to differ (mi 0)."""

    values: dict[str, Tensor]
    seeds: tuple[int, ...]
    task: str


def names() -> tuple[str, ...]:
    """Every method, and `f-` its flat-seeking version where it takes an `ascent`."""
    found = []
    for name, fit in FITS.items():
        found.append(name)
        if "ascent" in inspect.signature(COMPOSED.get(name, fit)).parameters:
            found.append(f"f-{name}")
    return tuple(found)


def compare(
    seeds: int,
    *,
    task: str = "digits",
    methods: Sequence[str] | None = None,
    n_spectra: int = 3,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Fit and measure the methods (default all) for seeds 0..seeds-1: split, network and noise all follow the seed.

    Scores are of the test split with up to 30 draws; lambda1 and lambda1 / lambda5 are means over `n_spectra` draws of the
    Hessian of the training loss; gradients is what one training step costs, in gradients of one network.
    Each method of each seed is kept in the cache folder.  Raises ValueError for an unknown method or task.
    """
    check_count(seeds, "seeds")
    check_choice(task, TASKS, "task")
    asked = tuple(names() if methods is None else methods)
    for method in asked:
        check_choice(method, names(), "method")
    values = {method: [] for method in asked}
    prepared = lru_cache(maxsize=1)(partial(prepare, "mlp"))  # once a seed, and not where every method is in the cache

    def row(seed: int, method: str) -> Tensor:
        return _row(*prepared(seed=seed), method, seed, n_spectra, say)

    for seed in range(seeds):
        for method in track(asked, f"seed {seed}", progress):
            about = dict(task=task, seed=seed, method=method, n_spectra=n_spectra, radius=RADIUS)
            compute = partial(row, seed, method)
            values[method].append(cached("compare", compute, say=say, settings=value_digest(SETTINGS), **about)[0])
        say(f"seed {seed}: {len(asked)} methods")
    return Comparison({m: torch.stack(v) for m, v in values.items()}, tuple(range(seeds)), task)


def fit_method(name: str, net: Net, task: Task, prior: Gaussian, *, seed: int) -> Posterior:
    """One method of the comparison with its settings there; `f-` takes every gradient at w + e of SAM(0.1)."""
    method, flat = name.removeprefix("f-"), name.startswith("f-")
    fit, settings = COMPOSED.get(method, FITS[method]), dict(SETTINGS[method])
    ascent = {"ascent": SAM(RADIUS)} if flat else {}
    if method == "multiswag":
        settings["fit"] = partial(fit_swag, **_TAIL, **ascent)
    if method in WARM:
        net = net.at(FITS["sgd"](net, task.train, seed=seed, **SETTINGS["sgd"], **ascent).W[0])
    needs = inspect.signature(fit).parameters.get("prior")
    given = (prior,) if needs is not None and needs.default is inspect.Parameter.empty else ()
    return fit(net, task.train, *given, seed=seed, **settings, **ascent)


def _row(net: Net, task: Task, prior: Gaussian, name: str, seed: int, n_spectra: int, say: Callable[[str], None]) -> Tensor:
    started = time.perf_counter()
    try:
        q = fit_method(name, net, task, prior, seed=seed)
        seconds = time.perf_counter() - started
        return _measured(net, task, q, name, seed, n_spectra, seconds)
    except ValueError as error:
        if "finite" not in str(error):
            raise
        say(f"seed {seed}: {name} diverged: {error}")
        return torch.full((len(QUANTITIES),), math.nan)


def _measured(net: Net, task: Task, q: Posterior, name: str, seed: int, n_spectra: int, seconds: float) -> Tensor:
    n_draws = min(N_DRAWS, len(q.W)) if isinstance(q, Draws) else N_DRAWS
    if name.endswith("laplace"):  # the prediction its curvature is exact for
        prediction = predict_linearised(net, q, task.test, link="mc", n_draws=N_DRAWS, seed=seed + 1)
    else:
        prediction = predict(net, q, task.test, n_draws, seed=seed + 1)
    f, W = nll(net, task.train), q.sample(min(n_spectra, n_draws), seed=seed + 1)
    spectra = torch.stack([top_eigenpairs(f, w, 5, iters=40, seed=seed).values for w in W])
    scores = [prediction.scores[k][-1] for k in ("accuracy", "nll", "ece", "brier")]
    mi = mutual_information(prediction).mean()
    return torch.stack(
        [
            *scores,
            mi,
            spectra[:, 0].mean(),
            (spectra[:, 0] / spectra[:, 4]).mean(),
            *torch.tensor([seconds, gradients(name, q)]),
        ]
    ).double()


def gradients(name: str, q: Posterior) -> float:
    """Gradients of one network that a training step takes: twice as many with an ascent, one for each member."""
    method = name.removeprefix("f-")
    members = len(q.parts) if isinstance(q, Mixture) else len(q.W) if method == "ensemble" else 1
    return float(members * (2 if name.startswith("f-") or method in ("sabma", "bsam") else 1))
