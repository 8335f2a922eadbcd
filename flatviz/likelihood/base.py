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
        start = torch.zeros_like(outputs[:1], dtype=torch.float64)
        try:
            best = self.best_constant(y, start)
            return float(self.nll(_repeated(best, len(y)), y))
        except ValueError:
            return math.nan

    def best_constant(self, y: Tensor, start: Tensor) -> Tensor:
        """Find one output (1, ...) for all examples, of least mean NLL, by L-BFGS from `start`."""
        one = start.clone().requires_grad_(True)
        search = torch.optim.LBFGS([one], max_iter=100, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            value = self.nll(_repeated(one, len(y)), y)
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
        mask = self.mask(y)
        if mask is None:
            return None
        return mask.double().reshape(len(y), -1).mean(1)

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
        labels = y.flatten(0, 1)
        losses = self.losses(outputs.flatten(0, 1), labels).view(len(y), -1)
        weights = self.weights(labels)
        if weights is None:
            return losses.mean(1)
        total = weights.view(len(y), -1).sum(1)
        return losses.sum(1) / _divisor(total, losses)

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
            log_p = p.logits
        elif isinstance(p, Bernoulli):
            of_0 = F.logsigmoid(-p.logits)
            of_1 = F.logsigmoid(p.logits)
            log_p = torch.stack([of_0, of_1], -1)
        else:
            return None
        return log_p.reshape(len(outputs), -1, log_p.shape[-1])

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Return outputs and likelihood of classes with log probabilities over `temperature`.

        outputs are (S, N, ...), of a likelihood of one label an example.

        Raises:
            TypeError: For another likelihood.
        """
        log_p = self.log_probs(outputs.flatten(0, 1))
        if log_p is None or log_p.shape[1] > 1:
            raise TypeError(f"a temperature needs one class label an example, got {self!r}")
        scaled = (log_p[:, 0] / temperature).unflatten(0, outputs.shape[:2])
        return scaled, Likelihood.categorical()

    def stretched(self, outputs: Tensor, center: Tensor, scale: float) -> tuple[Tensor, Likelihood]:
        """Return outputs (S, N, ...) and likelihood of center + scale (Y - center).

        center is (N, ...); Y follows this likelihood.
        """
        wide = outputs.flatten(2)
        middle = center.to(wide).flatten(1).expand(len(wide), -1, -1)
        width = wide.shape[-1]

        def of(joined: Tensor) -> Distribution:
            n = len(joined)
            plain = joined[:, :width].reshape(n, *outputs.shape[2:])
            about = joined[:, width:].reshape(n, *center.shape[1:])
            return distributions.stretched(self.of(plain), about, scale)

        joined = torch.cat([wide, middle], -1)
        return joined, Likelihood(of, self.name, self.ignore)

    def added(self, outputs: Tensor) -> int:
        """Count the labels of a place whose losses add up."""
        return math.prod(self.of(torch.ones_like(outputs)).event_shape)

    def _values(self, y: Tensor, p: Distribution, outputs: Tensor) -> Tensor:
        """Return `y` in the shape and dtype of p's values, 0 where it does not count."""
        mask = self.mask(y)
        values = y if mask is None else y.where(mask, 0)
        return values.to(outputs.dtype).reshape(p.batch_shape + p.event_shape)

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
        same_size = math.prod(shape[1:]) == math.prod(y.shape[1:])
        if shape[:1] != outputs.shape[:1] or not same_size:
            raise ValueError(
                f"{self!r} must give a distribution of y, {('N', *y.shape[1:])}, got one of shape"
                f" {('N', *shape[1:])} from outputs {('N', *outputs.shape[1:])}: change its"
                " function or the module's outputs"
            )
        some = y[: len(outputs)]
        try:
            self.entries(outputs, some)
            support = _support(p)
            values = self._values(some, p, outputs)
            if support is not None and not support.check(values).all():
                raise ValueError(f"the support is {support}")
        except (ValueError, RuntimeError) as error:
            raise ValueError(
                f"y must be what {p} is a distribution of, got others: {error}"
            ) from error
        return y


def _repeated(one: Tensor, n: int) -> Tensor:
    """Repeat one output (1, ...) for n examples."""
    return one.expand(n, *one.shape[1:])


def _divisor(counts: Tensor, losses: Tensor) -> Tensor:
    """Return sums of weights in the dtype of the losses, above 0 where no label counts."""
    smallest = torch.finfo(losses.dtype).tiny
    return counts.to(losses).clamp_min(smallest)


def _support(p: Distribution) -> Constraint | None:
    """Return the values that a distribution accepts, None with validate_args=False.

    torch.compile turns off the default of all distributions.
    """
    base = p.base_dist if isinstance(p, Independent) else p
    try:
        return p.support if vars(base).get("_validate_args", True) else None
    except NotImplementedError:  # from a distribution without a support
        return None
