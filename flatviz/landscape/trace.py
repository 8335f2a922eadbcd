"""The trace of a Hessian with its standard error."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Vector, check_count
from flatviz.core.boundary import public
from flatviz.core.objective import Curvature, ObjectiveLike, as_objective
from flatviz.core.seeds import generator
from flatviz.landscape.krylov import Operator

COVARIANCE_FROM = 50  # test vectors at most whose covariance is read: it costs a small factorisation each


@public
def hessian_trace(
    f: ObjectiveLike, w: Vector, *, products: Count = 60, curvature: Curvature = "hessian", seed: Seed = 0
) -> tuple[float, float]:
    """(estimate, standard error) of tr H, H = grad^2 f(w), from at most `products` products H v.

    XTrace: tr(Q^T H Q) + g^T (I - Q Q^T) H (I - Q Q^T) g, where each test vector in turn is g and the others, multiplied with H,
    span Q; the residual of g is scaled to the length that it has in expectation.  The estimates t_i are correlated, and the
    error counts that: s^2 / n + mean_ij d_ij d_ji, d_ij the change of t_i when vector j leaves the basis too.
    With products >= D the diagonal is read entry by entry: exact, error 0.

    Args: products: 60, a few per cent of error on spectra that fall fast; curvature: as in `top_eigenpairs`.

    Raises:
        ValueError: For fewer than 6 products.

    Source: Epperly, Tropp & Webber 2024 (arXiv 2301.07825); the covariance is ours:
    with one basis for both, t_i and t_j are uncorrelated, and d_ij d_ji is what each one's place in the other's basis adds.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.arange(1.0, 201.0) ** -2
        >>> estimate, error = fv.hessian_trace(lambda w: 0.5 * (h * w * w).sum(), torch.ones(200), products=20)
        >>> abs(estimate - float(h.sum())) < 3 * error < 0.2
        True
    """
    check_count(products, "products", least=6)
    operator = Operator(as_objective(f), w, curvature)
    like = operator.like
    if products >= like.numel():
        eye = torch.eye(like.numel(), dtype=like.dtype, device=like.device)
        return math.fsum(float(operator(e)[i]) for i, e in enumerate(eye)), 0.0
    omega = torch.randn(like.numel(), products // 2, generator=generator(seed), dtype=like.dtype)
    return _xtrace(operator, omega.to(like.device))


def _times(product: Callable[[Tensor], Tensor], V: Tensor) -> Tensor:
    return torch.stack([product(v) for v in V.T], dim=1)


def _xtrace(product: Callable[[Tensor], Tensor], omega: Tensor) -> tuple[float, float]:
    """Estimate and error from n test vectors `omega` (D, n)."""
    n = omega.shape[1]
    Q, R = torch.linalg.qr(_times(product, omega))
    H, R, W = (Q.T @ _times(product, Q)).double(), R.double(), (Q.T @ omega).double()
    squares, about = omega.double().square().sum(0), (len(omega), n * torch.finfo(omega.dtype).eps)
    samples = _leave_one_out(W, R, H, squares, *about)
    m = min(n, COVARIANCE_FROM)
    change = samples.new_zeros(m, m)
    for j in range(m):
        others = [i for i in range(n) if i != j]
        q, r = torch.linalg.qr(R[:, others])
        without = _leave_one_out(q.T @ W[:, others], r, q.T @ H @ q, squares[others], *about)
        change[others[: m - 1], j] = (samples[others] - without)[: m - 1]
    covariance = (change * change.T).sum() / (m * (m - 1))
    return float(samples.mean()), float((samples.var() / n + covariance.clamp_min(0)).sqrt())


def _leave_one_out(W: Tensor, R: Tensor, H: Tensor, squares: Tensor, dim: int, resolution: float) -> Tensor:
    """Estimates (n,), each with one of n test vectors left out of the basis Q: W = Q^T Omega, H Omega = Q R, H = Q^T H Q.

    Without column i of Y = H Omega the basis loses the direction s_i ~ R^-T e_i of Y = Q R, so nothing is factorised again.
    resolution: singular values of R below this share of the largest are rounding.
    """
    left_vectors, sizes, right_vectors = torch.linalg.svd(R, full_matrices=False)
    seen = sizes > resolution * sizes[0]
    S = left_vectors[:, seen] @ (right_vectors[seen] / sizes[seen, None])
    alone = right_vectors[seen].square().sum(0) > 1 - 1e-6  # a column in the span of the others leaves nothing behind
    S = S / S.norm(dim=0).clamp_min(1e-300) * alone
    U = W - S * (S * W).sum(0)  # the part of each test vector inside the basis without it
    inside = H.trace() - (S * (H @ S)).sum(0)
    left = (W * R).sum(0) - 2 * (U * R).sum(0) + (U * (H @ U)).sum(0)
    return inside + left * (dim - W.shape[1] + 1) / (squares - U.square().sum(0))
