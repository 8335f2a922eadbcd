"""The nouns of flatviz, all of them, in one file (hence its length): frozen results that verbs take and return.

The alphabet, the same in every file:
`w` (D,) one weight vector, `W` (S, D) several, `x, y` (N, ...), (N,) inputs and labels, `logits` (S, N, C),
`f` an objective, `mean, log_std, factor` (D,), (D,), (K, D) a low-rank Gaussian, `radius` a perturbation radius,
`n_draws` ensemble size.  D weights, S draws, N inputs, C classes, K rank or number of eigenpairs, U and V grid sides.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent

from flatviz.checks import Count, Labels, Vector, Vectors, check_count, check_share, shown, tensor
from flatviz.gaussian import Buffers, Gaussian
from flatviz.likelihood import BUILT_IN, CategoricalLikelihood, GaussianLikelihood, Likelihood, as_likelihood
from flatviz.noun import History, Noun

SCORING = "flatviz.metrics.averaging"  # whose scored(prediction) -> Prediction computes what `Prediction.scores` holds
DRAWING = "flatviz.plots.by_type"  # whose shown(result) -> Figure | None draws what `drawn` marks


class Drawn(Noun):
    """A noun that draws itself as the last value of a notebook's cell.

    Plots import results and not the other way round, so the module `DRAWING` is named here and loaded when a notebook asks;
    where plotly is not installed, or the result has no picture, its text stands alone.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        try:
            figure = importlib.import_module(DRAWING).shown(self)
        except ModuleNotFoundError:
            figure = None
        return {"text/plain": repr(self)} | ({} if figure is None else figure._repr_mimebundle_(include, exclude))


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
        """Draw `n` weight vectors, (n, D): the same seed gives the same draws, and fewer draws are a prefix of more."""
        ...


@runtime_checkable
class OutputPosterior(Protocol):
    """A posterior that knows the Gaussian of the linearised network's outputs."""

    def outputs(self, data: Any) -> tuple[Tensor, Tensor]:
        """Give the outputs' mean (N, C) and covariance (N, C, C) on the N inputs of a `Data`."""
        ...


def check_posterior(value: Any, name: str) -> None:
    """Check that a posterior is draws (S, D), or anything with `center` and `sample`."""
    if isinstance(value, Tensor):
        tensor(2)(value, name)
    elif not isinstance(value, Posterior):
        raise TypeError(f"{name} must be a posterior (center, sample) or draws (S, D), got {shown(value)}: fv.fit_* make one")


AnyPosterior = Annotated[Posterior | Tensor, check_posterior]


class Draws(Noun, made_by="fit_hmc and the other chains return one"):
    """A posterior known by its draws `W` (S, D): a chain, an ensemble, or one point (MAP: S = 1).

    Draws of several `chains` stand one chain after the other, each in its order: `by_chain`.  `buffers` are BatchNorm
    statistics by name, where a fit trained them along: its draws are weights of `net.with_buffers(q.buffers)`, which `predict`
    uses by itself.

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

    def _check(self) -> None:
        if len(self.W) % self.chains:
            raise ValueError(f"W must hold as many draws of each of the {self.chains} chains, got {len(self.W)} in all")

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
        """Draw nearest to the average of all draws; the average itself need not be a good network."""
        return self.W[(self.W - self.W.mean(0)).norm(dim=1).argmin()]

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` of the draws without repetition, in an order fixed by `seed`; a single point is repeated."""
        check_count(n, "n_draws")
        have = self.W.shape[0]
        if have == 1:
            return self.W.expand(n, -1).clone()
        if n > have:
            raise ValueError(f"asked for {n} draws, but this ensemble has {have} members: lower n_draws, or train more")
        order = torch.randperm(have, generator=torch.Generator().manual_seed(seed))
        return self.W[order[:n].to(self.W.device)]


