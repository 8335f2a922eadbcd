"""Predictions, families, and all nouns by name (hence its length).

Also how nouns are saved and moved between devices.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution

from flatviz import distributions
from flatviz.checks import Labels, check_count, check_share, shown
from flatviz.gaussian import Gaussian
from flatviz.likelihood import (
    BUILT_IN,
    CategoricalLikelihood,
    GaussianLikelihood,
    Likelihood,
    Noise,
    as_likelihood,
)
from flatviz.noun import Drawn, History, Noun
from flatviz.private import PrivateNumbers
from flatviz.weight_space import (
    Curve,
    Draws,
    Mixture,
    Persistence,
    Plane,
    Posterior,
    Projection,
    Sharpness,
    Spectrum,
    Surface,
)
from flatviz.weight_space import LayerCurvature as LayerCurvature
from flatviz.weight_space import interval as interval

# Scores in figures, where a prediction has them
SHOWN = {
    "accuracy": "accuracy",
    "nll": "NLL",
    "ece": "ECE",
    "rmse": "RMSE",
}
SCORING = (  # module whose scored(prediction) computes `Prediction.scores`
    "flatviz.metrics.averaging"
)


class Prediction(Drawn, made_by="fv.predict makes one"):
    """Outputs of S draws on N inputs, (S, N, C).

    They are logits, means where `likelihood` is the standard deviation of Gaussian noise, or what a
    `Likelihood` takes.  Outputs of another library's network serve too: `Prediction(outputs, y)`.
    With labels `y` (N,), `scores` holds each metric for every ensemble size 1..S, (S,) each, and
    `bins` (S, B, 3) the count, mean confidence and accuracy of each confidence bin; both are
    computed when they are first read.

    Args:
        batchnorm: Statistics in use.
        trunk: Whether the weights that are not treated were "fixed" or "sampled".
        class_names: Those of the data, () where it has none.

    Example:
        >>> import torch, flatviz as fv
        >>> outputs = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])
        >>> prediction = fv.Prediction(outputs, torch.tensor([0, 1]))
        >>> prediction.bma().shape, prediction.scores["accuracy"].tolist()  # of 1 and of 2 draws
        (torch.Size([2, 2]), [0.5, 0.5])
    """

    outputs: Tensor
    y: Labels | None = None
    likelihood: str | Noise | Likelihood = "categorical"
    batchnorm: str | None = None
    scores: dict[str, Tensor] = field(default_factory=dict)
    bins: Tensor | None = field(default_factory=lambda: None)
    trunk: str = "fixed"
    class_names: tuple[str, ...] = ()

    def _check(self) -> None:
        as_likelihood(self.likelihood)
        if not self.outputs.is_floating_point() or self.outputs.ndim < 2:
            raise TypeError(
                "outputs must be a floating tensor (S, N, ...) of S draws on N inputs, got"
                f" {shown(self.outputs)}"
            )
        if self.y is not None and len(self.y) != self.outputs.shape[1]:
            raise ValueError(
                f"y must hold {self.outputs.shape[1]} labels, one for each input, got {len(self.y)}"
            )
        if self.y is not None and not self.scores:
            del self.__dict__["scores"], self.__dict__["bins"]  # `__getattr__` computes them

    def __getattr__(self, name: str) -> object:
        if name not in ("scores", "bins"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        complete = importlib.import_module(SCORING).scored(self)
        self.__dict__.update(y=complete.y, scores=complete.scores, bins=complete.bins)
        return self.__dict__[name]

    @property
    def n_draws(self) -> int:
        """Number of draws S."""
        return self.outputs.shape[0]

    @property
    def n_diverged(self) -> int:
        """Number of outputs, of S N, that are no prediction.

        Their probabilities are NaN, or their means NaN or inf.  Scores of such draws are NaN.
        """
        bad = self.log_probs.isnan() if self.has_classes else ~self.outputs.isfinite()
        return int((bad.flatten(2).any(-1) if bad.ndim > 2 else bad).sum())

    @property
    def log_probs(self) -> Tensor:
        """Log class probabilities of each draw, (S, N, C), or (S, M, C) of M places that count."""
        likelihood = as_likelihood(self.likelihood)
        # In float32 at least, as sums in half precision stop growing
        outputs = self.outputs.to(torch.promote_types(self.outputs.dtype, torch.float32))
        log_p = likelihood.log_probs(outputs.flatten(0, 1))
        if log_p is None:
            raise ValueError(
                f"class probabilities need a likelihood of classes, got {likelihood!r}: read mean"
                " or quantile"
            )
        log_p = log_p.reshape(len(self.outputs), -1, log_p.shape[-1])
        counts = None if self.y is None else likelihood.counts(self.y)
        return log_p if counts is None else log_p[:, counts.flatten()]

    @property
    def has_classes(self) -> bool:
        """Whether the likelihood is one of classes."""
        # Fields that may be NaN
        return (
            as_likelihood(self.likelihood).log_probs(torch.ones_like(self.outputs[0, :1]))
            is not None
        )

    @property
    def distribution(self) -> Distribution:
        """p(y) of every draw and input, (S N, ...), without `Independent`."""
        return distributions.entrywise(
            as_likelihood(self.likelihood).of(self.outputs.flatten(0, 1))
        )

    def _by_draw(self, of_all: Tensor) -> Tensor:
        return of_all.unflatten(-1 if of_all.ndim == 1 else 0, self.outputs.shape[:2])

    @property
    def means(self) -> Tensor:
        """Mean of y in each draw of a regression, (S, N, ...)."""
        return self._by_draw(distributions.mean(self.distribution))

    @property
    def mean(self) -> Tensor:
        """Predictive mean of y over draws and noise of a regression, (N, ...)."""
        return self.means.mean(0)

    @property
    def std(self) -> Tensor:
        """Predictive standard deviation of a regression over draws and noise, (N, ...)."""
        noise = self._by_draw(distributions.variance(self.distribution)).mean(0)
        return (noise + self.means.var(0, correction=0)).sqrt()

    def below(self, y: Tensor) -> Tensor:
        """Compute P(Y <= y) of targets `y` (N, ...) in each draw of a regression, (S, N, ...).

        It is a share of 1,000 samples of each draw where torch has no distribution function.
        """
        p = self.distribution
        many = y.expand(self.n_draws, *y.shape).flatten(0, 1).reshape(p.batch_shape)
        many = many.to(self.outputs)
        try:
            return self._by_draw(distributions.cdf(p, many))
        except NotImplementedError:
            drawn = self.sample(1000 * self.n_draws, seed=0).unflatten(0, (1000, self.n_draws))
            return (drawn <= self._by_draw(many)).to(many).mean(0)

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` values of y for each input, (n, N, ...), from each draw in turn."""
        n = check_count(n, "n")
        p = self.distribution
        with PrivateNumbers(seed):
            each = p.sample((-(-n // self.n_draws),))
        return each.unflatten(1, self.outputs.shape[:2]).flatten(0, 1)[:n]

    def inverse(self, levels: Tensor) -> Tensor:
        """Compute quantiles of each draw's distribution at `levels` (L,), (L, S, N, ...).

        Raises NotImplementedError where torch has no inverse.
        """
        p = self.distribution
        at = distributions.icdf(p, levels.view(-1, *[1] * len(p.batch_shape)))
        return at.unflatten(1, self.outputs.shape[:2])

    def quantile(self, level: float, *, seed: int = 0) -> Tensor:
        """Compute the quantiles of a regression's predictive distribution at `level`, (N, ...).

        They come from bisection of the mixture's distribution function, or from 4,000 samples drawn
        by `seed` where torch has none.
        """
        level = check_share(level, "level")
        try:
            edges = self.inverse(self.outputs.new_tensor([level]))[0]
        except NotImplementedError:
            drawn = self.sample(-(-4000 // self.n_draws) * self.n_draws, seed=seed).sort(0).values
            return drawn[round(level * (len(drawn) - 1))]
        low = edges.amin(0)
        high = edges.amax(0)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.below(middle).mean(0) < level
            low = middle.where(below, low)
            high = middle.where(~below, high)
        return (low + high) / 2

    @property
    def probs(self) -> Tensor:
        """Class probabilities of each draw, (S, N, C)."""
        return self.log_probs.exp()

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the C classes in figures.

        Equal names get their number, and a class without a name is its number.
        """
        n_classes = self.log_probs.shape[-1]
        named = self.class_names[:n_classes]
        distinct = [
            name if named.count(name) == 1 else f"{name} ({c})" for c, name in enumerate(named)
        ]
        return (*distinct, *map(str, range(len(named), n_classes)))

    def bma(self, n_draws: int | None = None) -> Tensor:
        """Average the class probabilities over the first `n_draws` draws (default all), (N, C)."""
        return self.probs[: self.size(n_draws)].mean(0)

    def size(self, n_draws: int | None) -> int:
        """Check `n_draws`, by default all; a ValueError for more than there are."""
        n = self.n_draws if n_draws is None else check_count(n_draws, "n_draws")
        if n > self.n_draws:
            raise ValueError(
                f"asked for {n} draws, but this prediction has {self.n_draws}: lower n_draws, or"
                " draw more"
            )
        return n


class Shift(Noun, made_by="fv.families.shifted_scores makes one"):
    """Scores under distribution shift: `scores[name]` (K, V), kinds of corruption by severities.

    `severities` begins with 0, the original inputs, whose scores are the same for every kind.
    `scores` holds accuracy, nll and ece of the average of `n_draws` draws on `n` inputs;
    `batchnorm` and `trunk` are those of `Prediction`.
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
    """One step of a method from a Gaussian q, at R radii, in the plane of its perturbation.

    Args:
        surface: The loss on that plane, whose origin is q's mean; None: not computed.
        covariance: (2, 2), of q's draws in the plane.
        radius: (R,), in `unit`.
        ball: (R, 2, 2), the projection a^T ball^-1 a <= 1 of all moves d of the mean with
            KL(q' || q) = d^T Sigma^-1 d / 2 <= radius^2 / 2, which is q's ellipse times the radius;
            for a Euclidean method, with |d| <= radius.
        worst, worst_covariance: (R, 2), (R, 2, 2), q' = q + `perturb`.
        length: (R,), how far q's mean moves; a Euclidean ball of SAM with this radius reaches as
            far.
        gradient: (2,), of E_q[NLL] in the mean, at q; there: (R, 2), at q'; in the plane.
        loss, worst_loss: (R,), E_q[NLL] and E_q'[NLL], in nats.
        name: Of q, in figures.
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
        """Return the largest coordinates of q, q', the ball, and SAM's ball at radius k."""
        ellipses = self.covariance, self.ball[k], self.worst_covariance[k]
        q, ball, worst = (matrix.diagonal().clamp_min(0).sqrt() for matrix in ellipses)
        return max(
            float(end.max()) for end in (q, ball, self.worst[k].abs() + worst, self.length[k])
        )


class Member(Noun, made_by="fv.families.fit_family makes one"):
    """One posterior of a family: its method at a radius in `unit`, and its measurements.

    Args:
        projection: Its draws on the family's surface.
        around: The surface on a random plane around its center.
        sharpest: The surface on the plane of the two sharpest directions there.
        spectrum: Of several draws.
        prediction: On the test split.
        step: One step from VI's posterior at this radius.
        over_seeds: "lambda1", "accuracy", "nll" and "ece", (S,), of fits with other seeds.
        maps: Arrays of other figures, by name: see `families.maps`, `inputs` and `images`.
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
        lambda family: tuple(getattr(m, name) for m in family.members),
        doc=f"`Member.{name}` of all members.",
    )


class Family(Noun, made_by="fv.families.fit_family makes one"):
    """Posteriors of one or more methods over their radii: M members on shared ground.

    `surface` is the loss on the PCA plane of all draws.  `inputs` and `images` are shared by the
    members' `maps`: a grid of inputs, the pixels.  `family[i]` is a member; `family.method`,
    `.radius`, `.prediction` ... hold a field of all members.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Gaussian(torch.zeros(2), torch.zeros(2))
        >>> members = [fv.results.Member("sabma", radius, "nats", q) for radius in (0.0, 0.5, 2.0)]
        >>> family = fv.Family(tuple(members))
        >>> family.radii("sabma"), family.index("sabma", 1.5), family.measured
        ((0.0, 0.5, 2.0), 2, False)
    """

    members: tuple[Member, ...]
    surface: Surface | None = None
    inputs: dict[str, Tensor] = field(default_factory=dict)
    images: dict[str, Tensor] = field(default_factory=dict)

    method = _of_members("method")
    radius = _of_members("radius")
    unit = _of_members("unit")
    posterior = _of_members("posterior")
    prediction = _of_members("prediction")
    spectrum = _of_members("spectrum")
    projection = _of_members("projection")
    around = _of_members("around")
    sharpest = _of_members("sharpest")

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
        """Return the family with new values of its members' fields, one value a member."""
        rows = zip(self.members, *fields.values(), strict=True)
        return dataclasses.replace(
            self,
            members=tuple(dataclasses.replace(m, **dict(zip(fields, row))) for m, *row in rows),
        )

    @property
    def measured(self) -> bool:
        """Whether the family has measurements beside posteriors."""
        return self.surface is not None and all(
            m.prediction is not None and m.spectrum for m in self.members
        )

    @property
    def n_draws(self) -> int:
        """Largest ensemble size."""
        return max(m.prediction.n_draws for m in self.members if m.prediction is not None)

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order, each once."""
        return tuple(dict.fromkeys(m.method for m in self.members))

    def radii(self, method: str) -> tuple[float, ...]:
        """List the radii at which `method` was fitted, increasing."""
        return tuple(sorted(m.radius for m in self.members if m.method == method))

    def index(self, method: str, radius: float | None = None) -> int:
        """Find the member of `method` nearest to `radius`, in powers of ten; 0 matches 0 alone."""
        members = [i for i, m in enumerate(self.members) if m.method == method]
        if not members:
            raise ValueError(
                f"method must be one of {', '.join(map(repr, self.methods))}, got {method!r}"
            )
        if radius is None:
            return members[0]

        def far(i: int) -> float:
            r = self.members[i].radius
            if r == radius:
                return 0.0
            return abs(math.log10(r / radius)) if r > 0 and radius > 0 else math.inf

        return min(members, key=lambda i: (far(i), self.members[i].radius))


NOUNS = {
    cls.__name__: cls
    for cls in (
        History,
        Gaussian,
        Draws,
        Mixture,
        Plane,
        Curve,
        Surface,
        Persistence,
        Spectrum,
        Projection,
        Sharpness,
        Prediction,
        Shift,
        Mechanism,
        Member,
        Family,
    )
}

SAVED = NOUNS | {cls.__name__: cls for cls in (CategoricalLikelihood, GaussianLikelihood)}
POSTERIORS = (Gaussian, Draws, Mixture)
FOR_READERS = tuple(kind for kind in NOUNS.values() if kind not in (*POSTERIORS, Plane))


def rebuilt(value: Any, change: Callable[[object], Any]) -> object:
    """Copy a list, tuple, dict or dataclass with change(item) in place of each item.

    Return `value` itself where nothing changes.
    """
    if type(value) in (list, tuple):
        new = list(map(change, value))
        return value if all(map(operator.is_, new, value)) else type(value)(new)
    if type(value) is dict:
        fields = {key: change(item) for key, item in value.items()}
        return value if all(map(operator.is_, fields.values(), value.values())) else fields
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    # A field that is not computed stays None
    names = vars(value).keys() & {f.name for f in dataclasses.fields(value)}
    changed = {
        name: new for name in names if (new := change(vars(value)[name])) is not vars(value)[name]
    }
    return dataclasses.replace(value, **changed) if changed else value


def placed(value: object, where: torch.device | torch.dtype) -> Any:
    """Copy `value` with its tensors and nouns on a device, or in a dtype.

    Networks, data and objectives are left as they are.
    """
    if isinstance(value, Tensor):
        return value.to(where)
    deep = type(value) in (list, tuple, dict, *NOUNS.values())
    return rebuilt(value, partial(placed, where=where)) if deep else value


def for_readers(value: object, inside: bool = False) -> Any:
    """Move the nouns of a verb's result to the CPU, but not weights, planes and posteriors.

    All verbs do it here.  inside: `value` is a part of a noun for readers.
    """
    if isinstance(value, Tensor):
        return value.cpu() if inside else value
    if type(value) not in (list, tuple, dict, *NOUNS.values()):
        return value
    inside = type(value) in FOR_READERS or inside and type(value) not in POSTERIORS
    return rebuilt(value, lambda item: for_readers(item, inside))


def to_plain(result: Any, tensors: list[Tensor]) -> object:
    """Write a noun as JSON; tensors are appended to `tensors`.

    Numbers, texts and lists stay, all else is {its kind: its content}.

    Raises:
        TypeError: For a value that cannot be written.
    """
    plain = partial(to_plain, tensors=tensors)
    if isinstance(result, Tensor):
        tensors.append(result)
        return {"tensor": str(len(tensors) - 1)}
    if (
        isinstance(result, Likelihood)
        and result.name in BUILT_IN
        and result.of == BUILT_IN[result.name].of
    ):
        return result.name
    if type(result) in SAVED.values():
        return {
            type(result).__name__: {
                f.name: plain(getattr(result, f.name)) for f in dataclasses.fields(result)
            }
        }
    if isinstance(result, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in result.items()]}
    if isinstance(result, (tuple, list)):
        items = list(map(plain, result))
        return {"tuple": items} if isinstance(result, tuple) else items
    # Numbers of numpy and enumerations become plain ones
    for kind in (
        bool,
        int,
        float,
        str,
    ):
        if isinstance(result, kind):
            return kind(result)
    if result is None:
        return None
    why = (
        f"expected one of {', '.join(NOUNS)}, or a dict, tuple or list of them, of tensors, numbers"
        " and texts"
    )
    raise TypeError(f"cannot save a {type(result).__name__}: {why}")


def from_plain(plain: object, tensors: Mapping[str, Tensor]) -> Any:
    """Read the output of `to_plain`, with the tensors by their indices."""
    read = partial(from_plain, tensors=tensors)
    if isinstance(plain, list):
        return list(map(read, plain))
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {read(k): read(v) for k, v in content}
    return (
        tuple(map(read, content))
        if kind == "tuple"
        else SAVED[kind](**{k: read(v) for k, v in content.items()})
    )
