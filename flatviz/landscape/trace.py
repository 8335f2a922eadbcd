"""The diagonal of a Hessian and its sum, the trace, with standard errors; curvature by layer."""

import math
from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, Vector, check_count
from flatviz.core import Curvature, ObjectiveLike, Progress, as_objective, generator, public, randn_like, track
from flatviz.landscape import krylov
from flatviz.landscape.krylov import Operator, Part
from flatviz.landscape.spectrum import top_eigenpairs

FEW = 20  # the first basis takes a 20th of the products, at least 3 vectors; it doubles while that pays
COVARIANCE_FROM = 50  # test vectors at most whose covariance is read: it costs a small factorisation each


@public
def hessian_trace(
    f: ObjectiveLike, w: Vector, *, products: Count = 60, curvature: Curvature = "hessian", part: Part = None, seed: Seed = 0
) -> tuple[float, float]:
    """(estimate, standard error) of tr H, H = grad^2 f(w), from at most `products` products H v.

    XTrace: tr(Q^T H Q) + g^T (I - Q Q^T) H (I - Q Q^T) g, where each test vector in turn is g and the others, multiplied with H,
    span Q; the residual of g is scaled to the length that it has in expectation.  The estimates t_i are correlated, and the
    error counts that: s^2 / n + mean_ij d_ij d_ji, d_ij the change of t_i when vector j leaves the basis too.
    The basis doubles while what it takes from H pays for its products; those that are left make further test vectors g with the
    last Q.  So where the spectrum falls the error is far below that of Hutchinson's g^T H g with as many products, and where
    it is flat it is that of 5 % fewer.
    With products >= D the diagonal is read entry by entry: exact, error 0.

    Args: products: 60, a few per cent of error on spectra that fall fast; curvature, part: as in `top_eigenpairs`.
        Up to products / 2 vectors (D,) are kept, or what fits in 1 GiB, at least 3.

    Raises:
        ValueError: For fewer than 6 products.

    Source: Epperly, Tropp & Webber 2024 (arXiv 2301.07825); the covariance is ours:
    with one basis for both, t_i and t_j are uncorrelated, and d_ij d_ji is what each one's place in the other's basis adds.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.arange(1.0, 201.0) ** -2
        >>> estimate, error = fv.hessian_trace(lambda w: 0.5 * (h * w * w).sum(), torch.ones(200), products=30)
        >>> abs(estimate - float(h.sum())) < 3 * error < 0.2
        True
    """
    check_count(products, "products", least=6)
    operator = Operator(as_objective(f), w, curvature, part)
    like = operator.like
    if products >= like.numel():
        return math.fsum(_exact_diagonal(operator).tolist()), 0.0
    fits = max(krylov.BASIS_BYTES // (like.numel() * like.element_size()), 3)
    return _estimated(operator, like, min(products // 2, fits), products, seed)


@public
def hessian_diagonal(
    f: ObjectiveLike, w: Vector, *, products: Count = 60, curvature: Curvature = "hessian", part: Part = None, seed: Seed = 0
) -> tuple[Tensor, Tensor]:
    """(estimate, standard error) of the diagonal of H, both (D,) or of the part's length, from at most `products` products H v.

    The mean of z * (H z) over random signs z; what stands beside the diagonal in a row is its variance, |H_i|^2 - H_ii^2 for one z.
    With products >= D every entry is read: exact, errors 0.

    Args: products, curvature, part: as in `hessian_trace`.

    Raises:
        ValueError: For fewer than 2 products.

    Source: Bekas, Kokiopoulou & Saad 2007, An estimator for the diagonal of a matrix.

    Example:
        >>> import torch, flatviz as fv
        >>> h = torch.tensor([3.0, 2.0, 1.0])
        >>> fv.landscape.hessian_diagonal(lambda w: 0.5 * (h * w * w).sum(), torch.ones(3))[0].tolist()
        [3.0, 2.0, 1.0]
    """
    check_count(products, "products", least=2)
    operator = Operator(as_objective(f), w, curvature, part)
    like, source = operator.like, generator(seed)
    if products >= like.numel():
        return _exact_diagonal(operator), torch.zeros_like(like)
    mean, spread = torch.zeros_like(like), torch.zeros_like(like)
    for i in range(1, products + 1):  # Welford: no more than these vectors are kept
        z = torch.randint(0, 2, like.shape, generator=source).to(like) * 2 - 1
        one = z * operator(z)
        change = one - mean
        mean = mean + change / i
        spread = spread + change * (one - mean)
    return mean, (spread / (products - 1) / products).sqrt()


def _exact_diagonal(operator: Operator) -> Tensor:
    eye = torch.eye(operator.like.numel()).to(operator.like)
    return torch.stack([operator(e)[i] for i, e in enumerate(eye)])


class LayerCurvature(NamedTuple):
    """A layer's block of H: its weights, the largest eigenvalue and its residual, the trace and its standard error."""

    weights: int
    lambda1: float
    residual: float
    trace: float
    error: float


@public
def layer_curvature(
    f: ObjectiveLike,
    w: Vector,
    *,
    products: Count = 60,
    curvature: Curvature = "hessian",
    seed: Seed = 0,
    progress: Progress = False,
) -> dict[str, LayerCurvature]:
    """Largest eigenvalue and trace of each layer's block of H, by the layer's name, in the order of the network.

    Traces of all layers add up to that of H; eigenvalues do not: that of H is at least the largest of them.
    `pandas.DataFrame(result, LayerCurvature._fields).T` is the table.

    Args: products: of each layer and quantity; curvature: as in `top_eigenpairs`.

    Raises:
        ValueError: For an objective without a network.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)))
        >>> f = fv.nll(net, fv.Data(torch.randn(8, 2), torch.arange(8) % 3))
        >>> layers = fv.landscape.layer_curvature(f, net.w)
        >>> [(name, layer.weights) for name, layer in layers.items()]
        [('0', 12), ('2', 15)]
    """
    f = as_objective(f)
    if f.net is None:
        raise ValueError(f"layers are those of a network's objective, as nll makes, got {f.label}: give part= to hessian_trace")
    groups = groupby(f.net.blocks, lambda block: block.name.rpartition(".")[0])
    parts = {name: torch.cat([torch.arange(b.start, b.stop) for b in blocks]) for name, blocks in groups}
    rows, how = {}, dict(curvature=curvature, seed=seed)
    for name, part in track(list(parts.items()), "layers", progress):
        top = top_eigenpairs(f, w, 1, part=part.to(w.device), iters=products, **how)
        trace = hessian_trace(f, w, part=part.to(w.device), products=max(products, 6), **how)
        rows[name] = LayerCurvature(len(part), float(top.values[0]), float(top.residual[0]), *trace)
    return rows


def _estimated(product: Callable[[Tensor], Tensor], like: Tensor, most: int, products: int, seed: int) -> tuple[float, float]:
    """Estimate and error from a basis of at most `most` vectors."""
    source, dim, eps = generator(seed), like.numel(), torch.finfo(like.dtype).eps
    Q, R = like.new_zeros(most, dim), torch.zeros(most, most, dtype=torch.float64)
    squares, whole = torch.zeros(2, most, dtype=torch.float64)  # |g|^2 and |H g|^2
    i, n, before = 0, min(most, max(3, products // FEW)), math.inf
    while i < n:
        g = randn_like(like, source)
        y = product(g)
        squares[i], whole[i] = g.double().square().sum(), y.double().square().sum()
        for _ in range(2):  # once loses orthogonality
            c = Q[:i] @ y
            y = y - Q[:i].T @ c
            R[:i, i] += c.double().cpu()
        if (left := float(y.norm())) > 10 * eps * float(whole[i].sqrt()):
            Q[i], R[i, i] = y / left, left
        i += 1
        if i == n < most:
            wider, beside = min(2 * n, most), float(_left_out(R[:n, :n], n * eps)[1].square().mean())
            if beside < (products - wider) * min(before / (products - n), float(whole[:n].mean()) / products):
                n, before = wider, beside
    Q, R, squares = Q[:n], R[:n, :n], squares[:n]
    H = torch.stack([Q @ product(q) for q in Q], 1).double().cpu()
    again = generator(seed)
    W = torch.stack([Q @ randn_like(like, again) for _ in range(n)], 1).double().cpu()
    samples, covariance = _xtrace(W, R, H, squares, dim, n * eps)
    more = []
    for _ in range(products - 2 * n):
        g = randn_like(like, source)
        g = g - Q.T @ (Q @ g)
        g = g * math.sqrt(dim - n) / g.norm()
        more.append(float(H.trace() + g.double() @ product(g).double()))
    share, samples = n / (products - n), torch.cat([samples, torch.tensor(more, dtype=torch.float64)])
    return float(samples.mean()), float((samples.var() / len(samples) + share**2 * covariance).sqrt())


def _xtrace(W: Tensor, R: Tensor, H: Tensor, squares: Tensor, *about: float) -> tuple[Tensor, Tensor]:
    """Estimates (n,) of test vectors Omega and what their mean's variance has beside s^2 / n: W = Q^T Omega, H Omega = Q R, H = Q^T H Q."""
    n = len(R)
    samples = _leave_one_out(W, R, H, squares, *about)
    m = min(n, COVARIANCE_FROM)
    change = samples.new_zeros(m, m)
    for j in range(m):
        others = [i for i in range(n) if i != j]
        q, r = torch.linalg.qr(R[:, others])
        without = _leave_one_out(q.T @ W[:, others], r, q.T @ H @ q, squares[others], *about)
        change[others[: m - 1], j] = (samples[others] - without)[: m - 1]
    return samples, ((change * change.T).sum() / (m * (m - 1))).clamp_min(0)


def _left_out(R: Tensor, resolution: float) -> tuple[Tensor, Tensor]:
    """Directions (n, n), in columns, and lengths (n,) that the span of Y = Q R loses without each column of Y.

    Without column i the basis loses the direction s_i ~ R^-T e_i, so nothing is factorised again; a column in the span of the
    others leaves nothing behind.  resolution: singular values of R below this share of the largest are rounding.
    """
    left_vectors, sizes, right_vectors = torch.linalg.svd(R, full_matrices=False)
    seen = sizes > resolution * sizes[0]
    S = left_vectors[:, seen] @ (right_vectors[seen] / sizes[seen, None])
    alone = right_vectors[seen].square().sum(0) > 1 - 1e-6
    length = S.norm(dim=0).clamp_min(1e-300)
    return S / length * alone, alone / length


def _leave_one_out(W: Tensor, R: Tensor, H: Tensor, squares: Tensor, dim: int, resolution: float) -> Tensor:
    """Estimates (n,), each with one of n test vectors left out of the basis."""
    S, _ = _left_out(R, resolution)
    U = W - S * (S * W).sum(0)  # the part of each test vector inside the basis without it
    inside = H.trace() - (S * (H @ S)).sum(0)
    left = (W * R).sum(0) - 2 * (U * R).sum(0) + (U * (H @ U)).sum(0)
    return inside + left * (dim - W.shape[1] + 1) / (squares - U.square().sum(0))
