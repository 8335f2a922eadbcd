"""Laplace: the Gaussian whose precision is the curvature at the solution (MacKay 1992; Daxberger et al. 2021).

    q = N(w*, T (H + Delta)^-1),   H = sum_n J_n^T Lambda_n J_n  (generalised Gauss-Newton),   Delta = delta I, or one delta a layer
    log Z = -N L(w*) - 1/2 (w*^T Delta w* + logdet(H + Delta) - logdet Delta)

The structure says what of H is kept: its diagonal, all of it, that of the head alone, its largest eigenpairs, or Kronecker
factors a layer.  A dense covariance is kept as diag + factor^T factor with factor (P, D), exact, so it is a `Gaussian` as every
other; eigenpairs as a `PrecisionGaussian`, Kronecker factors as a `KroneckerGaussian`, which have `sample`, `cov_mul` and
`log_prob` at any D.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, Unpack

import torch
from torch import Tensor

from flatviz.bridges.laplace import kronecker_eigen
from flatviz.checks import Count, Positive, Seed, Whole
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.gaussian import AnyGaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.objectives.jacobian import ggn, jacobian_chunks
from flatviz.objectives.nll import check_data, nll
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian, History, KroneckerGaussian, PrecisionGaussian
from flatviz.training.keywords import Epochs, defaults
from flatviz.training.losses import refuse_random_trunk, training_loss
from flatviz.training.optimize import minibatches, sgd
from flatviz.training.precision import KeptCurvature, head_of, layers_in, marginal_precision, validated_precision
from flatviz.training.run import Run

Structure = Literal["diagonal", "full", "last_layer", "lowrank", "kronecker"]
Precision = Positive | str | Mapping[str, Positive] | None
LARGEST = 5000  # weights whose covariance is kept whole
STILL = 1e-6  # standard deviation of the weights that last_layer leaves alone


SETTINGS = dict(steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None, prior_precision="marginal")


@defaults(SETTINGS)
def fit_laplace(
    net: Net,
    data: Data,
    *,
    seed: Seed,
    structure: Structure = "last_layer",
    rank: Count = 20,
    prior_precision: Precision,
    per_layer: bool = False,
    validation: Data | None = None,
    temperature: Positive = 1.0,
    steps: Whole,
    **how: Unpack[Epochs],
) -> AnyGaussian:
    """Train by SGD from where the net stands (steps=0: not at all), then the Gaussian of the curvature there, mean (D,).

    Predict with `predict_linearised`, for which the curvature is exact; draws overshoot where delta is small.

    F-Laplace, given an `ascent`, has a centre that is no stationary point.  BatchNorm statistics are the net's own.

    Args:
        net: Its treated weights are the start.
        data: The N training examples.
        seed: Of the minibatches.
        structure: "last_layer" (the head; the others get a standard deviation of 1e-6), whose H is small for any network;
            "diagonal"; "full" (at most 5,000 treated weights); "lowrank", the `rank` largest eigenpairs by Lanczos, and the
            prior alone elsewhere; "kronecker" (laplace-torch; Linear and convolution weights only).  The last two at any size.
        rank: Eigenpairs of "lowrank"; H has at most N (C - 1).
        prior_precision: delta; None is that of the training, N weight_decay; "marginal" the one of largest evidence, which
            on an over-parametrised net can collapse: look at it (`laplace_precision`); "validation" the one of least NLL of
            the linearised network (probit) on `validation`; or layer -> delta, by the names of `layers_of(net)`.
        per_layer: "marginal" or "validation" choose a delta for each layer.
        validation: Examples for prior_precision="validation", neither trained on nor tested on; their Jacobians (N, C, D) are kept.
        temperature: T, which multiplies the covariance; 1 is Bayes, less is colder.
        steps: Minibatches; 0, where the net is trained.
        **how: How it is trained.

    Raises:
        ValueError: For a structure that does not apply, no prior precision, bad data, or divergence.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> fv.fit_laplace(net, task.train, seed=0, steps=50).factor.shape
        torch.Size([18, 58])
    """
    run = Run.of(locals(), "Laplace")
    refuse_random_trunk(net, "Laplace")
    likelihood = run.likelihood
    loss = training_loss(net, data, run)
    w, history = net.w.detach().clone(), None
    if steps:
        w, history = sgd(loss, w, minibatches(len(data), run.optim.batch_size, seed, net.device), run)
    net = net.at(w)
    kept = _curvature(net, data, likelihood, structure, rank)
    if prior_precision is None:
        prior_precision = len(data) * run.optim.weight_decay
    delta = _precision(net, kept, prior_precision, per_layer, validation, likelihood, temperature)
    return _gaussian(w, kept, delta, temperature, history)


@public
def laplace_evidence(
    net: Net,
    data: Data,
    *,
    structure: Structure = "last_layer",
    rank: Count = 20,
    prior_precision: Positive | Mapping[str, Positive],
    likelihood: Likelihood = "categorical",
) -> float:
    """Log Z at the net's own weights, in nats: how well this net and prior precision explain the data.

    Args:
        structure, rank: as in `fit_laplace`.  prior_precision: delta in units of 1 / w^2, or layer -> delta.

    Raises:
        ValueError: For a structure that does not apply or bad data.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> trained = net.at(fv.fit_sgd(net, task.train, seed=0).center)
        >>> evidence = fv.posteriors.laplace_evidence
        >>> evidence(trained, task.train, prior_precision=1.0) > evidence(net, task.train, prior_precision=1.0)
        True
    """
    f = nll(net, data, likelihood=likelihood)
    kept = _curvature(net, data, likelihood, structure, rank)
    delta = _precision(net, kept, prior_precision, False, None, likelihood, 1.0)
    with torch.no_grad():
        return -len(data) * float(f(net.w)) + float(kept.occam(net.w[kept.part], delta))


@public
def laplace_precision(
    net: Net,
    data: Data,
    *,
    structure: Structure = "last_layer",
    rank: Count = 20,
    validation: Data | None = None,
    per_layer: bool = True,
    likelihood: Likelihood = "categorical",
) -> dict[str, float]:
    """Layer -> prior precision that `fit_laplace` would choose at the net's own weights: look at it before you believe it.

    By evidence, or where `validation` is given by the NLL of the linearised network there.  A value at 1e8 is a layer that
    the evidence prunes.

    Args:
        structure, rank, validation: as in `fit_laplace`.  per_layer: False gives every layer the same.

    Raises:
        ValueError: For a structure that does not apply or bad data.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> sorted(fv.posteriors.laplace_precision(net, task.train, structure="diagonal")) == sorted(list(fv.symmetry.layers_of(net))[:-1])
        True
    """
    kept = _curvature(net, data, likelihood, structure, rank)
    by = "marginal" if validation is None else "validation"
    delta = _precision(net, kept, by, per_layer, validation, likelihood, 1.0)
    return dict(zip(kept.layers, delta.expand(len(kept.layers)).tolist()))


def _curvature(net: Net, data: Data, likelihood: Likelihood, structure: str, rank: int) -> KeptCurvature:
    """What the structure keeps of H at the net's weights."""
    part = head_of(net) if structure == "last_layer" else slice(0, net.dim)
    size, vectors = part.stop - part.start, None
    if structure == "diagonal":
        values = ggn(net, net.w, data, likelihood, diagonal=True)
    elif structure == "kronecker":
        values, vectors = kronecker_eigen(net, data, likelihood)
    elif structure == "lowrank":
        k = min(rank, size)
        pairs = top_eigenpairs(nll(net, data, likelihood=likelihood), net.w, k, curvature="ggn", iters=max(80, 4 * k))
        values, vectors = len(data) * pairs.values, pairs.vectors.T
    elif size > LARGEST:
        raise ValueError(
            f"structure={structure!r} must cover at most {LARGEST:,} weights, got {size:,}: use structure='diagonal'"
            + ("" if structure == "last_layer" else ", 'lowrank', 'kronecker' or 'last_layer'")
        )
    else:
        values, vectors = torch.linalg.eigh(ggn(net, net.w, data, likelihood, part=part).double())
    return KeptCurvature(part, values.clamp_min(0), vectors, layers_in(net, part))


