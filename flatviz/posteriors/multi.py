"""Methods that take another one: MultiSWAG and its relatives, and PTL.

A posterior around each of several modes is MultiSWAG, or the same of any other method (Wilson &
Izmailov 2020):

    q(w) = 1/M sum_m q_m(w),   q_m = fit(the m-th network of an ensemble)

Pre-train your loss (PTL) uses the source task's posterior, widened, as the prior of the target task
(Shwartz-Ziv et al. 2022):

    p(w) = N(m, scale Sigma + floor^2 I),   q = fit(net, data, prior=p)

m and Sigma are SWAG's on the source task, as `transfer` returns them.
"""

from dataclasses import field, replace
from typing import Any

from flatviz.checks import Count, NonNegative, Rate
from flatviz.core import Net, track
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import Problem
from flatviz.results import Mixture, Posterior
from flatviz.training.gradient import Ascent
from flatviz.training.losses import loss_of
from flatviz.training.method import BY_NET, Method, Usual, fit_problem
from flatviz.training.points import Descending, train_members
from flatviz.training.settings import Run


class Multi(Descending[Mixture]):
    """Train an ensemble of `members` networks, then fit a posterior at each: an equal mixture.

        q(w) = 1/M sum_m q_m(w),   q_m = `method` at the m-th network of an ensemble

    `Multi(SWAG())` is MultiSWAG.  The ensemble and each `method` get the likelihood, `training`
    (the method's without validation), and `batch_size`.  BatchNorm statistics are those of the net.

    Source: Wilson & Izmailov 2020.

    Args:
        method: Fitted from each network, as `fv.SWAG()`.
        lr: The first learning rate of the ensemble; it falls to 0 along half a cosine.
        members: M, modes; 3, beyond which few-shot networks differ little.
        inner_steps: Steps of each `method`; None: its usual ones.
        inner_batch_size: Examples a minibatch of each `method`; None: that of the run, where it is
            given, else the method's usual one.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> swags = fv.Multi(fv.SWAG(rank=2, snapshots=3), members=2)
        >>> fv.fit(net, task.train, swags, seed=0, steps=20).sample(4, seed=1).shape
        torch.Size([4, 58])
    """

    label = "members"
    takes = ("steps", "batch_size", "training", "augment")
    method: Method[Any] = field(default=BY_NET, kw_only=False)
    lr: Rate = 0.05
    members: Count = 3
    inner_steps: Count | None = None
    inner_batch_size: Count | None = None

    def _check(self) -> None:
        _check_inner(self.method, "fv.Multi(fv.SWAG())")

    def with_ascent(self, ascent: Ascent | None) -> "Multi":
        """Return the flat-seeking version, of the ensemble and of each method."""
        return replace(self, ascent=ascent, method=self.method.with_ascent(ascent))

    def fitted(self, problem: Problem, run: Run) -> Mixture:
        """Train the ensemble, then fit each posterior."""
        net = problem.net
        loss = loss_of(problem, training=run.training, members=self.members)
        seeds = [run.seed + 1000 * member for member in range(self.members)]
        modes = train_members(loss, seeds, run, self.sgd)
        usual = self.method.usual_for(net)
        inner = Run(
            self.method.label,
            batch_size=self.inner_batch_size or run.batch_size or usual.batch_size,
            training=replace(run.training, validation=None),
            steps=self.inner_steps or usual.steps,
            batchnorm=usual.batchnorm,
        )
        parts = []
        for i, w in enumerate(track(modes.W, "posteriors", run.progress)):
            checkpoint = None if run.checkpoint is None else f"{run.checkpoint}.{i}"
            own = replace(inner, seed=(seeds[i] + 1) % 2**63, checkpoint=checkpoint)
            parts.append(fit_problem(problem._replace(net=net.at(w)), self.method, own))
        return Mixture(tuple(parts))


class PTL(Method[Posterior]):
    """Pre-train your loss: the source task's posterior, widened, is the prior of a `method`.

        p(w) = N(m, scale Sigma + floor^2 I),   q = fit(net, data, method with the prior p)

    It starts at the prior's mean.  Arguments of the run are those of `method`.

    Source: Shwartz-Ziv et al. 2022.

    Args:
        prior: Gaussian over the D treated weights, as `transfer` returns.
        method: One with a prior: `CSGLD()` as in the paper, whose draws are colder than the
            posterior, `SGLD()`, `VI()`.
        scale: Factor on the covariance, 1e5 to 1e6 in the paper, for SWAG's is narrow; 1, because
            what `transfer` widened needs no more.
        floor: Standard deviation added everywhere, without which a weight that never moved could
            never move again, and its curvature would ask for tiny steps.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> prior = fv.fit(net, task.source, fv.SWAG(snapshots=5), seed=0)
        >>> ptl = fv.PTL(prior, fv.SGLD(n_draws=2, burn_in=5))
        >>> fv.fit(net, task.train, ptl, seed=0).W.shape
        torch.Size([2, 58])
    """

    prior: Gaussian = field(default=BY_NET, kw_only=False)
    method: Method[Any] = field(default=BY_NET, kw_only=False)
    scale: NonNegative = 1.0
    floor: NonNegative = 0.3

    @property
    def label(self) -> str:  # type: ignore[override]
        """Its name in texts: the method's."""
        return self.method.label

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Arguments of the run: the method's."""
        return self.method.takes

    def usual_for(self, net: Net) -> Usual:
        """Return the method's."""
        return self.method.usual_for(net)

    def _check(self) -> None:
        _check_inner(self.method, "fv.PTL(prior, fv.CSGLD())")
        if "prior" not in vars(self.method):
            raise ValueError(
                f"method must take a prior, got {self.method!r}: give fv.CSGLD(), fv.SGLD() or"
                " fv.VI()"
            )
        if self.scale == 0 and self.floor == 0:
            raise ValueError(
                "the prior must have a width, got scale=0 and floor=0: raise one of them"
            )

    def fitted(self, problem: Problem, run: Run) -> Posterior:
        """Fit the method with the wider prior, from its mean."""
        if self.prior is None:
            raise ValueError("PTL must have a prior, got None: fv.transfer returns one")
        net = problem.net
        wide = widened(self.prior, self.scale, self.floor)
        start = problem._replace(net=net.at(wide.mean.to(net.w)))
        method = replace(self.method, prior=wide)  # type: ignore[call-arg]
        return fit_problem(start, method, run)


def _check_inner(method: object, call: str) -> None:
    if not isinstance(method, Method):
        raise TypeError(f"method must be a value, as in {call}, got {method!r}")


def widened(prior: Gaussian, scale: float, floor: float) -> Gaussian:
    """Return the Gaussian with covariance scale Sigma + floor^2 I."""
    variance = scale * (2 * prior.log_std).exp() + floor**2
    factor = prior.factor * scale**0.5
    return Gaussian(prior.mean, 0.5 * variance.log(), factor)
