"""Curvature at one point as a function v -> H v, and Lanczos runs with it."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch
from torch import Generator, Tensor

from flatviz.checks import kind
from flatviz.core import Curvature, ObjectiveLike, Point, flattened, public, randn_like

WHICH = kind(
    (slice, Tensor),
    "a slice, an index or a mask of the weights",
    "a layer's is net.blocks[i].slice",
)
Part = Annotated[slice | Tensor, WHICH] | None


class Operator:
    """v -> P H P^T v, (P,) -> (P,), with H the curvature at `w` (D,) and P the rows of a part.

    v is in float32 or better (`like`) in any precision of `w`, as a basis in half precision does
    not stay orthogonal.  `curvature_operator` makes one for other solvers: `shape`, `dtype` and
    `matvec` are what scipy's solvers read.
    """

    def __init__(
        self,
        f: ObjectiveLike,
        w: Tensor,
        curvature: str = "hessian",
        part: Part = None,
    ) -> None:
        objective, w = flattened(f, w)
        self._product = objective.products(w, curvature)
        self._index = slice(None) if part is None else _index(part, w)
        self._w = w
        wide = torch.promote_types(w.dtype, torch.float32)
        self.like = w[self._index].to(wide)

    def __call__(self, v: Tensor) -> Tensor:
        """Compute the product with `v` (P,)."""
        with torch.inference_mode(False):
            v = v.clone() if v.is_inference() else v  # one that autograd can keep
            full = self._product(self.embed(v).to(self._w.dtype))
            out = full.to(v.dtype)[self._index]
        if not out.isfinite().all():
            raise ValueError(
                "the curvature at w must be finite, got NaN or inf: look at f(w), and move w to"
                " where f is small"
            )
        return out

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (P, P) of the matrix."""
        return self.like.numel(), self.like.numel()

    @property
    def dtype(self) -> np.dtype:
        """NumPy's dtype of products."""
        return self.like.new_zeros(0).cpu().numpy().dtype

    def matvec(self, v: np.ndarray) -> np.ndarray:
        """Compute the product with an array (P,) or (P, 1), as an array (P,)."""
        forward = np.ascontiguousarray(v)  # torch reads no reversed arrays
        product = self(torch.as_tensor(forward).flatten().to(self.like))
        return product.cpu().numpy()

    def rmatvec(self, v: np.ndarray) -> np.ndarray:
        """Compute the same, as the matrix is symmetric."""
        return self.matvec(v)

    def embed(self, v: Tensor) -> Tensor:
        """Embed vectors (..., P) of the part in the full weight space, (..., D)."""
        if isinstance(self._index, slice):
            return v
        dim = self._w.numel()
        whole = v.new_zeros(*v.shape[:-1], dim)
        whole[..., self._index] = v
        return whole


@public
def curvature_operator(
    f: ObjectiveLike,
    w: Point,
    *,
    curvature: Curvature = "hessian",
    part: Part = None,
) -> Operator:
    """Build products with the curvature of `f` at `w`, for other solvers.

    The result is a function of tensors, v (D,) -> H v (D,), and has what `scipy.sparse.linalg`
    reads of a LinearOperator (`shape`, `dtype`, `matvec`): `eigsh`, `cg` and `svds` take it as it
    is.

    Args:
        f: Objective, w (D,) -> (), or a plain function of a `w` of any shape.
        w: Weights (D,), or activations, as (n, d); products are of its flat vector.
        curvature: As in `top_eigenpairs`.
        part: As in `top_eigenpairs`.

    Raises:
        ValueError: For what `top_eigenpairs` refuses.

    Example:
        >>> import torch, flatviz as fv
        >>> from scipy.sparse.linalg import eigsh
        >>> h = torch.tensor([9.0, 5.0, 1.0, 1.0])
        >>> H = fv.landscape.curvature_operator(lambda w: 0.5 * (h * w * w).sum(), torch.ones(4))
        >>> H(torch.ones(4)).tolist(), eigsh(H, 1, return_eigenvectors=False).round(3).tolist()
        ([9.0, 5.0, 1.0, 1.0], [9.0])
    """
    return Operator(f, w, curvature, part)


