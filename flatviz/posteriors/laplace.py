"""Laplace: the Gaussian whose precision is the curvature at the solution (MacKay 1992; Daxberger et al. 2021).

    q = N(w*, T (H + delta I)^-1),   H = sum_n J_n^T Lambda_n J_n  (generalised Gauss-Newton),   delta = N weight_decay
    log Z = -N L(w*) - 1/2 (delta |w*|^2 + logdet(H + delta I) - P log delta)

The structure says what of H is kept: its diagonal, all of it, that of the head alone, or Kronecker factors a layer.
A dense covariance is kept as diag + factor^T factor with factor (P, D), exact, so it is a `Gaussian` as every other;
the Kronecker one as its eigenvectors, a `KroneckerGaussian`, which has `sample`, `cov_mul` and `log_prob` at any D.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.bridges.laplace import kronecker_eigen
from flatviz.checks import check_choice, check_count, check_nonnegative
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.objectives.jacobian import ggn
from flatviz.objectives.nll import nll
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian, History, KroneckerGaussian
from flatviz.training.gradient import Ascent
from flatviz.training.optimize import minibatches, sgd, training_loss
from flatviz.training.run import Checkpoint, Optim, Run

STRUCTURES = ("diagonal", "full", "last_layer", "kronecker")
LARGEST = 5000  # weights whose covariance is kept whole
STILL = 1e-6  # standard deviation of the weights that last_layer leaves alone


@public
def fit_laplace(
    net: Net,
    data: Data,
    *,
    seed: int,
    structure: str = "last_layer",
    prior_precision: float | str | None = None,
    temperature: float = 1.0,
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = None,
    likelihood: Likelihood = "categorical",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian | KroneckerGaussian:
    """Train by SGD from where the net stands (steps=0: not at all), then the Gaussian of the curvature there, mean (D,).

    Predict with `predict_linearised`, for which the curvature is exact; draws overshoot where delta is small.

    Args:
        structure: "last_layer" (the head; the others get a standard deviation of 1e-6), whose H is small for any network;
            "diagonal"; "full" (at most 5,000 treated weights); "kronecker" (laplace-torch; Linear and convolution weights
            only, any number of them).
        prior_precision: delta; None is that of the training, N weight_decay; "marginal" the one of largest evidence, which
            on an over-parametrised net can collapse: look at it.
        temperature: T, which multiplies the covariance; 1 is Bayes, less is colder.
        steps: minibatches; 150 bring the loss of the digits task to rest.
        lr: the first rate; it falls to 0 along half a cosine.  0.05 is the largest at which most fits are stable.
        momentum, weight_decay: 0.9 and 5e-4 as usual; weight decay is the prior N(0, 1 / (N weight_decay)).
        batch_size: examples a minibatch; None, all of them, because few-shot training sets are small.
        likelihood: "categorical", or the standard deviation of Gaussian noise on floating targets.
        ascent: `SAM(radius)` and the like make it F-Laplace, whose centre is no stationary point.  BatchNorm statistics are
            the net's own.
        checkpoint: path to save to and resume from.  progress: True, None (where a terminal watches) or a function.

    Raises ValueError for a structure that does not apply, no prior precision, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_laplace(net, task.train, seed=0, steps=50).factor.shape
        torch.Size([18, 58])
    """
    run = Run.of(locals(), "Laplace")
    check_choice(structure, STRUCTURES, "structure")
    loss, _ = training_loss(net, data, likelihood, "frozen")
    w, history = net.w.detach().clone(), None
    if check_count(steps, "steps", least=0):
        batches = minibatches(len(data), batch_size, seed, net.device)
        optim = Optim(steps, lr, momentum, weight_decay, batch_size)
        w, history = sgd(loss, w, batches, optim, run, ascent=ascent)
    part, values, vectors = _spectrum(net.at(w), data, likelihood, structure)
    if prior_precision == "marginal":
        prior_precision = best_precision(values, w[part])
    delta = len(data) * weight_decay if prior_precision is None else prior_precision
    if isinstance(delta, str) or check_nonnegative(delta, "prior_precision") == 0:
        raise ValueError(f"prior_precision must be > 0 or 'marginal', got {delta!r}: give one, or a weight_decay > 0")
    return _gaussian(w, part, values, vectors, delta, temperature, history)


@public
def laplace_evidence(
    net: Net, data: Data, *, structure: str = "last_layer", prior_precision: float, likelihood: Likelihood = "categorical"
) -> float:
    """log Z at the net's own weights, in nats: how well this net and prior precision explain the data.

    Args:
        structure: as in `fit_laplace`.  prior_precision: delta, in units of 1 / w^2.

    Raises ValueError for a structure that does not apply or bad data.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> trained = net.at(fv.fit_sgd(net, task.train, seed=0).center)
        >>> fv.laplace_evidence(trained, task.train, prior_precision=1.0) > fv.laplace_evidence(net, task.train, prior_precision=1.0)
        True
    """
    check_choice(structure, STRUCTURES, "structure")
    f = nll(net, data, likelihood=likelihood)
    part, values, _ = _spectrum(net, data, likelihood, structure)
    with torch.no_grad():
        fit = -len(data) * float(f(net.w))
    return fit + float(_occam(values, net.w[part], torch.tensor([float(prior_precision)]))[0])


def best_precision(values: Tensor, w: Tensor) -> float:
    """The delta of largest evidence given the eigenvalues of H and the centre, by a grid made finer three times."""
    lo, hi = math.log(1e-6), math.log(1e8)
    for _ in range(4):
        grid = torch.linspace(lo, hi, 61, dtype=torch.float64)
        best = float(grid[_occam(values, w, grid.exp()).argmax()])
        lo, hi = best - (hi - lo) / 60, best + (hi - lo) / 60
    return math.exp(best)


def _occam(values: Tensor, w: Tensor, delta: Tensor) -> Tensor:
    """-1/2 (delta |w|^2 + logdet(H + delta) - P log delta) for each delta, in float64."""
    values, squared = values.double().cpu(), float(w.double().square().sum())
    logdet = torch.stack([torch.log1p(values / d).sum() for d in delta.double()])  # logdet(H + delta) - P log delta
    return -0.5 * (delta.double() * squared + logdet)


def _spectrum(net: Net, data: Data, likelihood: Likelihood, structure: str) -> tuple[slice, Tensor, Tensor | tuple | None]:
    """Which weights, the eigenvalues of their H (P,), and its eigenvectors (P, P) in columns, None for a diagonal H.

    Those of a Kronecker H are pairs of matrices, one for each tensor.
    """
    part = _head(net) if structure == "last_layer" else slice(0, net.dim)
    size = part.stop - part.start
    if structure == "diagonal":
        return part, ggn(net, net.w, data, likelihood, diagonal=True).clamp_min(0), None
    if structure == "kronecker":
        values, vectors = kronecker_eigen(net, data, likelihood)
        return part, values.clamp_min(0), vectors
    if size > LARGEST:
        raise ValueError(
            f"structure={structure!r} must cover at most {LARGEST:,} weights, got {size:,}: use structure='diagonal'"
            + ("" if structure == "last_layer" else ", 'kronecker' or 'last_layer'")
        )
    H = ggn(net, net.w, data, likelihood, part=part)
    values, vectors = torch.linalg.eigh(H.double())
    return part, values.clamp_min(0), vectors


def _head(net: Net) -> slice:
    """Where the head stands in w, one stretch."""
    head = [b for b in net.blocks if b.kind == "head"]
    if not head and net.treats_all:
        head = [b for b in net.restrict("all", head=_last_linear(net)).blocks if b.kind == "head"]
    if not head:
        raise ValueError("structure='last_layer' needs a treated head, got none: use treated='norm+head' or 'all'")
    return slice(head[0].start, head[-1].stop)


def _last_linear(net: Net) -> str:
    """Name of the module that holds the last matrix of the network."""
    return next(b.name.rpartition(".")[0] for b in reversed(net.blocks) if len(b.shape) > 1)


def _gaussian(
    w: Tensor,
    part: slice,
    values: Tensor,
    vectors: Tensor | tuple | None,
    delta: float,
    temperature: float,
    history: History | None,
) -> Gaussian | KroneckerGaussian:
    """N(w, T (H + delta)^-1) on `part`, all but still elsewhere."""
    variance = temperature / (values.double() + delta)
    if isinstance(vectors, tuple):
        return KroneckerGaussian(w, variance.sqrt().to(w), vectors, history)
    log_std = torch.full_like(w, math.log(STILL))
    if vectors is None:
        log_std[part] = (0.5 * variance.log()).to(w)
        return Gaussian(w, log_std, history=history)
    least = 0.5 * variance.min()  # what stands on the diagonal; the rest is positive definite, and the factor's
    log_std[part] = (0.5 * least.log()).to(w)
    factor = w.new_zeros(len(variance), len(w))
    factor[:, part] = ((variance - least).sqrt()[:, None] * vectors.T).to(w)
    return Gaussian(w, log_std, factor, history)


METHOD = Method(
    name="laplace",
    label="Laplace",
    color="#7b3fa0",
    symbol="hexagon",
    fit=fit_laplace,
    plain=Tuned(dict(steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None, prior_precision="marginal")),
    takes_ascent=True,
    linearised=True,  # the prediction for which its curvature is exact
)
