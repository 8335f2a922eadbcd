"""The k largest eigenvalues of an operator, with a bound on the chance that one is missing."""

import math
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz.landscape.krylov import Krylov

MISSED = 1e-6  # chance that a search misses an eigenvalue
EDGE = 0.01  # accuracy of the edges of a density, relative to |lambda|_max
TINY = torch.finfo(torch.float64).tiny
MIN_ERROR = math.sqrt(TINY)  # above 0 where H is 0
# Shares of the error at which a value's bound may be taken; the largest is usually the best
LEVELS = torch.linspace(0.6, 1, 5, dtype=torch.float64)[:, None]
TOO_FEW = (
    "{products} products found {k} eigenvalues, but are too few to exclude that one beside them, as"
    " a further copy, is missing, which no residual shows, so that a value is up to {reach:.2g} too"
    " low: raise the number of products, or tol"
)

UNCONVERGED = (
    "{products} products leave a residual of {residual:.2g}, more than tol |lambda|_max ="
    " {error:.2g}: one of the {k} eigenvalues is that far off, or a larger one, as a further copy,"
    " is missing; raise the number of products, or tol"
)


def largest(
    run: Krylov,
    k: int,
    products: int,
    tol: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the k largest Ritz pairs, until none can be missing or `products` are spent.

    Return values (k,), columns (m, k) and residuals (k,), float64.

    First all residuals fall below error = tol |theta|_max.  One Krylov space holds one vector of a
    multiple eigenvalue, so chains from random vectors then search for others in the complement of
    the Ritz vectors, where H acts as B.  Let g be the start of a chain, uniform on the unit sphere
    of n dimensions, and x the eigenvector of B for its largest eigenvalue mu.  The vector after j
    products is p_j(B) g, with p_j the Lanczos polynomial, which increases beyond its largest zero:

        1 = |p_j(B) g| >= |x^T g| p_j(mu)    and    P(|x^T g| < d) <= d sqrt(2 n / pi),

    so mu > s has a chance below sqrt(2 n / pi) / p_j(s), for all j at once and any spectrum.  From
    mu <= s follows lambda_i <= theta_i + error for all i <= k, by the Schur complement of B, for an
    s given by the residuals.  The search ends where that chance is below MISSED.  If a value rises
    by more than `error`, an eigenvalue was missing, and the search begins again.  If the basis is
    full, or only rounding is left, another chain adds to what the earlier ones exclude (Fisher's
    test).  MISSED is for all chains of a call together, in exact arithmetic.  A warning says where
    `products` are too few, for the residuals or for the search.

    Source: van Dorsselaer, Hochstenbach & van der Vorst, SIAM J. Matrix Anal. Appl. 22 (2000),
    after Kuczynski & Wozniakowski, ibid. 13 (1992); the complement of Ritz vectors is ours.
    """
    before = torch.full((k,), -torch.inf, dtype=torch.float64)  # values when this search began
    searches = 0
    certain = False
    while True:
        values, columns, residual = run.converged(k, products, tol / 4)
        error = tol * float(values.abs().max()) + MIN_ERROR
        values = values[:k]
        residual = residual[:k]
        pairs = values, columns[:, :k], residual
        if certain or run.complete:
            return pairs
        worst = float(residual.max())
        if worst > error:
            text = UNCONVERGED.format(
                products=run.n_products,
                residual=worst,
                error=error,
                k=k,
            )
            warnings.warn(text, stacklevel=4)
            return pairs
        if (values - before > error).any():
            before = values
            searches += 1
            chains: list[RandomChain] = []
        if run.n_products >= products:
            reach = _reach(chains, error, searches)
            warnings.warn(
                TOO_FEW.format(
                    products=products,
                    k=k,
                    reach=reach,
                ),
                stacklevel=4,
            )
            return pairs
        chain = RandomChain(run, k, products, error)
        chains.append(chain)
        while run.n_products < products and not chain.ended:
            run.step()
            chain.read(run)
            certain = _enough([c.nats() for c in chains], searches)
            if certain:
                break
            if chain.over:
                values, *_ = run.ritz()
                if (values[:k] - before > error).any():
                    break


class RandomChain:
    """Lanczos from a random vector in the complement of Ritz vectors.

    These are the k largest, and others whose residuals do not change the bound `s`.
    """

    def __init__(
        self,
        run: Krylov,
        k: int,
        products: int,
        error: float,
    ) -> None:
        values, columns, _ = run.ritz()
        outside = run.E[:, : run.size] @ columns[:, k:]
        outside = outside.square().sum(0)
        gaps = values[k - 1] + error - values[k:]
        cost, order = (outside / gaps).sort()
        n = int((cost.cumsum(0) <= error / 4).sum())  # without effect on the bound
        room = len(run.Q)
        if room < run.dim:
            left = products - run.n_products
            free = room - k
            n = min(n, max(free // 4, free - left))
        others = k + order[:n].sort().values
        run.restart(torch.cat([torch.arange(k), others]))
        run.ahead = None
        self.ended = False
        self._error = error
        self._bound = _bound(run, k, error)
        self._start = run.size

    def read(self, run: Krylov) -> None:
        """Take in the latest product."""
        self._polynomial = Polynomial(run, self._start)
        converged = self._polynomial.residual <= self._error
        self.over = self._polynomial.largest > self._bound  # else no value can rise by `error`
        full = run.complete or run.size == len(run.Q)
        self.ended = full or run.ahead is None or self.over and converged

    def nats(self, more: float = 0.0) -> float:
        """Compute -log of the chance that a value is more than error + `more` too low."""
        return self._polynomial.nats(self._bound + more)


class Polynomial:
    """Lanczos polynomial p_j of a chain whose basis begins at `start`, with its largest zero."""

    def __init__(self, run: Krylov, start: int = 0) -> None:
        C = run.C[start : run.size, start : run.size]
        least = max(run.rounding, TINY)
        self._zeros, vectors = torch.linalg.eigh(C, UPLO="U")
        steps = C.diagonal(-1).abs().clamp(min=least)
        last = run.E[:, run.size - 1].norm()
        last = last.clamp(min=least)
        self._log_scale = steps.log().sum() + last.log()
        n = run.dim - start
        self._log_sphere = 0.5 * math.log(2 * n / math.pi)
        self.largest = float(self._zeros[-1])
        end = vectors[-1, -1].abs()
        self.residual = float(last * end)

    def nats(self, s: float) -> float:
        """Compute -log of the chance that B has an eigenvalue over `s`."""
        if s <= self.largest:
            return 0.0
        log_product = (s - self._zeros).log().sum()
        log_p = float(log_product - self._log_scale)
        return max(0.0, log_p - self._log_sphere)


def excludes(
    run: Krylov,
    ritz: Tensor,
    errors: Tensor,
    value: float,
    scale: float,
) -> bool:
    """Tell whether a run in the Ritz vectors' complement excludes that `value` is too low.

    Too low means by more than EDGE `scale`.  `ritz` (c,) are the Ritz values, `errors` (c,) the
    residuals.
    """
    above = value + EDGE * scale
    gaps = above - ritz
    couplings = errors.square() / gaps
    bound = above - float(couplings[gaps > 0].sum())
    return Polynomial(run).nats(bound) >= -math.log(MISSED)


def _enough(nats: Sequence[float], searches: int) -> bool:
    """Tell whether chains exclude a missing eigenvalue.

    Chances add up to MISSED over the numbers of searches and of chains.
    """
    n = len(nats)
    shape, total = torch.tensor([n, sum(nats)], dtype=torch.float64)
    left = float(torch.special.gammaincc(shape, total))
    divisor = searches * (searches + 1) * n * (n + 1)
    return n > 0 and left <= MISSED / divisor


def _reach(chains: Sequence[RandomChain], error: float, searches: int) -> float:
    """Compute by how much a value may be too low, given what insufficient chains exclude."""
    more = error
    while more < math.inf:
        nats = [chain.nats(more) for chain in chains]
        if _enough(nats, searches):
            break
        more = 2 * more
    return error + more


def _bound(run: Krylov, k: int, error: float) -> float:
    """Compute the largest s for which mu <= s gives lambda_i <= theta_i + error for all i <= k.

    With theta and R = E y of the Ritz pairs of the basis, at a level t, it is t - s over the
    eigenvalues of sum_j R_j R_j^T / (t - theta_j).
    """
    values, columns, _ = run.ritz()
    levels = values[:k] + LEVELS * error
    if not len(run.P):
        return float(levels.min())
    R = run.E[:, : run.size] @ columns
    inverse = 1 / (levels[..., None] - values)
    coupling = torch.einsum("lm,tim,nm->tiln", R, inverse, R)
    eigenvalues = torch.linalg.eigvalsh(coupling)
    largest = eigenvalues[..., -1].clamp(min=0)
    return float((levels - largest).amax(0).min())
