"""Largest Hessian eigenpairs by Lanczos."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_count, check_weights
from flatviz.core.hvp import hessian_operator
from flatviz.core.seeds import generator
from flatviz.landscape._objective import described
from flatviz.results import ObjectiveLike, Spectrum

TOLERANCE = 1e-4  # residual over the largest eigenvalue at which a pair is good enough to stop
CHECK_EVERY = 5


def top_eigenpairs(
    f: ObjectiveLike, w: Tensor, k: int = 5, *, iters: int = 80, tol: float = TOLERANCE, seed: int = 0, name: str = ""
) -> Spectrum:
    """Largest (most positive) Hessian eigenpairs of `f` at `w`, by Lanczos with full reorthogonalisation.

    H v = lambda v, with H = grad^2 f(w) (D, D) seen only through products H v (one backward pass each through a kept
    graph).  At most `iters` products build the basis, fewer once all k residuals are below `tol` lambda_1; k more
    measure `Spectrum.residual`, |H v_k - lambda_k v_k|: read it before the eigenvalue.
    Raises ValueError if `w` is not a vector or `k` exceeds its length.
    Source: Golub & Van Loan, Matrix Computations, 4th ed., ch. 10.
    """
    check_weights(w, w.numel())
    if check_count(k, "k") > w.numel():
        raise ValueError(f"k must be at most the number of weights, {w.numel()}, got {k}")
    check_count(iters, "iters", least=k)
    product = _operator(f, w)
    source = generator(seed)
    Q = torch.empty(min(iters, w.numel()), w.numel(), dtype=w.dtype, device=w.device)
    alpha, beta = [], []
    q = _start(Q[:0], source)
    for i in range(len(Q)):
        Q[i] = q
        r = product(q)
        alpha.append(float(q @ r))
        for _ in range(2):  # once loses orthogonality in float32 (Kahan-Parlett: twice is enough)
            r = r - Q[: i + 1].T @ (Q[: i + 1] @ r)
        beta.append(float(r.norm()))
        scale = max(map(abs, alpha + beta))
        broke_down = beta[-1] <= 1e-6 * scale  # an invariant subspace: go on in its complement
        if i + 1 >= k and (i + 1) % CHECK_EVERY == 0 and not broke_down:
            values, vectors = _ritz(alpha, beta)
            if bool((beta[-1] * vectors[-1, :k].abs() <= tol * values[0].abs()).all()):
                break
        if broke_down:
            beta[-1] = 0.0
            if i + 1 < len(Q):
                q = _start(Q[: i + 1], source)
        else:
            q = r / beta[-1]
    values, vectors = _ritz(alpha, beta)
    V = vectors[:, :k].T.to(Q) @ Q[: len(alpha)]
    V = V / V.norm(dim=1, keepdim=True)
    values = values[:k].to(Q)
    residual = torch.stack([(product(v) - lam * v).norm() for v, lam in zip(V, values)])
    about = described(f)
    return Spectrum(values, V, residual, len(alpha) + len(V), name, about["n"], about["batchnorm"])


def _operator(f: ObjectiveLike, w: Tensor):
    """One graph for all products; only an f that cannot be differentiated twice is asked for its own `hvp`."""
    try:
        return hessian_operator(f, w)
    except RuntimeError:
        own = getattr(f, "hvp", None)
        if own is None:
            raise
        return lambda v: own(w, v)


def _start(Q: Tensor, source: torch.Generator) -> Tensor:
    """A random unit vector orthogonal to the rows of Q."""
    q = torch.randn(Q.shape[1], generator=source, dtype=Q.dtype).to(Q.device)
    for _ in range(2):
        q = q - Q.T @ (Q @ q)
    return q / q.norm()


def _ritz(alpha: list[float], beta: list[float]) -> tuple[Tensor, Tensor]:
    """Eigenvalues of the tridiagonal matrix, falling, and its eigenvectors in columns; float64 on the CPU."""
    T = torch.diag(torch.tensor(alpha, dtype=torch.float64))
    off = torch.tensor(beta[: len(alpha) - 1], dtype=torch.float64)
    T += torch.diag(off, 1) + torch.diag(off, -1)
    values, vectors = torch.linalg.eigh(T)
    return values.flip(0), vectors.flip(1)