class Mixture(Noun):
    """Several posteriors of equal weight, as in MultiSWAG.

    Example:
        >>> import torch, flatviz as fv
        >>> modes = [fv.Gaussian(torch.full((2,), m), torch.full((2,), -5.0)) for m in (-1.0, 1.0)]
        >>> fv.Mixture(modes).sample(4, seed=0).mean(1).round().tolist()
        [-1.0, 1.0, -1.0, 1.0]
    """

    parts: tuple[Posterior, ...]

    def _check(self) -> None:
        if not self.parts:
            raise ValueError("a Mixture needs at least one part, got none")

    @property
    def center(self) -> Tensor:
        """Center of the first part; the average of several modes lies in none of them."""
        return self.parts[0].center

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, from each part in turn, (n, D)."""
        check_count(n, "n_draws")
        k = len(self.parts)
        drawn = [part.sample(-(-(n - j) // k), seed=seed + j) for j, part in enumerate(self.parts[:n])]
        return torch.stack([drawn[i % k][i // k] for i in range(n)])


PARALLEL = 1e-12  # smallest eigenvalue of the unit axes' Gram matrix: an angle of about 1e-6


class Plane(Noun, made_by="fv.plane_pca, fv.plane_random and fv.plane_through make one"):
    """Plane of weight space: points origin + a axes[0] + b axes[1]; `axes` (2, D) need not be orthonormal.

    `unit` says what one step of a or b is; `extent` ((a_lo, a_hi), (b_lo, b_hi)) is where to look when nobody says;
    `explained` (2,) the share of the draws' variance along each axis (PCA); `name` says how it was made.

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

    def _check(self) -> None:
        if self.axes.shape != (2, self.origin.numel()):
            raise ValueError(f"axes must have shape (2, {self.origin.numel()}), got {tuple(self.axes.shape)}")
        lengths = self.axes.double().norm(dim=1, keepdim=True)
        if not bool(lengths.all()):
            raise ValueError(f"axes must have a length > 0, got 0 for number {int(lengths.argmin()) + 1}: give a direction")
        unit = self.axes.double() / lengths
        if float(torch.linalg.eigvalsh(unit @ unit.T)[0]) < PARALLEL:
            raise ValueError("axes must point in different directions, got parallel ones: along a line, use slice_line")

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
        """Whether distance in the picture is distance in weight space."""
        gram = self.axes.double() @ self.axes.double().T
        return bool(((gram - torch.eye(len(gram)).to(gram)).abs() < 1.5e-4).all())

    def points(self, coords: Tensor) -> Tensor:
        """Compute the weight vectors (S, D) at in-plane coordinates (S, 2)."""
        return self.origin + coords @ self.axes


class Curve(Noun, made_by="fv.slice_line makes one"):
    """Values (T,) against `t` (T,): a slice of the loss along a line, a path, a score against ensemble size.

    A slice from w0 to w1 has t = 0 at w0 and t = 1 at w1, both computed.  `n` and `batchnorm` are the objective's.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.Curve(torch.tensor([0.0, 0.5, 1.0]), torch.tensor([1.0, 3.0, 2.0])).barrier  # above 1.5, half-way between the ends
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
        """Highest rise of the values above the straight line between those at the ends; 0 where they never rise.

        NaN where a value is NaN, or one at an end is not finite; inf where one between them is.
        """
        if len(self.t) < 2:
            return 0.0 if not self.n_diverged else math.nan
        t = (self.t - self.t[0]) / (self.t[-1] - self.t[0])
        rise = self.values - torch.lerp(self.values[0], self.values[-1], t)
        return float(rise.max().clamp_min(0))  # NaN if any is

    @property
    def n_diverged(self) -> int:
        """Values that are NaN or inf."""
        return int((~torch.isfinite(self.values)).sum())


class Surface(Drawn, made_by="fv.slice_plane makes one"):
    """Values of an objective over a plane, with their coordinates.

    On a grid `a` is (U,), `b` is (V,) and values[i, j] = f(origin + a[i] axes[0] + b[j] axes[1]), (U, V).
    Scattered values (from a tool that does not return a grid) have `a`, `b` and `values` of one shape (S,).
    Diverged cells stay NaN or inf; `n_diverged` counts them.  `label` names the quantity, `n` the examples behind its
    mean, `batchnorm` the statistics used (None: the network has no BatchNorm).  `precision` names a reduced one, `error` its
    measured error.

    Example:
        >>> import torch, flatviz as fv
        >>> plane, a = fv.Plane(torch.zeros(2), torch.eye(2), "step"), torch.tensor([-1.0, 0.0, 1.0])
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
        if tuple(self.values.shape) != grid and not (self.a.shape == self.b.shape == self.values.shape):
            raise ValueError(f"values must have shape {grid}, or that of a and b, got {tuple(self.values.shape)}")

    @property
    def scattered(self) -> bool:
        """Whether the values lie at scattered points, not on a grid."""
        return self.values.ndim == 1

    @property
    def n_diverged(self) -> int:
        """Cells whose value is NaN or inf."""
        return int((~torch.isfinite(self.values)).sum())


