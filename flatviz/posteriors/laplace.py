"""Laplace: the Gaussian whose precision is the curvature at the solution.

    q = N(w*, T (H + delta I)^-1),   H = sum_n J_n^T Lambda_n J_n  (generalised Gauss-Newton)
    log Z = -N L(w*) - 1/2 (delta |w*|^2 + logdet(H + delta I) - P log delta)

The structure selects the part of H: its diagonal, all of it, or that of the head.  A dense
covariance is stored as diag + factor^T factor with factor (P, D), exactly, so it is a `Gaussian` as
every other.  Kronecker factors and the exact Hessian are laplace-torch's.

Source: MacKay 1992; Daxberger et al. 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from flatviz.bridges.laplace_torch import LaplaceTorch, fit_laplace_torch
from flatviz.bridges.laplace_torch import Structure as Bridged
from flatviz.checks import Count, Momentum, NonNegative, Positive, Rate, Seed, Whole
from flatviz.core import Data, Likelihood, Net, Progress, find_head, named_head, public
from flatviz.objectives.curvature import check_jacobians, ggn
from flatviz.objectives.head import ggn_diagonal, softmax_head
from flatviz.objectives.network import mean_nll
from flatviz.objectives.problem import Problem, examined
from flatviz.posteriors.method import Method, Tuned, settings_of
from flatviz.results import Gaussian, History
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.losses import loss_of, refuse_random_trunk
from flatviz.training.points import descend
from flatviz.training.settings import Checkpoint, Optim, Run

Kept = Literal["diagonal", "full", "last_layer"]
Structure = Literal[Kept, Bridged]
STRUCTURES = get_args(Kept)
LARGEST = 5000  # weights with a dense covariance, at most
# Range of a precision; beyond it nothing changes
MIN_PRECISION = 1e-6
MAX_PRECISION = 1e8
SMALL_STD = 1e-6  # standard deviation of the weights that last_layer leaves alone


@public
def fit_laplace(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    structure: Structure = "last_layer",
    prior_precision: Positive | Literal["marginal", "layerwise"] | None = "marginal",
    temperature: Positive = 1.0,
    steps: Whole = 300,
    lr: Rate = 0.05,
    weight_decay: NonNegative = 0.0005,
    batch_size: Count | None = None,
    momentum: Momentum = 0.9,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian | LaplaceTorch:
    """Train by SGD from the net's weights, then fit the Gaussian of the curvature, mean (D,).

    steps=0 skips the training.  `predict` takes draws through the network linearised at the mean,
    for which the curvature is exact (`predict_linearised` integrates them); through the network
    itself they overshoot where delta is small.  F-Laplace, with an `ascent`, has a center that is
    no stationary point.  BatchNorm statistics are those of the net.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Fixes the minibatches.
        structure: "last_layer", the head alone, whose Hessian is small; all other weights get a
            standard deviation of 1e-6. "diagonal", the way for a head of thousands of classes, as
            of a language model, treated alone; "full" (at most 5,000 treated weights).  By
            laplace-torch (`pip install 'flatviz[laplace]'`): "kron" (Linear and convolutions
            alone); "hessian", the exact Hessian; "lowrank", its 20 largest eigenpairs.
        prior_precision: delta; None is that of the training, N weight_decay; "marginal" the one of
            largest evidence, which on an over-parametrised net can collapse; "layerwise" one for
            each tensor of weights, for "kron" and "hessian".  Beside a delta weight_decay is of the
            training alone.
        temperature: T, which multiplies the covariance; 1 is Bayes, less is colder.
        steps: Minibatches; 0, where the net is trained.
        lr: The first learning rate; it falls along half a cosine.
        weight_decay: wd; it stands for the prior N(0, 1 / (N wd)).
        batch_size: Examples a minibatch; None, all of them.
        momentum: Share of the previous step that is added to the next.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        ascent: `SAM(radius)` or similar makes the fit flat-seeking: gradients at w + e, two a step.
        checkpoint: Path to save to and resume from.
        progress: True, None (where a terminal watches) or a function(done, total, label).

    Raises:
        ValueError: For a structure that does not apply, no prior precision, bad data, or
            divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_laplace(net, task.train, seed=0, steps=50).factor.shape
        torch.Size([18, 58])
    """
    run = Run("Laplace", seed, checkpoint, progress, batch_size, training)
    refuse_random_trunk(net, "Laplace")
    problem = examined(net, data, likelihood)
    own = structure in STRUCTURES
    # Memory is checked before the training, which takes time
    part = part_of(problem, structure) if own else None
    if prior_precision == "layerwise" and structure not in ("kron", "hessian"):
        raise ValueError(
            f"prior_precision='layerwise' needs structure='kron' or 'hessian', got {structure!r}"
        )
    if not steps and prior_precision is not None and weight_decay != SETTINGS["weight_decay"]:
        raise ValueError(
            "weight_decay acts on the training alone beside a prior_precision, got"
            f" weight_decay={weight_decay:g} with steps=0 and"
            f" prior_precision={prior_precision!r}: give prior_precision=None, for N weight_decay"
        )
    delta = len(data) * weight_decay if prior_precision is None else prior_precision
    if delta == 0:
        raise ValueError(
            "prior_precision must be > 0, got None with a weight_decay of 0: give one of them, or"
            " 'marginal'"
        )
    w = net.w.detach().clone()
    history = None
    if steps:
        loss = loss_of(problem, training=training)
        optim = Optim(steps, lr, momentum, weight_decay, ascent)
        w, history = descend(loss, w, run, optim)
    problem = problem._replace(net=net.at(w))
    if part is None:
        return fit_laplace_torch(problem, structure, delta, temperature, history)
    curvature = curvature_on(part, problem, structure, progress)
    if isinstance(delta, str):
        delta = curvature.marginal_precision(w)
    return curvature.gaussian(w, delta, temperature, history)


@public
def laplace_evidence(
    net: Net,
    data: Data,
    *,
    structure: Kept = "last_layer",
    prior_precision: Positive,
    likelihood: Likelihood = "categorical",
) -> float:
    """Compute log Z at the net's weights, in nats: the evidence of net and prior precision.

    Args:
        net: Trained network; its treated weights are w*.
        data: The N training examples.
        structure: As in `fit_laplace`.
        prior_precision: delta, in units of 1 / w^2.
        likelihood: "categorical", a noise std, or a `Likelihood`, as in `fit_laplace`.

    Raises:
        ValueError: For a structure that does not apply or bad data.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> trained = net.at(fv.fit_sgd(net, task.train, seed=0).center)
        >>> evidence, how = fv.posteriors.laplace_evidence, dict(prior_precision=1.0)
        >>> evidence(trained, task.train, **how) > evidence(net, task.train, **how)
        True
    """
    problem = examined(net, data, likelihood)
    part = part_of(problem, structure)
    curvature = curvature_on(part, problem, structure)
    with torch.no_grad():
        fit = -len(data) * float(mean_nll(problem)(net.w))
    return fit + curvature.occam(net.w, prior_precision)


def part_of(problem: Problem, structure: Structure) -> slice:
    """Return the slice of w that a structure covers, P weights.

    Raises:
        ValueError: For a curvature that would not fit in memory.
    """
    net, data, *_ = problem
    everything = slice(0, net.dim)
    one = problem._replace(data=data.subset(torch.arange(1)))
    head = softmax_head(one, net.w)
    if structure == "diagonal":
        closed = head[0] if head else slice(0, 0)
        check_jacobians(problem, max(closed.start, net.dim - closed.stop))
        return everything
    last = structure == "last_layer"
    part = head_of(net, data) if last else everything
    size = part.stop - part.start
    if size > LARGEST:
        way = " with treated='head'" if last else " or 'last_layer'"
        raise ValueError(
            f"structure={structure!r} must cover at most {LARGEST:,} weights, got {size:,}, whose"
            f" covariance takes {8 * size**2 / 2**30:,.1f} GiB: use structure='diagonal'{way}"
        )
    if not last or head is None:
        check_jacobians(problem, size)
    return part


def curvature_on(
    part: slice, problem: Problem, structure: Structure, progress: Progress = False
) -> KeptCurvature:
    """Compute the part of H at the net's weights that the structure uses."""
    w = problem.net.w
    if structure == "diagonal":
        values = ggn_diagonal(problem, w, progress)
        return KeptCurvature(part, values.clamp_min(0), None)
    closed = None
    if structure == "last_layer":
        closed = softmax_head(problem, w, progress, dense=True)
    if closed is not None and closed[0] == part:
        H = closed[1]
    else:
        H = ggn(problem, w, part=part, progress=progress)
    values, vectors = torch.linalg.eigh(H.double())
    return KeptCurvature(part, values.clamp_min(0), vectors)


