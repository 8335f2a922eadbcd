"""What SA-BMA does and does not do at our scale: sharpness and scores over seeds, for each method and radius."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from flatviz.core.progress import Progress, track
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.predict import predict
from flatviz.objectives.nll import nll
from flatviz.posteriors import METHODS
from flatviz.storage.cache import cached
from flatviz.studies.family import check_settings, fit_member
from flatviz.studies.tour import prepare

KL_WEIGHTS = {0.0: {"kl_weight": 0.0, "weight_decay": 5e-4}, 1.0: {"kl_weight": 1.0, "weight_decay": 0.0}}  # settings of each


@dataclass(frozen=True)
class Evidence:
    """Values (seeds, 3) of λ1, NLL and accuracy for each (kl_weight, method, radius)."""

    values: dict[tuple[float, str, float], Tensor]
    seeds: tuple[int, ...]


def gather(
    seeds: int,
    *,
    model: str = "mlp",
    n_draws: int = 30,
    n_spectra: int = 10,
    epochs: int = 60,
    fit: Mapping | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Evidence:
    """Fit and measure the methods of the evidence for seeds 0..seeds-1: split, network, prior and noise all follow the seed.

    λ1 is the mean over `n_spectra` draws of the largest eigenvalue of the training loss's Hessian; NLL and accuracy
    are of the test split with `n_draws` draws.  epochs: of pre-training; fit: settings in place of the methods' own;
    grid: method -> radii in place of those of `METHODS`.
    Each seed is kept in the cache folder.
    """
    check_settings(fit)
    fit, grid = dict(fit or {}), {m: tuple(r) for m, r in (grid or evidence_radii()).items()}
    cells = [(kl, m, r) for kl in KL_WEIGHTS for m, radii in grid.items() for r in radii]
    per_seed = []
    for seed in range(seeds):
        about = dict(seed=seed, model=model, n_draws=n_draws, n_spectra=n_spectra, epochs=epochs, cells=cells, fit=fit)
        about["methods"] = {m: METHODS[m] for m in grid}
        compute = partial(_one_seed, seed, model, n_draws, n_spectra, epochs, fit, cells, progress)
        per_seed.append(cached("evidence", compute, label=f"seed {seed}", say=say, **about)[0])
    return Evidence({k: torch.stack([values[_name(*k)] for values in per_seed]) for k in cells}, tuple(range(seeds)))


def evidence_radii() -> dict[str, tuple[float, ...]]:
    """Methods of the evidence and their radii."""
    return {name: m.evidence for name, m in METHODS.items() if m.evidence}


def _name(kl_weight: float, method: str, radius: float) -> str:
    return f"{kl_weight}/{method}/{radius}"


def _one_seed(
    seed: int, model: str, n_draws: int, n_spectra: int, epochs: int, fit: Mapping, cells: Sequence, progress: Progress
) -> dict[str, Tensor]:
    net, task, prior = prepare(model, seed=seed, epochs=epochs, progress=progress)
    f = nll(net, task.train)
    statistics = "frozen" if net.has_batchnorm else None
    values = {}
    for kl, method, radius in track(cells, f"seed {seed}", progress):
        q = fit_member(net, task, prior, method, radius, seed=seed, fit={**fit, **KL_WEIGHTS[kl]}, progress=progress)
        sharp = [top_eigenpairs(f, w, 1, iters=40, seed=seed).values[0] for w in q.sample(n_spectra, seed=seed + 1)]
        scores = predict(net, q, task.test, n_draws, seed=seed + 1, batchnorm=statistics).scores
        values[_name(kl, method, radius)] = torch.stack([torch.stack(sharp).mean(), scores["nll"][-1], scores["accuracy"][-1]])
    return values
