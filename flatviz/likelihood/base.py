"""A distribution of y given a network's outputs; loss, curvature and scores follow from it.

A place is what one label belongs to.  Outputs (N, C) have one place an example; (N, C, H, W) of
images and (N, T, C) of tokens have several, with labels (N, H, W) or (N, T).  The loss of an
example is the mean over its places, that of a data set the mean over all places that count.
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
from flatviz.checks import check_number, function

Product = Callable[[Tensor], Tensor]
Noise = float | Sequence[float] | Tensor
# Name -> constructor of a likelihood with closed forms.  `closed_forms.py` fills it: its classes
# derive from `Likelihood`, so this file cannot import them
CLOSED_FORMS: dict[str, Callable[..., Likelihood]] = {}


class Likelihood:
    """A user's p(y | outputs): any distribution of `torch.distributions`.

    Every fit, `nll`, `predict` and score takes one in place of "categorical".  Its curvature is the
    Fisher matrix of the outputs, which is never negative, unlike the Hessian of -log p.
    `Likelihood.categorical(...)`, `.bernoulli()` and `.gaussian(noise)` have closed forms.

    Args:
        of: Outputs (N, ...) -> a distribution with one entry for each example, or for each place of
            each example; `Independent(..., 1)` adds up several targets of an example.
        name: Name in figures and messages.
        ignore: Value of y that marks places that do not count.

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
        weight: Tensor | Sequence[float] | None = None,
        label_smoothing: float = 0.0,
        ignore_index: int = -100,
        dim: int | None = None,
    ) -> Likelihood:
        """Return the likelihood of classes.

        weight, label_smoothing: as in `torch.nn.functional.cross_entropy`; weight is (C,).  Both
            count in fits and in `fv.nll`, not in scores: `fv.metrics.weighted_nll` has the weights.
        ignore_index: label of places that do not count.
        dim: the dimension of outputs (N, ...) that holds the classes; None takes the last one of
            (N, C) and (N, T, C), and dimension 1 of (N, C, H, W).
        """
        if isinstance(weight, (list, tuple)):
            for i, one in enumerate(weight):
                check_number(one, f"weight[{i}]")
            weight = torch.tensor(weight, dtype=torch.get_default_dtype())
        return CLOSED_FORMS["categorical"](weight, label_smoothing, ignore_index, dim)

    @staticmethod
    def soft() -> Likelihood:
        """Return the likelihood of classes whose labels are probabilities, rows (N, C) of y.

        The loss of an example is the cross-entropy -sum_c y_c log p_c, as with labels of mixup, of
        several annotators, or of a teacher: `fv.Data(x, prediction.bma())` distils an ensemble.
        Class numbers (N,) are taken as well.  Scores are those of the most probable class of y.
        """
        return CLOSED_FORMS["soft"]()

    @staticmethod
    def bernoulli() -> Likelihood:
        """Return the likelihood of labels 0 and 1.

        Outputs are logits: one an example, (N,) or (N, 1); L an example, (N, L), for as many
        labels, whose losses add up; or one for each pixel, (N, 1, H, W).
        """
        return CLOSED_FORMS["bernoulli"]()

    @staticmethod
    def gaussian(noise: Noise | None = None) -> Likelihood:
        """Return the likelihood of targets under Gaussian noise.

        noise: its standard deviation, or one for each output, (C,).  With None the network predicts
            it: outputs are (N, 2 C), C means and then C numbers s, and the standard deviation is
            softplus(s).  `fv.models.learned_noise(module)` adds a learned s to a module of means.
        """
        return CLOSED_FORMS["gaussian"](noise)

    def longest_gradient(self, y: Tensor) -> float | None:
        """Return the norm to which SGD clips the gradient in the weights, or None for no clipping.

        The default clips, since a user's distribution may have a noise that the network computes:
        as that noise falls, the gradient grows without bound.
        """
        return 1.0

    def of_constant(self, y: Tensor, outputs: Tensor) -> float:
        """Compute the least mean NLL of `y` when all examples share one output.

        `outputs` (N, ...) give its shape and dtype only.  The search starts at 0; the result is NaN
        where the distribution does not take outputs of 0.
        """
        dtype = torch.promote_types(outputs.dtype, torch.float32)
        start = torch.zeros_like(outputs[:1], dtype=dtype)
        try:
            best = self.best_constant(y, start)
            return self._mean_of_constant(best, y, backward=False)
        except (ValueError, RuntimeError):  # of a user's distribution too
            return math.nan

    def best_constant(self, y: Tensor, start: Tensor) -> Tensor:
        """Find by L-BFGS from `start` the output (1, ...), shared by all, of least mean NLL."""
        shared = start.clone().requires_grad_(True)
        search = torch.optim.LBFGS([shared], max_iter=100, line_search_fn="strong_wolfe")

        def loss() -> float:
            search.zero_grad()
            return self._mean_of_constant(shared, y, backward=True)

        with torch.enable_grad():
            search.step(loss)
        return shared.detach()

    def _mean_of_constant(self, one: Tensor, y: Tensor, *, backward: bool) -> float:
        """Compute the mean NLL of one output (1, ...) for all, and add its gradient to `one.grad`.

        Outputs for all examples at once might not fit in memory: of tokens they are N x T x C.
        """
        count = self.count(y)
        mean = 0.0
        for part in y.split(max(1, AT_ONCE // max(one.numel(), 1))):
            value = self.nll(_repeated(one, len(part)), part, "sum") / count
            if backward:
                value.backward()
            mean += float(value.detach())
        return mean

    def entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute -log p of each example or place, 0 where y does not count.

        Outputs that are not finite give NaN (N,), even where the distribution refuses them.

        Raises:
            ValueError: For finite outputs or labels that the distribution refuses.
        """
        try:
            p = self.of(outputs)
            mask = self.mask(y)
            loss = -p.log_prob(self._values(y, p, outputs))
        except ValueError:  # from a distribution that checks its parameters
            if bool(outputs.isfinite().all()):
                raise
            return outputs.flatten(1).sum(1) * math.nan
        return loss if mask is None else loss * mask.reshape(loss.shape)

    def losses(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the loss of each example, the mean over its places, (N,)."""
        entries = self.entries(outputs, y)
        return entries if entries.ndim == 1 else entries.flatten(1).mean(1)

    def mask(self, y: Tensor) -> Tensor | None:
        """Return True for each place that counts, in the shape of y; None where all count."""
        return None if self.ignore is None else y != self.ignore

    def weights(self, y: Tensor) -> Tensor | None:
        """Compute the mean weight of each example's places, (N,).

        A place weighs 1, or 0 if it does not count.  The result is None where all places weigh 1.
        """
        mask = self.mask(y)
        if mask is None:
            return None
        return mask.double().reshape(len(y), -1).mean(1)

    def count(self, y: Tensor) -> float:
        """Compute the divisor that turns the sum of losses into `nll`: N if all places count.

        It is 1 where none counts, of which the sum of losses is 0.
        """
        weights = self.weights(y)
        return len(y) if weights is None else float(weights.sum()) or 1.0

    def nll(
        self,
        outputs: Tensor,
        y: Tensor,
        reduction: str = "mean",
    ) -> Tensor:
        """Compute the mean loss over all places that count, or the "sum" of the losses, ()."""
        losses = self.losses(outputs, y)
        if reduction == "sum":
            return losses.sum()
        weights = self.weights(y)
        if weights is None:
            return losses.mean()
        return losses.sum() / _divisor(weights.sum(), losses)

    def nll_rows(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute `nll` of each member: outputs (B, N, ...), y (B, N, ...) -> (B,)."""
        n_members = len(y)
        labels = y.flatten(0, 1)
        losses = self.losses(outputs.flatten(0, 1), labels)
        losses = losses.view(n_members, -1)
        weights = self.weights(labels)
        if weights is None:
            return losses.mean(1)
        total_weight = weights.view(n_members, -1).sum(1)
        return losses.sum(1) / _divisor(total_weight, losses)

    def gradient(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compute the derivative of each example's loss in its outputs, in their shape."""
        with torch.enable_grad():
            leaf = outputs.detach().requires_grad_(True)
            total = self.losses(leaf, y).sum()
        return torch.autograd.grad(total, leaf)[0]

    def curvature(self, outputs: Tensor, y: Tensor | None) -> Product | None:
        """Return u -> Lambda u, or None where Lambda has no closed form, as here.

        Lambda holds the second derivatives of each example's loss in its outputs.
        """
        return None

    def log_probs(self, outputs: Tensor) -> Tensor | None:
        """Compute log class probabilities (N, P, C) of P places an example.

        The result is None for a distribution of anything but classes, and NaN for outputs that hold
        NaN, which a distribution may refuse.
        """
        diverged = outputs.isnan().flatten(1).any(1)
        if diverged.any():
            finite = outputs[~diverged] if not diverged.all() else torch.ones_like(outputs)
            log_p = self.log_probs(finite)
            if log_p is None:
                return None
            filled = log_p.new_full((len(outputs), *log_p.shape[1:]), math.nan)
            filled[~diverged] = log_p[: len(outputs) - int(diverged.sum())]
            return filled
        p = distributions.entrywise(self.of(outputs))
        if isinstance(p, Categorical):
            log_p = p.logits
        elif isinstance(p, Bernoulli):
            log_p_of_0 = F.logsigmoid(-p.logits)
            log_p_of_1 = F.logsigmoid(p.logits)
            log_p = torch.stack([log_p_of_0, log_p_of_1], -1)
        else:
            return None
        return log_p.reshape(len(outputs), -1, log_p.shape[-1])

    def tempered(self, outputs: Tensor, temperature: float) -> tuple[Tensor, Likelihood]:
        """Divide the log probabilities of the classes by `temperature`.

        It takes outputs (S, N, ...), and returns logits (S, N, C) with the likelihood that reads
        them.

        Raises:
            TypeError: For a likelihood that is not of one class label an example.
        """
        log_p = self.log_probs(outputs.flatten(0, 1))
        if log_p is None or log_p.shape[1] > 1:
            raise TypeError(f"a temperature needs one class label an example, got {self!r}")
        logits = log_p[:, 0] / temperature
        return logits.unflatten(0, outputs.shape[:2]), Likelihood.categorical()

    def stretched(
        self,
        outputs: Tensor,
        center: Tensor,
        scale: float,
    ) -> tuple[Tensor, Likelihood]:
        """Return outputs and likelihood of center + scale (Y - center), where Y follows this one.

        It takes outputs (S, N, ...) and center (N, ...).  The distribution of an example needs
        both, so each row of the result (S, N, K) holds its outputs and then its center, flat.
        """
        flat_outputs = outputs.flatten(2)
        flat_center = center.to(flat_outputs).reshape(len(center), -1)
        flat_center = flat_center.expand(len(outputs), -1, -1)
        n_outputs = flat_outputs.shape[-1]

        def of(joined: Tensor) -> Distribution:
            n = len(joined)
            first = joined[:, :n_outputs].reshape(n, *outputs.shape[2:])
            centers = joined[:, n_outputs:].reshape(n, *center.shape[1:])
            return distributions.stretched(self.of(first), centers, scale)

        joined = torch.cat([flat_outputs, flat_center], -1)
        return joined, Likelihood(of, self.name, self.ignore)

    def labels(self, y: Tensor) -> Tensor:
        """Return the class numbers of all places that count, (M,)."""
        mask = self.mask(y)
        counting = y if mask is None else y[mask]
        return counting.flatten().long()

    def added(self, outputs: Tensor) -> int:
        """Count the labels of one place whose losses add up: 1, or more with `Independent`."""
        p = self.of(torch.ones_like(outputs))  # only its shape matters, and 1 is a valid scale
        return math.prod(p.event_shape)

    def _values(self, y: Tensor, p: Distribution, outputs: Tensor) -> Tensor:
        """Return `y` in the shape of p's values and the dtype of outputs, 0 where it is ignored."""
        mask = self.mask(y)
        values = y if mask is None else y.where(mask, 0)
        return values.to(outputs.dtype).reshape(p.batch_shape + p.event_shape)

    def check(self, y: Tensor, outputs: Tensor) -> Tensor:
        """Check that the likelihood scores `outputs` of the first n examples on `y`; return y.

        outputs are (n, ...), y (N, ...) is that of all N examples.

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
        first_y = y[: len(outputs)]
        try:
            self.entries(outputs, first_y)  # raises what scoring would raise
            support = _support(p)
            values = self._values(first_y, p, outputs)
            if support is not None and not support.check(values).all():
                raise ValueError(f"the support is {support}")
        except (ValueError, RuntimeError) as error:
            raise ValueError(
                f"y must be what {p} is a distribution of, got others: {error}"
            ) from error
        return y


AT_ONCE = 2**22  # numbers of outputs that `of_constant` repeats at once


def _repeated(one: Tensor, n: int) -> Tensor:
    """Repeat one output (1, ...) for n examples."""
    return one.expand(n, *one.shape[1:])


def _divisor(counts: Tensor, losses: Tensor) -> Tensor:
    """Return sums of weights as a divisor of losses: in their dtype, never 0.

    If no label counts, the mean loss is then 0 / tiny = 0, not NaN.
    """
    smallest = torch.finfo(losses.dtype).tiny
    return counts.to(losses).clamp_min(smallest)


def _support(p: Distribution) -> Constraint | None:
    """Return the values that a distribution accepts, or None if it was made unchecked.

    Unchecked means that its maker passed validate_args=False.  Only this setting of the instance is
    read, because torch.compile turns off the default of all distributions.
    """
    base = p.base_dist if isinstance(p, Independent) else p
    try:
        return p.support if vars(base).get("_validate_args", True) else None
    except NotImplementedError:  # from a distribution without a support
        return None