@dataclass(frozen=True, eq=False)
class KeptCurvature:
    """Part of H that a structure uses, on the weights `part`, P of them.

    It has eigenvalues (P,), and eigenvectors in columns (P, P), None where H is diagonal.
    """

    part: slice
    values: Tensor
    vectors: Tensor | None

    def occam(self, w: Tensor, delta: float) -> float:
        """Compute log Z minus the fit at the weights w (D,).

        It is -1/2 (delta |w|^2 + logdet (H + delta I) - P log delta).
        """
        w = w[self.part].double()
        return float(-0.5 * (delta * w.dot(w) + torch.log1p(self.values.double() / delta).sum()))

    def marginal_precision(self, w: Tensor) -> float:
        """Find the precision of largest evidence at the weights w (D,).

        It searches a grid of its logarithm, refined three times.
        """
        lo = math.log(MIN_PRECISION)
        hi = math.log(MAX_PRECISION)
        for _ in range(4):
            grid = torch.linspace(lo, hi, 61, dtype=torch.float64).tolist()
            best = max(grid, key=lambda log: self.occam(w, math.exp(log)))
            step = (hi - lo) / 60
            lo = best - step
            hi = best + step
        return math.exp(best)

    def gaussian(
        self, w: Tensor, delta: float, temperature: float, history: History | None
    ) -> Gaussian:
        """Build N(w, T (H + delta I)^-1) on the part, with nearly no variance elsewhere."""
        log_std = torch.full_like(w, math.log(SMALL_STD))
        variance = temperature / (self.values.double() + delta)
        if self.vectors is None:
            log_std[self.part] = (0.5 * variance.log()).to(w)
            return Gaussian(w, log_std, history=history, linearised=True)
        # The diagonal's part; the rest is positive definite, for the factor
        least = 0.5 * variance.min()
        log_std[self.part] = (0.5 * least.log()).to(w)
        factor = w.new_zeros(len(variance), len(w))
        # the symmetric root, which does not depend on sign or order of eigenvectors
        root = (self.vectors * (variance - least).sqrt()) @ self.vectors.T
        factor[:, self.part] = root.to(w)
        return Gaussian(w, log_std, factor, history, linearised=True)


def head_of(net: Net, data: Data) -> slice:
    """Return the slice of w of the head, with a weight that it shares with another layer."""
    head = [b for b in net.blocks if b.kind == "head"]
    if not head and net.treats_all:
        module = net.to_module().eval()
        last = named_head(module, find_head(module, data.batch(torch.arange(1))[0]))
        of_last = set(map(id, last.parameters()))
        head = [b for b in net.blocks if id(module.get_parameter(b.name)) in of_last]
    if not head:
        raise ValueError(
            "structure='last_layer' needs a treated head, got none: use treated='norm+head' or"
            " 'all'"
        )
    if sum(b.stop - b.start for b in head) < head[-1].stop - head[0].start:
        raise ValueError(
            "structure='last_layer' needs a head whose weights stand side by side, got"
            f" {', '.join(b.name for b in head)}, tied to another layer's: use structure='diagonal'"
        )
    return slice(head[0].start, head[-1].stop)


_NAMES = "steps lr momentum weight_decay batch_size structure prior_precision"
SETTINGS = settings_of(fit_laplace, _NAMES)
# the prediction for which its curvature is exact
METHOD = Method(fit=fit_laplace, plain=Tuned(SETTINGS), linearised=True)
