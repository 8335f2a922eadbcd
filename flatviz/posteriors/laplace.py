"""Laplace: the Gaussian whose precision is the curvature at the solution.

    q = N(w*, T (H + delta I)^-1),   H = sum_n J_n^T Lambda_n J_n  (generalised Gauss-Newton)
    log Z = -N L(w*) - 1/2 (delta |w*|^2 + logdet(H + delta I) - P log delta)

The structure selects the part of H: its diagonal, all of it, or that of the head.  A dense
covariance is stored as diag + factor^T factor with factor (P, D), exactly, so it is a `Gaussian` as
every other. Kronecker factors, the largest eigenpairs, the exact Hessian, functional Laplace and a
delta for each layer are laplace-torch's.

Source: MacKay 1992; Daxberger et al. 2021.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeGuard, cast, get_args

import torch
from torch import Tensor

from flatviz.bridges.laplace_torch import LaplaceTorch, fit_laplace_torch
from flatviz.bridges.laplace_torch import Structure as Bridged
from flatviz.checks import Count, Positive, Rate
from flatviz.core import Data, Likelihood, Net, Progress, find_head, named_head, public
from flatviz.likelihood import GaussianLikelihood
from flatviz.objectives.head import ggn_diagonal, softmax_head
from flatviz.objectives.jacobians import check_jacobians, ggn, sampled_ggn
from flatviz.objectives.network import mean_nll
from flatviz.objectives.problem import Problem, examined
from flatviz.results import Gaussian, History
from flatviz.training.losses import loss_of, refuse_random_trunk
from flatviz.training.points import Descending, descend
from flatviz.training.settings import Run

Kept = Literal["diagonal", "full", "last_layer"]
Structure = Literal[Kept, Bridged]
LARGEST = 5000  # weights with a dense covariance, at most
# Range of a precision; beyond it nothing changes
MIN_PRECISION = 1e-6
MAX_PRECISION = 1e8
SMALL_STD = 1e-6  # standard deviation of the weights that last_layer leaves alone


class Laplace(Descending[Gaussian | LaplaceTorch]):
    """Train by SGD from the net's weights, then fit the Gaussian of the curvature, mean (D,).

        q = N(w*, T (H + delta I)^-1)

    `fit(..., steps=0)` skips the training.  `predict` takes draws through the network linearised at
    the mean, for which the curvature is exact (`predict_linearised` integrates them); through the
    network itself they overshoot where delta is small.  F-Laplace, with an `ascent`, has a center
    that is no stationary point.  BatchNorm statistics are those of the net.

    Source: MacKay 1992; Daxberger et al. 2021.

    Args:
        structure: "last_layer", the head alone, whose Hessian is small; all other weights get a
            standard deviation of 1e-6. "diagonal", the way for a head of thousands of classes, as
            of a language model, treated alone; "full" (at most 5,000 treated weights).  By
            laplace-torch (`pip install 'flatviz[laplace]'`): "kron" (Linear and convolutions
            alone); "lowrank", the 20 largest eigenpairs of the exact Hessian; "hessian", the exact
            Hessian itself; "functional", a Gaussian process of the outputs, for
            `predict_linearised` alone.
        label_draws: None, the curvature of all outputs, which takes a backward pass for each output
            and example; a number, an unbiased estimate from so many labels drawn from the net's
            predictions at each place, which takes so many passes an example: ten do for a head that
            is tied to the embedding. For classes, "last_layer", "diagonal" and "full"; a closed
            form, as of an untied head, goes first.
        prior_precision: delta; None is that of the training, N weight_decay; "marginal" the one of
            largest evidence, which on an over-parametrised net can collapse; "layerwise" one for
            each tensor of weights, for "kron" and "hessian".  With a delta given, weight_decay
            acts on the training alone, and a center far from the mode at delta is warned of.
        temperature: T, which multiplies the covariance; 1 is Bayes, less is colder.
        lr: The first learning rate; it falls along half a cosine.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit(net, task.train, fv.Laplace(), seed=0, steps=50).factor.shape
        torch.Size([18, 58])
    """

    label = "Laplace"
    takes = ("steps", "batch_size", "training")
    lr: Rate = 0.05
    structure: Structure = "last_layer"
    label_draws: Count | None = None
    prior_precision: Positive | Literal["marginal", "layerwise"] | None = "marginal"
    temperature: Positive = 1.0

    def _check(self) -> None:
        if self.prior_precision is None and self.weight_decay == 0:
            raise ValueError(
                "prior_precision must be > 0, got None with a weight_decay of 0: give one of them,"
                " or 'marginal'"
            )
        bridged = _is_bridged(self.structure)
        if self.prior_precision == "layerwise" and not bridged:
            raise ValueError(
                "prior_precision='layerwise' needs structure='kron' or 'hessian', got"
                f" {self.structure!r}"
            )
        if self.label_draws is not None and bridged:
            raise ValueError(
                "label_draws needs structure='last_layer', 'diagonal' or 'full', got"
                f" {self.structure!r}"
            )

    def fitted(self, problem: Problem, run: Run) -> Gaussian | LaplaceTorch:
        """Train, then compute the curvature."""
        net = problem.net
        precision = self.prior_precision
        usual = Descending.weight_decay
        if not run.steps and precision is not None and self.weight_decay != usual:
            raise ValueError(
                "weight_decay acts on the training alone beside a prior_precision, got"
                f" weight_decay={self.weight_decay:g} with steps=0 and"
                f" prior_precision={precision!r}: give prior_precision=None, for N weight_decay"
            )
        delta = len(problem.data) * self.weight_decay if precision is None else precision
        structure = self.structure
        refuse_random_trunk(net, "Laplace")
        loss = loss_of(problem, training=run.training)
        if not _is_bridged(structure):  # before the training, which takes time
            _part(problem, structure, self.label_draws, warn=run.progress is False)
        w = net.w.detach().clone()
        history = None
        if run.steps:
            w, history = descend(loss, w, run, self.sgd)
        problem = problem._replace(net=net.at(w))
        T = self.temperature
        if _is_bridged(structure):
            return fit_laplace_torch(
                problem, structure, prior_precision=delta, temperature=T, history=history
            )
        sampled = None
        if self.label_draws is not None:
            sampled = partial(sampled_ggn, problem, w, self.label_draws, seed=run.seed)
        curvature = _curvature(problem, structure, run.progress, sampled)
        if isinstance(precision, (int, float)) and self.ascent is None:
            _warn_off_the_mode(problem, curvature, precision, T)
        if isinstance(delta, str):  # "marginal"
            delta = curvature.marginal_precision(w)
        return _gaussian(w, curvature, delta, T, history)


def _is_bridged(structure: Structure) -> TypeGuard[Bridged]:
    """Tell whether laplace-torch fits it."""
    return structure in get_args(Bridged)


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
        structure: As in `Laplace`.
        prior_precision: delta, in units of 1 / w^2.
        likelihood: "categorical", a noise std, or a `Likelihood`, as in `fit`.

    Raises:
        ValueError: For a structure that does not apply or bad data.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> trained = net.at(fv.fit(net, task.train, fv.SGD(), seed=0).center)
        >>> evidence, how = fv.posteriors.laplace_evidence, dict(prior_precision=1.0)
        >>> evidence(trained, task.train, **how) > evidence(net, task.train, **how)
        True
    """
    problem = examined(net, data, likelihood)
    problem.warn_of_unlabelled()
    curvature = _curvature(problem, structure)
    with torch.no_grad():
        fit = -len(data) * float(mean_nll(problem)(net.w))
    return fit + curvature.occam(net.w, prior_precision)


