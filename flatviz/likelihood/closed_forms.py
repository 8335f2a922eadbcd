"""Likelihoods with closed forms: of classes, of labels 0 and 1, and under Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal
from torch.nn import functional as F

from flatviz import distributions
from flatviz.checks import check_positive, number, shown
from flatviz.likelihood.base import CLOSED_FORMS, Likelihood, Noise, Product
from flatviz.noun import check_fields
from flatviz.words import did_you_mean

NEAR_ONE = 1e-3  # tolerance of the sum of outputs that are probabilities
MIN_NOISE = 1e-6
Smoothing = Annotated[float, number("from 0 to below 1", lambda s: 0 <= s < 1)]


@dataclass(frozen=True, eq=False)
class CategoricalLikelihood(Likelihood):
    """Likelihood of classes; fields as in `Likelihood.categorical`."""

    weight: Tensor | None = None
    label_smoothing: Smoothing = 0.0
    ignore: int = -100
    dim: int | None = None

    name = "categorical"

    def __post_init__(self) -> None:
        check_fields(self)
        weight = self.weight
        if weight is None:
            return
        valid = weight.ndim == 1 and bool((weight >= 0).all())
        if not valid:
            raise ValueError(
                f"weight must be a tensor (C,) of numbers >= 0, one a class, got {weight!r}"
            )

    def longest_gradient(self, y: Tensor) -> float | None:
        """Return 1 for several labels an example, as of a language model.

        Its logits may begin at some tens of nats, where a step of SGD leaves it as it can no longer
        learn.
        """
        return None if y.ndim == 1 else 1.0

    def best_constant(self, y: Tensor, start: Tensor) -> Tensor:
        """Return the logarithms of the shares of the classes, the same at all places."""
        dim = self._dim(start)
        counting = y[self.mask(y)]
        n = torch.bincount(counting, minlength=start.shape[dim]).double()
        smooth = self.label_smoothing
        mass = (1 - smooth) * n + smooth * n.mean()
        if self.weight is not None:
            mass = self.weight.to(n) * mass
        shares = mass / mass.sum()
        smallest = torch.finfo(torch.float64).tiny
        log_p = shares.clamp_min(smallest).log().to(start)
        places = [1] * (start.ndim - 1 - dim)
        return log_p.view(-1, *places).expand_as(start).clone()

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the classes."""
        return Categorical(logits=outputs.movedim(self._dim(outputs), -1))

    def _dim(self, outputs: Tensor) -> int:
        """Return the dimension of the classes."""
        if self.dim is not None:
            return self.dim % outputs.ndim
        return 1 if outputs.ndim > 3 else outputs.ndim - 1

    def _loss(self, outputs: Tensor, y: Tensor, reduction: str) -> Tensor:
        logits = outputs.movedim(self._dim(outputs), 1)
        # torch's softmax is faster over columns
        if reduction == "sum" and y.ndim == 1 and logits.stride(0) < logits.stride(1):
            logits = logits.t()[None]
            y = y[None]
        return F.cross_entropy(
            logits,
            y,
            None if self.weight is None else self.weight.to(outputs),
            ignore_index=self.ignore,
            reduction=reduction,
            label_smoothing=self.label_smoothing,
        )

    def entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute weighted and smoothed -log p, 0 where a place does not count."""
        return self._loss(outputs, y, "none")

    def mask(self, y: Tensor) -> Tensor:
        """Mark labels that are not ignored."""
        return y != self.ignore

    def weights(self, y: Tensor) -> Tensor | None:
        """Compute the mean class weight of each example's places, 0 for ignored ones."""
        if self.weight is None:
            # A `Data` with one label an example has none below 0
            all_count = y.ndim == 1 and self.ignore < 0
            return None if all_count else super().weights(y)
        mask = self.mask(y)
        by_class = self.weight.to(y.device).double()
        weights = by_class[y.where(mask, 0)] * mask
        return weights.reshape(len(y), -1).mean(1)

    def nll(
        self,
        outputs: Tensor,
        y: Tensor,
        reduction: str = "mean",
    ) -> Tensor:
        """Compute mean or sum as `torch.nn.functional.cross_entropy`; 0 where nothing counts."""
        if y.ndim == 1 and (reduction == "sum" or self.weights(y) is None):
            return self._loss(outputs, y, reduction)
        return super().nll(outputs, y, reduction)

    def nll_rows(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute `nll` of each member."""
        if y.ndim == 2 and not self.label_smoothing and self.weights(y[0]) is None:
            log_p = outputs.log_softmax(-1)
            of_labels = log_p.gather(-1, y[..., None])
            return -of_labels.mean((1, 2))
        return super().nll_rows(outputs, y)

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product:
        """Return Lambda = s (diag(p) - p p^T) of each place.

        s is the sum of its weighted and smoothed target over the number of places.
        """
        dim = self._dim(outputs) - outputs.ndim  # from the right: u has dimensions after the first
        p = outputs.softmax(dim)
        share = None if y is None else self.shares(outputs, y)
        scale = None if share is None else share.unsqueeze(dim)

        def as_wide(t: Tensor, u: Tensor) -> Tensor:
            ones = [1] * (u.ndim - t.ndim)
            return t.view(len(t), *ones, *t.shape[1:])

        def product(u: Tensor) -> Tensor:
            wide = as_wide(p, u)
            mean = (wide * u).sum(dim, keepdim=True)
            curved = wide * (u - mean)
            return curved if scale is None else curved * as_wide(scale, u)

        return product

    def shares(self, outputs: Tensor, y: Tensor) -> Tensor | None:
        """Compute s of each place, of the shape of y; None where all are 1."""
        if y.ndim == 1 and self.weights(y) is None:
            return None
        n_classes = outputs.shape[self._dim(outputs)]
        if self.weight is None:
            weight = outputs.new_ones(n_classes)
        else:
            weight = self.weight.to(outputs)
        mask = self.mask(y)
        smooth = self.label_smoothing
        own = weight[y.where(mask, 0)]
        s = (1 - smooth) * own + smooth * weight.mean()
        return s * mask * (len(y) / y.numel())

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Divide the logits."""
        return outputs / temperature, self

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Compute log probabilities of the classes, (N, P, C)."""
        dim = self._dim(outputs)
        log_p = outputs.log_softmax(dim).movedim(dim, -1)
        return log_p.reshape(len(outputs), -1, outputs.shape[dim])

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Check labels against the number of classes, for logits."""
        if outputs.ndim < 2 or (y.ndim == 1 and outputs.ndim > 2):
            raise ValueError(
                f"the net must return logits of shape (N, C), got {tuple(outputs.shape)}"
            )
        if y.is_floating_point():
            raise TypeError(
                "likelihood='categorical' needs integer class labels, got floating targets: give"
                " likelihood=the noise standard deviation for a regression, fv.Likelihood.soft()"
                " for probabilities of classes"
            )
        dim = self._dim(outputs)
        n_classes = outputs.shape[dim]
        places = outputs.shape[1:dim] + outputs.shape[dim + 1 :]
        if y.shape[1:] != places:
            several = "likelihood='bernoulli' for several labels"
            do = "fv.Likelihood.categorical(dim=1)" if outputs.ndim == 3 else several
            raise ValueError(
                f"labels must have shape {(len(y), *places)}, got {tuple(y.shape)}: use class"
                f" numbers, not one-hot, or {do}"
            )
        y = y.long()
        self._check_range(y, n_classes)
        if self.weight is not None and self.weight.shape != (n_classes,):
            raise ValueError(
                f"weight must have shape ({n_classes},), one a class, got"
                f" {tuple(self.weight.shape)}"
            )
        if n_classes > 1:
            _refuse_probabilities(outputs, dim)
        return y

    def _check_range(self, y: Tensor, n_classes: int) -> None:
        """Check that labels count somewhere, and are class numbers there."""
        counting = y[self.mask(y)]
        if not counting.numel():
            raise ValueError(
                f"labels must count somewhere, got {self.ignore} alone, which is ignored"
            )
        lowest, highest = map(int, counting.aminmax())
        if lowest < 0 or highest >= n_classes:
            do = "fix the labels"
            if n_classes == 1:
                do = (
                    "give likelihood='bernoulli' for one logit, or the noise's standard deviation"
                    " for a regression"
                )
            raise ValueError(
                f"labels must be in 0..{n_classes - 1} for a net with {n_classes} outputs, "
                f"got {lowest if lowest < 0 else highest}: {do}, or widen the head"
            )


def _refuse_probabilities(outputs: Tensor, dim: int) -> None:
    """Refuse outputs that look like probabilities over dimension `dim`, in place of logits."""
    off = (outputs.sum(dim) - 1).abs()
    if bool((outputs >= 0).all() and (off < NEAR_ONE).all()):
        raise ValueError(
            "the net must return logits, got probabilities, outputs >= 0 that sum to 1 over the"
            " classes: leave the last softmax out, give their logarithm, or use"
            " fv.Likelihood(lambda p: torch.distributions.Categorical(probs=p))"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SoftLikelihood(Likelihood):
    """Likelihood of classes given logits (N, C), with probabilities (N, C) as labels."""

    name: str = "soft"
    ignore = None

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the classes."""
        return Categorical(logits=outputs)

    def entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the cross-entropy of each example; class numbers are rows of 0 and 1."""
        return F.cross_entropy(outputs, y.to(outputs) if y.ndim == 2 else y, reduction="none")

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product:
        """Return Lambda = diag(p) - p p^T, whatever the labels, as those of an example add to 1."""
        return CategoricalLikelihood().curvature(outputs, None)

    def labels(self, y: Tensor) -> Tensor:
        """Return the most probable class of each example."""
        return y.argmax(-1) if y.ndim == 2 else y

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Check that labels are probabilities of as many classes as there are logits."""
        if not y.is_floating_point():
            return CategoricalLikelihood().check(y, outputs)
        if outputs.ndim != 2 or y.shape[1:] != outputs.shape[1:]:
            raise ValueError(
                f"labels must be probabilities {('N', *outputs.shape[1:])} beside logits (N, C),"
                f" got {('N', *y.shape[1:])}"
            )
        off = (y.sum(1) - 1).abs()
        if bool((y < 0).any() or (off > NEAR_ONE).any()):
            raise ValueError(
                "labels must be probabilities, rows >= 0 that sum to 1, got others: use"
                " logits.softmax(1)"
            )
        _refuse_probabilities(outputs, 1)
        return y


@dataclass(frozen=True, eq=False, repr=False)
class BernoulliLikelihood(Likelihood):
    """Likelihood of labels 0 and 1, given logits."""

    name: str = "bernoulli"
    ignore = None

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the labels."""
        p = Bernoulli(logits=outputs)
        return Independent(p, 1) if outputs.ndim in (2, 3) else p

    def longest_gradient(self, y: Tensor) -> None:
        """Return None: a gradient in logits is bounded."""

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Divide the logits."""
        return outputs / temperature, self


@dataclass(frozen=True, eq=False, repr=False)
class NoiseLikelihood(Likelihood):
    """Likelihood of targets under Gaussian noise softplus(s), given means and s, (N, 2 C)."""

    name: str = "gaussian"
    ignore = None

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the targets."""
        if outputs.shape[-1] % 2:
            raise ValueError(
                "likelihood='gaussian' needs two outputs a target, all means and then all noises,"
                f" got outputs {('N', *outputs.shape[1:])}: widen the head, or give the noise's"
                " standard deviation as likelihood, or fv.models.learned_noise(module)"
            )
        mean, s = outputs.chunk(2, -1)
        return Independent(Normal(mean, F.softplus(s) + MIN_NOISE), 1)

    def stretched(
        self,
        outputs: Tensor,
        center: Tensor,
        scale: float,
    ) -> tuple[Tensor, Likelihood]:
        """Move means (S, N, C) away from their center (N, C), and widen the noise."""
        means, s = outputs.chunk(2, -1)
        noise = scale * (F.softplus(s) + MIN_NOISE) - MIN_NOISE
        middle = center.to(means).expand_as(means)
        moved = torch.lerp(middle, means, scale)
        wide = distributions.softplus_inverse(noise)
        return torch.cat([moved, wide], -1), self


@dataclass(frozen=True, eq=False)
class GaussianLikelihood(Likelihood):
    """Likelihood of targets (N, ...) under Gaussian noise; losses of components add up.

    noise: its standard deviation, or one for each output, (C,).
    """

    noise: float | Tensor

    name = "gaussian"
    ignore = None

    @property
    def _numbers(self) -> Any:
        return self.noise.tolist() if isinstance(self.noise, Tensor) else self.noise

    @property
    def _constant(self) -> float:
        noise = self._numbers if isinstance(self.noise, Tensor) else [self.noise]
        mean_log = sum(map(math.log, noise)) / len(noise)
        return mean_log + 0.5 * math.log(2 * math.pi)

    def __repr__(self) -> str:
        return f"Likelihood.gaussian({self._numbers})"

    def longest_gradient(self, y: Tensor) -> None:
        """Return None: the noise is fixed."""

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the targets."""
        p = Normal(outputs, self._noise(outputs))
        return Independent(p, outputs.ndim - 1)

    def _noise(self, like: Tensor) -> Any:
        return self.noise.to(like) if isinstance(self.noise, Tensor) else self.noise

    def _squared(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute squared errors in units of the noise, in the shape of the outputs."""
        error = outputs - y.reshape(outputs.shape)
        return (error / self._noise(outputs)).square()

    def losses(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the loss of each example, its components added up."""
        each = self._squared(outputs, y) / 2 + self._constant
        return each.reshape(len(outputs), -1).sum(1)

    entries = losses

    def nll(
        self,
        outputs: Tensor,
        y: Tensor,
        reduction: str = "mean",
    ) -> Tensor:
        """Compute the mean over examples, or the sum, of the losses."""
        squares = self._squared(outputs, y).sum()
        loss = squares / 2 + outputs.numel() * self._constant
        return loss if reduction == "sum" else loss / len(outputs)

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product:
        """Return u -> u / variance."""
        return lambda u: u / self._noise(u) ** 2

    def stretched(
        self,
        outputs: Tensor,
        center: Tensor,
        scale: float,
    ) -> tuple[Tensor, Likelihood]:
        """Move means (S, N, ...) away from their center (N, ...), and widen the noise."""
        moved = torch.lerp(center, outputs, scale)
        return moved, replace(self, noise=scale * self.noise)

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Check that targets have the shape of the outputs."""
        if not y.is_floating_point():
            raise TypeError(
                "a Gaussian likelihood needs floating targets, got integer labels: use"
                " likelihood='categorical'"
            )
        if isinstance(self.noise, Tensor) and outputs.shape[-1] != len(self.noise):
            raise ValueError(
                f"noise must hold a standard deviation for each of the {outputs.shape[-1]} outputs,"
                f" got {len(self.noise)}"
            )
        if y[0].squeeze().shape != outputs[0].squeeze().shape:
            wanted = f"(N, {', '.join(map(str, outputs.shape[1:]))})"
            raise ValueError(
                f"targets must have shape {wanted} as the net's outputs, got {tuple(y.shape)}:"
                " permute their axes"
            )
        return y


BUILT_IN: dict[str, Likelihood] = {
    "categorical": CategoricalLikelihood(),
    "bernoulli": BernoulliLikelihood(),
    "gaussian": NoiseLikelihood(),
}


def as_likelihood(given: Any, name: str = "likelihood") -> Likelihood:
    """Return a likelihood by its name, by the standard deviation of Gaussian noise, or as it is.

    Raises:
        ValueError: For anything else, with the nearest name.
    """
    if isinstance(given, Likelihood):
        return given
    if isinstance(given, str) and given in BUILT_IN:
        return BUILT_IN[given]
    number = isinstance(given, Real) and not isinstance(given, bool)
    if isinstance(given, (Tensor, list, tuple)) or (number and 0 < float(given) < math.inf):
        return GaussianLikelihood(_noise(given, name))
    raise ValueError(
        f"{name} must be 'categorical', 'bernoulli', 'gaussian' (outputs are mean and noise), a"
        " noise standard deviation > 0 or a fv.Likelihood, got"
        f" {shown(given)}{did_you_mean(given, BUILT_IN)}"
    )


def _gaussian(noise: Noise | None) -> Likelihood:
    """Return the likelihood of `Likelihood.gaussian`."""
    return BUILT_IN["gaussian"] if noise is None else GaussianLikelihood(_noise(noise, "noise"))


def _noise(given: object, name: str) -> float | Tensor:
    """Convert standard deviations: one, or one for each output."""
    if isinstance(given, Real):
        return check_positive(float(given), name)
    try:
        noise = given if isinstance(given, Tensor) else torch.tensor(given, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} must be numbers > 0, got {given!r}") from error
    if noise.ndim == 0:
        return check_positive(float(noise), name)
    noise = noise if noise.is_floating_point() else noise.double()
    valid = (noise > 0) & noise.isfinite()
    if noise.ndim > 1 or not len(noise) or not bool(valid.all()):
        raise ValueError(
            f"{name} must be standard deviations > 0, one for each output (C,), got {given!r}"
        )
    return noise


AnyLikelihood = Annotated[str | Noise | Likelihood, as_likelihood]
CLOSED_FORMS.update(
    categorical=CategoricalLikelihood,
    soft=SoftLikelihood,
    bernoulli=BernoulliLikelihood,
    gaussian=_gaussian,
)
