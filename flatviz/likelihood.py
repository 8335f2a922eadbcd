"""Distributions of y given a network's outputs, three of them in closed form (hence its length).

Loss, curvature and scores follow from a distribution.

Outputs (N, C) have one place an example; (N, C, H, W) of images and (N, T, C) of tokens have
several, with labels (N, H, W) or (N, T).  The loss of an example is the mean over its places, that
of a data set the mean over all places that count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal
from torch.distributions.constraints import Constraint
from torch.nn import functional as F

from flatviz import distributions
from flatviz.checks import check_positive, function, kind, number, shown
from flatviz.noun import check_fields
from flatviz.words import meant

Product = Callable[[Tensor], Tensor]
WholeNumber = Annotated[int, kind(int, "a whole number")]
NEAR_ONE = 1e-3  # tolerance of the sum of outputs that are probabilities


class Likelihood:
    """A user's p(y | outputs): any distribution of `torch.distributions`.

    Every fit, `nll`, `predict` and score takes one in place of "categorical".  Its curvature is the
    Fisher matrix of the outputs, which is never negative, unlike the Hessian of -log p.
    `Likelihood.categorical(...)`, `.bernoulli()` and `.gaussian(noise)` have closed forms.

    Args:
        of: Outputs (N, ...) -> a distribution with one entry an example, or an example and place;
            `Independent(..., 1)` adds up several targets of an example.
        name: For labels and texts.
        ignore: y that does not count.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch.distributions import Normal
        >>> softplus = torch.nn.functional.softplus
        >>> likelihood = fv.Likelihood(lambda o: Normal(o[..., 0], softplus(o[..., 1])))
        >>> net = fv.Net.from_module(torch.nn.Linear(1, 2))
        >>> data = fv.Data(torch.zeros(3, 1), torch.tensor([0.0, 1.0, -1.0]))
        >>> f = fv.nll(net, data, likelihood=likelihood)
        >>> round(float(f(torch.zeros(net.dim))), 3)  # mean 0, standard deviation log 2
        1.246
    """

    def __init__(
        self,
        of: Callable[[Tensor], Distribution],
        name: str = "likelihood",
        ignore: float | None = None,
    ) -> None:
        function("a function from outputs to a torch.distributions distribution")(of, "of")
        self.of = of
        self.name = name
        self.ignore = ignore

    def __repr__(self) -> str:
        return f"Likelihood({self.name!r})"

    @staticmethod
    def categorical(
        *,
        weight: Tensor | None = None,
        label_smoothing: float = 0.0,
        ignore_index: int = -100,
        dim: int | None = None,
    ) -> CategoricalLikelihood:
        """Return the likelihood of classes.

        weight, label_smoothing: of the loss, as in `torch.nn.functional.cross_entropy`; weight
            (C,).
        ignore_index: label of places that do not count.
        dim: the dimension of classes in outputs (N, ...); None: the last of outputs (N, C) and
            (N, T, C), 1 of (N, C, H, W).
        """
        return CategoricalLikelihood(weight, label_smoothing, ignore_index, dim)

    @staticmethod
    def bernoulli() -> Likelihood:
        """Return the likelihood of labels 0 and 1.

        Outputs are one logit, (N,) or (N, 1), or several labels an example, (N, L), whose losses
        add up. (N, 1, H, W) has a place for each pixel.
        """
        return Likelihood(_bernoulli, "bernoulli")

    @staticmethod
    def gaussian(noise: Noise | None = None) -> Likelihood:
        """Return the likelihood of targets under Gaussian noise.

        noise: its standard deviation, or one for each output, (C,); None: outputs are (N, 2 C),
            means and then s, with noise softplus(s).  `fv.models.learned_noise(module)` adds a
            learned s to a module of means.
        """
        if noise is None:
            return Likelihood(_mean_and_noise, "gaussian")
        return GaussianLikelihood(_noise(noise, "noise"))

    def longest_gradient(self, y: Tensor) -> float | None:
        """Return the length to which SGD shortens a gradient in the weights; None: it leaves it.

        A gradient in a noise that the network computes has no bound as the noise falls.
        """
        return None if self.of is _bernoulli else 1.0

    def of_constant(self, y: Tensor, outputs: Tensor) -> float:
        """Compute the least mean NLL of `y` by one output for all, of the shape of `outputs`.

        NaN where 0, from which the search starts, are no outputs that the distribution takes.
        """
        try:
            best = self.best_constant(y, torch.zeros_like(outputs[:1], dtype=torch.float64))
            return float(self.nll(best.expand(len(y), *best.shape[1:]), y))
        except ValueError:
            return math.nan

    def best_constant(self, y: Tensor, start: Tensor) -> Tensor:
        """Find one output (1, ...) for all examples, of least mean NLL, by L-BFGS from `start`."""
        one = start.clone().requires_grad_(True)
        search = torch.optim.LBFGS([one], max_iter=100, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            value = self.nll(one.expand(len(y), *one.shape[1:]), y)
            value.backward()
            return value

        with torch.enable_grad():
            search.step(loss)
        return one.detach()

    def entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute -log p of each example or place: 0 if it does not count, NaN if it diverged."""
        try:
            p = self.of(outputs)
            counts = self.counts(y)
            loss = -p.log_prob(self._values(y, p, outputs))
        except ValueError:  # from a distribution that checks its parameters
            if bool(outputs.isfinite().all()):
                raise
            return outputs.flatten(1).sum(1) * math.nan
        return loss if counts is None else loss * counts.reshape(loss.shape)

    def losses(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the loss of each example, the mean over its places, (N,)."""
        entries = self.entries(outputs, y)
        return entries if entries.ndim == 1 else entries.flatten(1).mean(1)

    def mask(self, y: Tensor) -> Tensor | None:
        """Mark the places that count, in the shape of y; None of a likelihood that ignores none."""
        return None if self.ignore is None else y != self.ignore

    def counts(self, y: Tensor) -> Tensor | None:
        """Return `mask`, or None where the loss itself is 0 at what does not count."""
        return self.mask(y)

    def weights(self, y: Tensor) -> Tensor | None:
        """Compute the mean weight of each example's places, (N,), 0 for those that do not count.

        Return None where all are 1.
        """
        if (counts := self.counts(y)) is None:
            return None
        return counts.double().reshape(len(y), -1).mean(1)

    def count(self, y: Tensor) -> float:
        """Compute the divisor of the summed losses, the number of examples if all count."""
        weights = self.weights(y)
        return len(y) if weights is None else float(weights.sum())

    def nll(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Compute the mean of the losses over what counts, or their sum, ()."""
        losses = self.losses(outputs, y)
        weights = self.weights(y)
        if reduction == "sum" or weights is None:
            return losses.sum() if reduction == "sum" else losses.mean()
        return losses.sum() / _divisor(weights.sum(), losses)

    def nll_rows(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute `nll` of each member: outputs (B, N, ...), y (B, N, ...) -> (B,)."""
        losses = self.losses(outputs.flatten(0, 1), y.flatten(0, 1)).view(len(y), -1)
        weights = self.weights(y.flatten(0, 1))
        if weights is None:
            return losses.mean(1)
        return losses.sum(1) / _divisor(weights.view(len(y), -1).sum(1), losses)

    def gradient(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the derivative of each example's loss in its outputs, in their shape."""
        with torch.enable_grad():
            at = outputs.detach().requires_grad_(True)
            return torch.autograd.grad(self.losses(at, y).sum(), at)[0]

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product | None:
        """Return u -> Lambda u, second derivatives in the outputs, or None without closed form."""
        return None

    def log_probs(self, outputs: Tensor) -> Tensor | None:
        """Compute log class probabilities (N, P, C) of P places an example, or None."""
        p = distributions.entrywise(self.of(outputs))
        if isinstance(p, Categorical):
            return p.logits.reshape(len(outputs), -1, p.logits.shape[-1])
        return _of_logits(p.logits) if isinstance(p, Bernoulli) else None

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Return outputs and likelihood of classes with log probabilities over `temperature`.

        They are normalised.
        """
        if self.of is _bernoulli:
            return outputs / temperature, self

        def cooled(outputs: Tensor) -> Distribution:
            p = self.of(outputs)
            depth = p.reinterpreted_batch_ndims if isinstance(p, Independent) else 0
            base: Any = distributions.entrywise(p)
            return Independent(type(base)(logits=base.logits / temperature), depth)

        return outputs, Likelihood(cooled, self.name, self.ignore)

    def stretched(self, outputs: Tensor, center: Tensor, scale: float) -> tuple[Tensor, Likelihood]:
        """Return outputs (S, N, ...) and likelihood of center + scale (Y - center).

        center is (N, ...); Y follows this likelihood.
        """
        S, N = outputs.shape[:2]
        wide = outputs.flatten(2)
        middle = center.to(wide).reshape(1, N, -1).expand(S, -1, -1)
        if self.of is _mean_and_noise:
            means, s = outputs.chunk(2, -1)
            noise = scale * (F.softplus(s) + MIN_NOISE) - MIN_NOISE
            moved = torch.lerp(middle.view_as(means), means, scale)
            return torch.cat([moved, distributions.softplus_inverse(noise)], -1), self

        def of(joined: Tensor) -> Distribution:
            separate = joined[:, : wide.shape[-1]].unflatten(-1, outputs.shape[2:] or (1,))
            separate = separate.reshape(len(joined), *outputs.shape[2:])
            about = joined[:, wide.shape[-1] :].reshape(len(joined), *center.shape[1:])
            return distributions.stretched(self.of(separate), about, scale)

        return torch.cat([wide, middle], -1), Likelihood(of, self.name, self.ignore)

    def added(self, outputs: Tensor) -> int:
        """Count the labels of a place whose losses add up."""
        return math.prod(self.of(torch.ones_like(outputs)).event_shape)

    def _values(self, y: Tensor, p: Distribution, outputs: Tensor) -> Tensor:
        """Return `y` in the shape and dtype of p's values, 0 where it does not count."""
        counts = self.counts(y)
        return (
            (y if counts is None else y.where(counts, 0))
            .to(outputs.dtype)
            .reshape(*p.batch_shape, *p.event_shape)
        )

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Return `y` of all examples, after checking that outputs (n, ...) can be scored on it.

        Raises:
            TypeError: For labels of another kind.
            ValueError: For labels or outputs that do not fit.
        """
        p = self.of(outputs)
        if not isinstance(p, Distribution):
            raise TypeError(
                "a likelihood's function must return a torch.distributions distribution, got"
                f" {type(p).__name__}"
            )
        shape = (*p.batch_shape, *p.event_shape)
        if shape[:1] != outputs.shape[:1] or math.prod(shape[1:]) != math.prod(y.shape[1:]):
            raise ValueError(
                f"{self!r} must give a distribution of y, {('N', *y.shape[1:])}, got one of shape"
                f" {('N', *shape[1:])} from outputs {('N', *outputs.shape[1:])}: change its"
                " function or the module's outputs"
            )
        some = y[: len(outputs)]
        try:
            self.entries(outputs, some)
            support = _support(p)
            if support is not None and not support.check(self._values(some, p, outputs)).all():
                raise ValueError(f"the support is {support}")
        except (ValueError, RuntimeError) as error:
            raise ValueError(
                f"y must be what {p} is a distribution of, got others: {error}"
            ) from error
        return y


def _divisor(counts: Tensor, losses: Tensor) -> Tensor:
    """Return sums of weights in the dtype of the losses, above 0 where no label counts."""
    return counts.to(losses).clamp_min(torch.finfo(losses.dtype).tiny)


def _support(p: Distribution) -> Constraint | None:
    """Return the values that a distribution accepts, None with validate_args=False.

    torch.compile turns off the default of all distributions.
    """
    base = p.base_dist if isinstance(p, Independent) else p
    try:
        return p.support if vars(base).get("_validate_args", True) else None
    except NotImplementedError:  # from a distribution without a support
        return None


MIN_NOISE = 1e-6


def _mean_and_noise(outputs: Tensor) -> Distribution:
    if outputs.shape[-1] % 2:
        raise ValueError(
            "likelihood='gaussian' needs two outputs a target, all means and then all noises, got"
            f" outputs {('N', *outputs.shape[1:])}: widen the head, or give the noise's standard"
            " deviation as likelihood, or fv.models.learned_noise(module)"
        )
    mean, s = outputs.chunk(2, -1)
    return Independent(Normal(mean, F.softplus(s) + MIN_NOISE), 1)


def _bernoulli(outputs: Tensor) -> Distribution:
    p = Bernoulli(logits=outputs)
    return Independent(p, 1) if outputs.ndim in (2, 3) else p


def _of_logits(logits: Tensor) -> Tensor:
    """Compute log probabilities of 0 and 1, (N, P, 2)."""
    return torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], -1).reshape(
        len(logits), -1, 2
    )


@dataclass(frozen=True, eq=False)
class CategoricalLikelihood(Likelihood):
    """Likelihood of classes; fields as in `Likelihood.categorical`."""

    weight: Tensor | None = None
    label_smoothing: Annotated[float, number("from 0 to below 1", lambda s: 0 <= s < 1)] = 0.0
    ignore: WholeNumber = -100
    dim: WholeNumber | None = None

    name = "categorical"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.weight is not None and not (
            self.weight.ndim == 1 and bool((self.weight >= 0).all())
        ):
            raise ValueError(
                f"weight must be a tensor (C,) of numbers >= 0, one a class, got {self.weight!r}"
            )

    def longest_gradient(self, y: Tensor) -> float | None:
        """Return 1 for several labels an example, as of a language model.

        Its logits may begin at some tens of nats, where a step of SGD leaves it as it can no longer
        learn.
        """
        return None if y.ndim == 1 else 1.0

    def _mass(self, y: Tensor, n_classes: int) -> tuple[Tensor, Tensor]:
        """Return the weights of -log p in the summed loss of one p for all, and their divisor."""
        n = torch.bincount(y[y != self.ignore], minlength=n_classes).double()
        weight = torch.ones_like(n) if self.weight is None else self.weight.to(n)
        smooth = self.label_smoothing
        return weight * ((1 - smooth) * n + smooth * n.mean()), weight @ n

    def of_constant(self, y: Tensor, outputs: Tensor) -> float:
        """Compute the mean loss of the best one output, the same at all places."""
        mass, divisor = self._mass(y, outputs.shape[self._dim(outputs)])
        return float(-torch.xlogy(mass, mass / mass.sum()).sum() / divisor)

    def best_constant(self, y: Tensor, start: Tensor) -> Tensor:
        """Return the logarithms of the shares of the classes, the same at all places."""
        dim = self._dim(start)
        mass, _ = self._mass(y, start.shape[dim])
        shares = (mass / mass.sum()).clamp_min(torch.finfo(torch.float64).tiny)
        log_p = shares.log().to(start)
        return log_p.view(-1, *[1] * (start.ndim - 1 - dim)).expand_as(start).clone()

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the classes."""
        return Categorical(logits=outputs.movedim(self._dim(outputs), -1))

    def _dim(self, outputs: Tensor) -> int:
        return (
            (1 if outputs.ndim > 3 else outputs.ndim - 1)
            if self.dim is None
            else self.dim % outputs.ndim
        )

    def _loss(self, outputs: Tensor, y: Tensor, reduction: str) -> Tensor:
        weight = None if self.weight is None else self.weight.to(outputs)
        logits = outputs.movedim(self._dim(outputs), 1)
        smoothing = self.label_smoothing
        # torch's softmax is faster over columns
        if reduction == "sum" and y.ndim == 1 and logits.stride(0) < logits.stride(1):
            logits = logits.t()[None]
            y = y[None]
        return F.cross_entropy(
            logits,
            y,
            weight,
            ignore_index=self.ignore,
            reduction=reduction,
            label_smoothing=smoothing,
        )

    def entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute weighted and smoothed -log p, 0 where a place does not count."""
        return self._loss(outputs, y, "none")

    def counts(self, y: Tensor) -> Tensor | None:
        """Mark labels that are not ignored; None with one place an example and no label below 0."""
        return None if y.ndim == 1 and self.ignore < 0 else self.mask(y)

    def weights(self, y: Tensor) -> Tensor | None:
        """Compute the mean class weight of each example's places, 0 for ignored ones."""
        if self.weight is None:
            return super().weights(y)
        counts = y != self.ignore
        return (
            (self.weight.to(y.device).double()[y.where(counts, 0)] * counts)
            .reshape(len(y), -1)
            .mean(1)
        )

    def nll(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Compute mean or sum as `torch.nn.functional.cross_entropy`; 0 where nothing counts."""
        if y.ndim == 1 and (reduction == "sum" or self.weights(y) is None):
            return self._loss(outputs, y, reduction)
        return super().nll(outputs, y, reduction)

    def nll_rows(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute `nll` of each member."""
        if y.ndim == 2 and not self.label_smoothing and self.weights(y[0]) is None:
            return -outputs.log_softmax(-1).gather(-1, y[..., None]).mean((1, 2))
        return super().nll_rows(outputs, y)

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product:
        """Return Lambda = s (diag(p) - p p^T) of each place.

        s is the sum of its weighted and smoothed target over the number of places.
        """
        # Broadcast from the right, as u may have dimensions after the first
        dim = self._dim(outputs) - outputs.ndim
        p = outputs.softmax(dim)
        share = None if y is None else self.shares(outputs, y)
        scale = None if share is None else share.unsqueeze(dim)

        def product(u: Tensor) -> Tensor:
            wide = p.view(len(p), *[1] * (u.ndim - p.ndim), *p.shape[1:])
            curved = wide * (u - (wide * u).sum(dim, keepdim=True))
            if scale is None:
                return curved
            return curved * scale.view(len(p), *[1] * (u.ndim - p.ndim), *scale.shape[1:])

        return product

    def shares(self, outputs: Tensor, y: Tensor) -> Tensor | None:
        """Compute s of each place, of the shape of y; None where all are 1."""
        if y.ndim == 1 and self.weights(y) is None:
            return None
        classes = outputs.shape[self._dim(outputs)]
        weight = outputs.new_ones(classes) if self.weight is None else self.weight.to(outputs)
        counts = y != self.ignore
        smoothing = self.label_smoothing
        s = (1 - smoothing) * weight[y.where(counts, 0)] + smoothing * weight.mean()
        return s * counts * (len(y) / y.numel())

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Divide the logits."""
        return outputs / temperature, self

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Compute log probabilities of the classes, (N, P, C)."""
        dim = self._dim(outputs)
        return (
            outputs.log_softmax(dim).movedim(dim, -1).reshape(len(outputs), -1, outputs.shape[dim])
        )

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Check labels against the number of classes, for logits."""
        dim = self._dim(outputs) if outputs.ndim > 1 else 0
        if outputs.ndim < 2 or (y.ndim == 1 and outputs.ndim > 2):
            raise ValueError(
                f"the net must return logits of shape (N, C), got {tuple(outputs.shape)}"
            )
        if y.is_floating_point() or y.is_complex():
            raise TypeError(
                "likelihood='categorical' needs integer class labels, got"
                f" {'complex' if y.is_complex() else 'floating'} targets: give likelihood=the noise"
                " standard deviation for a regression, class numbers in place of probabilities"
            )
        places = (*outputs.shape[1:dim], *outputs.shape[dim + 1 :])
        if y.shape[1:] != places:
            other = (
                "fv.Likelihood.categorical(dim=1)"
                if outputs.ndim == 3
                else "likelihood='bernoulli' for several labels"
            )
            do = f"use class numbers, not one-hot, or {other}"
            raise ValueError(
                f"labels must have shape ({', '.join(map(str, (len(y), *places)))},), got"
                f" {tuple(y.shape)}: {do}"
            )
        y = y.long()
        n_classes = outputs.shape[dim]
        counting = y[y != self.ignore]
        if not counting.numel():
            raise ValueError(
                f"labels must count somewhere, got {self.ignore} alone, which is ignored"
            )
        lowest, highest = (int(t) for t in counting.aminmax())
        if lowest < 0 or highest >= n_classes:
            one = (
                "give likelihood='bernoulli' for one logit, or the noise's standard deviation for a"
                " regression"
            )
            do = "fix the labels" if n_classes > 1 else one
            raise ValueError(
                f"labels must be in 0..{n_classes - 1} for a net with {n_classes} outputs, "
                f"got {lowest if lowest < 0 else highest}: {do}, or widen the head"
            )
        if self.weight is not None and self.weight.shape != (n_classes,):
            raise ValueError(
                f"weight must have shape ({n_classes},), one a class, got"
                f" {tuple(self.weight.shape)}"
            )
        total = outputs.sum(dim)
        if n_classes > 1 and bool((outputs >= 0).all() and ((total - 1).abs() < NEAR_ONE).all()):
            raise ValueError(
                "the net must return logits, got probabilities, outputs >= 0 that sum to 1 over the"
                " classes: leave the last softmax out, give their logarithm, or use"
                " fv.Likelihood(lambda p: torch.distributions.Categorical(probs=p))"
            )
        return y


@dataclass(frozen=True, eq=False)
class GaussianLikelihood(Likelihood):
    """Likelihood of targets (N, ...) under Gaussian noise; losses of components add up.

    noise: its standard deviation, or one for each output, (C,).
    """

    noise: float | Tensor

    name = "gaussian"
    ignore = None

    @property
    def _constant(self) -> float:
        noise = self.noise.tolist() if isinstance(self.noise, Tensor) else [self.noise]
        return sum(map(math.log, noise)) / len(noise) + 0.5 * math.log(2 * math.pi)

    def __repr__(self) -> str:
        noise = self.noise
        return f"Likelihood.gaussian({noise.tolist() if isinstance(noise, Tensor) else noise})"

    def longest_gradient(self, y: Tensor) -> None:
        """Return None: the noise is fixed."""

    def of(self, outputs: Tensor) -> Distribution:
        """Return the distribution of the targets."""
        return Independent(Normal(outputs, self._noise(outputs)), outputs.ndim - 1)

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

    def nll(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Compute the mean over examples, or the sum, of the losses."""
        loss = self._squared(outputs, y).sum() / 2 + outputs.numel() * self._constant
        return loss if reduction == "sum" else loss / len(outputs)

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product:
        """Return u -> u / variance."""
        return lambda u: u / self._noise(u) ** 2

    def stretched(self, outputs: Tensor, center: Tensor, scale: float) -> tuple[Tensor, Likelihood]:
        """Move means (S, N, ...) away from their center (N, ...), and widen the noise."""
        return torch.lerp(center, outputs, scale), replace(self, noise=scale * self.noise)

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
        if [side for side in y.shape[1:] if side > 1] != [
            side for side in outputs.shape[1:] if side > 1
        ]:
            wanted = f"(N, {', '.join(map(str, outputs.shape[1:]))})"
            raise ValueError(
                f"targets must have shape {wanted} as the net's outputs, got {tuple(y.shape)}:"
                " permute their axes"
            )
        return y


BUILT_IN = {
    "categorical": CategoricalLikelihood(),
    "bernoulli": Likelihood.bernoulli(),
    "gaussian": Likelihood.gaussian(),
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
    if isinstance(given, (Tensor, list, tuple)) or (
        isinstance(given, Real) and not isinstance(given, bool) and 0 < float(given) < math.inf
    ):
        return GaussianLikelihood(_noise(given, name))
    raise ValueError(
        f"{name} must be 'categorical', 'bernoulli', 'gaussian' (outputs are mean and noise), a"
        " noise standard deviation > 0 or a fv.Likelihood, got"
        f" {shown(given)}{meant(given, BUILT_IN)}"
    )


def _noise(given: object, name: str) -> float | Tensor:
    """Convert standard deviations: one, or one for each output."""
    if isinstance(given, Real):
        return check_positive(float(given), name)
    try:
        dtype = given.dtype if isinstance(given, Tensor) else torch.float64
        noise = torch.as_tensor(given, dtype=dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} must be numbers > 0, got {given!r}") from error
    if noise.ndim == 0:
        return check_positive(float(noise), name)
    noise = noise if noise.is_floating_point() else noise.double()
    if noise.ndim > 1 or not len(noise) or not bool(((noise > 0) & noise.isfinite()).all()):
        raise ValueError(
            f"{name} must be standard deviations > 0, one for each output (C,), got {given!r}"
        )
    return noise


Noise = float | Sequence[float] | Tensor
AnyLikelihood = Annotated[str | Noise | Likelihood, as_likelihood]