@public
def marginal_noise(
    net: Net, data: Data, *, structure: Literal["full", "last_layer"] = "last_layer"
) -> tuple[float, float]:
    """Find noise (a standard deviation) and prior precision of a regression by largest evidence.

    The evidence is the exact one of the network linearised at its weights w*, over the weights that
    the structure keeps,

        y = f(w*) + J (w - w*) + noise,   w ~ N(0, I / delta),

    so that w* need not be at the optimum of either.  Give them to `fit`, as likelihood, and to
    `Laplace`, as prior_precision.  One noise for all outputs.  Source: MacKay 1992.

    Args:
        net: Trained network; its treated weights are w*.
        data: The N training examples, with floating targets.
        structure: As in `Laplace`.

    Raises:
        ValueError: For a structure that does not apply or bad data.

    Example:
        >>> import torch, flatviz as fv
        >>> x = torch.linspace(-1, 1, 200).double()[:, None]
        >>> g = torch.Generator().manual_seed(0)
        >>> y = 2 * x + 0.5 * torch.randn(200, 1, generator=g).double()
        >>> net = fv.Net.from_module(torch.nn.Linear(1, 1).double())
        >>> noise, delta = fv.posteriors.marginal_noise(net, fv.Data(x, y), structure="full")
        >>> abs(noise - 0.5) < 0.05
        True
    """
    problem = examined(net, data, GaussianLikelihood(1.0))
    kept = _curvature(problem, structure)
    loss, g = mean_nll(problem).value_and_grad(net.w)
    g = len(data) * g[kept.part].double()  # -J^T r of the residuals r
    here = net.w[kept.part].double()
    n = data.y.numel()
    constant = n * math.log(2 * math.pi)
    squares = 2 * len(data) * float(loss) - constant
    h = kept.values.double()
    vectors = cast(Tensor, kept.vectors)  # neither structure is diagonal
    g = vectors.T @ g
    here = vectors.T @ here
    b = h * here - g  # J^T (y - f + J w*), in the directions of H
    total = squares + float((here * (h * here - 2 * g)).sum())

    def variance(ratio: float) -> float:
        explained = float((b * b / (h + ratio)).sum())
        return (total - explained) / n

    def evidence(log_ratio: float) -> float:
        ratio = math.exp(log_ratio)  # delta times the variance
        logdet = float(torch.log1p(h / ratio).sum())
        return -n * math.log(variance(ratio)) - logdet

    ratio = math.exp(_largest(evidence))
    return variance(ratio) ** 0.5, ratio / variance(ratio)


