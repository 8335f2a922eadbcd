"""Low-rank Gaussians over weights, and their algebra; nothing (D, D) is built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import Numbers, Vector, check_count, check_weights
from flatviz.noun import History, Made, Noun
from flatviz.private import cached_property

Buffers = Mapping[str, Tensor] | None  # BatchNorm statistics by name


class _differentiable(cached_property[Any]):
    """A property whose kept value has its gradient, in whichever mode it is first read."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if torch.is_grad_enabled() and not torch.is_inference_mode_enabled():
            return super().__get__(instance, owner)
        with torch.inference_mode(False):  # which enables gradients as well
            return super().__get__(instance, owner)


class Gaussian(Noun, made_by="fv.transfer and fv.SWAG return one"):
    """A low-rank Gaussian over weights: N(mean, diag(exp(2 log_std)) + factor^T factor).

    `mean` (D,), `log_std` (D,), `factor` (K, D); K = 0 is a diagonal Gaussian.  All scales are
    folded in: SWAG's halves and its 1/(K-1) are part of `log_std` and `factor`, so this is the one
    formula. Nothing (D, D) is ever built: inverses go through the (K, K) matrix I + F diag(1/d) F^T
    (Woodbury).

    Inside a fit (`unchecked`) B members are one Gaussian with leading dimensions, mean (B, D),
    factor (B, K, D).  Every formula applies to each of them, and "..." below stands for those
    dimensions.

    `buffers` are BatchNorm statistics by name, where a fit trained them along (batchnorm="train"):
    its draws are weights of `net.with_buffers(q.buffers)`, which `predict` uses automatically.
    `linearised`: its draws are weights of the network linearised at the mean, as Laplace's are.
    `method` is the value that `fv.fit` was given, completed; None of one that no fit made.

    Raises ValueError where shapes disagree.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Gaussian(torch.zeros(4), torch.zeros(4), factor=torch.ones(1, 4))
        >>> q
        Gaussian(dim=4, rank=1)
        >>> q.variance  # the diagonal of I + 1 1^T
        tensor([2., 2., 2., 2.])
        >>> q.sample(3, seed=0).shape
        torch.Size([3, 4])
    """

    mean: Vector
    log_std: Vector
    factor: Numbers = torch.zeros(0, 0)
    history: History | None = None
    buffers: Buffers = None
    linearised: bool = False
    method: Made = None

    def _check(self) -> None:
        check_weights(self.log_std, self.dim, "log_std")
        for name in ("log_std", "factor"):
            dtype = getattr(self, name).dtype
            if dtype != self.mean.dtype and getattr(self, name).numel():
                raise ValueError(
                    f"{name} must have the dtype of mean, {self.mean.dtype}, got {dtype}: convert"
                    f" it, {name}.to(mean)"
                )
        if self.factor.shape == (0, 0):
            object.__setattr__(self, "factor", self.mean.new_zeros(0, self.dim))
        if self.factor.ndim != 2 or self.factor.shape[1] != self.dim:
            raise ValueError(
                f"factor must have shape (K, {self.dim}), got {tuple(self.factor.shape)}"
            )
        largest = float(self.log_std.max())
        if largest > math.log(torch.finfo(self.log_std.dtype).max) / 2:
            raise ValueError(
                f"log_std must have finite variances exp(2 log_std), got {largest:g}: lower it"
            )

    def __repr__(self) -> str:
        made = "" if self.method is None else f", by {type(self.method).__name__}"
        return f"Gaussian(dim={self.dim}, rank={self.rank}{made})"

    @classmethod
    def unchecked(
        cls,
        mean: Tensor,
        log_std: Tensor,
        factor: Tensor,
    ) -> Gaussian:
        """Build one Gaussian, or B at once, without the checks, which read every value.

        Loops that look for NaN at their end use it.
        """
        q = object.__new__(cls)
        vars(q).update(mean=mean, log_std=log_std, factor=factor)
        vars(q).update(history=None, buffers=None, linearised=False, method=None)
        return q

    def moved(self, delta: Sequence[Tensor]) -> Gaussian:
        """Return the Gaussian at theta + delta, unchecked.

        delta holds changes of the first entries of theta = (mean, log_std, factor).
        """
        parts = (self.mean, self.log_std, self.factor)
        moved = [part + change for part, change in zip(parts, delta)]
        return Gaussian.unchecked(*moved, *parts[len(delta) :])

    @property
    def dim(self) -> int:
        """Number of weights D."""
        return self.mean.shape[-1]

    @property
    def center(self) -> Tensor:
        """The mean, (D,)."""
        return self.mean

    @property
    def rank(self) -> int:
        """Rows K of `factor`."""
        return self.factor.shape[-2]

    @property
    def variance(self) -> Tensor:
        """Diagonal of the covariance, (..., D)."""
        return self.std.square() + self.factor.square().sum(-2)

    def noise(self, n: int, *, seed: int) -> tuple[Tensor, Tensor]:
        """Draw standard normal z1 (n, D) and z2 (n, K), on the CPU.

        They are drawn row by row, so that n rows are the beginning of any longer draw.
        """
        source = torch.Generator().manual_seed(seed)
        like = self.mean
        size = self.dim + self.rank
        rows = [
            torch.randn(size, generator=source, dtype=like.dtype, device="cpu")
            for _ in range(check_count(n, "n"))
        ]
        z = torch.stack(rows).to(like.device)
        return z[:, : self.dim], z[:, self.dim :]

    def at(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the draws that belong to noise: mean + exp(log_std) z1 + z2 F.

        Shapes: z1 (..., n, D), z2 (..., n, K), draws (..., n, D).
        """
        mean = self.mean.unsqueeze(-2)
        std = self.std.unsqueeze(-2)
        return torch.addcmul(mean, std, z1) + z2 @ self.factor

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, (n, D).

        One z2 serves all weights: drawn by layer it would lose their covariance.
        """
        return self.at(*self.noise(n, seed=seed))

    def cov_mul(self, v: Tensor) -> Tensor:
        """Multiply the covariance with `v` (..., D), or with several, (..., n, D)."""
        diagonal = _as_rows(self.std * self.std, v)
        return torch.addcmul(_squared(self.factor, v), diagonal, v)

    @_differentiable
    def std(self) -> Tensor:
        """Square root of the diagonal part d, (..., D)."""
        return self.log_std.exp()

    @_differentiable
    def _whitened(self) -> tuple[Tensor, Tensor]:
        """Compute H = L^-1 F/std (..., K, D) and L^-1 (..., K, K), L L^T = I + (F/std)(F/std)^T.

        By Woodbury, Sigma^-1 = diag(1/std) (I - H^T H) diag(1/std).  It is float64 up to H, whose
        columns are shorter than one, as the product squares the ratio of scales.  NaN where std or
        factor have overflowed.
        """
        white = (self.factor / _as_rows(self.std, self.factor)).double()
        eye = _eye(self.rank, white.device)
        if white.ndim == 2:
            gram = torch.addmm(eye, white, white.T)
        else:
            gram = eye + white @ white.mT
        root, failed = torch.linalg.cholesky_ex(gram)
        # Std or factor overflowed; the other members continue
        root = root.masked_fill((failed > 0)[..., None, None], math.nan)
        inverse = torch.linalg.solve_triangular(root, eye, upper=False)
        return (inverse @ white).to(self.std.dtype), inverse

    @_differentiable
    def logdet(self) -> Tensor:
        """Log determinant of the covariance, (...)."""
        _, inverse = self._whitened
        logs = inverse.diagonal(dim1=-2, dim2=-1).log()
        of_factor = logs.sum(-1).to(self.log_std.dtype)
        return 2 * (self.log_std.sum(-1) - of_factor)

    def precision_mul(self, v: Tensor) -> Tensor:
        """Multiply the inverse covariance with `v` (..., D), or with several, (..., n, D)."""
        half, _ = self._whitened
        std = _as_rows(self.std, v)
        v = v / std
        return (v - _squared(half, v)) / std

    @_differentiable
    def leverage(self) -> Tensor:
        """Product of d_i and the inverse covariance's diagonal, (..., D), in (0, 1].

        It is 1 where the factor adds nothing to a weight's variance.
        """
        half, _ = self._whitened
        one = constant(1.0, half.dtype, half.device)
        return one - (half * half).sum(-2)

    @_differentiable
    def precision_diag(self) -> Tensor:
        """Diagonal of the inverse covariance, (..., D)."""
        return self.leverage / self.std.square()

    @property
    def factor_precision(self) -> Tensor:
        """F Sigma^-1 (..., K, D): L^-T H diag(1/std)."""
        half, inverse = self._whitened
        product = inverse.mT.to(half.dtype) @ half
        return product / _as_rows(self.std, half)

    def log_prob(self, w: Tensor) -> Tensor:
        """Compute the log density at `w` (..., D), or at several of one Gaussian, in nats."""
        r = w - self.mean
        squares = (r * self.precision_mul(r)).sum(-1)
        constant_part = self.dim * math.log(2 * math.pi)
        return -0.5 * (squares + self.logdet + constant_part)

    def score(self, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the gradient of log q(w) in (mean, log_std, factor) at fixed `w` (..., D).

        Shapes: (..., D), (..., D), (..., K, D).
        """
        a = self.precision_mul(w - self.mean)
        if a.ndim == 1:
            along = self.factor @ a
        else:
            along = (self.factor @ a.unsqueeze(-1)).squeeze(-1)
        outer = along.unsqueeze(-1) * a.unsqueeze(-2)
        of_log_std = (self.std * a).square() - self.leverage
        return a, of_log_std, outer - self.factor_precision

    def kl(self, prior: Gaussian) -> Tensor:
        """Compute KL(self || prior) in nats, in closed form, in O(D K^2).

            1/2 [tr(P Sigma) + (m - m_p)^T P (m - m_p) - D + logdet Sigma_p - logdet Sigma]

        P is the prior's precision.
        """
        return self._kl_and_pulled(prior)[0]

    def _kl_and_pulled(self, prior: Gaussian) -> tuple[Tensor, Tensor]:
        """Compute `kl(prior)`, and P times the difference of means and the rows of the factor.

        The latter are (..., 1 + K, D).
        """
        apart = (self.mean - prior.mean).unsqueeze(-2)
        rows = torch.cat((apart, self.factor), -2)
        pulled = prior.precision_mul(rows)
        squares = (pulled * rows).sum((-2, -1))
        trace = torch.linalg.vecdot(self.std.square(), prior.precision_diag)
        rest = prior.logdet - self.logdet - self.dim
        return 0.5 * (squares + trace + rest), pulled

    def kl_and_path_grad(
        self, prior: Gaussian, z1: Tensor, z2: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        """Compute `kl(prior)` (...), and an estimate of its gradient in (mean, log_std, factor).

        The estimate follows the paths of draws w with noise z1 (..., S, D) and z2 (..., S, K),
        without q's score: with X = P (w - prior mean) - A (w - mean), where P and A are the
        precisions of prior and q, it is the mean over draws of (X, X std z1, z2 (x) X).  It is 0 at
        every draw if q is the prior.
        """
        kl, pulled = self._kl_and_pulled(prior)
        wide = self.std.unsqueeze(-2) * z1
        of_rows = pulled[..., 1:, :] - self.factor_precision
        x = prior.precision_mul(wide) - self.precision_mul(wide) + z2 @ of_rows
        x = x + pulled[..., :1, :]
        n_draws = z1.shape[-2]
        of_log_std = (x * wide).mean(-2)
        return kl, (x.mean(-2), of_log_std, z2.mT @ x / n_draws)


def _as_rows(per_weight: Tensor, v: Tensor) -> Tensor:
    """Reshape per-weight numbers (..., D) to (..., 1, D) where v is several vectors."""
    if v.ndim == per_weight.ndim:
        return per_weight
    return per_weight.unsqueeze(-2)


def _squared(rows: Tensor, v: Tensor) -> Tensor:
    """Compute v R^T R with rows R (..., K, D), for v (..., D) or (..., n, D)."""
    if v.ndim == 1:
        return torch.mv(rows.mT, torch.mv(rows, v))
    # Members with one vector each: matrices of one row, for a batched product
    if rows.ndim > 2 and v.ndim < rows.ndim:
        return _squared(rows, v.unsqueeze(-2)).squeeze(-2)
    return (v @ rows.mT) @ rows


@cache
@torch.inference_mode(False)
def constant(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a number as a tensor, built once.

    torch converts a Python number at each product, which costs more than the product.
    """
    return torch.tensor(value, dtype=dtype, device=device)


@cache
@torch.inference_mode(False)
def _eye(n: int, device: torch.device) -> Tensor:
    """Return the identity in float64, built once, as no one writes to it."""
    return torch.eye(n, dtype=torch.float64, device=device)
