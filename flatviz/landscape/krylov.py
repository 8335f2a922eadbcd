"""Curvature at one point as a function v -> H v, and one Krylov run.

a basis, H in it, and eigenvalues with their errors.
"""

from collections.abc import Callable
from typing import Annotated

import torch
from torch import Generator, Tensor

from flatviz.checks import check_weights, kind
from flatviz.core import Objective, randn_like

WHICH = kind(
    (slice, Tensor),
    "a slice, an index or a mask of the weights",
    "a layer's is net.blocks[i].slice",
)
Part = Annotated[slice | Tensor, WHICH] | None


class Operator:
    """v -> P H P^T v, (P,) -> (P,).

    H the curvature at `w` (D,), P the rows of a part of the weights.

    v is in float32 or better, `like`, whatever `w` is in: a basis of half precision does not stay
    orthogonal.
    """

    def __init__(
        self, f: Objective, w: Tensor, curvature: str = "hessian", part: Part = None
    ) -> None:
        self._product = f.products(check_weights(w, f.dim), curvature)
        self._index = slice(None) if part is None else _index(part, w)
        self._w = w
        self.like = w[self._index].to(torch.promote_types(w.dtype, torch.float32))

    def __call__(self, v: Tensor) -> Tensor:
        """The product with `v` (P,)."""
        with torch.inference_mode(False):
            v = v.clone() if v.is_inference() else v  # one that autograd can keep
            out = self._product(self.embed(v).to(self._w.dtype)).to(v.dtype)[self._index]
        if not bool(out.isfinite().all()):
            raise ValueError(
                "the curvature at w must be finite, got NaN or inf: look at f(w), and move w to"
                " where f is small"
            )
        return out

    def embed(self, v: Tensor) -> Tensor:
        """Vectors (..., P) of the part in the whole weight space, (..., D)."""
        if isinstance(self._index, slice):
            return v
        whole = v.new_zeros(*v.shape[:-1], self._w.numel())
        whole[..., self._index] = v
        return whole


def _index(part: slice | Tensor, w: Tensor) -> Tensor:
    expected = f"part must be a slice, an index or a mask of the {w.numel()} weights"
    every = torch.arange(w.numel(), device=w.device)
    try:
        index = every[part]
    except IndexError as error:
        raise ValueError(f"{expected}, got one that does not fit: {error}") from error
    if index.ndim != 1 or index.numel() == 0:
        raise ValueError(f"{expected}, got one that chooses shape {tuple(index.shape)}")
    return index


Product = Callable[[Tensor], Tensor]  # v (D,) -> H v (D,)
CHECK_EVERY = 2
# products that look for repeated eigenvalues: vectors of the basis are projected out, so that
# further ones show
LOOK = 5
BASIS_BYTES = 2**30  # of memory that a basis may take before it is restarted