def _index(part: slice | Tensor, w: Tensor) -> Tensor:
    expected = f"part must be a slice, an index or a mask of the {w.numel()} weights"
    every = torch.arange(w.numel(), device=w.device)
    try:
        index = every[part]
    except IndexError as error:
        raise ValueError(f"{expected}, got one that does not fit: {error}") from error
    if index.ndim != 1 or index.numel() == 0:
        raise ValueError(f"{expected}, got one that chooses shape {tuple(index.shape)}")
    if len(index.unique()) < len(index):
        raise ValueError(f"{expected}, got an index that holds a weight twice")
    return index


Product = Callable[[Tensor], Tensor]  # v (D,) -> H v (D,)
CHECK_EVERY = 2
BASIS_BYTES = 2**30  # memory of a basis before it is restarted


class Krylov:
    """Thick-restart band Lanczos with full reorthogonalisation, from random starts.

        H Q = Q C + P^T E

    Q (m, D) is the basis and P (l, D) the candidates for its next vector, both orthonormal in rows:
    one, and one more for each random vector that was injected.  C (m, m) and E (l, m) are measured,
    so that residuals are those of H itself.  A full basis of `room` vectors is restarted from its
    best Ritz vectors.

    Attributes:
        locked: (c, D), directions that are kept out of the basis.
        scale: The size of H where they hold its largest eigenvalues, to distinguish the rest from
            rounding.

    Source: Wu & Simon 2000 (thick restart); Golub & Van Loan, Matrix Computations, 4th ed., ch. 10.
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
        self._rounding = 10 * torch.finfo(like.dtype).eps
        self._scale = scale
        if locked is None:
            locked = like.new_zeros(0, like.numel())
        self._locked = locked
        self.dim = like.numel() - len(self._locked)
        room = min(room, self.dim)
        self.Q = like.new_empty(room, like.numel())
        self.C = torch.zeros(room, room, dtype=torch.float64)  # not mirrored
        self.size = 0
        self.n_products = 0
        self.restarts = 0
        self._dropped = 0.0  # asymmetry in what restarts left out
        self.P = self.Q[:0]
        self.E = self.C[:0]
        self.ahead: Tensor | None = None  # coordinates in P of the next vector; None: a random one

    def _random(self) -> Tensor:
        """Add a random unit vector of the basis' complement to P; return its coordinates in P."""
        g, _, along = self._outside(randn_like(self._like, self._source))
        length = g.norm()
        if self.size + len(self.P) < self.dim:
            self._append(g / length)
            length = length.double().cpu()
            along = torch.cat([along, length[None]])
        return along

    def _outside(self, r: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Remove the locked, the basis and P from r (D,); return it, with its parts in Q and P."""
        Q = self.Q[: self.size]
        inside = self.C.new_zeros(len(Q))
        along = self.C.new_zeros(len(self.P))
        for _ in range(2):  # once loses orthogonality in float32 (Kahan-Parlett: twice is enough)
            r = r - self._locked.T @ (self._locked @ r)
            c = Q @ r
            r = r - Q.T @ c
            e = self.P @ r
            r = r - self.P.T @ e
            inside += c.double().cpu()
            along += e.double().cpu()
        return r, inside, along

    def _append(self, candidate: Tensor) -> None:
        row = torch.zeros_like(self.C[:1])
        self.P = torch.cat([self.P, candidate[None]])
        self.E = torch.cat([self.E, row])

    def step(self) -> None:
        """Add one basis vector by one product: the chain's next, or a random one at its end."""
        i = self.size
        ahead = self._random() if self.ahead is None else self.ahead
        eye = torch.eye(len(ahead), dtype=ahead.dtype)
        axes = torch.cat([ahead[:, None], eye], 1)
        turn = torch.linalg.qr(axes).Q.T  # a rotation that takes P[0] to `ahead`
        P = turn.to(self.P) @ self.P
        E = turn @ self.E
        self.Q[i] = P[0]
        self.C[i, :i] = E[0, :i]
        self.P = P[1:]
        self.E = E[1:]
        self.size = i + 1
        r = self.product(self.Q[i].clone())
        self.n_products += 1
        r, self.C[: i + 1, i], along = self._outside(r)
        self.E[:, i] += along
        beta = float(r.norm())
        room = self.size + len(self.P) < self.dim
        if room and beta > self.rounding:
            self._append(r / beta)
            self.E[-1, i] = beta
        self.turn(self.E[:, i])

    def turn(self, ahead: Tensor) -> None:
        """Continue along `ahead` (l,), coordinates in P, or at random where it is only rounding.

        It is so in an invariant subspace.
        """
        self.ahead = ahead if float(ahead.norm()) > self.rounding else None

    @property
    def complete(self) -> bool:
        """Whether the basis spans the full space."""
        return self.size == self.dim

    @property
    def rounding(self) -> float:
        """Size of a residual that is rounding alone."""
        m = self.size
        largest = float(self.C[:m, :m].abs().max())
        return self._rounding * max(self._scale, largest)

    def ritz(self) -> tuple[Tensor, Tensor, Tensor]:
        """Compute Ritz values, decreasing, their vectors in the basis (columns), and residuals.

        Residuals are |H v - theta v|.  All are float64 on the CPU.
        """
        m = self.size
        C = self.C[:m, :m]
        values, vectors = torch.linalg.eigh(C, UPLO="U")
        values = values.flip(0)
        vectors = vectors.flip(1)
        # The antisymmetric part is 0 where H is symmetric
        off = C @ vectors - vectors * values
        outside = self.E[:, :m] @ vectors
        squares = off.square().sum(0) + outside.square().sum(0)
        rounding = torch.finfo(self.Q.dtype).eps * values.abs().max()
        return values, vectors, squares.sqrt() + rounding + self._dropped

    def beyond(self, g: Tensor, y: Tensor) -> Tensor:
        """Compute (I - Q^T Q) H (I - Q^T Q) g from y = H g."""
        Q = self.Q[: self.size]
        y = y - Q.T @ (Q @ y)
        E = self.E[:, : self.size].to(g)
        return y - self.P.T @ (E @ (Q @ g))

    def restart(self, keep: Tensor | slice) -> None:
        """Continue from the Ritz vectors `keep` alone, indices in decreasing order of values."""
        values, vectors, _ = self.ritz()
        vectors = vectors[:, keep]
        values = values[keep]
        n = len(values)
        m = self.size
        off = self.C[:m, :m] @ vectors - vectors * values
        along = self.E[:, :m] @ vectors
        self._dropped += float(off.norm())
        turn = vectors.T.to(self.Q)
        self.Q[:n] = turn @ self.Q[:m]
        self.C.zero_()[:n, :n] = values.diag()
        self.E.zero_()[:, :n] = along
        self.size = n
        self.restarts += 1

    def vectors(self, columns: Tensor) -> Tensor:
        """Compute Ritz vectors (k, D) of the given `columns` (m, k)."""
        V = columns.T.to(self.Q) @ self.Q[: self.size]
        return V / V.norm(dim=1, keepdim=True)

    def converged(
        self,
        k: int,
        products: int,
        tol: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Iterate until the k largest Ritz pairs are within `tol` |theta|_max or `products`.

        Return values, columns and residuals of all pairs.
        """
        while self.size < k:
            self.grow(k)
        while True:
            values, columns, residual = self.ritz()
            worst = int(residual[:k].argmax())
            converged = residual[worst] <= tol * values.abs().max()
            if converged or self.n_products >= products or self.complete:
                return values, columns, residual
            E = self.E[:, : self.size]
            self.turn(E @ columns[:, worst])
            left = products - self.n_products
            for _ in range(min(CHECK_EVERY, left)):
                self.grow(k)

    def grow(self, k: int) -> None:
        """Compute one more product, in a basis that is restarted where it is full.

        A restart keeps half of what the basis has beyond the k largest.
        """
        if self.complete:
            return
        if self.size == len(self.Q):
            half = k + (self.size - k) // 2
            self.restart(slice(min(self.size - 1, half)))
        self.step()


def room_for(k: int, products: int, like: Tensor) -> int:
    """Count the basis vectors to keep: one a product, or what fits in BASIS_BYTES.

    It is at least 2 k + 10.
    """
    fits = BASIS_BYTES // (like.numel() * like.element_size())
    return min(products, max(fits, 2 * k + 10))
