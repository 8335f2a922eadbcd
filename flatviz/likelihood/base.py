"""A distribution of y given a network's outputs; loss, curvature and scores follow from it.

Outputs (N, C) have one place an example; (N, C, H, W) of images and (N, T, C) of tokens have
several, with labels (N, H, W) or (N, T).  The loss of an example is the mean over its places, that
of a data set the mean over all places that count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, Independent
from torch.distributions.constraints import Constraint
from torch.nn import functional as F

from flatviz import distributions
from flatviz.checks import function

Product = Callable[[Tensor], Tensor]
Noise = float | Sequence[float] | Tensor
# Constructor of each closed form; `closed_forms`, which derives them, fills it
CLOSED_FORMS: dict[str, Callable[..., Likelihood]] = {}


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
    ) -> Likelihood:
        """Return the likelihood of classes.

        weight, label_smoothing: of the loss, as in `torch.nn.functional.cross_entropy`; weight
            (C,).
        ignore_index: label of places that do not count.
        dim: the dimension of classes in outputs (N, ...); None: the last of outputs (N, C) and
            (N, T, C), 1 of (N, C, H, W).
        """
        return CLOSED_FORMS["categorical"](weight, label_smoothing, ignore_index, dim)

    @staticmethod
    def bernoulli() -> Likelihood:
        """Return the likelihood of labels 0 and 1.

        Outputs are one logit, (N,) or (N, 1), or several labels an example, (N, L), whose losses
        add up. (N, 1, H, W) has a place for each pixel.
        """
        return CLOSED_FORMS["bernoulli"]()

    @staticmethod
    def gaussian(noise: Noise | None = None) -> Likelihood:
        """Return the likelihood of targets under Gaussian noise.

        noise: its standard deviation, or one for each output, (C,); None: outputs are (N, 2 C),
            means and then s, with noise softplus(s).  `fv.models.learned_noise(module)` adds a
            learned s to a module of means.
        """
        return CLOSED_FORMS["gaussian"](noise)

    def longest_gradient(self, y: Tensor) -> float | None:
        """Return the length to which SGD shortens a gradient in the weights; None: it leaves it.

        A gradient in a noise that the network computes has no bound as the noise falls.
        """
        return 1.0

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
            counts = self.mask(y)
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
        """Mark the places that count, in the shape of y; None where all do."""
        return None if self.ignore is None else y != self.ignore

    def weights(self, y: Tensor) -> Tensor | None:
        """Compute the mean weight of each example's places, (N,), 0 for those that do not count.

        Return None where all are 1.
        """
        counts = self.mask(y)
        return None if counts is None else counts.double().reshape(len(y), -1).mean(1)

    def count(self, y: Tensor) -> float:
        """Compute the divisor of the summed losses, the number of examples if all count."""
        weights = self.weights(y)
        return len(y) if weights is None else float(weights.sum())

    def nll(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Compute the mean of the losses over what counts, or their sum, ()."""
        losses = self.losses(outputs, y)
        if reduction == "sum":
            return losses.sum()
        weights = self.weights(y)
        if weights is None:
            return losses.mean()
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
            total = self.losses(at, y).sum()
        return torch.autograd.grad(total, at)[0]

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product | None:
        """Return u -> Lambda u, second derivatives in the outputs, or None without closed form."""
        return None

    def log_probs(self, outputs: Tensor) -> Tensor | None:
        """Compute log class probabilities (N, P, C) of P places an example, or None."""
        p = distributions.entrywise(self.of(outputs))
        if isinstance(p, Categorical):
            return p.logits.reshape(len(outputs), -1, p.logits.shape[-1])
        if not isinstance(p, Bernoulli):
            return None
        both = torch.stack([F.logsigmoid(-p.logits), F.logsigmoid(p.logits)], -1)
        return both.reshape(len(outputs), -1, 2)

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Return outputs and likelihood of classes with log probabilities over `temperature`.

        They are normalised.

        Raises:
            ValueError: Without a closed form.
        """
        raise ValueError(
            f"a temperature needs likelihood='categorical' or 'bernoulli', got {self!r}"
        )

    def stretched(self, outputs: Tensor, center: Tensor, scale: float) -> tuple[Tensor, Likelihood]:
        """Return outputs (S, N, ...) and likelihood of center + scale (Y - center).

        center is (N, ...); Y follows this likelihood.

        Raises:
            ValueError: Without a closed form.
        """
        raise ValueError(f"a scale needs a Gaussian likelihood, got {self!r}: compare quantiles")

    def added(self, outputs: Tensor) -> int:
        """Count the labels of a place whose losses add up."""
        return math.prod(self.of(torch.ones_like(outputs)).event_shape)

    def _values(self, y: Tensor, p: Distribution, outputs: Tensor) -> Tensor:
        """Return `y` in the shape and dtype of p's values, 0 where it does not count."""
        counts = self.mask(y)
        values = y if counts is None else y.where(counts, 0)
        return values.to(outputs.dtype).reshape(*p.batch_shape, *p.event_shape)

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
        shape = p.batch_shape + p.event_shape
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