class Krylov:
    """Thick-restart Lanczos with full reorthogonalisation, from a random start.

    H Q = Q C + sum_p p row_p^T, with Q (m, D) in rows, C (m, m) as measured,
        so that residuals are those of H as it is, and the
    vectors p whose products come next: one, or several once a random one was injected (band
    Lanczos).  A full basis of `room` vectors is restarted from its best Ritz vectors.  `locked` (c,
    D): directions kept out of it; `scale`: the size of H where they hold its largest eigenvalues,
    so that the remainder can be distinguished from rounding. Source: Wu & Simon 2000 (thick
    restart); Golub & Van Loan, Matrix Computations, 4th ed., ch. 10.
    """

    def __init__(
        self,
        product: Product,
        like: Tensor,
        room: int,
        source: Generator,
        locked: Tensor | None = None,
        scale: float = 0.0,
    ) -> None:
        self.product = product
        self._source = source
        self._like = like
        self._rounding = 10 * torch.finfo(like.dtype).eps * scale
        self._locked = like.new_zeros(0, like.numel()) if locked is None else locked
        room = min(room, like.numel() - len(self._locked))
        self.Q = torch.empty(room, like.numel(), dtype=like.dtype, device=like.device)
        self.C = torch.zeros(room, room, dtype=torch.float64)  # not mirrored
        # the last: asymmetry in what restarts left out
        self.size = 0
        self.n_products = 0
        self._dropped = 0.0
        self._ahead: list[tuple[Tensor, Tensor]] = []
        self.inject()

    def inject(self) -> None:
        """Queue a random unit vector orthogonal to everything so far, where there is one."""
        if self.size + len(self._locked) + len(self._ahead) == self._like.numel():
            return
        q = randn_like(self._like, self._source)
        for _ in range(2):
            for B in (self._locked, self.Q[: self.size], *(p[None] for p, _ in self._ahead)):
                q = q - B.T @ (B @ q)
        self._ahead.append((q / q.norm(), torch.zeros(len(self.Q), dtype=torch.float64)))

    def step(self, turn: int = 0) -> None:
        """Add one basis vector by one product.

        The one that waited longest, or with turn=-1 the newest.
        """
        i = self.size
        self.Q[i], row = self._ahead.pop(turn)
        self.C[i, :i] = row[:i]
        r = self.product(self.Q[i].clone())
        self.n_products += 1
        for _ in range(2):  # once loses orthogonality in float32 (Kahan-Parlett: twice is enough)
            r = r - self._locked.T @ (self._locked @ r)
            c = self.Q[: i + 1] @ r
            r = r - self.Q[: i + 1].T @ c
            self.C[: i + 1, i] += c.double().cpu()
            for p, row in self._ahead:
                row[i] += float(p @ r)
                r = r - p * (p @ r)
        self.size = i + 1
        beta = float(r.norm())
        scale = float(self.C[: i + 1, : i + 1].abs().max())
        if beta > max(1e-6 * scale, self._rounding):
            self._ahead.append(
                (r / beta, torch.zeros_like(self.C[0]).index_fill_(0, torch.tensor(i), beta))
            )
        elif not self._ahead:  # an invariant subspace: go on in its complement
            self.inject()

    def ritz(self) -> tuple[Tensor, Tensor, Tensor]:
        """Ritz values, falling; their vectors in the basis, in columns.

        And residuals |H v - theta v|; float64, CPU.
        """
        m = self.size
        values, vectors = torch.linalg.eigh(self.C[:m, :m], UPLO="U")
        values = values.flip(0)
        vectors = vectors.flip(1)
        off = (
            (self.C[:m, :m] @ vectors - vectors * values).square().sum(0)
        )  # 0 where H is symmetric
        outside = sum(((row[:m] @ vectors).square() for _, row in self._ahead), off)
        rounding = torch.finfo(self.Q.dtype).eps * values.abs().max()
        return values, vectors, outside.sqrt() + rounding + self._dropped

    def beyond(self, g: Tensor, y: Tensor) -> Tensor:
        """(I - P) H (I - P) g, P = Q^T Q the projection on the basis, from y = H g."""
        Q = self.Q[: self.size]
        c = Q @ g
        ahead = [
            p * float(row[: self.size] @ c.double().cpu()) for p, row in self._ahead
        ]  # what H Q has outside of the basis
        return y - Q.T @ (Q @ y) - sum(ahead)

    def restart(self, keep: int) -> None:
        """Continue from the `keep` largest Ritz vectors alone."""
        values, vectors, _ = self.ritz()
        vectors = vectors[:, :keep]
        off = self.C[: self.size, : self.size] @ vectors - vectors * values[:keep]
        self._dropped += float(off.norm())
        self.Q[:keep] = vectors.T.to(self.Q) @ self.Q[: self.size]
        self.C.zero_()[:keep, :keep] = values[:keep].diag()
        for _, row in self._ahead:
            along = row[: self.size] @ vectors
            row.zero_()[:keep] = along
        self.size = keep

    def vectors(self, columns: Tensor) -> Tensor:
        """Ritz vectors (k, D) of the given `columns` (m, k)."""
        V = columns.T.to(self.Q) @ self.Q[: self.size]
        return V / V.norm(dim=1, keepdim=True)

    def find(self, k: int, products: int, tol: float) -> tuple[Tensor, Tensor, Tensor]:
        """The k largest Ritz pairs, once all residuals are below tol |theta|_max or `products` are spent.

        A Krylov space holds one vector of a multiple eigenvalue: once all have converged, LOOK
        products of a random vector show whether a pair is missing, and the search goes on with
        both.
        """
        known = None
        while True:
            values, columns, residual = self.converged(k, products, tol)
            error = tol * float(values.abs().max())
            values = values[:k]
            columns = columns[:, :k]
            residual = residual[:k]
            done = known is not None and bool((values - known <= error).all())
            if k == 1 or done or bool((residual > error).any()) or not self._ahead:
                return values, columns, residual
            known = values
            self.inject()
            for _ in range(LOOK):
                self._grow(k, -1)

    def converged(self, k: int, products: int, tol: float) -> tuple[Tensor, Tensor, Tensor]:
        """Iterate until the k largest Ritz pairs are within `tol`, or `products` are spent.

        Values, columns and residuals of all pairs.
        """
        while self.size < k:
            self._grow(k)
        while True:
            values, columns, residual = self.ritz()
            converged = bool((residual[:k] <= tol * values.abs().max()).all())
            if converged or self.n_products >= products or not self._ahead:
                return values, columns, residual
            for _ in range(min(CHECK_EVERY, products - self.n_products)):
                self._grow(k)

    def _grow(self, k: int, turn: int = 0) -> None:
        """One more product, in a basis that keeps half of what it has beyond the k largest where it is full."""
        if self._ahead:
            if self.size == len(self.Q):
                self.restart(min(self.size - 1, k + (self.size - k) // 2))
            self.step(turn)


def room_for(k: int, products: int, like: Tensor) -> int:
    """Count the basis vectors to keep.

    All that `products` can make, or what fits in BASIS_BYTES, at least 2 k + 10.
    """
    fits = BASIS_BYTES // (like.numel() * like.element_size())
    return min(products, max(fits, 2 * k + 10))
