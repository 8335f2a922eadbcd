"""Flatness of a posterior: curvature, worst nearby loss and learning coefficient.

All measures are of an objective f, for instance `nll(net, task.train)`, at weight vectors W (S, D).
f is fixed while it is measured: no draw is trained, and BatchNorm statistics are those of f.

The local learning coefficient, n beta (E f(w') - f(w)) with w' ~ exp(-n beta f(w')) localised at w
and beta = 1 / log n, measures how the volume of low loss grows.  At a quadratic minimum in D
dimensions it is D / 2 whatever the curvature; of f = w^4 it is 1 / 4.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import (
    Count,
    NonNegative,
    Positive,
    Radius,
    Seed,
    Several,
    Vector,
    Vectors,
    check_many_weights,
)
from flatviz.core import (
    ASAM,
    SAM,
    Objective,
    ObjectiveLike,
    Progress,
    as_objective,
    generator,
    public,
    signs_like,
    track,
)
from flatviz.landscape.krylov import Operator
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.results import Sharpness


@public
def sharpness(
    f: ObjectiveLike,
    W: Vectors,
    *,
    radius: Radius = 0.05,
    adaptive_radius: Radius = 0.5,
    eta: NonNegative = 0.01,
    k: Several = 5,
    probes: Several = 10,
    iters: Count = 80,
    seed: Seed = 0,
    progress: Progress = False,
) -> Sharpness:
    """Measure eigenvalues, trace, SAM- and ASAM-sharpness of f at each row of `W` (S, D).

    sam: f(w + e) - f(w) with e = radius g / |g|.
    adaptive: the same with e = adaptive_radius T^2 g / |T g|, T = |w| + eta, which is invariant
        under a rescaling of layers that leaves the function unchanged.
    trace: Hutchinson's mean of v^T H v over `probes` random signs v.

    Args:
        f: Objective, w (D,) -> ().
        W: Weight vectors (S, D).
        radius: Euclidean radius of SAM's ascent, the usual one.
        adaptive_radius: Radius of ASAM's ascent, a ratio, the usual one.
        eta: Keeps T > 0 at weights of 0.
        k: Eigenvalues, as in `top_eigenpairs`.
        probes: Random signs v for the trace.
        iters: Largest number of products for the eigenvalues, as in `top_eigenpairs`.
        seed: Fixes the random vectors.
        progress: True for a bar, or a function (done, total, label) that is called before each
            step.

    Raises:
        ValueError: On a wrong shape or a negative radius.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.tensor([9.0, 4.0, 1.0])
        >>> flat = fv.sharpness(lambda w: 0.5 * (h * w * w).sum(), torch.ones(1, 3), k=3)
        >>> [round(float(v), 3) for v in (flat.lambda1, flat.ratio, flat.trace)]
        [9.0, 9.0, 14.0]
    """
    f = as_objective(f)
    check_many_weights(W, f.dim)
    ascents = SAM(radius), ASAM(adaptive_radius, eta)
    k = min(k, W.shape[1])
    source = generator(seed)
    rows = []
    for w in track(W, "sharpness", progress):
        spectrum = top_eigenpairs(f, w, k, iters=iters, seed=seed)
        signs = signs_like(w, source, probes, len(w))
        traces = quadratic_forms(Operator(f, w), signs)  # independent unbiased estimates
        error = traces.std() / math.sqrt(probes)
        lam = spectrum.values
        is_zero = lam[-1].abs() <= spectrum.residual[-1]  # or cannot be told from 0
        ratio = (lam[0] / lam[-1]).where(~is_zero, math.nan)
        measures = [lam[0], ratio, traces.mean(), *gains(f, w, ascents)]
        errors = [spectrum.residual[0], error]
        rows.append([float(v) for v in measures + errors])
    columns = torch.tensor(rows, dtype=W.dtype).unbind(1)
    return Sharpness(*columns)


def quadratic_forms(H: Operator, V: Tensor) -> Tensor:
    """Compute v^T H v of each row of `V` (P, D): (P,)."""
    return torch.stack([v @ H(v) for v in V])


def gains(f: Objective, w: Tensor, ascents: tuple[SAM, ASAM]) -> list[Tensor]:
    """Compute f(w + e) - f(w) of each perturbation e."""
    value, g = f.value_and_grad(w)
    ends = torch.stack([w + ascent(w, g) for ascent in ascents])
    return list(f.many(ends) - value)


@public
def weyl_bounds(
    f: ObjectiveLike,
    W: Vectors,
    *,
    iters: Count = 160,
    seed: Seed = 0,
) -> tuple[float, float, float]:
    """Compute Theorem 1's bounds of lambda_max of the draws' mean Hessian: (lower, value, upper).

    By Weyl's inequality,

        1/M max_j [lmax(H_j) + sum_{m != j} lmin(H_m)] <= lmax(1/M sum_m H_m) <= 1/M sum_m lmax(H_m)

    The middle is the curvature of the mean loss of the draws moved together, not of the averaged
    prediction.

    Args:
        f: Objective, w (D,) -> ().
        W: Weight vectors (M, D).
        iters: Largest number of products for each eigenvalue.
        seed: Fixes the random starts.

    Example:
        >>> import torch, flatviz as fv
        >>> W = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # Hessians diag(12, 0) and diag(0, 12)
        >>> [round(bound, 3) for bound in fv.metrics.weyl_bounds(lambda w: (w**4).sum(), W)]
        [6.0, 6.0, 12.0]
    """
    f = as_objective(f)
    check_many_weights(W, f.dim)

    def first(f: ObjectiveLike, w: Tensor, which: Literal["largest", "smallest"]) -> float:
        spectrum = top_eigenpairs(f, w, 1, which=which, iters=iters, seed=seed)
        return float(spectrum.values[0])

    def mean(v: Tensor) -> Tensor:
        return torch.stack([f(w + v) for w in W]).mean()

    top = [first(f, w, "largest") for w in W]
    low = [first(f, w, "smallest") for w in W]
    below = max(largest + sum(low) - smallest for largest, smallest in zip(top, low))
    middle = first(mean, torch.zeros_like(W[0]), "largest")
    return below / len(W), middle, sum(top) / len(W)


def ordered(
    W: Tensor,
    values: Tensor,
    order: Literal["sharp", "random", "flat"],
    *,
    seed: int = 0,
) -> Tensor:
    """Sort `W` (S, D) by `values` (S,): "flat" ones first, "sharp" ones first, or at "random".

    `predict(net, ordered(W, values, "flat"), data, S, seed=0)` scores ensembles that grow in this
    order.

    Raises:
        ValueError: For another number of values, or one that is not finite.
    """
    bad = int((~values.isfinite()).sum())
    if len(values) != len(W) or bad:
        raise ValueError(
            f"values must hold a finite number for each of the {len(W)} draws, got {len(values)},"
            f" {bad} of them NaN or inf"
        )
    if order == "random":
        shuffled = torch.randperm(len(W), generator=generator(seed))
        return W[shuffled.to(W.device)]
    return W[values.argsort(descending=order == "sharp", stable=True)]


@public
def learning_coefficient(
    f: ObjectiveLike,
    w: Vector,
    draws: Vectors,
    *,
    n: Several,
    beta: Positive | None = None,
) -> float:
    """Estimate the local learning coefficient at `w` (D,): n beta (mean of f over `draws` - f(w)).

    The estimate is as good as the draws: chains that have not mixed, or a finite step, bias it.  It
    can be negative where `w` is no local minimum of f.  If a Gaussian keeps the draws near `w`,
    directions in which f is flatter than that Gaussian add nothing.

    Args:
        f: Mean loss of n examples, such as `nll(net, task.train)`.
        w: A minimum of f, (D,).
        draws: (S, D) from exp(-n beta f) localised at `w`, by any sampler.
        n: Number of examples, at least 2.
        beta: Inverse temperature that `draws` were sampled at; None: 1 / log n.

    Raises:
        ValueError: For another shape, or n below 2.

    Source: Lau, Furman, Wang, Murfet & Wei 2023, The local learning coefficient (arXiv 2308.12108),
        definition of the estimator.

    Example:
        >>> import torch, flatviz as fv
        >>> f = lambda w: 0.5 * w.square().sum()
        >>> draws = torch.tensor([[-1.0], [1.0]]) / 10  # their variance is 1 / (n beta)
        >>> value = fv.metrics.learning_coefficient(f, torch.zeros(1), draws, n=100, beta=1.0)
        >>> round(value, 3)
        0.5
    """
    f = as_objective(f)
    check_many_weights(draws, len(w), "draws")
    beta = 1 / math.log(n) if beta is None else beta
    risen = f.many(draws) - f.many(w[None])
    return n * beta * float(risen.double().mean())
