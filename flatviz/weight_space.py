"""Nouns of weight space: posteriors, planes, curves, spectra.

Names are the same in every file: `w` (D,) one weight vector, `W` (S, D) several, `x, y` (N, ...),
(N,) inputs and labels, `logits` (S, N, C), `f` an objective, `mean, log_std, factor` (D,), (D,),
(K, D) a low-rank Gaussian, `radius` a perturbation radius, `n_draws` ensemble size.  D weights, S
draws, N inputs, C classes, K rank or number of eigenpairs, U and V grid sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from flatviz.checks import Count, Vector, Vectors, check_count, shown, tensor
from flatviz.gaussian import Buffers, Gaussian
from flatviz.noun import Drawn, History, Made, Noun


@runtime_checkable
class Posterior(Protocol):
    """A distribution over weight vectors, with a center and draws.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.eye(3))
        >>> isinstance(q, fv.Posterior), q.center.shape, q.sample(2, seed=0).shape
        (True, torch.Size([3]), torch.Size([2, 3]))
    """

    @property
    def center(self) -> Tensor:
        """One good weight vector, (D,)."""
        ...

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, (n, D).

        The same seed gives the same draws, and fewer draws are a prefix of more.
        """
        ...


@runtime_checkable
class OutputPosterior(Protocol):
    """A posterior with a Gaussian of the linearised network's outputs; `predict` linearises it."""

    def outputs(self, data: object) -> tuple[Tensor, Tensor]:
        """Return the outputs' mean (N, C) and covariance (N, C, C) on the N inputs of a `Data`."""
        ...


def check_posterior(value: object, name: str) -> None:
    """Check that a posterior is draws (S, D), or anything with `center` and `sample`."""
    if isinstance(value, Tensor):
        tensor(2)(value, name)
    elif not isinstance(value, Posterior):
        raise TypeError(
            f"{name} must be a posterior (center, sample) or draws (S, D), got {shown(value)}:"
            " fv.fit_* make one"
        )


AnyPosterior = Annotated[Posterior | Tensor, check_posterior]


