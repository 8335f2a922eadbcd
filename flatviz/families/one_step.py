"""One step of SA-BMA on its plane: the ball around q, the worst q' in it, the step back.

The steps may be at several moments of a fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from flatviz.checks import Count, Radius, Seed, Several, computed
from flatviz.core import Data, Likelihood, Net, Task, generator, public, randn_like
from flatviz.gaussian import Gaussian
from flatviz.landscape.slices import project, slice_plane
from flatviz.objectives.network import nll
from flatviz.planes.plane import plane_along
from flatviz.posteriors import METHODS
from flatviz.results import Family, Mechanism, Member, Plane, placed
from flatviz.training.gradient import expected
from flatviz.training.losses import training_loss
from flatviz.training.perturb import UNITS, Mode, perturb

SABMA = "sabma"  # the method whose step this is
MARGIN = 1.25  # extent of the computed plane over what is drawn
STEP_DRAWS = 32  # draws in each expectation of a family's steps


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
    """Take the step of SA-BMA (`fv.posteriors.SABMA`) from `q` at each of `radii`.

    The plane holds Sigma g, along which `kl_exact` moves the mean, and the gradient g, along which
    SAM does.  BatchNorm statistics are those of the net.

    Args:
        net: The network.
        data: Examples of the mean NLL.
        q: Gaussian over its treated weights.
        radii: At least one, in the unit of `mode`.
        seed: Fixes the noise, the same at q and at q'.
        mode: As in `perturb`.
        n_draws: Number of draws in each expectation.
        resolution: Grid points a side of the loss.
        name: Name of q in figures.
        likelihood: Of the loss, as in `fv.nll`.

    Raises:
        ValueError: For no radius, a q of another length, or an unknown word.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> q = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> how = dict(radii=[0.5, 1.0], seed=0, n_draws=4, resolution=5)
        >>> step = fv.families.mechanism(net, data, q, **how)
        >>> step.worst.shape, bool(step.worst_loss[1] > step.worst_loss[0] > step.loss)
        (torch.Size([2, 2]), True)
    """
    step = Step(net, data, q, seed, n_draws, likelihood)
    asked = [(float(radius), mode) for radius in radii]
    return step.with_surface(step.at(asked, unit=UNITS[mode], name=name), resolution)


def member_steps(
    net: Net, task: Task, family: Family, *, seed: int, resolution: int
) -> Callable[[Member], Mechanism | None]:
    """Return a function that computes a member's step from VI's posterior at its radius.

    It returns None where VI is not in the family.  All steps are on the plane of Sigma g and g at
    VI's mean, so that the radius moves the ball on a fixed ground, which reaches as far as the
    largest radius of a lab.  Methods without a perturbation, and radius 0, move nothing.

    resolution: of the ground, where the family's members have none.
    """
    ground = family[0].step
    q = family[family.index("vi")].posterior if "vi" in family.methods else None
    if not isinstance(q, Gaussian):
        return lambda member: None
    step = Step(net, task.train, q, seed, likelihood=task.likelihood)
    if ground is None:
        perturbing = [
            m for m in family.methods if METHODS[m].look.perturbation and max(family.radii(m)) > 0
        ]
        largest = [
            _asked(m, max(METHODS[m].tuned(net).largest, *family.radii(m))) for m in perturbing
        ]
        ground = step.at(largest or [(0.0, "none")], unit="of each member", name="VI's posterior")
        ground = step.with_surface(ground, resolution)
    surface = computed(ground.surface)
    plane = placed(surface.plane, net.device)

    def step_of(member: Member) -> Mechanism:
        asked = [_asked(member.method, member.radius)]
        shown = step.at(asked, plane=plane, unit=ground.unit, name=ground.name)
        return replace(shown, radius=(member.radius,), surface=surface)

    return step_of


def _asked(method: str, radius: float) -> tuple[float, Mode]:
    mode = METHODS[method].look.perturbation
    return (float(radius), mode) if mode else (0.0, "none")


class Step:
    """The step from q, at any radius, with expectations over the same noise at q and every q'."""

    def __init__(
        self,
        net: Net,
        data: Data,
        q: Gaussian,
        seed: int,
        n_draws: int = STEP_DRAWS,
        likelihood: Likelihood = "categorical",
    ) -> None:
        z = randn_like(q.mean, generator(seed), n_draws, q.dim + q.rank)
        self.q = q
        self.noise = z[:, : q.dim], z[:, q.dim :]
        loss = training_loss(net, data, likelihood, draws=n_draws)
        self.expected = partial(expected, loss, batch=None, noise=self.noise)
        self.loss, (gradient, *others), *_ = self.expected(q)
        # in mean, log_std, factor; in the mean
        self.g = (gradient, others[0], others[1])
        self.gradient = gradient
        self.f = nll(net, data, likelihood=likelihood)
        self.plane = plane_of_step(q, self.gradient, seed)

    def at(
        self,
        asked: Sequence[tuple[float, Mode]],
        *,
        unit: str,
        name: str,
        plane: Plane | None = None,
    ) -> Mechanism:
        """Compute the step at each (radius, mode) of `asked` on `plane` (None: of `plane_of_step`).

        unit: of the radii; name: of q.
        """
        q = self.q
        z1, z2 = self.noise
        plane = plane or self.plane
        noise = (z1[0], z2[0])
        moves = [perturb(q, self.g, radius=r, mode=mode, noise=noise) for r, mode in asked]
        gaussians = [q.moved(delta) for delta in moves]
        at_worst = [self.expected(worst) for worst in gaussians]
        shadows = [
            project(Gaussian(worst.mean, worst.log_std, worst.factor), plane) for worst in gaussians
        ]
        rows = dict(
            covariance=project(q, plane).covariance,
            ball=torch.stack([_ball(q, plane, r, mode) for r, mode in asked]),
            worst=torch.cat([s.coords for s in shadows]),
            worst_covariance=torch.stack([computed(s.covariance) for s in shadows]),
            length=torch.stack([delta[0].norm() for delta in moves]),
            gradient=plane.axes @ self.gradient,
            there=torch.stack([plane.axes @ there.grad[0] for there in at_worst]),
            worst_loss=torch.stack([there.loss for there in at_worst]),
        )
        return Mechanism(
            **placed(rows, torch.device("cpu")),
            radius=tuple(r for r, _ in asked),
            loss=float(self.loss),
            surface=None,
            unit=unit,
            name=name,
        )

    def with_surface(self, shown: Mechanism, resolution: int) -> Mechanism:
        """Add the loss on the plane of `plane_of_step`, a little further than all that is drawn."""
        reach = MARGIN * max(shown.reach(k) for k in range(len(shown.radius)))
        return replace(
            shown, surface=slice_plane(self.f, self.plane, extent=reach, resolution=resolution)
        )


