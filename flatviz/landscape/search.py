"""The k largest eigenvalues of an operator, with a bound on the chance that one is missing."""

import math
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from flatviz.landscape.krylov import Krylov

MISSED = 1e-6  # chance that a search misses an eigenvalue
TINY = torch.finfo(torch.float64).tiny  # an error above 0 where H is 0
TOO_FEW = (
    "{products} products found {k} eigenvalues, but are too few to exclude that each is up to"
    " {reach:.2g} too low, because one beside them, as a further copy, is missing, which no residual"
    " shows: raise the number of products, or tol"
)


def largest(run: Krylov, k: int, products: int, tol: float) -> tuple[Tensor, Tensor, Tensor]:
    """The k largest Ritz pairs, once none can be missing, or `products` are spent.

    Values (k,), columns (m, k) and residuals (k,), float64.

    First all residuals fall to error = tol |theta|_max.  One Krylov space holds one vector of a
    multiple eigenvalue, so chains from random vectors then look for others in the complement of the
    basis, where H acts as B.  Let g be the start of a chain, uniform on the unit sphere of n
    dimensions, and x the eigenvector of B for its largest eigenvalue mu.  The vector after j
    products is p_j(B) g, p_j the Lanczos polynomial, which rises beyond its largest zero:

        1 = |p_j(B) g| >= |x^T g| p_j(mu)    and    P(|x^T g| < d) <= d sqrt(2 n / pi),

    so mu > s has a chance below sqrt(2 n / pi) / p_j(s), for all j at once and whatever the
    spectrum.  From mu <= s follows lambda_i <= theta_i + error for all i <= k, by the Schur
    complement of B, for an s that the basis gives.  The search ends where that chance is below
    MISSED.  Where a value rises by more than `error`, an eigenvalue was missing, and the search
    begins anew.  Where the basis is full, or rounding is all that is left, another chain adds to
    what the former ones exclude (Fisher's test).  MISSED is for all chains of a call together, in
    exact arithmetic.  A warning says where `products` are too few for it.

    Source: van Dorsselaer, Hochstenbach & van der Vorst, SIAM J. Matrix Anal. Appl. 22 (2000),
    after Kuczynski & Wozniakowski, ibid. 13 (1992); the complement of the basis is ours.
    """
    known = torch.full((k,), -torch.inf, dtype=torch.float64)
    searches = 0
    while True:
        every, columns, residual = run.converged(k, products, tol)
        error = tol * float(every.abs().max()) + TINY
        values = every[:k]
        pairs = values, columns[:, :k], residual[:k]
        if run.complete or bool((pairs[2] > error).any()):
            return pairs
        if bool((values - known > error).any()):
            known = values
            searches += 1
            chains: list[Chain] = []
        bound = _bound(run, values + error)
        for chain in chains:
            chain.look(run, bound)
        if _enough([chain.nats for chain in chains], searches):
            return pairs
        if run.n_products >= products:
            reach = _reach(run, chains, values, error, searches)
            warnings.warn(TOO_FEW.format(products=products, k=k, reach=reach), stacklevel=4)
            return pairs
        chains.append(chain := Chain(run, k, products))
        while run.n_products < products:
            run.step()
            every, _, residual = run.ritz()
            chain.read(run, error)
            chain.look(run, _bound(run, every[:k] + error))
            moved = bool((residual[:k] > error).any())
            if moved or chain.ended or _enough([c.nats for c in chains], searches):
                break


class Chain:
    """Lanczos in the complement of a basis of `start` vectors, from a random vector."""

    def __init__(self, run: Krylov, k: int, products: int) -> None:
        room = len(run.Q)
        keep = k + (room - k) // 4
        wanted = min(products - run.n_products, room - keep)
        if room - run.size < wanted and room < run.dim:
            run.restart(min(keep, run.size))
        run.ahead = None
        self.nats = 0.0  # -log of the chance that the bounds looked at are wrong
        self._start = run.size
        self._restarts = run.restarts
        self._log_sphere = 0.5 * math.log(2 * (run.dim - run.size) / math.pi)

    def read(self, run: Krylov, error: float) -> None:
        """Take in the product just made."""
        C = run.C[self._start : run.size, self._start : run.size]
        last = float(run.E[:, run.size - 1].norm())
        self._zeros, vectors = torch.linalg.eigh(C, UPLO="U")
        self._log_scale = float(C.diagonal(-1).abs().log().sum()) + math.log(max(last, run.rounding, TINY))
        self._found = last * float(vectors[-1, -1].abs()) <= error
        self.ended = run.complete or run.ahead is None or run.size == len(run.Q)

    def at(self, s: float) -> float:
        """-log of the chance that B has an eigenvalue over `s`."""
        gaps = s - self._zeros
        if float(gaps.min()) <= 0:
            return 0.0
        return max(0.0, float(gaps.log().sum()) - self._log_scale - self._log_sphere)

    def look(self, run: Krylov, s: float) -> None:
        """Take in that B has none over `s`, while the basis contains that of the start."""
        if run.restarts == self._restarts:
            self.ended |= self._found and float(self._zeros[-1]) > s
            self.nats = max(self.nats, self.at(s))


def _enough(nats: Sequence[float], searches: int) -> bool:
    """Whether chains exclude a missing eigenvalue: the chances of all numbers of searches and chains add up to MISSED."""
    n = len(nats)
    if n == 0:
        return False
    left = torch.special.gammaincc(torch.tensor(float(n)), torch.tensor(sum(nats)))
    return float(left) <= MISSED / (searches * (searches + 1) * n * (n + 1))


def _reach(
    run: Krylov, chains: Sequence[Chain], values: Tensor, error: float, searches: int
) -> float:
    """By how much the values (k,) may be too low as far as chains that did not suffice exclude it."""
    while error < math.inf:
        bound = _bound(run, values + error)
        if _enough([chain.at(bound) for chain in chains], searches):
            break
        error = 2 * error
    return error


def _bound(run: Krylov, above: Tensor) -> float:
    """The largest s for which mu <= s gives lambda_i <= above[i], (k,), and the direction in P that limits it.

    With theta and R = E y of all Ritz pairs: above - s over the eigenvalues of
    sum_j R_j R_j^T / (above - theta_j), at each of `above`.
    """
    if not len(run.P):
        return float(above.min())
    values, columns, _ = run.ritz()
    outside = run.E[:, : run.size] @ columns
    coupling = torch.einsum("lm,im,nm->iln", outside, 1 / (above[:, None] - values), outside)
    sizes = torch.linalg.eigvalsh(coupling)
    return float((above - sizes[:, -1].clamp(min=0)).min())
