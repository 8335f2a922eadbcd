"""A family: several methods over their radii on one task, fitted and measured on shared ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

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

ITERS = 120  # Hessian products at most for one eigenvalue of a repeated fit
SURFACES = ("around", "sharpest")  # surfaces around a center, which `extend` may leave out


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

    Radius 0 of SAM and SA-BMA is VI, bit for bit, so it is fitted once.  The radii of one method
    are trained together where the network allows it.

    Args:
        net: As `transfer` returns it.
        task: Task; its training split is fitted.
        prior: As `transfer` returns it.
        radii: Method -> radii, each in the method's unit; None: those of the tour.
        seed: Fixes the noise of every fit.
        fit: Settings in place of those of the methods' records, each where the method has it:
            {"steps": 300}.
        tuned: Method -> choice of `flatviz run tune` (`flatviz.families.members`); its radius is
            fitted too.  Radius 0 of a tuned method is VI at that method's settings.
        progress: True, None (where a terminal watches) or a function.
        engine: Any executor of `concurrent.futures`, a pool of processes or a cluster's: its
            workers share the fits, also the radii of one method, each equal to rounding.

    Raises:
        ValueError: For an unknown method or setting, or a radius below 0.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit_swag(source, task.source, seed=0)
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

    All share one PCA plane, of the pooled draws, and one pair of random directions.  Surface and
    spectra are of the mean NLL of the training examples over the treated weights; scores are of the
    test split.  BatchNorm statistics are those of the net throughout, as they were when the
    posteriors were fitted.

    Args:
        net: As for `fit_family`.
        task: Task; its training split gives the loss and its test split the scores.
        family: Result of `fit_family`.
        seed: Fixes draws and planes.
        n_draws: Draws a posterior, at least 2.
        n_spectra: Draws whose largest eigenvalues are computed.
        k: Eigenvalues of each.
        resolution: Grid points a side of the shared surface.
        around_resolution: Grid points a side of the surface around each center.
        progress: True, None (where a terminal watches) or a function.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit_swag(source, task.source, seed=0)
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
    reaches = []
    for q in posteriors:
        spectra[id(q)] = top_eigenpairs(f, q.center, 2, seed=seed)
        reaches.append(rise_distance(f, q.center, spectra[id(q)]))
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
    members = [
        replace(new, method=member.method, radius=member.radius, unit=member.unit)
        for member, new in zip(family, measured)
    ]
    family = replace(family, members=tuple(members))
    return with_pixels(task, family)


def line_of_inputs(task: Task) -> dict[str, Tensor]:
    """Return `Family.inputs` of a regression on one number, x (N,) of the test split, or {}."""
    x = task.test.x
    if task.one_label or not isinstance(x, Tensor) or x.numel() != len(x):
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

    It is measured at the seed after that of the fits.  surfaces: those of `SURFACES` to compute,
    two thirds of the work; the others are copied from the nearest member.
    """
    near = family[family.index(method, radius)]
    new = replace(
        near,
        method=method,
        radius=float(radius),
        unit=METHODS[method].unit,
        posterior=posterior,
    )
    member = _Ground.of(fits, family).measured(new, surfaces)
    values = member_values(member.spectrum, computed(member.prediction))
    over_seeds = {}
    for name, row in near.over_seeds.items():  # of one seed alone
        over_seeds[name] = torch.full_like(row, torch.nan)
        over_seeds[name][0] = values[name]
    family = family.add(replace(member, over_seeds=over_seeds))
    return with_pixels(fits.task, family)


def repeat_family(fits: Fitting, family: Family, seeds: Sequence[int]) -> Family:
    """Measure `over_seeds` of a family: fit each member again with every one of `seeds`.

    Data, pre-trained network and prior stay; the noise of fit and draws changes, so the spread over
    seeds is the effect of that noise.  The radii of a method are trained together, with all seeds
    at once, where the network allows it.

    over_seeds of a member: "lambda1", the mean over as many draws as the family has spectra; those
    of `SHOWN` on the test split at the family's largest ensemble; (1 + seeds,) each, the value of
    the member itself first, NaN where a fit diverged.
    """
    task = fits.task
    keys = [fits.key(m.method, m.radius) for m in family]
    n_draws = family.n_draws
    n_spectra = max(map(len, family.spectrum))
    f = training_nll(fits.net, task)
    fitted = fits.members(dict.fromkeys(keys), seeds)
    own = [member_values(m.spectrum, computed(m.prediction)) for m in family]

    def values(q: Posterior | None, seed: int) -> dict[str, Tensor]:
        if q is None:
            return dict.fromkeys(own[0], torch.tensor(torch.nan))
        W = q.sample(count(q, n_draws), seed=seed)
        spectra = [top_eigenpairs(f, w, 1, iters=ITERS, seed=seed) for w in W[:n_spectra]]
        likelihood = task.likelihood
        prediction = predicted(fits.net, q, task.test, n_draws, seed=seed, likelihood=likelihood)
        return member_values(spectra, prediction)

    columns = [own]
    for seed in track(list(seeds), "seeds", fits.progress):
        rows = {}
        for key in dict.fromkeys(keys):
            rows[key] = values(fitted.get((*key, seed)), seed + 1)
        columns.append([rows[key] for key in keys])
    over_seeds = []
    for column in zip(*columns):
        over_seeds.append({n: torch.stack([row[n] for row in column]) for n in own[0]})
    return family.each(over_seeds=over_seeds)


@dataclass(frozen=True)
class _Ground:
    """Planes, sizes and spectra shared by the measurements of all members of a family.

    Args:
        family: The family, with its surface, maps and inputs.
        n_draws: Draws of each member.
        n_spectra: Draws whose spectrum is computed.
        k: Eigenvalues of a spectrum.
        resolution: Points a side of the surfaces around a center.
        reach: Extent of the surfaces along the sharpest directions.
        spectra: Spectra at centers, by id.
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
        """Read the ground of a measured family."""
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
        """Measure a member: draws on the plane, surfaces, spectra, prediction, maps."""
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
        """Compute the largest eigenpairs at the first draws."""
        starts = track(list(draws[: self.n_spectra]), "eigenvalues", self.progress)
        spectra = []
        for i, w in enumerate(starts, 1):
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
    """Compute a member's mean largest eigenvalue and the scores `SHOWN` of all its draws, by name.

    Each is ().
    """
    largest = [spectrum.values[0] for spectrum in spectra]
    values = {"lambda1": torch.stack(largest).mean()}
    for name in SHOWN:
        if name in prediction.scores:
            score = prediction.scores[name][-1]
            values[name] = score.to(values["lambda1"])
    return {name: value.cpu() for name, value in values.items()}
