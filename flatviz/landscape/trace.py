"""The trace of a Hessian with its standard error."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import check_choice, check_count
from flatviz.core.objective import ObjectiveLike, as_objective
from flatviz.core.seeds import generator
from flatviz.landscape.operators import Operator, Part


def hessian_trace(
    f: ObjectiveLike,
    w: Tensor,
    *,
    products: int = 60,
    method: str = "xtrace",
    curvature: str = "hessian",
    part: Part = None,
    seed: int = 0,
) -> tuple[float, float]:
    """(estimate, standard error) of tr H, H = grad^2 f(w), from at most `products` products H v.

    "hutch++": tr(Q^T H Q) + mean_i g_i^T (I - Q Q^T) H (I - Q Q^T) g_i, a third of the products each for Q, for the
    first term and for the second, g_i of random signs.  "xtrace": the same with every test vector used for both, one left out at a time,
    and its residual brought to the length it has in expectation.
    With products >= D the diagonal is read entry by entry: exact, error 0.
    curvature, part: as in `top_eigenpairs`.  Raises ValueError for fewer than 6 products.
    Source: Meyer et al. 2021 (arXiv 2010.09649); Epperly, Tropp & Webber 2024 (arXiv 2301.07825).
    """
    check_count(products, "products", least=6)
    check_choice(method, ("xtrace", "hutch++"), "method")
    operator = Operator(as_objective(f), w, curvature, part)
    like = operator.like
    if products >= like.numel():
        eye = torch.eye(like.numel(), dtype=like.dtype, device=like.device)
        return math.fsum(float(operator(e)[i]) for i, e in enumerate(eye)), 0.0

    def probes(n: int, source: torch.Generator) -> Tensor:
        return torch.randn(like.numel(), n, generator=source, dtype=like.dtype).to(like.device)

    def times(V: Tensor) -> Tensor:
        return torch.stack([operator(v) for v in V.T], dim=1)

    samples = (_xtrace if method == "xtrace" else _hutchpp)(times, probes, products, generator(seed))
    return float(samples.mean()), float(samples.std() / math.sqrt(len(samples)))


def _hutchpp(times, probes, products: int, source: torch.Generator) -> Tensor:
    """Independent estimates (products - 2 * (products // 3),), alike in their first term."""
    n = products // 3
    Q, _ = torch.linalg.qr(times(probes(n, source)))
    inside = (Q * times(Q)).sum()
    G = probes(products - 2 * n, source).sign()  # of signs alone: the diagonal adds no variance
    G = G - Q @ (Q.T @ G)
    return inside.double() + (G * times(G)).sum(0).double()


def _xtrace(times, probes, products: int, source: torch.Generator) -> Tensor:
    """Estimates (products // 2,), each with one test vector left out of the basis Q.

    Without column i of Y = H Omega the basis loses the direction s_i ~ R^-T e_i of Y = Q R, so nothing is factorised again.
    """
    n = products // 2
    omega = probes(n, source)
    Q, R = torch.linalg.qr(times(omega))
    H = (Q.T @ times(Q)).double()
    R, W = R.double(), (Q.T @ omega).double()
    S = torch.linalg.pinv(R).T
    S = S / S.norm(dim=0).clamp_min(1e-300)
    U = W - S * (S * W).sum(0)  # the part of each test vector inside its own basis
    inside = H.trace() - (S * (H @ S)).sum(0)
    left = (W * R).sum(0) - 2 * (U * R).sum(0) + (U * (H @ U)).sum(0)
    length = omega.double().square().sum(0) - U.square().sum(0)
    return inside + left * (len(omega) - n + 1) / length