class Spectrum(Noun, made_by="fv.top_eigenpairs makes one"):
    """Largest eigenpairs of a Hessian at `w`: `values` (K,) falling, `vectors` (K, D).

    `residual` (K,) is |H v - lambda v|, an error bound on each eigenvalue: read it first.  `n_products` counts the
    Hessian-vector products spent, `n` the examples behind the objective, `batchnorm` the statistics it used.
    `curvature` says of which matrix: "hessian", "ggn" or "fisher".  With a density, `nodes` and `weights` (A,) are its
    atoms: the share weights[i] of all D eigenvalues lies about nodes[i].

    Example:
        >>> import torch, flatviz as fv
        >>> spectrum = fv.top_eigenpairs(lambda w: (w * w * torch.tensor([1.0, 2.0])).sum(), torch.ones(2), k=2)
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


class Persistence(Noun, made_by="fv.landscape.persistence makes one"):
    """Valleys of a surface, M of them, by rising birth: the merge tree of its sublevel sets.

    A valley is born at its minimum (`birth` (M,), at grid indices `minimum` (M, K)) and dies at the saddle (`death` (M,),
    `saddle` (M, K)) where it meets a deeper one, `parent` (M,).  The deepest has death inf, saddle and parent -1.
    """

    surface: Surface
    birth: Tensor
    death: Tensor
    minimum: Tensor
    saddle: Tensor
    parent: Tensor

    @property
    def depth(self) -> Tensor:
        """Persistence death - birth, (M,)."""
        return self.death - self.birth

    def count(self, depth: float) -> int:
        """Valleys at least `depth` deep."""
        return int((self.depth >= depth).sum())


class Projection(Drawn, made_by="fv.project makes one"):
    """Weight vectors seen on a plane: `coords` (S, 2), and `distance` (S,), how far each lies off the plane.

    `values` (S,), where an objective was given, is the loss at the vectors themselves, not at their shadows.
    For a Gaussian, `covariance` (2, 2) is that of its draws' coords, `spread` their root mean square distance.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "step")
        >>> seen = fv.project(torch.tensor([1.0, 2.0, 5.0]), plane)
        >>> seen.coords.tolist(), seen.distance.tolist()
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


MEASURES = {  # of `Sharpness`, and what an axis says of each
    "lambda1": "largest eigenvalue λ₁",
    "ratio": "λ₁ / λ₅",
    "trace": "trace of the Hessian",
    "sam": "SAM-sharpness (nats)",
    "adaptive": "adaptive sharpness (nats)",
}


SHARPNESS_LABELS = {  # of `sharpness_measures`, and what a legend says of each
    "lambda1": "λ₁",
    "trace": "trace",
    "sam": "SAM-sharpness",
    "filter": "filter-normalised curvature",
    "relative": "relative flatness, first layer",
    "asam": "ASAM-sharpness",
    "weighted": "Σ w² H",
}


class Sharpness(Noun, made_by="fv.sharpness makes one"):
    """Measures of sharpness, one row a draw, (S,).

    `lambda1`; `ratio` = lambda1 / lambda5; `trace` of the Hessian; `sam` and `adaptive`, the loss gained by one ascent step of
    its radius.  `residual` is the error bound of lambda1, `trace_error` the standard error of the trace.
    """

    lambda1: Tensor
    ratio: Tensor
    trace: Tensor
    sam: Tensor
    adaptive: Tensor
    residual: Tensor
    trace_error: Tensor

    def interval(self, name: str) -> tuple[float, float]:
        """Compute the mean over draws of one of the measures, and half of its 95 % interval (Student's t; NaN for one draw)."""
        return interval(getattr(self, name).double())

    def by_size(self, name: str) -> tuple[Tensor, Tensor]:
        """Compute `interval` of the first 1, 2 ... S draws: means (S,) and half intervals (S,), the first of them NaN."""
        values = getattr(self, name).double()
        mean, half = zip(*(interval(values[:m]) for m in range(1, len(values) + 1)))
        return torch.tensor(mean, dtype=torch.float64), torch.tensor(half, dtype=torch.float64)


def interval(values: Tensor) -> tuple[float, float]:
    """Compute the mean of `values` (S,) and half of its 95 % confidence interval (Student's t; NaN for a single one)."""
    from scipy.stats import t  # comes with scikit-learn

    n = len(values)
    if n < 2:
        return float(values.mean()), math.nan
    return float(values.mean()), float(t.ppf(0.975, n - 1)) * float(values.std()) / math.sqrt(n)


