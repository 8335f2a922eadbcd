"""A family: several methods over their radii on one task, fitted and measured on shared ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.utils.data import default_collate

from flatviz.checks import Count, Radius, Seed, Several, computed
from flatviz.core import Net, Objective, Progress, Task, public, track
from flatviz.families.maps import disputed_row, input_row, rise_distance, with_pixels
from flatviz.families.members import Choices, Fitting, count, once, predicted, training_nll
from flatviz.families.tasks import Engine
from flatviz.landscape.slices import project, slice_plane
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.planes.plane import plane_eigen, plane_pca, plane_random
from flatviz.posteriors import METHODS
from flatviz.results import (
    SHOWN,
    Family,
    Gaussian,
    Member,
    Posterior,
    Prediction,
    Spectrum,
    Surface,
)

ITERS = 120  # most Hessian products for one eigenvalue in `repeat_family`
SURFACES = ("around", "sharpest")  # a member's surfaces around its center; `extend` may skip them


@public
def fit_family(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    radii: Mapping[str, Sequence[Radius]] | None = None,
    seed: Seed,
    fit: Mapping[str, object] | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
    engine: Engine = None,
) -> Family:
    """Fit every method of `radii` on `task.train`, all with the same noise.

    At radius 0 SAM and SA-BMA are VI, bit for bit, so that posterior is fitted once.  The radii of
    one method are trained together where the network allows it.

    Args:
        net: As `transfer` returns it.
        task: Task; its training split is fitted.
        prior: As `transfer` returns it.
        radii: Method -> radii, each in the method's unit.  None takes those of `flatviz tour`.
        seed: Fixes the noise of every fit.
        fit: Settings that replace the methods' own, such as {"steps": 300}; a method ignores a
            setting that it does not have.
        tuned: Method -> choice of `flatviz run tune`, as `flatviz.families.members.read_choices`
            reads it; its radius is fitted too.  Radius 0 of a tuned method is VI at that method's
            settings.
        progress: True, None (where a terminal watches) or a function.
        engine: Executor of `concurrent.futures`, such as a pool of processes or a cluster's, whose
            workers share the fits.  The radii of one method are then fitted apart, which changes
            results by rounding only.

    Raises:
        ValueError: For an unknown method or setting, or a radius below 0.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit(source, task.source, fv.SWAG(), seed=0)
        >>> net, prior = fv.transfer(source, swag, treated="norm+head")
        >>> radii = {"vi": (0.0,), "sabma": (0.0, 0.5)}
        >>> family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 2})
        >>> family.method, family.radius, family[0].posterior is family[1].posterior
        (('vi', 'sabma', 'sabma'), (0.0, 0.0, 0.5), True)
    """
    fits = Fitting(net, task, prior, seed, fit, tuned, progress)
    return fits.family(fits.radii(radii), engine)


@public
def measure(
    net: Net,
    task: Task,
    family: Family,
    *,
    seed: Seed,
    n_draws: Several = 30,
    n_spectra: Count = 5,
    k: Count = 5,
    resolution: Several = 41,
    around_resolution: Several = 31,
    progress: Progress = False,
) -> Family:
    """Measure a family: surface, samples on it, spectra, predictions on the test split.

    All members share one PCA plane, that of their pooled draws, and one pair of random directions.
    Surfaces and spectra are those of the mean training NLL as a function of the treated weights.
    Scores are those of the test split.  BatchNorm statistics are the net's throughout, as they were
    when the posteriors were fitted.

    Args:
        net: As for `fit_family`.
        task: Task; its training split gives the loss and its test split the scores.
        family: Result of `fit_family`.
        seed: Fixes draws and planes.
        n_draws: Draws of each posterior, at least 2.
        n_spectra: Number of these draws at which the spectrum is computed.
        k: Number of largest eigenvalues in a spectrum.
        resolution: Grid points a side of the shared surface.
        around_resolution: Grid points a side of the surfaces around each center.
        progress: True, None (where a terminal watches) or a function.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit(source, task.source, fv.SWAG(), seed=0)
        >>> net, prior = fv.transfer(source, swag, treated="norm+head")
        >>> radii = {"vi": (0.0,), "sabma": (0.0, 0.5)}
        >>> family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 2})
        >>> small = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=3)
        >>> measured = fv.families.measure(net, task, family, seed=0, **small)
        >>> measured.surface.values.shape, measured.spectrum[2][0].values.shape
        (torch.Size([5, 5]), torch.Size([2]))
    """
    f = training_nll(net, task)
    posteriors = [family[i].posterior for i in family.distinct]
    sizes = [count(q, n_draws) for q in posteriors]
    draws = [q.sample(size, seed=seed) for q, size in zip(posteriors, sizes)]
    pooled = torch.cat(draws)
    plane = plane_pca(pooled, name=f"PCA plane of {len(pooled)} draws")
    surface = slice_plane(f, plane, resolution=resolution, progress=progress)
    inputs = line_of_inputs(task) | family.inputs
    family = replace(family, surface=surface, inputs=inputs)
    spectra = {}
    reaches = []  # how far the surface along a center's sharpest directions must extend
    for q in posteriors:
        spectrum = top_eigenpairs(f, q.center, 2, seed=seed)
        spectra[id(q)] = spectrum
        reaches.append(rise_distance(f, q.center, spectrum))
    ground = _Ground(
        net=net,
        task=task,
        family=family,
        n_draws=max(sizes),
        n_spectra=n_spectra,
        k=k,
        resolution=around_resolution,
        reach=max(reaches),
        seed=seed,
        progress=progress,
        spectra=spectra,
    )
    measured = once(family, ground.measured, "measuring", progress)
    # Members that share a posterior got the same result, under the name of the first of them
    members = [
        replace(
            new,
            method=member.method,
            radius=member.radius,
            unit=member.unit,
        )
        for member, new in zip(family, measured)
    ]
    family = replace(family, members=tuple(members))
    return with_pixels(task, family)


def line_of_inputs(task: Task) -> dict[str, Tensor]:
    """Return the test inputs {"x": (N,)} of a regression on one number, {} for other tasks."""
    x = task.test.x
    if task.one_label or not isinstance(x, Tensor):
        return {}
    if x.numel() != len(x):
        return {}
    return {"x": x.flatten().cpu()}


def extend(
    fits: Fitting,
    family: Family,
    method: str,
    radius: float,
    posterior: Posterior,
    surfaces: Sequence[str] = SURFACES,
) -> Family:
    """Add one member to a measured family, on its planes and scales.

    The member is measured with the seed after that of the fits.

    surfaces: those of `SURFACES` to compute; both take two thirds of the work.  The others are
        copied from the member of nearest radius.
    """
    nearest = family[family.index(method, radius)]
    new = replace(
        nearest,
        method=method,
        radius=float(radius),
        unit=METHODS[method].unit,
        posterior=posterior,
    )
    member = _Ground.of(fits, family).measured(new, surfaces)
    values = member_values(member.spectrum, computed(member.prediction))
    over_seeds = {}
    for name, row in nearest.over_seeds.items():
        over_seeds[name] = torch.full_like(row, torch.nan)
        over_seeds[name][0] = values[name]  # the member's own; it has no fits with other seeds
    family = family.add(replace(member, over_seeds=over_seeds))
    return with_pixels(fits.task, family)


def repeat_family(fits: Fitting, family: Family, seeds: Sequence[int]) -> Family:
    """Measure `over_seeds` of a family: fit each member again with every one of `seeds`.

    Data, pre-trained network and prior stay; the noise of fit and draws changes, so the spread over
    seeds is the effect of that noise.  The radii of a method are trained together, with all seeds
    at once, where the network allows it.

    The `over_seeds` of a member are the numbers of `member_values`: "lambda1", the mean over as
    many draws as the family has spectra, and the scores `SHOWN` of the family's largest ensemble on
    the test split.  Each is (1 + seeds,): first the value of the member itself, then one for each
    seed, NaN where that fit diverged.
    """
    task = fits.task
    keys = [fits.key(m.method, m.radius) for m in family]
    n_draws = family.n_draws
    n_spectra = max(map(len, family.spectrum))
    f = training_nll(fits.net, task)
    fitted = fits.members(dict.fromkeys(keys), seeds)
    of_members = [member_values(m.spectrum, computed(m.prediction)) for m in family]
    names = list(of_members[0])

    def values_of(q: Posterior | None, seed: int) -> dict[str, Tensor]:
        """Measure a refitted posterior; None is a fit that diverged."""
        if q is None:
            return dict.fromkeys(names, torch.tensor(torch.nan))
        draws = q.sample(count(q, n_draws), seed=seed)
        spectra = []
        for w in draws[:n_spectra]:
            spectra.append(top_eigenpairs(f, w, 1, iters=ITERS, seed=seed))
        prediction = predicted(
            fits.net,
            q,
            task.test,
            n_draws,
            seed=seed,
            likelihood=task.likelihood,
        )
        return member_values(spectra, prediction)

    rows = [of_members]  # a row a seed, with the values of every member
    for fit_seed in track(list(seeds), "seeds", fits.progress):
        by_key = {}
        for key in dict.fromkeys(keys):  # members that share a fit are measured once
            q = fitted.get((*key, fit_seed))
            by_key[key] = values_of(q, fit_seed + 1)
        rows.append([by_key[key] for key in keys])
    over_seeds = []
    for of_seeds in zip(*rows):  # of one member, its values at every seed
        over_seeds.append(default_collate(list(of_seeds)))  # stacks tensors key by key
    return family.each(over_seeds=over_seeds)


@dataclass(frozen=True)
class _Ground:
    """Planes, sizes and spectra shared by the measurements of all members of a family.

    Args:
        family: The family, with its surface, maps and inputs.
        n_draws: Draws of each member.
        n_spectra: Number of these draws at which the spectrum is computed.
        k: Number of eigenvalues in a spectrum.
        resolution: Grid points a side of the surfaces around a center.
        reach: Extent of the surfaces along the sharpest directions.
        seed: Seed of draws, random directions and eigenvalues.
        spectra: Spectra at centers that are known already, by the id of the posterior.
    """

    net: Net
    task: Task
    family: Family
    n_draws: int
    n_spectra: int
    k: int
    resolution: int
    reach: float
    seed: int
    progress: Progress
    spectra: Mapping[int, Spectrum] = field(default_factory=dict)

    @classmethod
    def of(cls, fits: Fitting, family: Family) -> _Ground:
        """Read from a measured family on what ground `measure` measured it."""
        first = family[0]
        return cls(
            net=fits.net,
            task=fits.task,
            family=family,
            n_draws=family.n_draws,
            n_spectra=max(map(len, family.spectrum)),
            k=len(first.spectrum[0].values),
            resolution=len(computed(first.around).a),
            reach=float(computed(first.sharpest).a.max()),
            seed=fits.seed + 1,
            progress=fits.progress,
        )

    def measured(self, member: Member, surfaces: Sequence[str] = SURFACES) -> Member:
        """Return the member with its draws on the plane, surfaces, spectra, prediction and maps."""
        net = self.net
        task = self.task
        family = self.family
        seed = self.seed
        q = member.posterior
        n_draws = self.n_draws
        f = training_nll(net, task)
        draws = q.sample(count(q, n_draws), seed=seed)
        spectra = self.spectra_of(f, draws)
        prediction = predicted(
            net,
            q,
            task.test,
            n_draws,
            seed=seed,
            progress=self.progress,
            likelihood=task.likelihood,
        )
        maps = {
            **member.maps,
            **disputed_row(task, prediction, n_draws),
            **input_row(net, task, family, q, n_draws, seed=seed),
        }
        if "around" in surfaces:
            member = replace(member, around=self.around(f, q))
        if "sharpest" in surfaces:
            member = replace(member, sharpest=self.sharpest(f, q))
        return replace(
            member,
            projection=project(draws, computed(family.surface).plane, f),
            spectrum=spectra,
            prediction=prediction,
            maps=maps,
        )

    def spectra_of(self, f: Objective, draws: Tensor) -> tuple[Spectrum, ...]:
        """Compute the largest eigenpairs at each of the first `n_spectra` draws."""
        first_draws = track(list(draws[: self.n_spectra]), "eigenvalues", self.progress)
        spectra = []
        for i, w in enumerate(first_draws, 1):
            spectrum = top_eigenpairs(f, w, self.k, seed=self.seed, name=f"draw {i}")
            spectra.append(spectrum)
        return tuple(spectra)

    def around(self, f: Objective, q: Posterior) -> Surface:
        """Compute the surface around a center along two random directions."""
        plane = plane_random(self.net, q.center, seed=self.seed)
        return slice_plane(f, plane, resolution=self.resolution, progress=self.progress)

    def sharpest(self, f: Objective, q: Posterior) -> Surface:
        """Compute the surface around a center along its two sharpest directions."""
        spectrum = self.spectra.get(id(q))
        if spectrum is None:
            spectrum = top_eigenpairs(f, q.center, 2, seed=self.seed)
        plane = plane_eigen(q.center, spectrum)
        return slice_plane(f, plane, extent=self.reach, resolution=self.resolution)


def member_values(spectra: Sequence[Spectrum], prediction: Prediction) -> dict[str, Tensor]:
    """Compute numbers () of a member by name: "lambda1" and those scores `SHOWN` that it has.

    "lambda1" is the mean largest eigenvalue; the scores are those of the ensemble of all draws.
    """
    largest = [spectrum.values[0] for spectrum in spectra]
    values = {"lambda1": torch.stack(largest).mean()}
    for name in SHOWN:
        if name in prediction.scores:
            score = prediction.scores[name][-1]  # of the largest ensemble
            values[name] = score.to(values["lambda1"])
    return {name: value.cpu() for name, value in values.items()}
