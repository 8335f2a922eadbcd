"""Eigenvalues of a Hessian: extreme pairs by thick-restart Lanczos, and the spectral density."""

import warnings
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Seed, Vector, check_count
from flatviz.core import (
    Curvature,
    ObjectiveLike,
    Point,
    Progress,
    as_objective,
    flattened,
    generator,
    public,
    track,
)
from flatviz.landscape.krylov import Krylov, Operator, Part, room_for
from flatviz.landscape.search import excludes, largest
from flatviz.results import Spectrum

TOLERANCE = 1e-4  # residual over the largest eigenvalue at which a pair is good enough to stop


@public
def top_eigenpairs(
    f: ObjectiveLike,
    w: Point,
    k: Count = 5,
    *,
    which: Literal["largest", "smallest"] = "largest",
    curvature: Curvature = "hessian",
    part: Part = None,
    iters: Count = 160,
    tol: NonNegative = TOLERANCE,
    seed: Seed = 0,
    name: str = "",
) -> Spectrum:
    """Compute the k most positive or most negative Hessian eigenpairs of `f` at `w`.

        H v = lambda v,  H = grad^2 f(w) (D, D)

    Lanczos takes products H v alone, each one backward pass through a kept graph: at most `iters`,
    fewer once all k residuals are below `tol` |lambda|_max.  `Spectrum.residual`,
    |H v_k - lambda_k v_k|, bounds the distance to an eigenvalue: read it before the eigenvalue.

    A residual does not show that a copy of a multiple eigenvalue is missing.  Further random
    vectors search for one until the chance that it exists is below 1e-6 for any H, in exact
    arithmetic (see `flatviz.landscape.search`); a warning says where `iters` are too few for it.
    Up to `iters` vectors (D,) are kept, or what fits in 1 GiB; then the iteration restarts from the
    best.

    Args:
        f: Objective, w (D,) -> (), or a plain function of a `w` of any shape.
        w: Weights (D,), or activations, as (n, d): vectors are then those of w.flatten().
        k: Number of pairs; 5 give lambda_1 / lambda_5.
        which: "largest", the most positive eigenvalues, or "smallest", the most negative.
        curvature: "hessian"; "ggn" (J^T L'' J) or "fisher" (mean of g g^T, the empirical one) of an
            objective of `nll`.
        part: A slice, index or mask of the weights: eigenpairs of that block of H, a layer's with
            `net.blocks[i].slice`; vectors stay (K, D), zero elsewhere.
        iters: Largest number of products; a network's Hessian takes some 25 for its 5 largest,
            which are separated, 100 for its smallest, which are not.
        tol: Residual, relative to |lambda|_max, at which a pair counts as converged.
        seed: Fixes the random start.
        name: The spectrum's name in legends.

    Raises:
        ValueError: If `w` is not a vector, `k` exceeds its length, or f gives two values for one w.

    Source: Wu & Simon, SIAM J. Matrix Anal. Appl. 22 (2000); the bound: van Dorsselaer,
        Hochstenbach & van der Vorst, ibid.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.cat([torch.tensor([9.0, 5.0]), torch.ones(98)])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (h * w * w).sum(), torch.ones(100), k=2)
        >>> [round(v, 3) for v in spectrum.values.tolist()], bool((spectrum.residual < 1e-3).all())
        ([9.0, 5.0], True)
    """
    f, w = flattened(f, w)
    operator = Operator(f, w, curvature, part)
    _check_pairs(k, operator)
    check_count(iters, "iters", least=k)
    sign = 1.0 if which == "largest" else -1.0
    like = operator.like
    room = room_for(k, iters, like)
    run = Krylov(lambda v: sign * operator(v), like, room, generator(seed))
    values, columns, residual = largest(run, k, iters, tol)
    return Spectrum(
        sign * values.to(like),
        operator.embed(run.vectors(columns)).to(w),
        residual.to(like),
        run.n_products,
        name,
        f.n,
        f.batchnorm,
        curvature,
        which=which,
    )


def _check_pairs(k: int, operator: Operator) -> None:
    if k > (dim := operator.like.numel()):
        raise ValueError(f"k must be at most the number of weights, {dim}, got {k}")


@public
def batch_eigenvalues(
    f: ObjectiveLike,
    w: Vector,
    *,
    batch_size: Count,
    k: Count = 1,
    curvature: Curvature = "hessian",
    iters: Count = 160,
    tol: NonNegative = TOLERANCE,
    seed: Seed = 0,
    progress: Progress = False,
) -> list[Spectrum]:
    """Compute the k largest eigenpairs of the loss of each minibatch, in the order of the data.

    Their means are above those of the full loss, as the largest eigenvalue is a convex function
    of the matrix.

    Args:
        f: Objective of `nll`.
        w: Weights (D,).
        batch_size: Examples a batch; the last one has the rest.
        k: Pairs of each batch.
        curvature: As in `top_eigenpairs`.
        iters: Largest number of products of each batch.
        tol: As in `top_eigenpairs`.
        seed: Fixes the random starts.
        progress: True for a bar, or a function (done, total, label) called before each batch.

    Raises:
        ValueError: For an objective without data.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> f = fv.nll(net, fv.Data(torch.randn(8, 2), torch.arange(8) % 3))
        >>> spectra = fv.landscape.batch_eigenvalues(f, net.w, batch_size=4)
        >>> [spectrum.n for spectrum in spectra]
        [4, 4]
    """
    parts = as_objective(f).batches(batch_size)
    return [
        top_eigenpairs(
            part,
            w,
            k,
            curvature=curvature,
            iters=iters,
            tol=tol,
            seed=seed,
        )
        for part in track(parts, "batches", progress)
    ]


