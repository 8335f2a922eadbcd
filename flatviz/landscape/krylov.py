"""One Krylov run: an orthonormal basis, the Hessian seen in it, and what both say of eigenvalues."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.core.seeds import randn_like

CHECK_EVERY = 2
BASIS_BYTES = 2**30  # of memory that a basis may take before it is restarted


class Krylov:
    """Thick-restart Lanczos with full reorthogonalisation, from a random start.

    H Q = Q C + beta q e_m^T with Q (m, D) in rows, C (m, m) upper Hessenberg as measured.  A full basis of `room`
    vectors is restarted from its best Ritz vectors.  `nodes`, `weights` are the Gauss quadrature of the start vector
    before any restart: eigenvalues of C and squared first components.  `locked` (c, D): directions kept out of it;
    `scale`: the size of H where they hold its largest eigenvalues, so that what is left can be told from rounding.
    Source: Wu & Simon 2000 (thick restart); Golub & Van Loan, Matrix Computations, 4th ed., ch. 10.
    """

    def __init__(
        self,
        product: Callable[[Tensor], Tensor],
        like: Tensor,
        room: int,
        source: torch.Generator,
        locked: Tensor | None = None,
        scale: float = 0.0,
    ) -> None:
        self.product, self._source = product, source
        self._rounding = 10 * torch.finfo(like.dtype).eps * scale
        self._locked = like.new_zeros(0, like.numel()) if locked is None else locked
        room = min(room, like.numel() - len(self._locked))
        self.Q = torch.empty(room, like.numel(), dtype=like.dtype, device=like.device)
        self.C = torch.zeros(room + 1, room, dtype=torch.float64)
        self.size, self.n_products = 0, 0
        self.nodes: Tensor | None = None
        self.weights: Tensor | None = None
        self._next, self._joined = self._start(like), False

    def step(self) -> None:
        """One product, one more basis vector."""
        i, q = self.size, self._next
        self.Q[i] = q
        r = self.product(q)
        self.n_products += 1
        for _ in range(2):  # once loses orthogonality in float32 (Kahan-Parlett: twice is enough)
            r = r - self._locked.T @ (self._locked @ r)
            c = self.Q[: i + 1] @ r
            r = r - self.Q[: i + 1].T @ c
            self.C[: i + 1, i] += c.double().cpu()
        self.size = i + 1
        beta, scale = float(r.norm()), float(self.C[: i + 1, : i + 1].abs().max())
        if beta <= max(1e-6 * scale, self._rounding):  # an invariant subspace: go on in its complement
            self.C[i + 1, i] = 0.0
            beta = 0.0
            self._next = self._start(q) if self.size + len(self._locked) < q.numel() else q
        else:
            self.C[i + 1, i] = beta
            self._next = r / beta

    def ritz(self) -> tuple[Tensor, Tensor, Tensor]:
        """Ritz values, falling; their vectors in the basis, in columns; and residuals |H v - theta v|; float64, CPU."""
        m = self.size
        C = self.C[:m, :m]
        values, vectors = torch.linalg.eigh((C + C.T) / 2)
        values, vectors = values.flip(0), vectors.flip(1)
        inside = C @ vectors - values * vectors
        outside = self.C[m, m - 1] * vectors[-1]
        rounding = torch.finfo(self.Q.dtype).eps * values.abs().max()
        return values, vectors, (inside.square().sum(0) + outside.square()).sqrt() + rounding

    def close(self) -> None:
        """Note the quadrature of the start vector, once, before the first restart."""
        if self.nodes is None:
            values, vectors, _ = self.ritz()
            self.nodes, self.weights = values, vectors[0].square()

    def restart(self, keep: int) -> None:
        """Go on from the `keep` largest Ritz vectors alone."""
        self.close()
        values, vectors, _ = self.ritz()
        last = float(self.C[self.size, self.size - 1])
        self.Q[:keep] = vectors[:, :keep].T.to(self.Q) @ self.Q[: self.size]
        self.C.zero_()
        self.C[:keep, :keep] = values[:keep].diag()
        self.C[keep, :keep] = last * vectors[-1, :keep]
        self.size = keep

    def vectors(self, columns: Tensor) -> Tensor:
        """Ritz vectors (k, D) of the given `columns` (m, k)."""
        V = columns.T.to(self.Q) @ self.Q[: self.size]
        return V / V.norm(dim=1, keepdim=True)

    def find(self, k: int, products: int, tol: float) -> tuple[Tensor, Tensor, Tensor]:
        """The k largest Ritz pairs, once all residuals are below tol |theta|_max or `products` are spent."""
        while self.n_products < products:
            if self.size == len(self.Q):
                if self.size + len(self._locked) >= self.Q.shape[1]:
                    break  # the whole space
                self.restart(min(self.size - 1, max(k + (self.size - k) // 2, k)))
            self.step()
            if self.size >= k and self.n_products % CHECK_EVERY == 0:
                values, _, residual = self.ritz()
                if bool((residual[:k] <= tol * values.abs().max()).all()):
                    break
        self.close()
        values, columns, residual = self.ritz()
        return values[:k], columns[:, :k], residual[:k]

    def _start(self, like: Tensor) -> Tensor:
        """A random unit vector orthogonal to everything so far."""
        q = randn_like(like, self._source)
        for _ in range(2):
            for B in (self._locked, self.Q[: self.size]):
                q = q - B.T @ (B @ q)
        return q / q.norm()


def room_for(k: int, products: int, like: Tensor) -> int:
    """Basis vectors to keep: all that `products` can make, or what fits in BASIS_BYTES, at least 2 k + 10."""
    fits = BASIS_BYTES // (like.numel() * like.element_size())
    return min(products, max(fits, 2 * k + 10))