def plane_of_step(q: Gaussian, gradient: Tensor, seed: int) -> Plane:
    """Build the plane through q's center along Sigma g and the gradient g.

    `kl_exact` moves along the former, SAM along the latter.  A direction is random if the two are
    parallel, or g is 0.
    """
    noise = randn_like(gradient, generator(seed), 2, len(gradient))
    along = q.cov_mul(gradient)
    along = along if float(along.norm()) > 0 else noise[1]
    across = gradient - along * (gradient @ along) / (along @ along).clamp_min(
        torch.finfo(along.dtype).tiny
    )
    if float(across.norm()) <= 1e-4 * float(gradient.norm()):
        across = noise[0]
    return plane_along(q.center, along, across, orthonormal=True, name="plane of the perturbation")


def _ball(q: Gaussian, plane: Plane, radius: float, mode: Mode) -> Tensor:
    """Compute E (2, 2), with the ball's projection where a^T E^-1 a <= 1.

    For d^T Sigma^-1 d <= radius^2 it is radius^2 A Sigma A^T.
    """
    if UNITS[mode] == "Euclidean":
        return radius**2 * torch.eye(2, dtype=q.mean.dtype, device=q.mean.device)
    return radius**2 * (plane.axes @ q.cov_mul(plane.axes).T)
