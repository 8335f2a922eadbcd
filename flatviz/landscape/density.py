"""The spectral density of a Hessian: where all D eigenvalues lie, by stochastic Lanczos."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.objective import ObjectiveLike, as_objective
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.landscape.krylov import Krylov
from flatviz.landscape.operators import Operator, Part
from flatviz.results import Spectrum

CONVERGED = 1e-3  # residual over the largest eigenvalue at which a pair counts as one eigenvalue exactly


def spectral_density(
    f: ObjectiveLike,
    w: Tensor,
    *,
    runs: int = 4,
    steps: int = 30,
    k: int = 5,
    curvature: str = "hessian",
    part: Part = None,
    seed: int = 0,
    name: str = "",
    progress: Progress = False,
) -> Spectrum:
    """Spectral density of the Hessian at `w` with its k largest eigenpairs, from runs x steps products H v.

    mu = (1/D) sum_c delta(lambda_c) + (1 - c/D) (1/R) sum_r sum_m weights[r, m] delta(nodes[r, m]): the c pairs that
    the first Krylov run resolved count as what they are, single eigenvalues; the rest of the space is Gauss
    quadrature from R random starts orthogonal to them.  `Spectrum.nodes`, `weights` hold all atoms, weights sum to 1.
    curvature, part: as in `top_eigenpairs`.  Raises ValueError for k > steps and for what `top_eigenpairs` refuses.
    Source: Golub & Meurant 2010; Ghorbani et al. 2019 (arXiv 1901.10159); the deflation is ours.
    """
    check_count(runs, "runs")
    check_count(steps, "steps", least=check_count(k, "k"))
    f = as_objective(f)
    operator, source = Operator(f, w, curvature, part), generator(seed)
    dim = operator.like.numel()
    first: Krylov | None = None
    locked, sharp, atoms, shares, spent = None, operator.like.new_zeros(0).double().cpu(), [], [], 0
    for r in track(range(runs), "density", progress):
        if locked is not None and len(locked) >= dim:
            break
        run = Krylov(operator, operator.like, min(steps, dim), source, locked)
        while run.size < len(run.Q):
            run.step()
        run.close()
        spent += run.n_products
        nodes, weights = run.nodes, run.weights
        if r == 0:
            first = run
            values, columns, residual = run.ritz()
            found = residual <= CONVERGED * values.abs().max()
            locked, sharp = run.vectors(columns[:, found]), values[found]
            nodes, weights = nodes[~found], weights[~found]
        if len(nodes):
            atoms.append(nodes)
            shares.append(weights / weights.sum())
    values, columns, residual = (part[..., :k] for part in first.ritz())
    rest = (1 - len(sharp) / dim) / max(len(atoms), 1)
    return Spectrum(
        values.to(w),
        operator.embed(first.vectors(columns)),
        residual.to(w),
        spent,
        name,
        f.n,
        f.batchnorm,
        curvature=curvature,
        nodes=torch.cat([sharp, *atoms]),
        weights=torch.cat([torch.full_like(sharp, 1 / dim), *(rest * s for s in shares)]),
    )
