"""Distance of a fit from its method's optimum, by a longer fit and the widths' fixed point."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import default_collate

from flatviz.checks import Count, Radius, Seed, check_is
from flatviz.core import Net, Progress, Task, public
from flatviz.families.members import Fitting, check_settings
from flatviz.posteriors import METHODS
from flatviz.results import Gaussian, Member
from flatviz.training.gradient import Gradient
from flatviz.training.losses import training_loss
from flatviz.training.streams import MirroredNoise
from flatviz.training.variational import Variational
from flatviz.words import check_choice

WITH_GAP = tuple(
    name for name, m in METHODS.items() if m.needs_prior and "start_scale" in m.plain.settings
)


@dataclass(frozen=True)
class ConvergenceGap:
    """Result of `convergence_gap`, in nats an example, each with its noise: two standard errors.

    Args:
        objective: Objective of the fit.
        gap: How much lower that of the longer fit is, at the same draws.
        steps: Steps of the two fits.
        widths: Root mean square over the weights of sigma^2 / fixed point - 1.
        widths_noise: The value of widths at which it does not differ from 0.
    """

    objective: float
    gap: float
    gap_noise: float
    widths: float
    widths_noise: float
    steps: tuple[int, int]

    def __str__(self) -> str:
        """Write the gap as a line below a table."""
        few, many = self.steps
        return (
            f"objective {self.objective:.3f} after {few} steps, {self.gap:.3f} ±"
            f" {self.gap_noise:.3f} above {many} steps; variances {100 * self.widths:.0f} % off"
            f" their fixed point (noise {100 * self.widths_noise:.0f} %)"
        )


@public
def convergence_gap(
    net: Net,
    task: Task,
    prior: Gaussian,
    q: Gaussian,
    method: str,
    *,
    seed: Seed,
    radius: Radius | None = None,
    fit: Mapping[str, object] | None = None,
    times: Count = 4,
    n_draws: Count = 200,
    progress: Progress = False,
) -> ConvergenceGap:
    """Measure how far a fit `q` is from the optimum of its method.

        gap      objective(q) - objective(a fit of `times` as many steps), at the same noise
        widths   sigma^2 against leverage / (E_q[h] / tau + diag P)

    The objective is the method's: for SA-BMA and SAM the loss after the ascent, plus tau KL(q ||
    prior), tau = kl_weight / N.  In the widths sigma = exp(log_std), P is the prior's precision,
    leverage = sigma^2 times the diagonal of q's precision (1 of a diagonal q), and h the diagonal
    of the Hessian; for those two methods it is E[g z] / sigma with g the gradient after the ascent,
    by which they set the widths.

    Args:
        net: As `prepare` returns it.
        task: Task; its training split is used.
        prior: Prior of the fit.
        q: The fitted posterior.
        method: One that fits a Gaussian from a start: "vi", "f-vi", "sabma", "sam_mu",
            "authors_code".
        seed: Seed of the longer fit: give the one that `q` was fitted with.  The evaluation draws
            use other seeds.
        radius: Radius of `q`; None: the method's default.
        fit: Settings of `q`, as in `fit_family`; None: the method's defaults.
        times: Steps of the longer fit over those of `q`.
        n_draws: Draws of each posterior, in two sets.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For another method, or a KL weight of 0, where there is no such point.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
        >>> swag = fv.fit(source, task.source, fv.SWAG(), seed=0)
        >>> net, prior = fv.transfer(source, swag, treated="norm+head")
        >>> how = dict(seed=0, fit={"steps": 20})
        >>> family = fv.families.fit_family(net, task, prior, radii={"vi": (0.0,)}, **how)
        >>> fv.families.convergence_gap(net, task, prior, family.posterior[0], "vi", **how).steps
        (20, 80)
    """
    record = METHODS[check_choice(method, WITH_GAP, "method")]
    check_settings(fit)
    settings = record.keywords(net, radius=radius, settings=fit)
    if settings["kl_weight"] == 0 or record.algorithm is None:
        raise ValueError(
            "kl_weight must be > 0, got 0: without the prior no width is a fixed point"
        )
    steps = settings["steps"], times * settings["steps"]
    longer = record.fit(
        net,
        task.train,
        prior,
        seed=seed,
        progress=progress,
        likelihood=task.likelihood,
        **settings | {"steps": steps[1]},
    )
    longer = check_is(longer, Gaussian, "a fit", method)
    algorithm = record.algorithm(prior, len(task.train), **settings)
    draws = algorithm.draws
    statistics = settings.get("batchnorm", "frozen")
    gradient = training_loss(net, task.train, task.likelihood, statistics, draws=draws)
    pairs = (n_draws + 1) // 2

    def at(q: Gaussian, seed: int) -> tuple[Tensor, Tensor]:
        """Compute the objective of each pair of draws, (n_draws / 2,), and the variances' distance.

        The distance is relative, the mean for each weight.
        """
        noise = MirroredNoise([seed], draws, q, 2 * pairs)
        rows = [objective(algorithm, q, gradient, noise.at(step)) for step in range(2 * pairs)]
        values, pulls = default_collate(rows)  # stacks first entries, and second ones
        distance = pulls.mean(0).double() / q.leverage.cpu()
        of_pairs = values.double().view(-1, 2).mean(1)
        return of_pairs, distance

    one, first = at(q, seed + 1)
    two, second = at(q, seed + 2)
    values = torch.cat((one, two))
    one, _ = at(longer, seed + 1)
    two, _ = at(longer, seed + 2)
    saved = values - torch.cat((one, two))
    products = first * second  # of independent draws, and so unbiased for the square
    square = max(float(products.mean()), 0.0)
    noise = 2 * float(products.std()) / math.sqrt(q.dim)
    return ConvergenceGap(
        objective=float(values.mean()),
        gap=float(saved.mean()),
        gap_noise=2 * float(saved.std()) / math.sqrt(len(saved)),
        widths=math.sqrt(square),
        widths_noise=math.sqrt(noise),
        steps=steps,
    )


def objective(
    algorithm: Variational, q: Gaussian, gradient: Gradient, noise: tuple[Tensor, ...]
) -> tuple[Tensor, Tensor]:
    """Compute the objective of a method at q with this noise, (), and the pull on log_std.

    The objective is the loss after the ascent plus tau KL(q || prior).  The pull (D,) is an
    estimate of d_i (h_i / tau + P_ii) - leverage_i, 0 at the fixed point of the widths.
    """
    g = algorithm.gradient(q, gradient, None, noise)
    kl, (_, pull, _) = algorithm.descent.total(q, g.grad, noise)
    value = g.loss
    if g.gain is not None:
        value = value + g.gain
    if kl is not None:
        value = value + algorithm.descent.unit * kl
    return value.cpu(), pull.cpu()


def gap_of_member(fits: Fitting, member: Member) -> ConvergenceGap:
    """Measure the `convergence_gap` of a member of `fits`."""
    check_choice(member.method, WITH_GAP, "method")
    method, radius = fits.key(member.method, member.radius)
    keywords = fits.keywords(method)
    settings = {name: keywords[name] for name in METHODS[method].plain.settings}
    q = check_is(member.posterior, Gaussian, "the posterior", method)
    return convergence_gap(
        fits.net,
        fits.task,
        fits.prior_of(method),
        q,
        method,
        seed=fits.seed,
        radius=radius or None,
        fit=settings,
        progress=fits.progress,
    )