def _precision(
    net: Net,
    kept: KeptCurvature,
    asked: Precision,
    per_layer: bool,
    validation: Data | None,
    likelihood: Likelihood,
    temperature: float,
) -> Tensor:
    """The prior's precision, (1,), or one a layer, (L,), in float64."""
    if isinstance(asked, Mapping):
        if set(asked) != set(kept.layers):
            raise ValueError(f"prior_precision must name the layers {', '.join(kept.layers)}, got {', '.join(asked)}")
        return torch.tensor([float(asked[name]) for name in kept.layers], dtype=torch.float64)
    if asked == "marginal":
        return marginal_precision(kept, net.w[kept.part], per_layer=per_layer)
    if asked == "validation":
        if validation is None:
            raise ValueError("prior_precision='validation' needs validation=, examples that are neither trained nor tested on")
        check_data(net, validation, likelihood)
        score = _validation_nll(net, kept, validation, likelihood, temperature)
        return validated_precision(score, len(kept.layers), per_layer=per_layer)
    if isinstance(asked, str) or asked == 0:
        raise ValueError(
            f"prior_precision must be > 0, 'marginal' or 'validation', got {asked!r}: give one, or a weight_decay > 0"
        )
    if per_layer:
        raise ValueError("per_layer=True needs prior_precision='marginal' or 'validation', or give layer -> precision")
    return torch.tensor([float(asked)], dtype=torch.float64)