class Draws(Noun, made_by="HMC and the other chains return one"):
    """A posterior as draws `W` (S, D): a chain, an ensemble, or one point (MAP: S = 1).

    Draws of several `chains` are stored one chain after the other, each in its order: `by_chain`.
    `buffers` are BatchNorm statistics by name, where a fit trained them along, (S, ...) for several
    draws.  `predict` uses them automatically; one draw is weights of `net.with_buffers(q.buffers)`.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.tensor([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]]))
        >>> q.center.tolist(), q.sample(2, seed=0).shape
        ([1.0, 1.0], torch.Size([2, 2]))
    """

    W: Vectors
    history: History | None = None
    buffers: Buffers = None
    chains: Count = 1
    method: Made = None

    def _check(self) -> None:
        if len(self.W) % self.chains:
            raise ValueError(
                f"W must hold as many draws of each of the {self.chains} chains, got {len(self.W)}"
                " in all"
            )
        for name, buffer in (self.buffers or {}).items():
            if len(self.W) > 1 and buffer.shape[:1] != self.W.shape[:1]:
                raise ValueError(
                    f"buffers must hold statistics of each of the {len(self.W)} draws, got"
                    f" {name} of shape {tuple(buffer.shape)}"
                )

    @property
    def dim(self) -> int:
        """Number of weights D."""
        return self.W.shape[1]

    @property
    def by_chain(self) -> Tensor:
        """Draws of each chain in their order, (chains, S / chains, D)."""
        return self.W.unflatten(0, (self.chains, -1))

    @property
    def center(self) -> Tensor:
        """Draw nearest to the average of all draws, which itself need not be a good network."""
        return self.W[self.nearest]

    @property
    def nearest(self) -> int:
        """Number of the draw that is the center."""
        distances = (self.W - self.W.mean(0)).norm(dim=1)
        return int(distances.argmin())

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` of the draws without repetition, in an order fixed by `seed`.

        A single point is repeated.

        Raises:
            ValueError: For more than there are.
        """
        index = self.order(n, seed=seed)
        return self.W[index.to(self.W.device)]

    def order(self, n: int, *, seed: int) -> Tensor:
        """Return the indices of the draws that `sample` takes, (n,)."""
        check_count(n, "n_draws")
        have = self.W.shape[0]
        if have == 1:
            return torch.zeros(n, dtype=torch.long, device="cpu")
        if n > have:
            raise ValueError(
                f"asked for {n} draws, but this ensemble has {have} members: lower n_draws, or"
                " train more"
            )
        source = torch.Generator().manual_seed(seed)
        return torch.randperm(have, generator=source, device="cpu")[:n]


class Mixture(Noun):
    """Several posteriors of equal weight, as in MultiSWAG.

    Example:
        >>> import torch, flatviz as fv
        >>> modes = [fv.Gaussian(torch.full((2,), m), torch.full((2,), -5.0)) for m in (-1.0, 1.0)]
        >>> fv.Mixture(modes).sample(4, seed=0).mean(1).round().tolist()
        [-1.0, 1.0, -1.0, 1.0]
    """

    parts: tuple[Posterior, ...]
    method: Made = None

    def _check(self) -> None:
        if not self.parts:
            raise ValueError("a Mixture needs at least one part, got none")

    @property
    def center(self) -> Tensor:
        """Center of the first part, as the average of several modes lies in none of them."""
        return self.parts[0].center

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, from each part in turn, (n, D)."""
        check_count(n, "n_draws")
        rows = self.in_turn(n, seed, lambda part, n, seed: list(part.sample(n, seed=seed)))
        return torch.stack(rows)

    def in_turn(self, n: int, seed: int, drawn: Callable[[Posterior, int, int], Sequence]) -> list:
        """Compute `drawn(part, n, seed)` of each part, and take one of each in turn, `n` in all."""
        k = len(self.parts)
        counts = [math.ceil((n - j) / k) for j in range(min(n, k))]
        each = [drawn(self.parts[j], count, seed + j) for j, count in enumerate(counts)]
        return [each[i % k][i // k] for i in range(n)]


def drawn_buffers(posterior: object, n: int, seed: int) -> Sequence[Buffers]:
    """Return the BatchNorm statistics of each of `posterior.sample(n, seed=seed)`, or None."""
    if isinstance(posterior, Mixture):
        return posterior.in_turn(n, seed, drawn_buffers)
    buffers = posterior.buffers if isinstance(posterior, (Gaussian, Draws)) else None
    if buffers and isinstance(posterior, Draws) and len(posterior.W) > 1:
        order = posterior.order(n, seed=seed).tolist()
        return [{name: buffer[i] for name, buffer in buffers.items()} for i in order]
    return [buffers] * n


def center_buffers(posterior: Posterior) -> Buffers:
    """Return the BatchNorm statistics at `posterior.center`, or None."""
    if isinstance(posterior, Mixture):
        return center_buffers(posterior.parts[0])
    if isinstance(posterior, Draws) and posterior.buffers and len(posterior.W) > 1:
        i = posterior.nearest
        return {name: rows[i] for name, rows in posterior.buffers.items()}
    return drawn_buffers(posterior, 1, 0)[0]


PARALLEL = 1e-12  # smallest eigenvalue of the unit axes' Gram matrix: an angle of about 1e-6


class Plane(Noun, made_by="fv.plane_pca, fv.plane_random and fv.plane_through make one"):
    """Plane of weight space: points origin + a axes[0] + b axes[1].

    Args:
        axes: (2, D), which need not be orthonormal.
        unit: What one step of a or b is.
        extent: ((a_lo, a_hi), (b_lo, b_hi)), the default range.
        explained: (2,), share along each axis (PCA) of the quantity that `share_of` names.
        name: Which verb computed it.
        share_of: "variance" of draws; of a path "squared distance", that from its end.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), 2 * torch.eye(3)[:2], "step")
        >>> plane.lengths, plane.points(torch.tensor([[1.0, -1.0]])).tolist()
        ((2.0, 2.0), [[2.0, -2.0, 0.0]])
    """

    origin: Vector
    axes: Vectors
    unit: str
    name: str = "plane"
    explained: tuple[float, ...] | None = None
    extent: tuple[tuple[float, float], ...] | None = None
    share_of: str = "variance"

    def _check(self) -> None:
        if self.axes.shape != (2, self.origin.numel()):
            raise ValueError(
                f"axes must have shape (2, {self.origin.numel()}), got {tuple(self.axes.shape)}"
            )
        lengths = self.axes.double().norm(dim=1, keepdim=True)
        if not bool(lengths.all()):
            raise ValueError(
                f"axes must have a length > 0, got 0 for number {int(lengths.argmin()) + 1}: give a"
                " direction"
            )
        unit = self.axes.double() / lengths
        if float(torch.linalg.eigvalsh(unit @ unit.T)[0]) < PARALLEL:
            raise ValueError(
                "axes must point in different directions, got parallel ones: along a line, use"
                " slice_line"
            )

    @property
    def lengths(self) -> tuple[float, ...]:
        """Euclidean length of each axis in weight space."""
        return tuple(float(axis.norm()) for axis in self.axes)

    @property
    def angle(self) -> float:
        """Angle between the axes, in degrees."""
        first, second = self.axes.double()
        cosine = float(first @ second / (first.norm() * second.norm()))
        return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))

    @property
    def orthonormal(self) -> bool:
        """Whether distance in the figure is distance in weight space."""
        axes = self.axes.double()
        off = axes @ axes.T - torch.eye(2).to(axes)
        return bool((off.abs() < 1.5e-4).all())

    def points(self, coords: Tensor) -> Tensor:
        """Compute the weight vectors (S, D) at in-plane coordinates (S, 2)."""
        return self.origin + coords @ self.axes


class Curve(Noun, made_by="fv.slice_line makes one"):
    """Values (T,) against `t` (T,): a slice of the loss, a path, a score against ensemble size.

    A slice from w0 to w1 has t = 0 at w0 and t = 1 at w1, both computed.  `n` and `batchnorm` are
    the objective's.

    Example:
        >>> import torch, flatviz as fv
        >>> curve = fv.Curve(torch.tensor([0.0, 0.5, 1.0]), torch.tensor([1.0, 3.0, 2.0]))
        >>> curve.barrier  # 3 above 1.5, half-way between the ends
        1.5
    """

    t: Tensor
    values: Tensor
    x_label: str = "t"
    y_label: str = "loss"
    name: str = ""
    n: int | None = None
    batchnorm: str | None = None

    @property
    def barrier(self) -> float:
        """Largest rise of the values above the straight line between the ends, at least 0.

        It is NaN where a value is NaN, or one at an end is not finite; inf where one between them
        is.
        """
        if len(self.t) < 2:
            return 0.0 if not self.n_diverged else math.nan
        rise = (self.values - self.line).max()  # NaN if any is
        return float(rise.clamp_min(0))

    @property
    def line(self) -> Tensor:
        """The straight line between the values at the ends, at each t, (T,)."""
        share = (self.t - self.t[0]) / (self.t[-1] - self.t[0])
        values = 1.0 * self.values  # which may be whole numbers
        return torch.lerp(values[0], values[-1], share.to(values))

    @property
    def n_diverged(self) -> int:
        """Number of values that are NaN or inf."""
        return int((~torch.isfinite(self.values)).sum())


class Surface(Drawn, made_by="fv.slice_plane makes one"):
    """Values of an objective over a plane, with their coordinates.

    On a grid `a` is (U,), `b` is (V,) and values[i, j] = f(origin + a[i] axes[0] + b[j] axes[1]),
    (U, V).  Scattered values (from a tool that does not return a grid) have `a`, `b` and `values`
    of one shape (S,).  Diverged cells stay NaN or inf; `n_diverged` counts them.

    Args:
        label: Name of the quantity.
        n: Number of examples in its mean.
        batchnorm: Statistics in use; None: the network has no BatchNorm.
        precision, error: A reduced precision, and its measured error.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(2), torch.eye(2), "step")
        >>> a = torch.tensor([-1.0, 0.0, 1.0])
        >>> surface = fv.Surface(plane, a, a, a[:, None] ** 2 + a**2)
        >>> surface.values.shape, surface.n_diverged
        (torch.Size([3, 3]), 0)
    """

    plane: Plane
    a: Tensor
    b: Tensor
    values: Tensor
    label: str = "loss"
    n: int | None = None
    batchnorm: str | None = None
    precision: str | None = None
    error: float | None = None

    def _check(self) -> None:
        grid = (self.a.numel(), self.b.numel())
        if tuple(self.values.shape) != grid and not (
            self.a.shape == self.b.shape == self.values.shape
        ):
            raise ValueError(
                f"values must have shape {grid}, or that of a and b, got {tuple(self.values.shape)}"
            )

    @property
    def finite(self) -> Tensor:
        """The values, NaN where they diverged."""
        return self.values.where(self.values.isfinite(), math.nan)

    @property
    def drawable(self) -> bool:
        """Whether a value is finite."""
        return bool(self.values.isfinite().any())

    @property
    def scattered(self) -> bool:
        """Whether the values lie at scattered points, not on a grid."""
        return self.values.ndim == 1

    @property
    def n_diverged(self) -> int:
        """Number of cells whose value is NaN or inf."""
        return int((~torch.isfinite(self.values)).sum())


class Spectrum(Noun, made_by="fv.top_eigenpairs makes one"):
    """Eigenpairs of a Hessian at `w`: `values` (K,) from the end `which`, `vectors` (K, D).

    Args:
        residual: (K,), |H v - lambda v|, an error bound on each eigenvalue: read it first.
        n_products: Number of Hessian-vector products.
        n, batchnorm: The objective's number of examples and BatchNorm statistics.
        curvature: The matrix, "hessian", "ggn" or "fisher".
        nodes, weights: (A,), atoms of a density: the share weights[i] of all D eigenvalues lies
            about nodes[i].
        which: "largest" first, or "smallest", the most negative.

    Example:
        >>> import torch, flatviz as fv
        >>> f = lambda w: (w * w * torch.tensor([1.0, 2.0])).sum()
        >>> spectrum = fv.top_eigenpairs(f, torch.ones(2), k=2)
        >>> [round(v, 3) for v in spectrum.values.tolist()]
        [4.0, 2.0]
    """

    values: Tensor
    vectors: Tensor
    residual: Tensor
    n_products: int
    name: str = ""
    n: int | None = None
    batchnorm: str | None = None
    curvature: str = "hessian"
    nodes: Tensor | None = None
    weights: Tensor | None = None
    which: str = "largest"


class Projection(Drawn, made_by="fv.project makes one"):
    """Weight vectors projected onto a plane: `coords` (S, 2), and `distance` (S,) from the plane.

    `values` (S,), where an objective was given, is the loss at the vectors themselves, not at their
    projections.  For a Gaussian, `covariance` (2, 2) is that of its draws' coords, `spread` their
    root mean square distance.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "step")
        >>> projection = fv.project(torch.tensor([1.0, 2.0, 5.0]), plane)
        >>> projection.coords.tolist(), projection.distance.tolist()
        ([[1.0, 2.0]], [5.0])
    """

    plane: Plane
    coords: Tensor
    distance: Tensor
    values: Tensor | None = None
    label: str = "loss"
    name: str = ""
    covariance: Tensor | None = None
    spread: float | None = None

    @property
    def drawable(self) -> bool:
        """Whether there are points."""
        return len(self.coords) > 0


MEASURES = {  # fields of `Sharpness`, with the title of an axis
    "lambda1": "largest eigenvalue λ₁",
    "ratio": "λ₁ / λ₅",
    "trace": "trace of the Hessian",
    "sam": "SAM-sharpness (nats)",
    "adaptive": "adaptive sharpness (nats)",
}


class Sharpness(Noun, made_by="fv.sharpness makes one"):
    """Measures of sharpness of S draws, (S,) each.

    Args:
        lambda1, residual: Largest eigenvalue of the Hessian, and its error bound.
        ratio: lambda1 / lambda5; NaN where lambda5 cannot be told from 0.
        trace, trace_error: Trace of the Hessian, and its standard error.
        sam, adaptive: The loss gained by one ascent step of its radius.
    """

    lambda1: Tensor
    ratio: Tensor
    trace: Tensor
    sam: Tensor
    adaptive: Tensor
    residual: Tensor
    trace_error: Tensor

    def interval(self, name: str) -> tuple[float, float]:
        """Compute a measure's mean over draws and half of its 95 % interval, as `interval`."""
        return interval(getattr(self, name).double())

    def by_size(self, name: str) -> tuple[Tensor, Tensor]:
        """Compute `interval` of the first 1, 2, ..., S draws: means and half intervals, (S,) each.

        The first half interval is NaN.
        """
        values = getattr(self, name).double()
        rows = [interval(values[:m]) for m in range(1, len(values) + 1)]
        mean, half = torch.tensor(rows, dtype=torch.float64).unbind(1)
        return mean, half


def interval(values: Tensor) -> tuple[float, float]:
    """Compute the mean of `values` (S,) and half of its 95 % confidence interval.

    It is Student's t interval, NaN for a single value.
    """
    from scipy.stats import t  # comes with scikit-learn

    n = len(values)
    if n < 2:
        return float(values.mean()), math.nan
    quantile = float(t.ppf(0.975, n - 1))
    half = quantile * float(values.std()) / math.sqrt(n)
    return float(values.mean()), half


class LayerCurvature(NamedTuple):
    """Curvature of a layer's block of H, with its number of weights and errors.

    The errors are the largest eigenvalue's residual and the trace's standard error.
    """

    weights: int
    lambda1: float
    residual: float
    trace: float
    error: float
