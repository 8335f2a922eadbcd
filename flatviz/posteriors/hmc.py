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
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Positive, Seed
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.gaussian import Gaussian
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Draws, History
from flatviz.storage.files import State
from flatviz.training.driver import advance, titled
from flatviz.training.gradient import Gradient
from flatviz.training.losses import check_covers, refuse_random_trunk, training_loss
from flatviz.training.points import thinned
from flatviz.training.settings import Checkpoint, Run
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


@public
def fit_hmc(
    net: Net,
    data: Data,
    prior: Gaussian | None = None,
    *,
    seed: Seed,
    n_draws: Count = 400,
    chains: Count = 4,
    burn_in: Count = 300,
    thin: Count = 1,
    kl_weight: Positive = 0.03,
    weight_decay: NonNegative = 0.0005,
    most_steps: Count = 500,
    likelihood: Likelihood = "categorical",
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Run `chains` chains from draws of the prior, all in one pass of the network.

    Every `thin`-th trajectory after `burn_in` is a draw, `n_draws` over all chains.  During the
    first half of `burn_in` the likelihood's weight rises from a thousandth to 1, so that no chain
    is caught in a local optimum.  The metric A is updated after each quarter of `burn_in` but the
    last; the step size follows the chains' acceptance rates (their harmonic mean, so that each
    moves) by dual averaging.  Both are fixed after `burn_in`.  The draws are of the posterior only
    where the chains agree: see `diagnose_chains`.

    A trajectory, of a length between 1/2 and 3/2 of `TIME`, costs length / step size gradients of
    each chain, at most `most_steps`.  All take at most (burn_in + n_draws thin / chains) most_steps
    gradients, 200,000 with the defaults: a minute or two also for a few dozen weights.  Lower
    `burn_in`, `n_draws` or `most_steps` for a first look, and see `diagnose_chains`.

    Args:
        net: The network; its weights do not matter.
        data: The N training examples.
        prior: Over the treated weights (D,); None: N(0, 1 / (N weight_decay)), which is what weight
            decay stands for.
        seed: Fixes all noise.
        n_draws: Over all chains, a multiple of them.
        chains: All run in one pass.
        burn_in: Trajectories before the first draw.
        thin: Trajectories from one draw to the next.
        kl_weight: Temperature of the likelihood; 1 is Bayes.  The same number makes this posterior
            the optimum of `fit_vi`'s objective among all q.
        weight_decay: Weight decay that stands for the prior, where none is given.
        most_steps: Leapfrog steps of one trajectory at most; where it binds, trajectories are
            shorter.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Returns:
        Draws chain by chain, `result.chains` of them; `history.loss` is the chains' mean loss at
        each trajectory.

    Raises:
        ValueError: For a bad setting, bad data, or chains that stand still.

    Source: Neal 2011 (arXiv 1206.1901); step size: Hoffman & Gelman 2014 (arXiv 1111.4246), section
        3.2.

    Example:
        >>> import torch, flatviz as fv
        >>> x = torch.linspace(-1, 1, 20).double()[:, None]
        >>> net = fv.Net.from_module(torch.nn.Linear(1, 1, bias=False).double())
        >>> prior = fv.Gaussian(torch.zeros(1).double(), torch.zeros(1).double())
        >>> how = dict(n_draws=800, burn_in=100, kl_weight=1.0, likelihood=0.5)
        >>> q = fv.fit_hmc(net, fv.Data(x, 2 * x), prior, seed=0, **how)
        >>> exact = 2 * float((x * x).sum()) / (float((x * x).sum()) + 0.5**2)  # the ridge solution
        >>> abs(float(q.W.mean()) - exact) < 0.05
        True
    """
    run = Run(f"HMC, kl_weight {kl_weight:g}", seed, checkpoint, progress)
    steps, keep = thinned(n_draws, chains, burn_in, thin)
    refuse_random_trunk(net, "HMC")
    members = training_loss(net, data, likelihood, members=chains)
    if prior is None and weight_decay == 0:
        raise ValueError(
            "weight_decay must be > 0 without a prior, got 0: exp(-N L) alone is no density"
        )
    if prior is None:  # N(0, 1 / (N weight_decay))
        prior = Gaussian(
            torch.zeros_like(net.w),
            torch.full_like(net.w, -0.5 * math.log(len(data) * weight_decay)),
        )
    check_covers(net, prior, "prior")
    potential = Potential(members, prior, len(data) / kl_weight)
    seeds = [seed + 1000 * chain for chain in range(chains)]  # the first chain is that of chains=1
    normal = FreshNoise(seeds, prior.mean.new_empty(chains, prior.dim + prior.rank))
    sources = normal.generators
    (z,) = normal.at(0)
    value, slope, loss = potential(z)
    size = StepSize(FIRST_STEP)
    metric = Metric()
    renewals = {burn_in // 4, burn_in // 2, 3 * burn_in // 4} - {0}
    draws = []
    losses = [loss.mean()]
    rates = []
    warming = max(1, burn_in // 2)

    def update(step: int, _: Tensor | None) -> None:
        if step <= warming:  # gradually from the prior to the posterior
            potential.weight = len(data) / kl_weight * FIRST_WEIGHT ** (1 - step / warming)
            for old, new in zip((value, slope, loss), potential(z)):
                old.copy_(new)
        (momentum,) = normal.at(step)
        before = value + 0.5 * momentum.double().square().sum(1)
        share = 0.5 + float(torch.rand((), generator=sources[0], dtype=torch.float32))
        n = min(most_steps, math.ceil(share * TIME / size.size))
        there, speed, (value_there, slope_there, loss_there) = leapfrog(
            potential, z, momentum, slope, size.size, n, metric
        )
        after = value_there + 0.5 * speed.double().square().sum(1)
        rate = (before - after).nan_to_num(nan=-math.inf).clamp_max(0).exp()
        chance = torch.stack(
            [torch.rand((), generator=s, dtype=torch.float64) for s in sources]
        ).to(rate.device)
        taken = chance < rate
        for old, new in (
            (z, there),
            (value, value_there),
            (slope, slope_there),
            (loss, loss_there),
        ):
            old.copy_(torch.where(taken.view(-1, *[1] * (old.ndim - 1)), new, old))
        losses.append(loss.mean())
        if step < burn_in:
            # The harmonic mean, so that every chain moves
            size.follow(float(1 / (1 / rate.clamp_min(1e-9)).mean()))
            metric.see(z, slope)
            if step + 1 in renewals:
                metric.renew()
                size.restart(math.log(FIRST_STEP))
            elif step + 1 in (burn_in // 2, burn_in):
                size.settle()
        else:
            rates.append(rate)
        if step in keep:
            draws.append(potential.weights(z))

    state: State = {
        "z": z,
        "value": value,
        "slope": slope,
        "loss": loss,
        "size": size.state,
        "kept": draws,
        "losses": losses,
        "rates": rates,
        "seen places": metric.places,
        "seen slopes": metric.slopes,
        "metric": metric.rows,
    }
    state |= {f"noise {i}": source for i, source in enumerate(sources)}
    about: dict[str, object] = dict(
        **members.about,
        prior=prior,
        seed=seed,
        burn_in=burn_in,
        thin=thin,
        kl_weight=kl_weight,
        most_steps=most_steps,
    )
    advance(lambda: state, update, itertools.repeat(None), steps, run, titled(run, steps, about))
    rate = float(torch.stack(rates).mean(0).min())
    if len(rates) >= ENOUGH and rate < MIN_ACCEPTED:
        raise ValueError(
            f"each chain must move, got one with an acceptance rate of {rate:.2g}: raise burn_in,"
            " or most_steps"
        )
    W = torch.stack(draws, 1).flatten(0, 1)
    return Draws(W, History(torch.stack(losses[1:])), chains=chains)


@dataclass(eq=False)
class Potential:
    """U and its gradient for all chains at once.

    z (C, D + K) -> U (C,) in float64, dU/dz (C, D + K), mean NLL (C,).
    """

    loss: Gradient
    prior: Gaussian
    weight: float

    @torch.no_grad()
    def weights(self, z: Tensor) -> Tensor:
        """Compute w(z), (C, D)."""
        return self.prior.at(z[:, : self.prior.dim], z[:, self.prior.dim :])

    @torch.no_grad()
    def __call__(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute U, its gradient, and the mean NLL."""
        loss, g = self.loss(self.weights(z), None)
        slope_of_loss = torch.cat((g * self.prior.std, g @ self.prior.factor.T), 1)
        value = self.weight * loss.double() + 0.5 * z.double().square().sum(1)
        return value, self.weight * slope_of_loss + z, loss


