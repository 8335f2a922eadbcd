"""Hamiltonian Monte Carlo: draws from the posterior itself, the reference for approximations.

    p(w | data)  ~  exp(-N L(w) / kl_weight) p(w)
    w = m + exp(log_std) z1 + F^T z2,   z = (z1, z2) ~ N(0, I) a priori
    U(z) = N L(w(z)) / kl_weight + |z|^2 / 2,   H(z, p) = U(z) + |p|^2 / 2

With p ~ N(0, I), take leapfrog steps of size s for a time tau,

    z <- z + s A p,   p <- p - s A grad U(z)

and accept with probability min(1, exp(H before - H after)).

L is the mean NLL of all N examples.  In z the prior is N(0, I), also for a low-rank one, so the
posterior is hardly anywhere wider than 1, and a time around pi / 2, a quarter of the prior's
period, gives nearly independent draws without a search for U-turns.  The posterior is narrow in the
few directions that the data determine; A, learnt in burn-in, shortens the steps there: see
`Metric`.

Source: Neal 2011.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, cast

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive
from flatviz.core import Net
from flatviz.gaussian import Gaussian
from flatviz.objectives.problem import Problem
from flatviz.results import Draws, History
from flatviz.storage.files import State
from flatviz.training.driver import advance, titled
from flatviz.training.gradient import Gradient
from flatviz.training.losses import check_covers, loss_of, refuse_random_trunk
from flatviz.training.method import Method
from flatviz.training.points import thinned
from flatviz.training.settings import Run
from flatviz.training.streams import FreshNoise

TIME = math.pi / 2  # mean length of a trajectory, in prior standard deviations
ACCEPT = 0.8  # target rate: little more expensive than the optimum, and robust in narrow regions
FIRST_STEP = 0.1
LARGEST = 20_000  # dimensions of z; beyond, A stays I, as its points would fill the memory
ABOVE_NOISE = 2.0
FIRST_WEIGHT = 1e-3  # of the likelihood when burn-in begins
# A chain with a lower acceptance rate over this many trajectories does not sample
MIN_ACCEPTED = 0.1
ENOUGH = 20


class HMC(Method[Draws]):
    """Run `chains` chains from draws of the prior, all in one pass of the network.

        exp(-N L(w) / kl_weight) p(w)

    Every `thin`-th trajectory after `burn_in` is a draw, `n_draws` over all chains.  During the
    first half of `burn_in` the likelihood's weight rises from a thousandth to 1, so that no chain
    is caught in a local optimum.  The metric A is updated after each quarter of `burn_in` but the
    last; the step size follows the chains' acceptance rates (their harmonic mean, so that each
    moves) by dual averaging.  Both are fixed after `burn_in`.  The draws are of the posterior only
    where the chains agree: see `diagnose_chains`.  The net's weights do not matter.

    A trajectory, of a length between 1/2 and 3/2 of `TIME`, costs length / step size gradients of
    each chain, at most `most_steps`.  All take at most (burn_in + n_draws thin / chains) most_steps
    gradients, 200,000 with the defaults: a minute or two also for a few dozen weights.  Lower
    `burn_in`, `n_draws` or `most_steps` for a first look, and see `diagnose_chains`.

    `q.W` has the draws chain by chain, `q.chains` of them; `q.history.loss` is the chains' mean
    loss at each trajectory.  Chains that stand still are an error.

    Source: Neal 2011 (arXiv 1206.1901); step size: Hoffman & Gelman 2014 (arXiv 1111.4246), section
        3.2.

    Args:
        prior: Over the treated weights (D,); None: N(0, 1 / (N weight_decay)), which is what weight
            decay stands for.
        n_draws: Over all chains, a multiple of them.
        chains: All run in one pass.
        burn_in: Trajectories before the first draw.
        thin: Trajectories from one draw to the next.
        kl_weight: Temperature of the tempered likelihood; 1 is Bayes.  The same number makes this
            posterior the optimum of `VI`'s objective among all q.
        weight_decay: Weight decay that stands for the prior, where none is given.
        most_steps: Leapfrog steps of one trajectory at most; where it binds, trajectories are
            shorter.

    Example:
        >>> import torch, flatviz as fv
        >>> x = torch.linspace(-1, 1, 20).double()[:, None]
        >>> net = fv.Net.from_module(torch.nn.Linear(1, 1, bias=False).double())
        >>> prior = fv.Gaussian(torch.zeros(1).double(), torch.zeros(1).double())
        >>> hmc = fv.HMC(prior, n_draws=800, burn_in=100, kl_weight=1.0)
        >>> q = fv.fit(net, fv.Data(x, 2 * x), hmc, likelihood=0.5, seed=0)
        >>> exact = 2 * float((x * x).sum()) / (float((x * x).sum()) + 0.5**2)  # the ridge solution
        >>> abs(float(q.W.mean()) - exact) < 0.05
        True
    """

    takes = ()
    prior: Gaussian | None = field(default=None, kw_only=False)
    n_draws: Count = 400
    chains: Count = 4
    burn_in: Count = 300
    thin: Count = 1
    kl_weight: Positive = 0.03
    weight_decay: NonNegative = 0.0005
    most_steps: Count = 500

    @property
    def label(self) -> str:  # type: ignore[override]
        """Its name in texts."""
        return f"HMC, kl_weight {self.kl_weight:g}"

    def _check(self) -> None:
        thinned(self.n_draws, self.chains, self.burn_in, self.thin)

    def completed(self, problem: Problem, run: Run) -> Self:
        """Fill in the prior."""
        if self.prior is not None:
            return self
        return replace(self, prior=decay_prior(problem.net, len(problem.data), self.weight_decay))

    def fitted(self, problem: Problem, run: Run) -> Draws:
        """Run the chains."""
        net = problem.net
        chains = self.chains
        steps, keep = thinned(self.n_draws, chains, self.burn_in, self.thin)
        refuse_random_trunk(net, "HMC")
        loss = loss_of(problem, members=chains)
        prior = cast(Gaussian, self.prior)
        check_covers(net, prior, "prior")
        # the first chain is that of chains=1
        seeds = [run.seed + 1000 * chain for chain in range(chains)]
        places = prior.mean.new_empty(chains, prior.dim + prior.rank)
        normal = FreshNoise(seeds, places)
        potential = Potential(loss, prior, len(problem.data) / self.kl_weight)
        sampler = Chains(potential, normal, self.burn_in, self.most_steps, keep)
        about = {**loss.about, **vars(self), "seed": run.seed}
        title = titled(run, steps, about)
        everything = itertools.repeat(None)  # all examples in every step
        advance(sampler.saved, sampler.update, everything, steps, run, title)
        rates = torch.stack(sampler.rates)
        lowest = float(rates.mean(0).min())
        if len(rates) >= ENOUGH and lowest < MIN_ACCEPTED:
            raise ValueError(
                f"each chain must move, got one with an acceptance rate of {lowest:.2g}: raise"
                " burn_in, or most_steps"
            )
        W = torch.stack(sampler.draws, 1).flatten(0, 1)
        history = History(torch.stack(sampler.losses[1:]))
        return Draws(W, history, chains=chains)


def decay_prior(net: Net, n: int, weight_decay: float) -> Gaussian:
    """Return the prior N(0, 1 / (n weight_decay)) over the treated weights."""
    if weight_decay == 0:
        raise ValueError(
            "weight_decay must be > 0 without a prior, got 0: exp(-N L) alone is no density"
        )
    log_std = torch.full_like(net.w, -0.5 * math.log(n * weight_decay))
    return Gaussian(torch.zeros_like(net.w), log_std)


class Point(NamedTuple):
    """Positions z (C, D + K) of all chains; there U (C,), in float64, dU/dz and mean NLL (C,)."""

    z: Tensor
    value: Tensor
    slope: Tensor
    loss: Tensor


@dataclass(eq=False)
class Potential:
    """U and its gradient for all chains at once; `share` of the likelihood's weight counts."""

    loss: Gradient
    prior: Gaussian
    weight: float
    share: float = 1.0

    @torch.no_grad()
    def weights(self, z: Tensor) -> Tensor:
        """Compute w(z), (C, D)."""
        D = self.prior.dim
        return self.prior.at(z[:, :D], z[:, D:])

    @torch.no_grad()
    def __call__(self, z: Tensor) -> Point:
        """Compute U, its gradient, and the mean NLL."""
        loss, g = self.loss(self.weights(z), None)
        prior = self.prior
        slope_of_loss = torch.cat((g * prior.std, g @ prior.factor.T), 1)
        weight = self.weight * self.share
        value = weight * loss.double() + energy_of(z)
        slope = weight * slope_of_loss + z
        return Point(z, value, slope, loss)