def _largest(f: Callable[[float], float]) -> float:
    """Find the logarithm of a precision at which `f` is largest, by a grid refined three times."""
    lo = math.log(MIN_PRECISION)
    hi = math.log(MAX_PRECISION)
    for _ in range(4):
        grid = torch.linspace(lo, hi, 61, dtype=torch.float64).tolist()
        best = max(grid, key=f)
        step = (hi - lo) / 60
        lo = best - step
        hi = best + step
    return best


def _part(
    problem: Problem, structure: Structure, label_draws: int | None = None, warn: bool = False
) -> slice:
    """Return the weights that a structure covers, P of them.

    warn: Warn with an estimate of what takes minutes.

    Raises:
        ValueError: For a curvature that would not fit in memory.
    """
    net, data, *_ = problem
    one = problem._replace(data=data.subset(torch.arange(1)))
    if structure == "diagonal":
        closed = softmax_head(one, net.w)
        head = closed[0] if closed else slice(0, 0)
        most = max(head.start, net.dim - head.stop)
        if most:
            check_jacobians(problem, most, dense=False, warn=warn, draws=label_draws)
        return slice(0, net.dim)
    last = structure == "last_layer"
    part = head_of(net, data) if last else slice(0, net.dim)
    if (size := part.stop - part.start) > LARGEST:
        way = " with treated='head'" if last else " or 'last_layer'"
        raise ValueError(
            f"structure={structure!r} must cover at most {LARGEST:,} weights, got {size:,}, whose"
            f" covariance takes {8 * size**2 / 2**30:,.1f} GiB: use structure='diagonal'{way}"
        )
    if not last or softmax_head(one, net.w) is None:
        check_jacobians(problem, size, dense=True, warn=warn, draws=label_draws)
    return part


