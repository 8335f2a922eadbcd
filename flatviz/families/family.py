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
from flatviz.families.choice import Choices, choice_of
from flatviz.families.images import disputed_row, family_images, has_images, with_pixels
from flatviz.families.inputs import input_row
from flatviz.families.maps import family_maps, maps_row, sharpest_surface, sharpest_surfaces
from flatviz.families.members import check_settings, count, family_of, fit_all, fit_member, once, predicted, same_member
from flatviz.families.one_step import family_steps, step_of
from flatviz.families.regression import curves_row
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.landscape.projection import project
from flatviz.landscape.slices import slice_plane
from flatviz.objectives.nll import MeanNLL, nll
from flatviz.planes.pca import plane_pca
from flatviz.planes.random import plane_random
from flatviz.posteriors import METHODS
from flatviz.results import Family, Gaussian, Member, Plane, Posterior, Prediction, Spectrum

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
        >>> family.method, family.radius, family[0].posterior is family[1].posterior
        (('vi', 'sabma', 'sabma'), (0.0, 0.0, 0.5), True)
    """
    radii = family_radii(net, tuned) if radii is None else with_chosen(radii, tuned)
    asked = [(m, float(r)) for m, rs in radii.items() for r in rs]
    check_settings(fit)
    for method in radii:
        check_choice(method, tuple(METHODS), "method")
    keys = [same_member(*cell, tuned) for cell in asked]
    how = dict(fit=fit, tuned=tuned, progress=progress)
    fitted = fit_all(net, task, prior, dict.fromkeys(keys), [seed], folder=checkpoint, engine=engine, **how)
    for key in keys:
        if (*key, seed) not in fitted:  # diverged beside others: alone it says so
            fitted[*key, seed] = fit_member(net, task, prior, *key, seed=seed, **how)
    return family_of(asked, [fitted[*key, seed] for key in keys])


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
    are those of the net throughout, as they were when the posteriors were fitted.
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
    f, posteriors = nll(net, task.train), list({id(q): q for q in family.posterior}.values())
    pooled = torch.cat([q.sample(count(q, n_draws), seed=seed) for q in posteriors])
    plane = plane_pca(pooled, name=f"PCA plane of {len(pooled)} draws")
    family = dataclasses.replace(family, surface=slice_plane(f, plane, resolution=resolution, progress=progress))

    def look(member: Member) -> dict[str, Any]:
        q = member.posterior
        around = slice_plane(f, plane_random(net, q.center, seed=seed), resolution=around_resolution, progress=progress)
        return {"around": around} | _measured(f, task, plane, q, (n_draws, n_spectra, k), seed, progress)

    rows = once(family, look, "measuring", progress)
    sharpest = dict(zip(map(id, posteriors), sharpest_surfaces(f, posteriors, around_resolution, seed)))
    fields = {name: [row[name] for row in rows] for name in rows[0]}
    family = family.each(**fields, sharpest=[sharpest[id(q)] for q in family.posterior])
    family = family_steps(net, task.train, family, seed=seed, resolution=3 * around_resolution // 2)
    return family_maps(net, task, family_images(task, family), seed=seed, resolution=around_resolution)


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
    near = family[family.index(method, radius)]
    sizes = family.n_draws, max(map(len, family.spectrum)), len(near.spectrum[0].values)
    fields = _measured(nll(net, task.train), task, family.surface.plane, posterior, sizes, seed, progress)
    values = dict(zip(QUANTITIES, member_values(fields["spectrum"], fields["prediction"])))
    fields["over_seeds"] = {name: torch.full_like(row, torch.nan) for name, row in near.over_seeds.items()}
    for name, row in fields["over_seeds"].items():
        row[0] = values[name]  # of one seed alone
    fields["step"] = step_of(net, task.train, family, method, radius, seed=seed)
    about = dict(method=method, radius=float(radius), unit=METHODS[method].unit, posterior=posterior)
    member = dataclasses.replace(near, **about, **fields)
    maps = near.maps | input_row(net, task, family, member, seed=seed) | curves_row(family, method, radius, seed=seed - 1)
    maps |= disputed_row(member.prediction, family.n_draws) if has_images(task) else {}
    more = with_pixels(task, family.add(dataclasses.replace(member, maps=maps)))
    return complete(net, task, more, surfaces, seed=seed, progress=progress)


def complete(
    net: Net, task: Task, family: Family, surfaces: Sequence[str] = SURFACES, *, seed: int, progress: Progress = False
) -> Family:
    """A family with surfaces of its last member computed, for which `extend` at the same seed let others stand in.

    surfaces: those of `SURFACES` that are computed; "maps" holds the accuracy on the planes of the other two.
    """
    f, member = nll(net, task.train), family[-1]
    q, resolution = member.posterior, len(member.around.a)
    if "around" in surfaces:
        around = slice_plane(f, plane_random(net, q.center, seed=seed), resolution=resolution, progress=progress)
        member = dataclasses.replace(member, around=around)
    if "sharpest" in surfaces:
        sharpest = sharpest_surface(f, q, resolution, float(member.sharpest.a.max()), seed)
        member = dataclasses.replace(member, sharpest=sharpest)
    if "maps" in surfaces and family.maps:
        maps = maps_row(net, task, family, member, seed=seed, resolution=len(member.maps["ascent"].a))
        member = dataclasses.replace(member, maps=member.maps | maps)
    return dataclasses.replace(family, members=(*family.members[:-1], member))


def member_values(spectra: Sequence[Spectrum], prediction: Prediction) -> Tensor:
    """`QUANTITIES` of one member: the mean of its draws' largest eigenvalues, and scores of its largest ensemble, (4,)."""
    lambda1 = torch.stack([s.values[0] for s in spectra]).mean()
    return torch.stack([lambda1, *(prediction.scores[name][-1].to(lambda1) for name in QUANTITIES[1:])]).cpu()


def _measured(
    f: MeanNLL, task: Task, plane: Plane, q: Posterior, sizes: tuple[int, int, int], seed: int, progress: Progress
) -> dict[str, Any]:
    """A member's draws on the plane, the eigenvalues of some of them, and their prediction; sizes: n_draws, n_spectra, k."""
    n_draws, n_spectra, k = sizes
    draws = q.sample(count(q, n_draws), seed=seed)
    starts = track(list(draws[:n_spectra]), "eigenvalues", progress)
    spectra = tuple(top_eigenpairs(f, w, k, seed=seed, name=f"draw {i}") for i, w in enumerate(starts, 1))
    prediction = predicted(f.net, q, task.test, n_draws, seed=seed, progress=progress)
    return dict(projection=project(draws, plane, f), spectrum=spectra, prediction=prediction)
