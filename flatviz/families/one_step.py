"""What one step of SA-BMA does, on the plane in which it happens: the ball around q, the worst q' in it, the step back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import torch
from torch import Tensor

from flatviz.checks import Count, Radius, Seed, Several, Whole, check_choice, check_count, each
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.gaussian import Gaussian
from flatviz.landscape.projection import project
from flatviz.landscape.slices import slice_plane
from flatviz.objectives.nll import nll
from flatviz.planes.along import plane_along
from flatviz.posteriors import METHODS
from flatviz.posteriors.sabma import sabma_stages
from flatviz.results import Family, Mechanism, Plane, Posterior, placed, reach_of
from flatviz.training.optimize import training_loss
from flatviz.training.perturb import UNITS, Blocks, Mode, perturb
from flatviz.training.variational import NoisyNLL

MARGIN = 1.25  # how much further than what is drawn the plane is computed
STEP_DRAWS = 32  # behind each expectation of a family's steps


Moments = Annotated[Sequence[Whole], each(partial(check_count, least=0), "numbers of steps", least=2)]


@public
def mechanism(
    net: Net,
    data: Data,
    q: Gaussian,
    *,
    radii: Sequence[Radius],
    seed: Seed,
    mode: Mode = "kl_exact",
    blocks: Blocks = "mean+std",
    n_draws: Count = 32,
    resolution: Several = 31,
    likelihood: Likelihood = "categorical",
    name: str = "q",
) -> Mechanism:
    """The step of SA-BMA from `q` at each of `radii`: ascend to the worst q', take the gradient there, descend from q.

        ascend   Delta = radius F^-1 g / sqrt(g^T F^-1 g),  q' = q + Delta          `perturb`, in `mode` and `blocks`
        there    g' = grad E_q'[NLL]
        descend  from q along -g'

    The plane holds Sigma g, along which `kl_exact` moves the mean, and the gradient g, along which SAM does.
    n_draws: draws behind each expectation, the same noise at q and at q', which training has one of.
    BatchNorm statistics are the net's own.

    Raises:
        ValueError: For no radius, a q of another length, or an unknown word.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> q = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> shown = fv.families.mechanism(net, data, q, radii=[0.5, 1.0], seed=0, n_draws=4, resolution=5)
        >>> shown.worst.shape, bool(shown.worst_loss[1] > shown.worst_loss[0] > shown.loss)
        (torch.Size([2, 2]), True)
    """
    if not len(radii):
        raise ValueError("radii must hold at least one number, got none")
    expected = _expected(net, data, q, likelihood, n_draws, seed)
    loss, g, _ = expected(q)
    plane = plane_of_step(q, g[0], seed)
    rows = _rows(q, expected, g, plane, [(float(r), mode) for r in radii], blocks)
    about = dict(gradient=plane.axes @ g[0], loss=float(loss), unit=UNITS[mode], name=name)
    return _on_ground(net, data, q, plane, rows, radii, resolution, **about)


@public
def mechanism_in_training(
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    radius: Radius,
    seed: Seed,
    at: Moments | None = None,
    settings: Mapping[str, Any] | None = None,
    n_draws: Count = 32,
    resolution: Several = 31,
    likelihood: Likelihood = "categorical",
    progress: Progress = False,
) -> list[Mechanism]:
    """The step of `mechanism` from q as it stands at several moments of one `fit_sabma`, all on one plane: `plot_mechanism` plays them.

    The plane goes through the last q's mean.  Its axes are the two directions that hold most of all the moves Sigma g, each of
    length 1 (the right singular vectors of these, not centred); what is drawn are shadows on it.

    at: rising numbers of steps taken, 0 is the start; default: five, the denser the earlier, the last one among them, the start
        not: q moves away from it by many times its own width, and a picture with it shows the rest small.
    settings: in place of those of `fv.METHODS["sabma"]`, as {"steps": 100}.  BatchNorm statistics are the net's own.

    Raises:
        ValueError: For another setting, and for numbers that do not rise or go beyond the fit's steps.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> few = dict(n_draws=2, resolution=3, settings={"steps": 8})
        >>> stages = fv.families.mechanism_in_training(net, data, prior, radius=1.0, seed=0, at=[0, 4, 8], **few)
        >>> [stage.name for stage in stages]
        ['q after 0 steps', 'q after 4 steps', 'q after 8 steps']
    """
    record = METHODS["sabma"]
    for name in settings or {}:
        check_choice(name, tuple(record.tuned(net).settings), "a setting of SA-BMA")
    chosen = {k: v for k, v in record.keywords(net, settings=settings).items() if k != "radius"}
    at = sorted({round(chosen["steps"] * (i / 5) ** 2) for i in range(1, 6)}) if at is None else list(at)
    if any(b <= a for a, b in pairwise(at)) or at[-1] > chosen["steps"]:
        raise ValueError(f"at must rise and end by the fit's {chosen['steps']} steps, got {at}")
    about = dict(radius=radius, seed=seed, at=at, settings=chosen, likelihood=likelihood, progress=progress)
    stages = sabma_stages(net, data, prior, **about)
    expected = _expected(net, data, stages[-1], likelihood, n_draws, seed)
    names = [f"q after {done} steps" for done in at]
    return _on_common_ground(net, data, stages, names, expected, float(radius), resolution)


def _on_common_ground(
    net: Net, data: Data, stages: list[Gaussian], names: list[str], expected: NoisyNLL, radius: float, resolution: int
) -> list[Mechanism]:
    """The step of `kl_exact` from each of `stages` on the plane that holds most of their moves."""
    found = [expected.again(q)[:2] for q in stages]
    directions = torch.stack([q.cov_mul(g[0]) for q, (_, g) in zip(stages, found)])
    axes = torch.linalg.svd(torch.nn.functional.normalize(directions, dim=1), full_matrices=False)[2]
    plane = plane_along(stages[-1].mean, *axes[:2], orthonormal=True, name="common plane of the perturbations")
    steps = []
    for q, name, (loss, g) in zip(stages, names, found):
        row, center = (
            _rows(q, expected, g, plane, [(radius, "kl_exact")], "mean+std"),
            (plane.axes @ (q.mean - plane.origin)).cpu(),
        )
        row["worst"] = row["worst"] - center
        about = dict(loss=float(loss), unit=UNITS["kl_exact"], name=name, center=center, slope=float(g[0].norm()))
        steps.append(
            dict(covariance=project(q, plane).covariance, radius=(radius,), gradient=plane.axes @ g[0], **row, **about)
        )
    surface = slice_plane(nll(net, data), plane, extent=_around(steps), resolution=resolution)
    return [Mechanism(surface, **step) for step in steps]


def _around(steps: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """The square that holds what is drawn of all stages, with a margin."""
    names = "ball", "worst", "worst_covariance", "length"
    ends = torch.tensor([[reach_of(step["covariance"], *(step[name][0] for name in names))] for step in steps]).double()
    centers = torch.stack([step["center"] for step in steps]).double()
    low, high = (centers - ends).min(0).values, (centers + ends).max(0).values
    half = MARGIN * float((high - low).max()) / 2
    return [(float(middle) - half, float(middle) + half) for middle in (low + high) / 2]


def family_steps(net: Net, data: Data, family: Family, *, seed: int, resolution: int = 31) -> Family:
    """The family with a step from VI's posterior at every member's radius; without it where VI is not in the family.

    All on the plane of Sigma g and g at VI's mean, so that the radius moves the ball and the ground stays, which reaches as far
    as the largest radius that a lab offers.  Methods without a perturbation, and radius 0, move nothing.
    """
    if "vi" not in family.methods or not isinstance(q := family[family.index("vi")].posterior, Gaussian):
        return family
    expected = _expected(net, data, q, "categorical", STEP_DRAWS, seed)
    loss, g, _ = expected(q)
    plane = plane_of_step(q, g[0], seed)
    rows = [_rows(q, expected, g, plane, [_asked(m.method, m.radius)], "mean+std") for m in family]
    about = dict(gradient=plane.axes @ g[0], loss=float(loss), unit="of each member", name="VI's posterior")
    perturbing = [m for m in family.methods if METHODS[m].look.perturbation and max(family.radii(m)) > 0]
    largest = [_asked(m, max(METHODS[m].tuned(net).largest, *family.radii(m))) for m in perturbing]
    beyond = _rows(q, expected, g, plane, largest, "mean+std") if perturbing else rows[0]
    ground = _on_ground(net, data, q, plane, rows[0], (0.0,), resolution, beyond, **about)
    return family.each(step=[replace(ground, radius=(m.radius,), **row) for m, row in zip(family, rows)])


def step_of(net: Net, data: Data, family: Family, method: str, radius: float, *, seed: int) -> Mechanism | None:
    """The step of a member that joins the family, on its ground; None where that has none."""
    if (ground := family[0].step) is None:
        return None
    q, plane = family[family.index("vi")].posterior, placed(ground.surface.plane, net.device)
    expected = _expected(net, data, q, "categorical", STEP_DRAWS, seed)
    rows = _rows(q, expected, expected(q)[1], plane, [_asked(method, radius)], "mean+std")
    return replace(ground, radius=(float(radius),), **rows)


def _on_ground(
    net: Net,
    data: Data,
    q: Gaussian,
    plane: Plane,
    rows: dict[str, Tensor],
    radii: Sequence[float],
    resolution: int,
    beyond: dict[str, Tensor] | None = None,
    **about: Any,
) -> Mechanism:
    """The rows with the loss around them, as far as anything of them reaches, or of the rows `beyond`."""
    covariance = project(q, plane).covariance
    drawn = zip(*((beyond or rows)[name] for name in ("ball", "worst", "worst_covariance", "length")))
    reach = max(reach_of(covariance, *row) for row in drawn)
    surface = slice_plane(nll(net, data), plane, extent=MARGIN * reach, resolution=resolution)
    return Mechanism(surface, covariance, tuple(map(float, radii)), **rows, **about)


def _asked(method: str, radius: float) -> tuple[float, str]:
    mode = METHODS[method].look.perturbation
    return (float(radius), mode) if mode else (0.0, "none")


def _expected(net: Net, data: Data, q: Gaussian, likelihood: Likelihood, n_draws: int, seed: int) -> NoisyNLL:
    """The mean NLL over draws of q, at noise that stays."""
    z = torch.randn(n_draws, q.dim + q.rank, generator=generator(seed), dtype=q.mean.dtype).to(q.mean.device)
    return NoisyNLL(training_loss(net, data, likelihood, "frozen")[0], None, [(row[: q.dim], row[q.dim :]) for row in z])


def _rows(
    q: Gaussian, expected: NoisyNLL, g: tuple[Tensor, ...], plane: Plane, asked: list[tuple[float, str]], blocks: str
) -> dict[str, Tensor]:
    """What depends on radius and mode, a row each."""
    moves = [perturb(q, g, radius=r, mode=mode, blocks=blocks, noise=expected.noise[0]) for r, mode in asked]
    gaussians = [q.moved(delta) for delta in moves]
    at_worst = [expected.again(worst) for worst in gaussians]
    shadows = [project(Gaussian(worst.mean, worst.log_std, worst.factor), plane) for worst in gaussians]
    rows = dict(
        ball=torch.stack([_ball(q, plane, r, mode) for r, mode in asked]),
        worst=torch.cat([s.coords for s in shadows]),
        worst_covariance=torch.stack([s.covariance for s in shadows]),
        length=torch.stack([delta[0].norm() for delta in moves]),
        there=torch.stack([plane.axes @ found[1][0] for found in at_worst]),
        worst_loss=torch.stack([found[0] for found in at_worst]),
    )
    return placed(rows, torch.device("cpu"))


def plane_of_step(q: Posterior, gradient: Tensor, seed: int) -> Plane:
    """Through q's center, along Sigma g, the way `kl_exact` moves the mean, and the gradient g, the way SAM moves it.

    Of a posterior without a covariance along g; where the two are parallel, or g is 0, a direction is random.
    """
    noise = torch.randn(2, len(gradient), generator=generator(seed), dtype=gradient.dtype).to(gradient.device)
    along = q.cov_mul(gradient) if isinstance(q, Gaussian) else gradient
    along = along if float(along.norm()) > 0 else noise[1]
    across = gradient - along * (gradient @ along) / (along @ along).clamp_min(torch.finfo(along.dtype).tiny)
    if float(across.norm()) <= 1e-4 * float(gradient.norm()):
        across = noise[0]
    return plane_along(q.center, along, across, orthonormal=True, name="plane of the perturbation")


def _ball(q: Gaussian, plane: Plane, radius: float, mode: str) -> Tensor:
    """E (2, 2): the ball's shadow is where a^T E^-1 a <= 1.  Of d^T Sigma^-1 d <= radius^2 it is radius^2 A Sigma A^T."""
    if UNITS[mode] == "Euclidean":
        return radius**2 * torch.eye(2, dtype=q.mean.dtype, device=q.mean.device)
    return radius**2 * (plane.axes @ q.cov_mul(plane.axes).T)
