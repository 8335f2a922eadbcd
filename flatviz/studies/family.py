"""A family: several methods over their radii on one task, fitted, then measured on shared planes and scales."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence

import torch

from flatviz.checks import check_choice, check_count
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.engine.batchnorm import check_batchnorm
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.landscape.projection import project
from flatviz.landscape.slices import slice_plane
from flatviz.metrics.predict import predict
from flatviz.objectives.nll import MeanNLL, nll
from flatviz.planes.pca import plane_pca
from flatviz.planes.random import plane_random
from flatviz.posteriors import fit_sabma, fit_sgd, fit_vi
from flatviz.posteriors.sabma import fit_sabma_grid
from flatviz.results import Family, Gaussian, Posterior
from flatviz.training.perturb import MODES, UNITS
from flatviz.training.together import MODES_TOGETHER, rows_loss

NO_UNIT = "(no radius)"
RADII = {
    "sgd": (0.0,),
    "vi": (0.0,),
    "sam_mu": (0.0, 0.05, 0.1, 0.2, 0.5),
    "sabma": (0.0, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0),
}
# The published scripts have no KL term and weight decay 5e-4; so has the family, but on the mean only.
FIT = {"kl_weight": 0.0, "weight_decay": 5e-4, "steps": 300, "lr": 0.05}
# Of a net with BatchNorm, frozen: at 0.05 some seeds diverge, others unlearn; beyond these radii it learns nothing.
BATCHNORM_FIT = FIT | {"lr": 0.01}
BATCHNORM_RADII = RADII | {
    "sam_mu": (0.0, 0.02, 0.05, 0.1, 0.2),
    "sabma": (0.0, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0),
}


def mode_of(method: str) -> str:
    """The perturbation a method's radius belongs to."""
    return {"sgd": "none", "vi": "none", "sabma": "kl_exact"}.get(method, method)


def unit_of(method: str) -> str:
    """Unit of a method's radius."""
    return NO_UNIT if mode_of(method) == "none" else UNITS[mode_of(method)]


def settings_for(net: Net) -> tuple[dict, dict[str, tuple[float, ...]]]:
    """Settings of every fit and radii of every method at which this kind of net learns: (fit, radii)."""
    return (BATCHNORM_FIT, BATCHNORM_RADII) if net.has_batchnorm else (FIT, RADII)


def fit_member(
    net: Net,
    task: Task,
    prior: Gaussian,
    method: str,
    radius: float,
    *,
    seed: int,
    fit: Mapping | None = None,
    progress: Progress = False,
) -> Posterior:
    """One posterior of the family; `fit` overrides what `settings_for` says of kl_weight, weight_decay, steps, lr ..."""
    check_choice(method, (*RADII, *MODES), "method")
    settings = settings_for(net)[0] | dict(fit or {})
    if method == "sgd":
        own = {k: v for k, v in settings.items() if k in ("weight_decay", "steps", "lr", "batch_size", "momentum")}
        return fit_sgd(net, task.train, seed=seed, batchnorm="frozen", progress=progress, **own)
    if radius == 0:
        return fit_vi(net, task.train, prior, seed=seed, progress=progress, **settings)
    return fit_sabma(net, task.train, prior, radius=radius, mode=mode_of(method), seed=seed, progress=progress, **settings)


def fit_family(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    radii: Mapping[str, Sequence[float]] | None = None,
    seed: int,
    fit: Mapping | None = None,
    progress: Progress = False,
) -> Family:
    """Fit every method of `radii` (method -> radii, default those of `settings_for`) on `task.train`, all with the same noise.

    Radius 0 of SAM and SA-BMA is VI, bit for bit, so it is fitted once.  The radii of one method are trained together
    where the network allows it.
    """
    asked = [(m, float(r)) for m, rs in (radii or settings_for(net)[1]).items() for r in rs]
    fitted: dict[tuple[str, float], Posterior] = {}
    for method in dict.fromkeys(m for m, _ in asked):
        fitted |= _fit_radii(net, task, prior, method, [r for m, r in asked if m == method and r], seed, fit, progress)
    for method, radius in track(asked, "fitting", progress):
        key = (method, radius) if radius or method == "sgd" else ("vi", 0.0)
        if key not in fitted:
            fitted[key] = fit_member(net, task, prior, *key, seed=seed, fit=fit, progress=progress)
    posterior = tuple(fitted[(m, r) if r or m == "sgd" else ("vi", 0.0)] for m, r in asked)
    methods, values = zip(*asked)
    return Family(methods, values, tuple(unit_of(m) for m in methods), posterior)


