"""Hessian eigenpairs at either end of the spectrum, by thick-restart Lanczos."""

from __future__ import annotations

from typing import Literal

from flatviz.checks import Count, NonNegative, Seed, Vector, check_count
from flatviz.core.boundary import public
from flatviz.core.objective import Curvature, ObjectiveLike, as_objective
from flatviz.core.seeds import generator
from flatviz.landscape.krylov import Krylov, room_for
from flatviz.landscape.operators import Operator, Part
from flatviz.results import Spectrum

TOLERANCE = 1e-4  # residual over the largest eigenvalue at which a pair is good enough to stop


@public
def top_eigenpairs(
    f: ObjectiveLike,
    w: Vector,
    k: Count = 5,
    *,
    which: Literal["largest", "smallest"] = "largest",
    curvature: Curvature = "hessian",
    part: Part = None,
    iters: Count = 80,
    tol: NonNegative = TOLERANCE,
    seed: Seed = 0,
    name: str = "",
) -> Spectrum:
    """Hessian eigenpairs of `f` at `w`, the most positive (`which="largest"`) or most negative, by Lanczos.

    H v = lambda v, with H = grad^2 f(w) (D, D) seen only through products H v (one backward pass each through a kept
    graph), at most `iters` of them, fewer once all k residuals are below `tol` |lambda|_max.
    `Spectrum.residual`, |H v_k - lambda_k v_k|, bounds the distance to an eigenvalue: read it before the eigenvalue.
    k: pairs; 5 give lambda_1 / lambda_5.  iters: 80 products find 5 pairs of a network's Hessian to `tol` with room to spare.
    curvature: "hessian"; "ggn" (J^T L'' J) or "fisher" (mean of g g^T, the empirical one) of an objective of `nll`.
    part: a slice, index or mask of the weights: eigenpairs of that block of H, a layer's with `net.blocks[i].slice`;
        vectors stay (K, D), zero elsewhere.
    Up to `iters` vectors (D,) are kept, or what fits in 1 GiB; then the iteration restarts from the best.

    Raises:
        ValueError: If `w` is not a vector, `k` exceeds its length, or f gives two values for one w.

    Source: Wu & Simon, SIAM J. Matrix Anal. 22 (2000).

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.cat([torch.tensor([9.0, 5.0]), torch.ones(98)])
        >>> spectrum = fv.top_eigenpairs(lambda w: 0.5 * (h * w * w).sum(), torch.ones(100), k=2)
        >>> [round(v, 3) for v in spectrum.values.tolist()], bool((spectrum.residual < 1e-3).all())
        ([9.0, 5.0], True)
    """
    f = as_objective(f)
    operator = Operator(f, w, curvature, part)
    if k > operator.like.numel():
        raise ValueError(f"k must be at most the number of weights, {operator.like.numel()}, got {k}")
    check_count(iters, "iters", least=k)
    sign = 1.0 if which == "largest" else -1.0
    run = Krylov(lambda v: sign * operator(v), operator.like, room_for(k, iters, operator.like), generator(seed))
    values, columns, residual = run.find(k, iters, tol)
    return Spectrum(
        sign * values.to(w),
        operator.embed(run.vectors(columns)),
        residual.to(w),
        run.n_products,
        name,
        f.n,
        f.batchnorm,
        curvature=curvature,
    )
