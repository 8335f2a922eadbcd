"""The spectral density of a Hessian: where all D eigenvalues lie, by stochastic Lanczos."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Vector, check_count
from flatviz.core.boundary import public
from flatviz.core.objective import Curvature, ObjectiveLike, as_objective
from flatviz.core.seeds import generator
from flatviz.landscape.krylov import Krylov
from flatviz.landscape.operators import Operator
from flatviz.results import Spectrum

CONVERGED = 1e-3  # residual over the largest eigenvalue at which a pair counts as one eigenvalue exactly


@public
def spectral_density(
    f: ObjectiveLike,
    w: Vector,
    *,
    runs: Count = 4,
    steps: Count = 30,
    k: Count = 5,
    curvature: Curvature = "hessian",
    seed: Seed = 0,
) -> Spectrum:
    """Spectral density of the Hessian at `w` with its k largest eigenpairs, from runs x steps products H v.

    Run r > 0 starts at random in the complement of the c_r Ritz vectors that the runs before it resolved, and is one
    unbiased estimate: mu_r = (1/D) sum_c delta(lambda_c) + (1 - c_r/D) sum_m weights[r, m] delta(nodes[r, m]), the resolved
    pairs as single eigenvalues, the rest by Gauss quadrature.  mu is the mean of mu_1 .. mu_{runs-1}.  A run's quadrature is
    never combined with its Ritz vectors: one that represents a cluster, such as a null space, would count once.
    One run alone is plain quadrature; a run over all D dimensions is exact.  `Spectrum.nodes`, `weights` hold all atoms.

    Args: runs: 4, three estimates beside the run that finds the outliers; steps: products a run, 30 resolve some ten
        outliers; k: eigenpairs in `values`; curvature: as in `top_eigenpairs`.  Up to runs x steps vectors (D,) are kept.

    Raises:
        ValueError: For k > steps and for what `top_eigenpairs` refuses.

    Source: Golub & Meurant 2010; Ghorbani et al. 2019 (arXiv 1901.10159); the deflation is ours.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.cat([torch.tensor([8.0, 4.0]), torch.zeros(98)])  # two directions of curvature, 98 flat ones
        >>> s = fv.spectral_density(lambda w: 0.5 * (h * w * w).sum(), torch.ones(100), steps=10, k=2)
        >>> [round(v, 2) for v in s.values.tolist()], round(100 * float(s.weights @ s.nodes), 1)
        ([8.0, 4.0], 12.0)
    """
    check_count(steps, "steps", least=k)
    f = as_objective(f)
    operator, source = Operator(f, w, curvature), generator(seed)
    dim = operator.like.numel()
    locked, sharp = operator.like.new_zeros(0, dim), torch.zeros(0, dtype=torch.float64)
    first: Krylov | None = None
    estimates: list[tuple[Tensor, Tensor]] = []
    spent, scale = 0, 0.0
    for r in range(runs):
        run = Krylov(operator, operator.like, min(steps, dim), source, locked, scale)
        while run.size < len(run.Q):
            run.step()
        spent += run.n_products
        values, columns, residual = run.ritz()
        first = first or run
        if run.size + len(locked) >= dim:  # nothing is left to estimate
            nodes = torch.cat([sharp, values])
            estimates = [(nodes, torch.full_like(nodes, 1 / dim))]
            break
        if r > 0 or runs == 1:
            rest = (1 - len(sharp) / dim) * columns[0].square()  # Gauss quadrature of the start vector
            estimates.append((torch.cat([sharp, values]), torch.cat([torch.full_like(sharp, 1 / dim), rest])))
        scale = max(scale, float(values.abs().max()))
        converged = residual <= CONVERGED * scale
        locked, sharp = torch.cat([locked, run.vectors(columns[:, converged])]), torch.cat([sharp, values[converged]])
    values, columns, residual = (part[..., :k] for part in first.ritz())
    return Spectrum(
        values.to(w),
        first.vectors(columns),
        residual.to(w),
        spent,
        n=f.n,
        batchnorm=f.batchnorm,
        curvature=curvature,
        nodes=torch.cat([nodes for nodes, _ in estimates]),
        weights=torch.cat([weights for _, weights in estimates]) / len(estimates),
    )