def _fit_radii(
    net: Net,
    task: Task,
    prior: Gaussian,
    method: str,
    radii: list[float],
    seed: int,
    fit: Mapping | None,
    progress: Progress,
) -> dict[tuple[str, float], Posterior]:
    """Posteriors of several radii of one method, trained together; empty where that is not for this method or settings."""
    settings, mode = settings_for(net)[0] | dict(fit or {}), mode_of(method)
    known = set(inspect.signature(fit_sabma_grid).parameters)
    if len(radii) < 2 or mode == "none" or mode not in MODES_TOGETHER or not set(settings) <= known:
        return {}
    if rows_loss(net, task.train, "categorical", "frozen", len(radii)) is None:
        return {}
    found = fit_sabma_grid(net, task.train, prior, radii=radii, seeds=[seed], mode=mode, progress=progress, **settings)
    return {(method, radius): q for (radius, _), q in found.items()}


def measure(
    net: Net,
    task: Task,
    family: Family,
    *,
    seed: int,
    n_draws: int = 30,
    n_spectra: int = 5,
    k: int = 5,
    resolution: int = 41,
    around_resolution: int = 31,
    progress: Progress = False,
) -> Family:
    """The family with its pictures and numbers: surface, samples on it, spectra, predictions on the test split.

    All share one PCA plane, of the pooled draws, and one pair of random directions.  Surface and spectra are of the
    mean NLL of the training examples over the treated weights; scores are of the test split.  BatchNorm statistics
    are the net's own throughout, as they were when the posteriors were fitted.
    """
    check_count(n_draws, "n_draws", least=2)
    f = nll(net, task.train)
    unique = {id(q): q for q in family.posterior}
    pooled = torch.cat([q.sample(n_draws if not _is_point(q) else 1, seed=seed) for q in unique.values()])
    plane = plane_pca(pooled, name=f"PCA plane of {len(pooled)} draws")
    surface = slice_plane(f, plane, resolution=resolution, progress=progress)
    family = dataclasses.replace(family, surface=surface)
    seen: dict[int, tuple] = {}
    for q in track(list(unique.values()), "measuring", progress):
        settings = dict(n_draws=n_draws, n_spectra=n_spectra, k=k, resolution=around_resolution, progress=progress)
        seen[id(q)] = _measure_one(net, task, f, family, q, seed=seed, **settings)
    projection, around, spectrum, prediction = zip(*(seen[id(q)] for q in family.posterior))
    return dataclasses.replace(family, projection=projection, around=around, spectrum=spectrum, prediction=prediction)


def extend(
    net: Net,
    task: Task,
    family: Family,
    method: str,
    radius: float,
    posterior: Posterior,
    *,
    seed: int,
    progress: Progress = False,
) -> Family:
    """A measured family with one more member, on the planes and scales it has."""
    n_draws = max(p.n_draws for p in family.prediction)
    n_spectra = max(len(s) for s in family.spectrum)
    k, resolution = len(family.spectrum[0][0].values), len(family.around[0].a)
    settings = dict(n_draws=n_draws, n_spectra=n_spectra, k=k, resolution=resolution, progress=progress)
    one = _measure_one(net, task, nll(net, task.train), family, posterior, seed=seed, **settings)
    return Family(
        (*family.method, method),
        (*family.radius, float(radius)),
        (*family.unit, unit_of(method)),
        (*family.posterior, posterior),
        family.surface,
        (*family.projection, one[0]),
        (*family.around, one[1]),
        (*family.spectrum, one[2]),
        (*family.prediction, one[3]),
    )


def _measure_one(
    net: Net,
    task: Task,
    f: MeanNLL,
    family: Family,
    q: Posterior,
    *,
    seed: int,
    n_draws: int,
    n_spectra: int,
    k: int,
    resolution: int,
    progress: Progress,
) -> tuple:
    point = _is_point(q)
    draws = q.sample(1 if point else n_draws, seed=seed)
    projection = project(draws, family.surface.plane, f)
    around = slice_plane(f, plane_random(net, q.center, seed=seed), resolution=resolution, progress=progress)
    starts = track(list(draws[:n_spectra]), "eigenvalues", progress)
    spectra = tuple(top_eigenpairs(f, w, k, seed=seed, name=f"draw {i}") for i, w in enumerate(starts, 1))
    statistics = "frozen" if check_batchnorm(net, "frozen") else None
    prediction = predict(net, q, task.test, len(draws), seed=seed, batchnorm=statistics, progress=progress)
    return projection, around, spectra, prediction


def _is_point(q: Posterior) -> bool:
    return getattr(q, "W", None) is not None and len(q.W) == 1