@dataclass(eq=False)
class Chains:
    """All chains at one point of their run: positions, step size, metric, draws."""

    potential: Potential
    normal: FreshNoise
    burn_in: int
    most_steps: int
    keep: Container[int]

    def __post_init__(self) -> None:
        (z,) = self.normal.at(0)
        self.point = self.potential(z)
        self.size = StepSize()
        self.metric = Metric()
        self.draws: list[Tensor] = []
        self.losses = [self.point.loss.mean()]
        self.rates: list[Tensor] = []

    def update(self, step: int, _: Tensor | None) -> None:
        """Take one trajectory."""
        warming = max(1, self.burn_in // 2)
        if step <= warming:  # gradually from the prior to the posterior
            self.potential.share = FIRST_WEIGHT ** (1 - step / warming)
            self.point = self.potential(self.point.z)
        rate = self.trajectory(step)
        self.losses.append(self.point.loss.mean())
        if step < self.burn_in:
            self.learn(step, rate)
        else:
            self.rates.append(rate)
        if step in self.keep:
            self.draws.append(self.potential.weights(self.point.z))

    def trajectory(self, step: int) -> Tensor:
        """Move along a trajectory where it is accepted; return its probability, (C,)."""
        sources = self.normal.generators
        (momentum,) = self.normal.at(step)
        uniform = torch.rand((), generator=sources[0], dtype=torch.float32)
        time = (0.5 + float(uniform)) * TIME
        size = self.size.size
        n = min(self.most_steps, math.ceil(time / size))
        end, speed = leapfrog(self.potential, self.point, momentum, size, n, self.metric)
        before = self.point.value + energy_of(momentum)
        after = end.value + energy_of(speed)
        change = (before - after).nan_to_num(nan=-math.inf)
        rate = change.clamp_max(0).exp()
        chances = [torch.rand((), generator=source, dtype=torch.float64) for source in sources]
        chance = torch.stack(chances).to(rate.device)
        taken = chance < rate
        accepted = {1: taken, 2: taken[:, None]}  # by the number of dimensions
        parts = []
        for new, old in zip(end, self.point):
            parts.append(torch.where(accepted[new.ndim], new, old))
        self.point = Point(*parts)
        return rate

    def learn(self, step: int, rate: Tensor) -> None:
        """Adapt step size and metric in burn-in."""
        slowness = (1 / rate.clamp_min(1e-9)).mean()
        self.size.follow(float(1 / slowness))  # the harmonic mean, so that every chain moves
        self.metric.see(self.point.z, self.point.slope)
        quarters = [quarter * self.burn_in // 4 for quarter in (1, 2, 3)]
        if step + 1 in quarters:
            self.metric.renew()
            self.size = StepSize()
        elif step + 1 == self.burn_in:
            average = float(self.size.state[3])
            self.size = StepSize(average)

    def saved(self) -> State:
        """Return everything by name, for a checkpoint."""
        state: State = dict(self.point._asdict())
        state |= {
            "size": self.size.state,
            "kept": self.draws,
            "losses": self.losses,
            "rates": self.rates,
            "seen places": self.metric.places,
            "seen slopes": self.metric.slopes,
            "metric": self.metric.rows,
        }
        return state | {f"noise {i}": source for i, source in enumerate(self.normal.generators)}


def energy_of(momentum: Tensor) -> Tensor:
    """Compute |p|^2 / 2 of each row, (C,) in float64."""
    return 0.5 * momentum.double().square().sum(1)


def leapfrog(
    potential: Potential, start: Point, momentum: Tensor, size: float, n: int, metric: Metric
) -> tuple[Point, Tensor]:
    """Take `n` steps of `size`; return the point and the momentum at the end."""
    point = start
    momentum = momentum - 0.5 * size * metric.scaled(point.slope)
    for i in range(n):
        point = potential(point.z + size * metric.scaled(momentum))
        last = 0.5 if i == n - 1 else 1.0
        momentum = momentum - last * size * metric.scaled(point.slope)
    return point, momentum


class StepSize:
    """A step size that brings the acceptance rate to ACCEPT, by dual averaging of its logarithm.

    With t observations r_i of the rate and e the sum of (ACCEPT - r_i) over t + 10,
    log s = log(10 s_0) - sqrt(t) e / 0.05, and the final size is the average of log s with weights
    t^-0.75.  `state` is (t, e, log s, its average, log s_0), float64.
    """

    def __init__(self, log_size: float = math.log(FIRST_STEP)) -> None:
        self.state = torch.tensor([0.0, 0.0, log_size, log_size, log_size], dtype=torch.float64)

    @property
    def size(self) -> float:
        """The current step size."""
        return math.exp(float(self.state[2]))

    def follow(self, rate: float) -> None:
        """Add one observation of the rate."""
        t, error, _, average, log_first = self.state.tolist()
        t += 1
        error += (ACCEPT - rate - error) / (t + 10)
        log_size = math.log(10) + log_first - math.sqrt(t) / 0.05 * error
        average += t**-0.75 * (log_size - average)
        self.state = self.state.new_tensor([t, error, log_size, average, log_first])


class Metric:
    """The metric of a Hamiltonian chain, learnt in burn-in: shorter steps in narrow directions.

        G = E[grad U grad U^T] = E[Hessian of U] over the target exp(-U), by parts
        A = I - sum_j (1 - s_j) v_j v_j^T,   s_j the standard deviation of v_j^T z

    The eigenvectors v_j of G's large eigenvalues are the narrow directions.  A step then moves z by
    size A p with p ~ N(0, I), as if z = A y and y were sampled, which is nowhere much narrower than
    1. s_j is measured, not computed as lambda_j^-1/2: where curvature varies, its mean is dominated
    by the narrowest regions.

    A is `scaled`.  The lists `places` and `slopes`, (C, d) each, and `rows`, sqrt(1 - s_j) v_j
    (d,), change in place.

    Source: Neal 2011 (arXiv 1206.1901), section 5.4.1, for the linear change of variables.
    """

    def __init__(self) -> None:
        self.places: list[Tensor] = []
        self.slopes: list[Tensor] = []
        self.rows: list[Tensor] = []

    def see(self, z: Tensor, slope: Tensor) -> None:
        """Add points (C, d) of the target, one a chain, and the gradients there."""
        if z.shape[1] <= LARGEST:
            self.places.append(z.clone())
            self.slopes.append(slope.clone())

    def renew(self) -> None:
        """Compute A from the points since the last time.

        With n gradients in d dimensions G = I shows eigenvalues up to (1 + sqrt(d / n))^2
        (Marchenko and Pastur 1967); those of at least twice that are used.
        """
        n = sum(map(len, self.places))
        if n < 2:
            return
        z = torch.cat(self.places).double()
        g = torch.cat(self.slopes).double()
        d = z.shape[1]
        _, singular, vectors = torch.linalg.svd(g, full_matrices=False)
        noise = (1 + math.sqrt(d / n)) ** 2
        narrow = vectors[singular.square() / n > ABOVE_NOISE * noise]
        if len(narrow):
            widths = (z @ narrow.T).std(0)
            share = (1 - widths).clamp_min(0)
            narrow = share.sqrt()[:, None] * narrow
        self.rows[:] = narrow.to(self.places[0])
        self.places.clear()
        self.slopes.clear()

    def scaled(self, x: Tensor) -> Tensor:
        """Compute A x for each row of x (C, d)."""
        if not self.rows:
            return x
        rows = torch.stack(self.rows)
        return x - (x @ rows.T) @ rows