def _validation_nll(
    net: Net, kept: KeptCurvature, data: Data, likelihood: Likelihood, temperature: float
) -> Callable[[Tensor], float]:
    """Precision -> mean NLL of the linearised network on `data`, by probit, or exact for a regression."""
    pieces = [(piece.y, f, J) for piece, f, J in jacobian_chunks(net, net.w, data)]

    def score(delta: Tensor) -> float:
        q, total = _gaussian(net.w, kept, delta, temperature, None), 0.0
        for y, f, J in pieces:
            V = (q.cov_mul(J) * J).sum(-1)
            if likelihood == "categorical":
                total += float(torch.nn.functional.cross_entropy(f / (1 + math.pi / 8 * V).sqrt(), y, reduction="sum"))
            else:
                wide = V + float(likelihood) ** 2
                total += float(0.5 * ((y.reshape(f.shape) - f).square() / wide + (2 * math.pi * wide).log()).sum())
        return total / len(data)

    return score


def _gaussian(w: Tensor, kept: KeptCurvature, precision: Tensor, temperature: float, history: History | None) -> AnyGaussian:
    """N(w, T (H + Delta)^-1) on the part, all but still elsewhere."""
    part, values, vectors = kept.part, kept.values.double(), kept.vectors
    delta = kept.of_weights(precision).to(values)
    if isinstance(vectors, tuple):
        return KroneckerGaussian(w, (temperature / (values + delta)).sqrt().to(w), vectors, history)
    log_std = torch.full_like(w, math.log(STILL))
    if vectors is None:
        log_std[part] = (0.5 * (temperature / (values + delta)).log()).to(w)
        return Gaussian(w, log_std, history=history)
    if vectors.shape[1] < vectors.shape[0]:
        basis = (vectors.double() * (values / temperature).sqrt()).T
        return PrecisionGaussian(w, (temperature / delta).sqrt().to(w), basis.to(w), history)
    if len(precision) > 1:  # eigenvectors of Delta^-1/2 H Delta^-1/2, in which the covariance is diagonal up to Delta^-1/2
        half = vectors / delta.sqrt()[:, None] * values.sqrt()
        values, vectors = torch.linalg.eigh(half @ half.T)
        values = values.clamp_min(0)
    else:
        values = values / delta
    variance = temperature / (1 + values)
    least = 0.5 * variance.min()  # what stands on the diagonal; the rest is positive definite, and the factor's
    log_std[part] = (0.5 * (least / delta).log()).to(w)
    factor = w.new_zeros(len(variance), len(w))
    root = (
        vectors * (variance - least).sqrt()
    ) @ vectors.T  # symmetric: no eigenvector's sign, or order among equals, is in it
    factor[:, part] = (root / delta.sqrt()).to(w)
    return Gaussian(w, log_std, factor, history)


METHOD = Method(fit=fit_laplace, plain=Tuned(SETTINGS), linearised=True)  # the prediction for which its curvature is exact
