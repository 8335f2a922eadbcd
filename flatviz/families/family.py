"""A family: several methods over their radii on one task, fitted, then measured on shared planes and scales."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import Count, FilePath, Radius, Seed, Several, check_choice, check_count
from flatviz.core.boundary import public
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.engine.batchnorm import check_batchnorm
from flatviz.families.basins import sharpest_surface, sharpest_surfaces
from flatviz.families.choice import Choices, choice_of
from flatviz.families.images import family_images, one_more_image_row
from flatviz.families.inputs import one_more_map
from flatviz.families.maps import family_maps, last_maps_row, one_more_maps_row
from flatviz.families.members import check_settings, fit_group, fit_member, groups_of, same_member
from flatviz.families.one_step import family_steps, one_more_step
from flatviz.families.regression import one_more_curve
from flatviz.families.tasks import each, workers
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.landscape.projection import project
from flatviz.landscape.slices import slice_plane
from flatviz.metrics.prediction import predict
from flatviz.objectives.nll import MeanNLL, nll
from flatviz.planes.pca import plane_pca
from flatviz.planes.random import plane_random
from flatviz.posteriors import METHODS
from flatviz.results import Draws, Family, Gaussian, Posterior, Prediction, Spectrum, Surface

QUANTITIES = ("lambda1", "accuracy", "nll", "ece")  # of `Family.over_seeds`
SURFACES = ("around", "sharpest", "maps")  # what `extend` may leave out: the loss around a center, and `Family.maps`


def family_radii(net: Net, tuned: Choices | None = None) -> dict[str, tuple[float, ...]]:
    """Methods of the tour and their radii, for this kind of net, with the radii that were chosen."""
    return with_chosen({name: m.tuned(net).tour for name, m in METHODS.items() if m.tuned(net).tour}, tuned)


def with_chosen(radii: Mapping[str, Sequence[float]], tuned: Choices | None) -> dict[str, tuple[float, ...]]:
    """Radii of each method, the one that was chosen for it among them."""
    chosen = {name: choice_of(tuned, name).radius for name in radii}
    return {m: tuple(r) if chosen[m] is None else tuple(sorted({*r, chosen[m]})) for m, r in radii.items()}


@public
def fit_family(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    radii: Mapping[str, Sequence[Radius]] | None = None,
    seed: Seed,
    fit: Mapping[str, Any] | None = None,
    tuned: Choices | None = None,
    checkpoint: FilePath | None = None,
    progress: Progress = False,
    engine: Any = None,
) -> Family:
    """Fit every method of `radii` (method -> radii, default those of the tour) on `task.train`, all with the same noise.

    Radius 0 of SAM and SA-BMA is VI, bit for bit, so it is fitted once.  The radii of one method are trained together
    where the network allows it.
    fit: settings in place of those of the methods' records, each where the method has it: {"steps": 300}.
    tuned: method -> what `flatviz run tune` chose for it (`flatviz.families.choice`); its radius is fitted too.  Radius 0 of a tuned
        method is VI at that method's settings.
    checkpoint: a folder, in which each fit saves its state twice a minute and resumes from it.
    engine: a `dask.distributed` Client (extra "cluster"): its workers share the fits, the radii of one method too, each then
        what it is alone, to rounding.  A lost worker costs only the fits it had; on a shared disk they go on from `checkpoint`.

    Raises:
        ValueError: For a method or a setting that is not known, or a radius below 0.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> net, prior = fv.transfer(source, fv.fit_swag(source, task.source, seed=0), treated="norm+head")
        >>> radii = {"vi": (0.0,), "sabma": (0.0, 0.5)}
        >>> family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 2})
        >>> family.method, family.radius, family.posterior[0] is family.posterior[1]
        (('vi', 'sabma', 'sabma'), (0.0, 0.0, 0.5), True)
    """
    radii = family_radii(net, tuned) if radii is None else with_chosen(radii, tuned)
    asked = [(m, float(r)) for m, rs in radii.items() for r in rs]
    check_settings(fit)
    for method in dict.fromkeys(m for m, _ in asked):
        check_choice(method, tuple(METHODS), "method")
    groups = groups_of(dict.fromkeys(same_member(*cell, tuned) for cell in asked), 1 if engine is None else workers(engine))
    about = dict(seed=seed, fit=fit, tuned=tuned, folder=checkpoint, progress=progress if engine is None else False)
    items = [(0, (method, chosen, about)) for method, chosen in groups]
    run = each(fit_group, {0: (net, task, prior)}, items, engine=engine, label="fitting", progress=progress)
    fitted = {member: q for _, some in run for member, q in some.items()}
    for cell in asked:
        if (key := same_member(*cell, tuned)) not in fitted:  # diverged beside others: alone it says so
            fitted[key] = fit_member(net, task, prior, *key, seed=seed, fit=fit, tuned=tuned, progress=progress)
    methods, values = zip(*asked)
    units = tuple(METHODS[m].unit for m in methods)
    return Family(methods, values, units, tuple(fitted[same_member(*cell, tuned)] for cell in asked))


@public
def measure(
    net: Net,
    task: Task,
    family: Family,
    *,
    seed: Seed,
    n_draws: Count = 30,
    n_spectra: Count = 5,
    k: Count = 5,
    resolution: Several = 41,
    around_resolution: Several = 31,
    progress: Progress = False,
) -> Family:
    """The family with its pictures and numbers: surface, samples on it, spectra, predictions on the test split.

    All share one PCA plane, of the pooled draws, and one pair of random directions.  Surface and spectra are of the
    mean NLL of the training examples over the treated weights; scores are of the test split.  BatchNorm statistics
    are the net's own throughout, as they were when the posteriors were fitted.
    n_draws: draws a posterior, at least 2; n_spectra: of them, those whose k largest eigenvalues are computed; resolution:
        grid points a side of the shared surface, around_resolution: of the surface around each center.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> net, prior = fv.transfer(source, fv.fit_swag(source, task.source, seed=0), treated="norm+head")
        >>> radii = {"vi": (0.0,), "sabma": (0.0, 0.5)}
        >>> family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 2})
        >>> small = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=3)
        >>> measured = fv.families.measure(net, task, family, seed=0, **small)
        >>> measured.surface.values.shape, measured.spectrum[2][0].values.shape
        (torch.Size([5, 5]), torch.Size([2]))
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
    for q, one in zip(unique.values(), sharpest_surfaces(f, list(unique.values()), around_resolution, seed)):
        seen[id(q)] = (*seen[id(q)], one)
    names = ("projection", "around", "spectrum", "prediction", "sharpest")
    measured = dict(zip(names, zip(*(seen[id(q)] for q in family.posterior))))
    steps = family_steps(net, task.train, family, seed=seed, resolution=3 * around_resolution // 2)
    images = family_images(task, measured["prediction"])
    family = dataclasses.replace(family, **measured, mechanism=steps, images=images)
    return dataclasses.replace(family, maps=family_maps(net, task, family, seed=seed, resolution=around_resolution))


def extend(
    net: Net,
    task: Task,
    family: Family,
    method: str,
    radius: float,
    posterior: Posterior,
    *,
    seed: int,
    surfaces: Sequence[str] = SURFACES,
    progress: Progress = False,
) -> Family:
    """A measured family with one more member, on the planes and scales it has.

    surfaces: those of `SURFACES` that are computed, two thirds of the work; for the others that of the nearest member stands in,
    until `complete` computes them.
    """
    n_draws = max(p.n_draws for p in family.prediction)
    n_spectra = max(len(s) for s in family.spectrum)
    k, resolution = len(family.spectrum[0][0].values), len(family.around[0].a)
    settings = dict(n_draws=n_draws, n_spectra=n_spectra, k=k, resolution=resolution, progress=progress)
    f, near = nll(net, task.train), family.index(method, radius)
    one = _measure_one(net, task, f, family, posterior, family.around[near], seed=seed, **settings)
    values = dict(zip(QUANTITIES, member_values(one[2], one[3])))
    over_seeds = {}
    for name, others in family.over_seeds.items():  # of its own seed alone
        row = torch.full_like(others[:1], torch.nan)
        row[0, 0] = values[name]
        over_seeds[name] = torch.cat([others, row])
    more = Family(
        (*family.method, method),
        (*family.radius, float(radius)),
        (*family.unit, METHODS[method].unit),
        (*family.posterior, posterior),
        family.surface,
        (*family.projection, one[0]),
        (*family.around, one[1]),
        spectrum=(*family.spectrum, one[2]),
        prediction=(*family.prediction, one[3]),
        sharpest=(*family.sharpest, family.sharpest[near]),
        over_seeds=over_seeds,
        mechanism=one_more_step(net, task.train, family, method, radius, seed=seed),
        inputs=one_more_curve(
            one_more_map(net, task, family, posterior, one[3].n_draws, seed=seed), method, radius, seed=seed - 1
        ),
        images=one_more_image_row(task, family, one[3]),
        stages=family.stages,
        maps=one_more_maps_row(family, near),
    )
    return complete(net, task, more, surfaces, seed=seed, progress=progress)


def complete(
    net: Net, task: Task, family: Family, surfaces: Sequence[str] = SURFACES, *, seed: int, progress: Progress = False
) -> Family:
    """A family with surfaces of its last member computed, for which `extend` at the same seed let others stand in.

    surfaces: those of `SURFACES` that are computed; "maps" holds the accuracy on the planes of the other two.
    """
    f, q, resolution = nll(net, task.train), family.posterior[-1], len(family.around[0].a)
    if "around" in surfaces:
        around = slice_plane(f, plane_random(net, q.center, seed=seed), resolution=resolution, progress=progress)
        family = dataclasses.replace(family, around=(*family.around[:-1], around))
    if "sharpest" in surfaces:
        sharpest = sharpest_surface(f, q, resolution, float(family.sharpest[0].a.max()), seed)
        family = dataclasses.replace(family, sharpest=(*family.sharpest[:-1], sharpest))
    if "maps" in surfaces:
        family = dataclasses.replace(family, maps=last_maps_row(net, task, family, seed=seed))
    return family


def member_values(spectra: Sequence[Spectrum], prediction: Prediction) -> Tensor:
    """`QUANTITIES` of one member: the mean of its draws' largest eigenvalues, and scores of its largest ensemble, (4,)."""
    lambda1 = torch.stack([s.values[0] for s in spectra]).mean()
    return torch.stack([lambda1, *(prediction.scores[name][-1].to(lambda1) for name in QUANTITIES[1:])]).cpu()


def _measure_one(
    net: Net,
    task: Task,
    f: MeanNLL,
    family: Family,
    q: Posterior,
    around: Surface | None = None,
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
    if around is None:
        around = slice_plane(f, plane_random(net, q.center, seed=seed), resolution=resolution, progress=progress)
    starts = track(list(draws[:n_spectra]), "eigenvalues", progress)
    spectra = tuple(top_eigenpairs(f, w, k, seed=seed, name=f"draw {i}") for i, w in enumerate(starts, 1))
    statistics = "frozen" if check_batchnorm(net, "frozen") else None
    prediction = predict(net, q, task.test, len(draws), seed=seed, batchnorm=statistics, progress=progress)
    return projection, around, spectra, prediction


def _is_point(q: Posterior) -> bool:
    return isinstance(q, Draws) and len(q.W) == 1