class Prediction(Drawn, made_by="fv.predict makes one"):
    """Outputs of S draws on N inputs, (S, N, C): logits, means where `likelihood` is a Gaussian noise std, or what a `Likelihood` takes.

    Outputs of another library's network serve too: `Prediction(outputs, y)`.  With labels `y` (N,), `scores` holds each metric for
    every ensemble size 1..S, (S,) each, and `bins` (S, B, 3) the count, mean confidence and accuracy of each confidence bin; both
    are computed when they are first read.  `batchnorm` says which statistics were used, `trunk` whether the weights that are not
    treated were "fixed" or "sampled".  `class_names`: those of the data, () where it has none.

    Example:
        >>> import torch, flatviz as fv
        >>> outputs = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(outputs, torch.tensor([0, 1]))
        >>> prediction.bma().shape, prediction.scores["accuracy"].tolist()  # of 1 and of 2 draws
        (torch.Size([2, 2]), [0.5, 0.5])
    """

    outputs: Tensor
    y: Labels | None = None
    likelihood: str | float | Likelihood = "categorical"
    batchnorm: str | None = None
    scores: dict[str, Tensor] = field(default_factory=dict)
    bins: Tensor | None = field(default_factory=lambda: None)
    trunk: str = "fixed"
    class_names: tuple[str, ...] = ()

    def _check(self) -> None:
        as_likelihood(self.likelihood)
        if not self.outputs.is_floating_point() or self.outputs.ndim < 2:
            raise TypeError(f"outputs must be a floating tensor (S, N, ...) of S draws on N inputs, got {shown(self.outputs)}")
        if self.y is not None and len(self.y) != self.outputs.shape[1]:
            raise ValueError(f"y must hold {self.outputs.shape[1]} labels, one for each input, got {len(self.y)}")
        if self.y is not None and not self.scores:
            del self.__dict__["scores"], self.__dict__["bins"]  # `__getattr__` computes them

    def __getattr__(self, name: str) -> Any:
        if name not in ("scores", "bins"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        whole = importlib.import_module(SCORING).scored(self)
        self.__dict__.update(y=whole.y, scores=whole.scores, bins=whole.bins)
        return self.__dict__[name]

    @property
    def n_draws(self) -> int:
        """Number of draws S."""
        return self.outputs.shape[0]

    @property
    def n_diverged(self) -> int:
        """Number of outputs, of S N, that are no prediction: probabilities NaN, or means NaN or inf.  Scores of such draws are NaN."""
        bad = self.log_probs.isnan() if self.has_classes else ~self.outputs.isfinite()
        return int((bad.flatten(2).any(-1) if bad.ndim > 2 else bad).sum())

    @property
    def log_probs(self) -> Tensor:
        """Log class probabilities of each draw, (S, N, C); of several places an example, of all that count, (S, M, C)."""
        likelihood = as_likelihood(self.likelihood)
        outputs = self.outputs.to(torch.promote_types(self.outputs.dtype, torch.float32))  # sums in half precision stand still
        log_p = likelihood.log_probs(outputs.flatten(0, 1))
        if log_p is None:
            raise ValueError(f"class probabilities need a likelihood of classes, got {likelihood!r}: read mean or quantile")
        log_p = log_p.reshape(len(self.outputs), -1, log_p.shape[-1])
        counts = None if self.y is None else likelihood.counts(self.y)
        return log_p if counts is None else log_p[:, counts.flatten()]

    @property
    def has_classes(self) -> bool:
        """Whether its distribution is one of classes."""
        return as_likelihood(self.likelihood).log_probs(torch.ones_like(self.outputs[0, :1])) is not None  # these may be NaN

    def _spread(self) -> Distribution:
        """p(y) of every draw and input, (S N, ...), without `Independent`."""
        p = as_likelihood(self.likelihood).of(self.outputs.flatten(0, 1))
        while isinstance(p, Independent):
            p = p.base_dist
        return p

    def _by_draw(self, of_all: Tensor) -> Tensor:
        return of_all.unflatten(-1 if of_all.ndim == 1 else 0, self.outputs.shape[:2])

    @property
    def means(self) -> Tensor:
        """Mean of y in each draw of a regression, (S, N, ...)."""
        return self._by_draw(self._spread().mean)

    @property
    def mean(self) -> Tensor:
        """Predictive mean of y over draws and noise of a regression, (N, ...)."""
        return self.means.mean(0)

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` values of y for each input, (n, N, ...), from each draw in turn."""
        n, p = check_count(n, "n"), self._spread()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            each = p.sample((-(-n // self.n_draws),))
        return each.unflatten(1, self.outputs.shape[:2]).flatten(0, 1)[:n]

    def quantile(self, level: float, *, seed: int = 0) -> Tensor:
        """The value of y below which the share `level` of the predictive distribution lies, (N, ...), of a regression.

        By bisection of the mixture's distribution function; of 4,000 samples drawn by `seed` where torch has no inverse of one.
        """
        p, level = self._spread(), check_share(level, "level")
        try:
            edges = self._by_draw(p.icdf(torch.as_tensor(level).to(self.outputs)))
        except NotImplementedError:
            drawn = self.sample(-(-4000 // self.n_draws) * self.n_draws, seed=seed).sort(0).values
            return drawn[round(level * (len(drawn) - 1))]
        low, high = edges.amin(0), edges.amax(0)
        for _ in range(60):
            middle = (low + high) / 2
            below = self._by_draw(p.cdf(middle.expand(self.n_draws, *middle.shape).flatten(0, 1))).mean(0) < level
            low, high = middle.where(below, low), middle.where(~below, high)
        return (low + high) / 2

    @property
    def probs(self) -> Tensor:
        """Class probabilities of each draw, (S, N, C)."""
        return self.log_probs.exp()

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the C classes in pictures: equal names carry their number, and a class without a name is its number."""
        n_classes = self.log_probs.shape[-1]
        named = self.class_names[:n_classes]
        distinct = [name if named.count(name) == 1 else f"{name} ({c})" for c, name in enumerate(named)]
        return (*distinct, *map(str, range(len(named), n_classes)))

    def bma(self, n_draws: int | None = None) -> Tensor:
        """Average the class probabilities over the first `n_draws` draws (default all), (N, C)."""
        return self.probs[: self.size(n_draws)].mean(0)

    def size(self, n_draws: int | None) -> int:
        """Check `n_draws`, all draws by default.  Raises ValueError for more than there are."""
        n = self.n_draws if n_draws is None else check_count(n_draws, "n_draws")
        if n > self.n_draws:
            raise ValueError(f"asked for {n} draws, but this prediction has {self.n_draws}: lower n_draws, or draw more")
        return n


class Shift(Noun, made_by="fv.families.shifted_scores makes one"):
    """Scores under distribution shift: `scores[name]` (K, V), a row a kind of corruption, a column a severity.

    `severities` begins with 0, the inputs as they are, whose scores are the same for every kind.  `scores` holds accuracy,
    nll and ece of the average of `n_draws` draws on `n` inputs; `batchnorm` and `trunk` are those of `Prediction`.
    """

    kinds: tuple[str, ...]
    severities: tuple[int, ...]
    scores: dict[str, Tensor]
    n: int
    n_draws: int
    batchnorm: str | None = None
    trunk: str = "fixed"

    def mean(self, name: str) -> Tensor:
        """Average one score over the kinds of corruption, at each severity, (V,)."""
        return self.scores[name].mean(0)


class Mechanism(Noun, made_by="fv.families.mechanism makes one"):
    """One step of a method from a Gaussian q, at R radii, in coordinates of the plane of its perturbation.

    surface: the loss on that plane, whose origin is q's mean (None: not computed); covariance (2, 2): of q's draws in it.
    radius: (R,), in `unit`; ball (R, 2, 2): the shadow a^T ball^-1 a <= 1 of all moves d of the mean with
    KL(q' || q) = d^T Sigma^-1 d / 2 <= radius^2 / 2, which is q's ellipse times the radius; for a Euclidean method of |d| <=
    radius; worst (R, 2), worst_covariance (R, 2, 2): q' = q + `perturb`; length (R,): how far q's mean moves, the radius of
    SAM's Euclidean ball that reaches as far.
    gradient (2,): of E_q[NLL] in the mean, at q; there (R, 2): the same at q'; both as they lie in the plane.
    loss, worst_loss (R,): E_q[NLL] and E_q'[NLL], in nats.  name: of q, as a picture calls it.
    """

    surface: Surface | None
    covariance: Tensor
    radius: tuple[float, ...]
    ball: Tensor
    worst: Tensor
    worst_covariance: Tensor
    length: Tensor
    gradient: Tensor
    there: Tensor
    loss: float
    worst_loss: Tensor
    unit: str
    name: str = "q"

    def reach(self, k: int) -> float:
        """Largest coordinates on the axes of q, q', the ball, and SAM's ball of radius k."""
        ellipses = self.covariance, self.ball[k], self.worst_covariance[k]
        q, ball, worst = (matrix.diagonal().clamp_min(0).sqrt() for matrix in ellipses)
        return max(float(end.max()) for end in (q, ball, self.worst[k].abs() + worst, self.length[k]))


class LayerCurvature(NamedTuple):
    """Curvature of a layer's block of H: its number of weights, largest eigenvalue and residual, trace and its standard error."""

    weights: int
    lambda1: float
    residual: float
    trace: float
    error: float


class Member(Noun, made_by="fv.families.fit_family makes one"):
    """One posterior of a family: its method at a radius in `unit`, and its measurements.

    projection: its draws on the family's surface; around: the surface on a random plane around its center, sharpest: that on
    the plane of the two sharpest directions there; spectrum: of several draws; prediction: on the test split.  step: one step
    from VI's posterior at this radius.  over_seeds: "lambda1", "accuracy", "nll" and "ece" (S,) of fits with other noise.
    maps: arrays of other pictures, by name: see `families.maps`, `inputs` and `images`.
    """

    method: str
    radius: float
    unit: str
    posterior: Posterior
    projection: Projection | None = None
    around: Surface | None = None
    sharpest: Surface | None = None
    spectrum: tuple[Spectrum, ...] = ()
    prediction: Prediction | None = None
    step: Mechanism | None = None
    over_seeds: dict[str, Tensor] = field(default_factory=dict)
    maps: dict[str, Any] = field(default_factory=dict)


def _of_members(name: str) -> property:
    return property(
        lambda family: tuple(getattr(m, name) for m in family.members), doc=f"`Member.{name}` of every member, (M,)."
    )


class Family(Noun, made_by="fv.families.fit_family makes one"):
    """Posteriors of one or more methods over their radii: M members on shared ground.

    `surface` is the loss on the PCA plane of all draws.  `inputs` and `images` are what the members' `maps` share: a grid of inputs,
    the pixels.
    `family[i]` is a member; `family.method`, `.radius`, `.prediction` ... hold a field of every member, (M,).

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Gaussian(torch.zeros(2), torch.zeros(2))
        >>> family = fv.Family(tuple(fv.results.Member("sabma", radius, "nats", q) for radius in (0.0, 0.5, 2.0)))
        >>> family.radii("sabma"), family.index("sabma", 1.5), family.measured
        ((0.0, 0.5, 2.0), 2, False)
    """

    members: tuple[Member, ...]
    surface: Surface | None = None
    inputs: dict[str, Tensor] = field(default_factory=dict)
    images: dict[str, Tensor] = field(default_factory=dict)

    method, radius, unit = _of_members("method"), _of_members("radius"), _of_members("unit")
    posterior, prediction, spectrum = _of_members("posterior"), _of_members("prediction"), _of_members("spectrum")
    projection, around, sharpest = _of_members("projection"), _of_members("around"), _of_members("sharpest")

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __getitem__(self, i: int) -> Member:
        return self.members[i]

    def add(self, member: Member) -> Family:
        """Return the family with one more member."""
        return dataclasses.replace(self, members=(*self.members, member))

    def each(self, **fields: Sequence) -> Family:
        """Return the family with new values of fields of its members, one value a member."""
        rows = zip(self.members, *fields.values(), strict=True)
        return dataclasses.replace(self, members=tuple(dataclasses.replace(m, **dict(zip(fields, row))) for m, *row in rows))

    @property
    def measured(self) -> bool:
        """Whether measurements are stored, not posteriors alone."""
        return self.surface is not None and all(m.prediction is not None and m.spectrum for m in self.members)

    @property
    def n_draws(self) -> int:
        """Largest ensemble size."""
        return max(m.prediction.n_draws for m in self.members if m.prediction is not None)

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order, each once."""
        return tuple(dict.fromkeys(m.method for m in self.members))

    def radii(self, method: str) -> tuple[float, ...]:
        """List the radii at which `method` was fitted, rising."""
        return tuple(sorted(m.radius for m in self.members if m.method == method))

    def index(self, method: str, radius: float | None = None) -> int:
        """Find the member of `method` whose radius is nearest to `radius`: 0 by itself, others in powers of ten, as sliders count."""
        members = [i for i, m in enumerate(self.members) if m.method == method]
        if not members:
            raise ValueError(f"method must be one of {', '.join(map(repr, self.methods))}, got {method!r}")
        if radius is None:
            return members[0]

        def far(i: int) -> float:
            r = self.members[i].radius
            return 0.0 if r == radius else abs(math.log10(r / radius)) if r > 0 and radius > 0 else math.inf

        return min(members, key=lambda i: (far(i), self.members[i].radius))


NOUNS = {
    cls.__name__: cls
    for cls in (
        *(History, Gaussian, Draws, Mixture, Plane, Curve),
        *(Surface, Persistence, Spectrum, Projection, Sharpness, Prediction, Shift, Mechanism, Member, Family),
    )
}

SAVED = NOUNS | {cls.__name__: cls for cls in (CategoricalLikelihood, GaussianLikelihood)}
POSTERIORS = (Gaussian, Draws, Mixture)
FOR_READERS = tuple(kind for kind in NOUNS.values() if kind not in (*POSTERIORS, Plane))


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """Copy a list, tuple, dict or dataclass with change(item) in place of each item; `value` itself where nothing changes."""
    if type(value) in (list, tuple):
        new = list(map(change, value))
        return value if all(map(operator.is_, new, value)) else type(value)(new)
    if type(value) is dict:
        fields = {key: change(item) for key, item in value.items()}
        return value if all(map(operator.is_, fields.values(), value.values())) else fields
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    names = vars(value).keys() & {f.name for f in dataclasses.fields(value)}  # a field not yet computed stays so
    changed = {name: new for name in names if (new := change(vars(value)[name])) is not vars(value)[name]}
    return dataclasses.replace(value, **changed) if changed else value


def placed(value: Any, where: torch.device | torch.dtype) -> Any:
    """Copy `value` with its tensors and nouns on a device, or in a type; networks, data and objectives are left as they are."""
    if isinstance(value, Tensor):
        return value.to(where)
    deep = type(value) in (list, tuple, dict, *NOUNS.values())
    return rebuilt(value, partial(placed, where=where)) if deep else value


def for_readers(value: Any, inside: bool = False) -> Any:
    """Put the nouns of a verb's result on the CPU for readers; weights, planes and posteriors stay on their device.

    The one place that does it, for all verbs.  inside: `value` is a part of such a noun.
    """
    if isinstance(value, Tensor):
        return value.cpu() if inside else value
    if type(value) not in (list, tuple, dict, *NOUNS.values()):
        return value
    inside = type(value) in FOR_READERS or inside and type(value) not in POSTERIORS
    return rebuilt(value, lambda item: for_readers(item, inside))


def to_plain(result: Any, tensors: list[Tensor]) -> Any:
    """Write a noun as JSON: numbers, texts and lists stay, all else is {its kind: its content}; tensors are appended to `tensors`."""
    plain = partial(to_plain, tensors=tensors)
    if isinstance(result, Tensor):
        tensors.append(result)
        return {"tensor": str(len(tensors) - 1)}
    if isinstance(result, Likelihood) and result.name in BUILT_IN and result.of == BUILT_IN[result.name].of:
        return result.name
    if type(result) in SAVED.values():
        return {type(result).__name__: {f.name: plain(getattr(result, f.name)) for f in dataclasses.fields(result)}}
    if isinstance(result, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in result.items()]}
    if isinstance(result, (tuple, list)):
        items = list(map(plain, result))
        return {"tuple": items} if isinstance(result, tuple) else items
    for kind in (bool, int, float, str):  # numpy's numbers and enumerations as the plain ones that they are
        if isinstance(result, kind):
            return kind(result)
    if result is None:
        return None
    why = f"expected one of {', '.join(NOUNS)}, or a dict, tuple or list of them, of tensors, numbers and texts"
    raise TypeError(f"cannot save a {type(result).__name__}: {why}")


def from_plain(plain: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Read the output of `to_plain`, with the tensors by their numbers."""
    made = partial(from_plain, tensors=tensors)
    if isinstance(plain, list):
        return list(map(made, plain))
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {made(k): made(v) for k, v in content}
    return tuple(map(made, content)) if kind == "tuple" else SAVED[kind](**{k: made(v) for k, v in content.items()})