def _curvature(
    problem: Problem,
    structure: Structure,
    progress: Progress = False,
    sampled: Callable[..., Tensor] | None = None,
) -> KeptCurvature:
    """Compute the part of H at the net's weights that the structure uses.

    sampled: estimates it, in place of `ggn`.
    """
    w = problem.net.w
    part = _part(problem, structure, label_draws=sampled and 1)
    if structure == "diagonal":
        values = ggn_diagonal(problem, w, progress, sampled)
        return KeptCurvature(part, values.clamp_min(0), None)
    closed = None
    if structure == "last_layer":
        closed = softmax_head(problem, w, progress, dense=True)
    if closed is not None and closed[0] == part:
        H = closed[1]
    else:
        if structure == "last_layer":  # what one example showed need not hold for all
            size = part.stop - part.start
            check_jacobians(problem, size, dense=True, warn=False, draws=sampled and 1)
        dense = sampled or partial(ggn, problem, w)
        H = dense(part=part, progress=progress)
    values, vectors = torch.linalg.eigh(H.double())
    return KeptCurvature(part, values.clamp_min(0), vectors)


def _gaussian(
    w: Tensor, kept: KeptCurvature, delta: float, temperature: float, history: History | None
) -> Gaussian:
    """Build N(w, T (H + delta I)^-1) on the part, with nearly no variance elsewhere."""
    log_std = torch.full_like(w, math.log(SMALL_STD))
    variance = temperature / (kept.values.double() + delta)
    if kept.vectors is None:
        log_std[kept.part] = (0.5 * variance.log()).to(w)
        return Gaussian(w, log_std, history=history, linearised=True)
    # The diagonal's part; the rest is positive definite, for the factor
    least = 0.5 * variance.min()
    log_std[kept.part] = (0.5 * least.log()).to(w)
    factor = w.new_zeros(len(variance), len(w))
    # the symmetric root, which does not depend on sign or order of eigenvectors
    root = (kept.vectors * (variance - least).sqrt()) @ kept.vectors.T
    factor[:, kept.part] = root.to(w)
    return Gaussian(w, log_std, factor, history, linearised=True)


def _warn_off_the_mode(
    problem: Problem, kept: KeptCurvature, delta: float, temperature: float
) -> None:
    """Warn where the mode, by a Newton step, is more than one standard deviation a weight away."""
    n = len(problem.data)
    w = problem.net.w
    _, g = mean_nll(problem).value_and_grad(w)
    g = (n * g + delta * w)[kept.part].double()
    along = g if kept.vectors is None else kept.vectors.T @ g
    precision = kept.values.double() + delta
    distances = along**2 / precision / temperature
    away = float(distances.mean().sqrt())
    if away > 1:
        warnings.warn(
            f"the center should be the mode at prior_precision={delta:g}, but there the gradient of"
            f" the negative log density has norm {float(g.norm()):.3g}, a Newton step of {away:.2g}"
            f" standard deviations a weight: train with weight_decay"
            f" {delta / n:.3g} (prior_precision / N), or give prior_precision=None",
            stacklevel=4,  # the caller of the public verb
        )


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
        logdet = torch.log1p(self.values.double() / delta).sum()
        return float(-0.5 * (delta * w.dot(w) + logdet))

    def marginal_precision(self, w: Tensor) -> float:
        """Find the precision of largest evidence at the weights w (D,).

        It searches a grid of its logarithm, refined three times.
        """
        return math.exp(_largest(lambda log: self.occam(w, math.exp(log))))


def head_of(net: Net, data: Data) -> slice:
    """Return the slice of w of the head, with a weight that it shares with another layer."""
    head = [b for b in net.blocks if b.kind == "head"]
    if not head and net.treats_all:
        module = net.to_module().eval()
        example, _ = data.batch(torch.arange(1))
        last = named_head(module, find_head(module, example))
        of_last = set(map(id, last.parameters()))
        head = [b for b in net.blocks if id(module.get_parameter(b.name)) in of_last]
    if not head:
        raise ValueError(
            "structure='last_layer' needs a treated head, got none: use treated='norm+head' or"
            " 'all'"
        )
    start = head[0].start
    stop = head[-1].stop
    if sum(b.stop - b.start for b in head) < stop - start:
        raise ValueError(
            "structure='last_layer' needs a head whose weights stand side by side, got"
            f" {', '.join(b.name for b in head)}, tied to another layer's: use structure='diagonal'"
        )
    return slice(start, stop)
