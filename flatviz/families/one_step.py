"""What one step of SA-BMA does, on its plane: the ball around q, the worst q' in it, the step back; and at moments of a fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import torch
from torch import Tensor

from flatviz.checks import Count, Radius, Seed, Several, Whole, check_choice, check_count, each
from flatviz.core import Data, Likelihood, Net, Progress, Task, generator, public
from flatviz.gaussian import Gaussian
from flatviz.landscape.slices import project, slice_plane
from flatviz.objectives.network import nll
from flatviz.planes.plane import plane_along
from flatviz.posteriors import METHODS
from flatviz.results import Family, Mechanism, Member, Plane, Posterior, placed
from flatviz.training.driver import drive
from flatviz.training.gradient import NoisyNLL
from flatviz.training.keywords import Run
from flatviz.training.losses import training_loss
from flatviz.training.perturb import UNITS, Mode, perturb
from flatviz.training.variational import GaussianState, started

SABMA = "sabma"  # the method whose step this is
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
    n_draws: Count = 32,
    resolution: Several = 31,
    name: str = "q",
    likelihood: Likelihood = "categorical",
) -> Mechanism:
    """The step of SA-BMA from `q` at each of `radii`: ascend to the worst q', take the gradient there, descend from q.

        ascend   Delta = radius F^-1 g / sqrt(g^T F^-1 g),  q' = q + Delta          `perturb`, in `mode`
        there    g' = grad E_q'[NLL]
        descend  from q along -g'

    The plane holds Sigma g, along which `kl_exact` moves the mean, and the gradient g, along which SAM does.
    BatchNorm statistics are those of the net.

    Args:
        net: the network.
        data: of which the loss is the mean NLL.
        q: over its treated weights.
        radii: at least one, in the unit of `mode`.
        seed: of the noise, the same at q and at q'.
        mode: of `perturb`.
        n_draws: draws behind each expectation; training has one.
        resolution: grid points a side of the loss.
        name: of q in pictures.
        likelihood: of the loss, as in `fv.nll`.

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
    step = Step(net, data, q, seed, n_draws, likelihood)
    return step.with_surface(step.at([(float(r), mode) for r in radii], unit=UNITS[mode], name=name), resolution)


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
    """The step of `mechanism` from q at several moments of one `fit_sabma`, all on one plane: `plot_mechanism` plays them.

    The plane goes through the last q's mean.  Its axes are the two directions that hold most of all the moves Sigma g, each of
    length 1 (the right singular vectors of these, not centred); what is drawn are shadows on it.

    BatchNorm statistics are those of the net.

    Args:
        net: the network.
        data: what q is fitted to.
        prior: of the fit.
        radius: of the fit and of the step, sqrt(2 KL in nats).
        seed: of the fit and of the draws.
        at: rising numbers of steps taken, 0 is the start; default: five, the denser the earlier, the last one among them, the
            start not: q moves away from it by many times its width, and a picture with it shows the rest small.
        settings: in place of those of `fv.METHODS["sabma"]`, as {"steps": 100}.
        n_draws: draws behind each expectation.
        resolution: grid points a side of the loss.
        likelihood: of the loss, as in `fv.nll`.
        progress: True, None (where a terminal watches) or a function.

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
    record = METHODS[SABMA]
    for name in settings or {}:
        check_choice(name, tuple(record.tuned(net).settings), "a setting of SA-BMA")
    fit = {k: v for k, v in record.keywords(net, settings=settings).items() if k != "radius"}
    at = sorted({round(fit["steps"] * (i / 5) ** 2) for i in range(1, 6)}) if at is None else list(at)
    if any(b <= a for a, b in pairwise(at)) or at[-1] > fit["steps"]:
        raise ValueError(f"at must rise and end by the fit's {fit['steps']} steps, got {at}")
    algorithm, kept = record.algorithm(prior, len(data), radius=radius, **fit), {}

    def watch(done: int, state: GaussianState) -> None:  # of one fit: a shorter one would have other learning rates
        if done in at:
            kept[done] = Gaussian(state.mean.clone(), state.log_std.clone(), state.factor.clone())

    run = Run("SA-BMA", seed, progress=progress, batch_size=fit["batch_size"])
    state, loss = (
        algorithm.init(started(prior, {"start": None, **fit})),
        training_loss(net, data, likelihood, draws=algorithm.draws),
    )
    drive(algorithm, state, loss, run, steps=fit["steps"], shuffle=seed + 1, watch=watch)
    stages = [Step(net, data, kept[done], seed, n_draws, likelihood) for done in at]
    moves = torch.stack([step.q.cov_mul(step.gradient) for step in stages])
    axes = torch.linalg.svd(torch.nn.functional.normalize(moves, dim=1), full_matrices=False)[2][:2]
    plane = plane_along(stages[-1].q.mean, *axes, orthonormal=True, name="common plane of the perturbations")
    shown = []
    for step, done in zip(stages, at):
        slope, center = float(step.gradient.norm()), (plane.axes @ (step.q.mean - plane.origin)).cpu()
        about = dict(unit=UNITS["kl_exact"], name=f"q after {done} steps", center=center, slope=slope)
        stage = step.at([(float(radius), "kl_exact")], plane=plane, **about)
        shown.append(replace(stage, worst=stage.worst - center))
    low = torch.stack([stage.center.double() - stage.reach(0) for stage in shown]).amin(0)
    high = torch.stack([stage.center.double() + stage.reach(0) for stage in shown]).amax(0)
    half = MARGIN * float((high - low).max()) / 2  # a square that holds what is drawn of all stages
    extent = [(float(middle) - half, float(middle) + half) for middle in (low + high) / 2]
    surface = slice_plane(stages[0].f, plane, extent=extent, resolution=resolution)
    return [replace(stage, surface=surface) for stage in shown]


def member_steps(net: Net, task: Task, family: Family, *, seed: int, resolution: int) -> Callable[[Member], Mechanism | None]:
    """Member -> the step from VI's posterior at its radius; None for every one where VI is not in the family.

    All on the plane of Sigma g and g at VI's mean, so that the radius moves the ball and the ground stays, which reaches as far
    as the largest radius that a lab offers.  Methods without a perturbation, and radius 0, move nothing.
    resolution: of the ground, where the family's members have none.
    """
    ground, q = family[0].step, family[family.index("vi")].posterior if "vi" in family.methods else None
    if not isinstance(q, Gaussian):
        return lambda member: None
    step = Step(net, task.train, q, seed, likelihood=task.likelihood)
    if ground is None:
        perturbing = [m for m in family.methods if METHODS[m].look.perturbation and max(family.radii(m)) > 0]
        largest = [_asked(m, max(METHODS[m].tuned(net).largest, *family.radii(m))) for m in perturbing]
        ground = step.at(largest or [(0.0, "none")], unit="of each member", name="VI's posterior")
        ground = step.with_surface(ground, resolution)
    about = dict(plane=placed(ground.surface.plane, net.device), unit=ground.unit, name=ground.name, surface=ground.surface)
    return lambda member: step.at([_asked(member.method, member.radius)], radius=(member.radius,), **about)


def _asked(method: str, radius: float) -> tuple[float, str]:
    mode = METHODS[method].look.perturbation
    return (float(radius), mode) if mode else (0.0, "none")


class Step:
    """The step from q, at any radius: expectations are means over the same noise, at q and at every q'."""

    def __init__(
        self, net: Net, data: Data, q: Gaussian, seed: int, n_draws: int = STEP_DRAWS, likelihood: Likelihood = "categorical"
    ) -> None:
        z = torch.randn(n_draws, q.dim + q.rank, generator=generator(seed), dtype=q.mean.dtype).to(q.mean.device)
        loss = training_loss(net, data, likelihood, draws=n_draws)
        self.q, self.expected = q, NoisyNLL(loss, None, (z[:, : q.dim], z[:, q.dim :]))
        self.loss, self.g, _ = self.expected(q)
        self.gradient, self.f = self.g[0], nll(net, data, likelihood=likelihood)  # in the mean
        self.plane = plane_of_step(q, self.gradient, seed)

    def at(self, asked: Sequence[tuple[float, str]], *, plane: Plane | None = None, **fields: Any) -> Mechanism:
        """The step at each (radius, mode) of `asked` on `plane` (None: of `plane_of_step`); fields: further ones of the `Mechanism`."""
        q, noise, plane = self.q, self.expected.first, plane or self.plane
        moves = [perturb(q, self.g, radius=r, mode=mode, noise=noise) for r, mode in asked]
        gaussians = [q.moved(delta) for delta in moves]
        at_worst = [self.expected(worst, again=True) for worst in gaussians]
        shadows = [project(Gaussian(worst.mean, worst.log_std, worst.factor), plane) for worst in gaussians]
        rows = dict(
            covariance=project(q, plane).covariance,
            ball=torch.stack([_ball(q, plane, r, mode) for r, mode in asked]),
            worst=torch.cat([s.coords for s in shadows]),
            worst_covariance=torch.stack([s.covariance for s in shadows]),
            length=torch.stack([delta[0].norm() for delta in moves]),
            gradient=plane.axes @ self.gradient,
            there=torch.stack([plane.axes @ g[0] for _, g, _ in at_worst]),
            worst_loss=torch.stack([loss for loss, _, _ in at_worst]),
        )
        about = dict(radius=tuple(r for r, _ in asked), loss=float(self.loss), surface=None)
        return Mechanism(**placed(rows, torch.device("cpu")), **about | fields)

    def with_surface(self, shown: Mechanism, resolution: int) -> Mechanism:
        """With the loss on the plane of `plane_of_step`, a little further than all that is drawn."""
        reach = MARGIN * max(shown.reach(k) for k in range(len(shown.radius)))
        return replace(shown, surface=slice_plane(self.f, self.plane, extent=reach, resolution=resolution))


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