# Residual over the largest eigenvalue below which a pair counts as exactly one eigenvalue
CONVERGED = 1e-3
COPIES = (
    "the last run leaves it open whether each of the {k} largest eigenvalues counts as often as it"
    " is there: give more runs or steps, or see top_eigenpairs"
)


@public
def spectral_density(
    f: ObjectiveLike,
    w: Point,
    *,
    runs: Count = 4,
    steps: Count = 30,
    k: Count = 5,
    curvature: Curvature = "hessian",
    part: Part = None,
    seed: Seed = 0,
) -> Spectrum:
    """Estimate the spectral density of the Hessian at `w`, with its k largest eigenpairs.

    It takes runs x steps products H v.  Run r > 0 starts at random in the complement of the c_r
    Ritz vectors that earlier runs resolved, and is one unbiased estimate

        mu_r = (1/D) sum_c delta(lambda_c) + (1 - c_r/D) sum_m weights[r, m] delta(nodes[r, m])

    of the resolved pairs as single eigenvalues and the rest by Gauss quadrature.  The density is
    the mean of mu_1 .. mu_{runs-1}.  A run's quadrature is never combined with Ritz vectors of the
    same run, as one that represents a cluster, such as a null space, would count once.
    `Spectrum.nodes` and `weights` hold all atoms.

    `values` are the k largest of all runs.  A copy of a multiple eigenvalue may be missing among
    them; a warning comes unless the last run excludes, but for a chance of 1e-6, that a value is
    more than 1 % of |lambda|_max too low for that reason (see `flatviz.landscape.search`).  A
    single run sees each eigenvalue once, and is plain quadrature; a run over all D dimensions is
    exact.

    Args:
        f: Objective, w (D,) -> (), or a plain function of a `w` of any shape.
        w: Weights (D,), or activations, as (n, d).
        runs: Runs of Lanczos; 4 are three estimates beside the run that finds the outliers.
        steps: Products a run; 30 resolve some ten outliers.  Up to runs x steps vectors (D,) are
            kept.
        k: Eigenpairs in `values`.
        curvature: As in `top_eigenpairs`.
        part: As in `top_eigenpairs`.
        seed: Fixes the random starts.

    Raises:
        ValueError: For k > steps and for what `top_eigenpairs` refuses.

    Source: Golub & Meurant 2010; Ghorbani et al. 2019 (arXiv 1901.10159); the deflation is ours.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.cat([torch.tensor([8.0, 4.0]), torch.zeros(98)])  # 98 flat directions
        >>> f = lambda w: 0.5 * (h * w * w).sum()
        >>> s = fv.spectral_density(f, torch.ones(100), steps=10, k=2)
        >>> [round(v, 2) for v in s.values.tolist()], round(100 * float(s.weights @ s.nodes), 1)
        ([8.0, 4.0], 12.0)
    """
    check_count(steps, "steps", least=k)
    f, w = flattened(f, w)
    operator = Operator(f, w, curvature, part)
    _check_pairs(k, operator)
    source = generator(seed)
    dim = operator.like.numel()
    locked = operator.like.new_zeros(0, dim)
    sharp = torch.zeros(0, dtype=torch.float64)
    errors = sharp
    estimates: list[tuple[Tensor, Tensor]] = []
    spent = 0
    scale = 0.0
    for r in range(runs):
        run = Krylov(operator, operator.like, min(steps, dim), source, locked, scale)
        while run.size < len(run.Q):
            run.step()
        spent += run.n_products
        values, columns, residual = run.ritz()
        scale = max(scale, float(values.abs().max()))
        top = torch.cat([sharp, values[:k]]).topk(k)
        vectors = torch.cat([locked, run.vectors(columns[:, :k])])
        ends = torch.cat([errors, residual])
        if run.complete:  # nothing is left to estimate
            nodes = torch.cat([sharp, values])
            estimates = [(nodes, torch.full_like(nodes, 1 / dim))]
            break
        if r > 0 or runs == 1:
            # Gauss quadrature of the start vector
            rest = (1 - len(sharp) / dim) * columns[0].square()
            nodes = torch.cat([sharp, values])
            weights = torch.cat([torch.full_like(sharp, 1 / dim), rest])
            estimates.append((nodes, weights))
        smallest = float(top.values[-1])
        if 0 < r == runs - 1 and not excludes(run, sharp, errors, smallest, scale):
            warnings.warn(COPIES.format(k=k), stacklevel=3)
        converged = residual <= CONVERGED * scale
        locked = torch.cat([locked, run.vectors(columns[:, converged])])
        sharp = torch.cat([sharp, values[converged]])
        errors = torch.cat([errors, residual[converged]])
    nodes, weights = map(torch.cat, zip(*estimates))
    return Spectrum(
        top.values.to(locked),
        operator.embed(vectors[top.indices]).to(w),
        ends[top.indices].to(locked),
        n_products=spent,
        n=f.n,
        batchnorm=f.batchnorm,
        curvature=curvature,
        nodes=nodes,
        weights=weights / len(estimates),
    )