def leapfrog(
    potential: Potential,
    z: Tensor,
    momentum: Tensor,
    slope: Tensor,
    size: float,
    n: int,
    metric: Metric,
) -> tuple[Tensor, Tensor, tuple]:
    """Take `n` steps of `size`; return position, momentum, and the values of `potential` there.

    `slope` is dU/dz at z.
    """
    momentum = momentum - 0.5 * size * metric.scaled(slope)
    for i in range(n):
        z = z + size * metric.scaled(momentum)
        at_z = potential(z)
        momentum = momentum - (size if i < n - 1 else 0.5 * size) * metric.scaled(at_z[1])
    return z, momentum, at_z


class StepSize:
    """A step size that brings the acceptance rate to ACCEPT, by dual averaging of its logarithm.

    With t observations r_i of the rate and e the sum of (ACCEPT - r_i) over t + 10,
    log s = log(10 s_0) - sqrt(t) e / 0.05, and the final size is the average of log s with weights
    t^-0.75.  `state` is (t, e, log s, its average, log s_0), float64.
    """

    def __init__(self, first: float) -> None:
        self.state = torch.zeros(5, dtype=torch.float64)
        self.restart(math.log(first))

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
        self.state.copy_(
            torch.tensor([t, error, log_size, average, log_first], dtype=torch.float64)
        )

    def restart(self, log_size: float) -> None:
        """Start from this logarithm, without the observations, which belong to another metric."""
        self.state.copy_(
            torch.tensor([0.0, 0.0, log_size, log_size, log_size], dtype=torch.float64)
        )

    def settle(self) -> None:
        """Use the average as the size, and forget the observations on the way to the posterior."""
        self.restart(float(self.state[3]))


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
        z, g = (torch.cat(seen).double() for seen in (self.places, self.slopes))
        d = z.shape[1]
        _, singular, vectors = torch.linalg.svd(g, full_matrices=False)
        narrow = vectors[singular.square() / n > ABOVE_NOISE * (1 + math.sqrt(d / n)) ** 2]
        if len(narrow):
            share = (1 - (z @ narrow.T).std(0)).clamp_min(0)
            narrow = share.sqrt()[:, None] * narrow
        self.rows[:] = narrow.to(self.places[0]).unbind()
        self.places.clear()
        self.slopes.clear()

    def scaled(self, x: Tensor) -> Tensor:
        """Compute A x for each row of x (C, d)."""
        if not self.rows:
            return x
        rows = torch.stack(self.rows)
        return x - (x @ rows.T) @ rows


_SETTINGS = "n_draws chains burn_in thin kl_weight weight_decay"
METHOD = Method(fit=fit_hmc, plain=Tuned(settings_of(fit_hmc, _SETTINGS)), needs_prior=True)
