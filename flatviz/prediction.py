"""Predictions, and their scores for every ensemble size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution

from flatviz import distributions
from flatviz.checks import Labels, check_count, check_share, shown
from flatviz.likelihood import Likelihood, Noise, as_likelihood
from flatviz.noun import Drawn
from flatviz.private import PrivateNumbers

N_BINS = 15  # of confidence


class Prediction(Drawn, made_by="fv.predict makes one"):
    """Outputs of S draws on N inputs, (S, N, C).

    For "categorical" they are logits; for a number, the standard deviation of Gaussian noise, they
    are means; for a `Likelihood`, what it takes.  Outputs of any library's network serve:
    `Prediction(outputs, y)`.  With labels `y` (N,), `scores` holds each metric for every ensemble
    size 1..S, (S,) each, and `bins` (S, B, 3) the count, mean confidence and accuracy of each
    confidence bin; both are computed if `scores` is empty.  Weights of classes are for the fit: no
    score here counts them, and `fv.metrics.weighted_nll` does.

    Args:
        batchnorm: BatchNorm statistics in use, as `predict` names them; None without BatchNorm.
        trunk: Whether the weights that are not treated were "fixed" or "sampled".
        class_names: Names of classes 0, 1, ...; () where the data has none.

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
    bins: Tensor | None = None
    trunk: str = "fixed"
    class_names: tuple[str, ...] = ()

    def _check(self) -> None:
        as_likelihood(self.likelihood)
        outputs = self.outputs
        if not outputs.is_floating_point() or outputs.ndim < 2:
            raise TypeError(
                "outputs must be a floating tensor (S, N, ...) of S draws on N inputs, got"
                f" {shown(outputs)}"
            )
        if not outputs.numel():
            raise ValueError(f"outputs must hold at least one number, got {shown(outputs)}")
        if outputs.dtype in (torch.float16, torch.bfloat16):  # squares and sums would overflow
            vars(self).update(outputs=outputs.float())
        if self.y is None:
            return
        n = outputs.shape[1]
        if len(self.y) != n:
            raise ValueError(f"y must hold {n} labels, one for each input, got {len(self.y)}")
        if not self.scores:
            scores, bins = _scores_and_bins(self)
            vars(self).update(scores=scores, bins=bins)

    @property
    def drawable(self) -> bool:
        """Whether there is something to draw: labels, and for a regression finite outputs."""
        if self.y is None:
            return False
        return self.has_classes or bool(self.outputs.isfinite().all())

    @property
    def n_draws(self) -> int:
        """Number of draws S."""
        return len(self.outputs)

    @property
    def flat_outputs(self) -> Tensor:
        """Outputs of all draws, one after the other, (S N, ...)."""
        return self.outputs.flatten(0, 1)

    @property
    def n_diverged(self) -> int:
        """Number of outputs, of S N, that are no prediction.

        Their probabilities are NaN, or their means NaN or inf.  Such draws have scores of NaN, and
        no `distribution`.
        """
        if self.has_classes:
            bad = self.log_probs.isnan()
        else:
            bad = ~self.outputs.isfinite()
        if bad.ndim > 2:  # an output of several numbers counts once
            bad = bad.flatten(2).any(-1)
        return int(bad.sum())

    @property
    def log_probs(self) -> Tensor:
        """Log class probabilities of each draw, (S, N, C).

        They are (S, M, C) where an example has several labels, of which M in all are not ignored.

        Raises:
            ValueError: For a likelihood that is not of classes.
        """
        likelihood = as_likelihood(self.likelihood)
        log_p = likelihood.log_probs(self.flat_outputs)
        if log_p is None:
            raise ValueError(
                f"class probabilities need a likelihood of classes, got {likelihood!r}: read mean"
                " or quantile"
            )
        log_p = log_p.reshape(self.n_draws, -1, log_p.shape[-1])
        mask = None if self.y is None else likelihood.mask(self.y)
        return log_p if mask is None else log_p[:, mask.flatten()]

    @property
    def has_classes(self) -> bool:
        """Whether the likelihood is one of classes."""
        one = torch.ones_like(self.outputs[0, :1])  # as outputs themselves may be NaN
        return as_likelihood(self.likelihood).log_probs(one) is not None

    @property
    def distribution(self) -> Distribution:
        """p(y) of every draw and input, (S N, ...), without `Independent`.

        Raises:
            ValueError: For outputs that are not finite; logits of classes may be infinite.
        """
        bad = self.outputs.isnan() if self.has_classes else ~self.outputs.isfinite()
        diverged = bad.flatten(1).any(1)
        if diverged.any():
            raise ValueError(
                f"a distribution needs finite outputs, got NaN or inf in {int(diverged.sum())} of"
                f" {self.n_draws} draws: leave those draws out"
            )
        p = as_likelihood(self.likelihood).of(self.flat_outputs)
        return distributions.entrywise(p)

    def _by_draw(self, values: Tensor) -> Tensor:
        """Split values (S N, ...) by draw, (S, N, ...)."""
        return values.unflatten(0, self.outputs.shape[:2])

    @property
    def means(self) -> Tensor:
        """Mean of y in each draw of a regression, (S, N, ...).

        Raises:
            ValueError: For classes, and a distribution without a mean.
        """
        if self.has_classes:
            raise ValueError("a mean needs a regression, got classes: read bma() or probs")
        return self._by_draw(distributions.mean(self.distribution))

    @property
    def mean(self) -> Tensor:
        """Predictive mean of y over draws and noise of a regression, (N, ...)."""
        return self.means.mean(0)

    @property
    def std(self) -> Tensor:
        """Predictive standard deviation of a regression over draws and noise, (N, ...)."""
        variance = distributions.variance(self.distribution)
        noise = self._by_draw(variance).mean(0)
        between = self.means.var(0, correction=0)
        # `between` is NaN where means are infinite, as the noise may then be
        total = torch.where(noise.isinf(), noise, noise + between)
        return total.sqrt()

    def below(self, y: Tensor) -> Tensor:
        """Compute P(Y <= y) of targets `y` (N, ...) in each draw of a regression, (S, N, ...).

        It is a share of 1,000 samples of each draw where torch.distributions has no cdf.
        """
        p = self.distribution
        targets = _for_each_draw(self, y).reshape(p.batch_shape).to(self.outputs)
        try:
            return self._by_draw(distributions.cdf(p, targets))
        except NotImplementedError:
            samples = self.sample(1000 * self.n_draws, seed=0)
            by_draw = samples.unflatten(0, (1000, self.n_draws))
            is_below = by_draw <= self._by_draw(targets)
            return is_below.to(targets).mean(0)

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` values of y for each input, (n, N, ...), from each draw in turn."""
        rounds = math.ceil(check_count(n, "n") / self.n_draws)
        p = self.distribution
        with PrivateNumbers(seed):
            samples = p.sample((rounds,))
        by_draw = samples.unflatten(1, self.outputs.shape[:2])
        return by_draw.flatten(0, 1)[:n]

    def inverse(self, levels: Tensor) -> Tensor:
        """Compute quantiles of each draw's distribution at `levels` (L,), (L, S, N, ...).

        Raises NotImplementedError where torch has no inverse.
        """
        p = self.distribution
        ones = [1] * len(p.batch_shape)
        quantiles = distributions.icdf(p, levels.view(-1, *ones))
        return quantiles.unflatten(1, self.outputs.shape[:2])

    def quantile(self, level: float, *, seed: int = 0) -> Tensor:
        """Compute the quantiles of a regression's predictive distribution at `level`, (N, ...).

        They come from bisection of the mixture's distribution function, or from 4,000 samples drawn
        by `seed` where torch has none.
        """
        level = check_share(level, "level")
        try:
            (of_draws,) = self.inverse(self.outputs.new_tensor([level]))
        except NotImplementedError:
            n = math.ceil(4000 / self.n_draws) * self.n_draws
            ordered = self.sample(n, seed=seed).sort(0).values
            return ordered[round(level * (n - 1))]
        # The mixture's quantile lies between those of its draws
        low = of_draws.amin(0)
        high = of_draws.amax(0)
        for _ in range(60):
            middle = (low + high) / 2
            too_low = self.below(middle).mean(0) < level
            low = torch.where(too_low, middle, low)
            high = torch.where(too_low, high, middle)
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
        given = self.class_names[:n_classes]
        names = []
        for c, name in enumerate(given):
            names.append(name if given.count(name) == 1 else f"{name} ({c})")
        numbers = range(len(given), n_classes)
        return (*names, *map(str, numbers))

    def bma(self, n_draws: int | None = None) -> Tensor:
        """Average the class probabilities over the first `n_draws` draws (default all), (N, C)."""
        return self.probs[: self.size(n_draws)].mean(0)

    def changed(self, **fields: Any) -> Prediction:
        """Copy the prediction with other values of these fields; scores are computed anew."""
        anew: dict[str, Any] = {"scores": {}, "bins": None}
        return replace(self, **(anew | fields))

    def size(self, n_draws: int | None) -> int:
        """Check and return `n_draws`, all for None; a ValueError for more than there are."""
        n = self.n_draws if n_draws is None else check_count(n_draws, "n_draws")
        if n > self.n_draws:
            raise ValueError(
                f"asked for {n} draws, but this prediction has {self.n_draws}: lower n_draws, or"
                " draw more"
            )
        return n


def labels_of(prediction: Prediction) -> Tensor:
    """Check the labels (N,) of a prediction; return those of all places that count, as int64.

    Targets of a regression are checked likewise.

    Raises:
        ValueError: Without labels, or for labels that cannot be scored.
    """
    if prediction.y is None:
        raise ValueError(
            "scores need labels, got none: predict on a Data, or fv.Prediction(outputs, y)"
        )
    likelihood = as_likelihood(prediction.likelihood)
    outputs = prediction.outputs
    y = likelihood.check(prediction.y.to(outputs.device), outputs[0])
    if not prediction.has_classes:
        return y
    return likelihood.labels(y)


def _for_each_draw(prediction: Prediction, y: Tensor) -> Tensor:
    """Repeat `y` (N, ...) for each draw, (S N, ...), in the order of `flat_outputs`."""
    return y.expand(prediction.n_draws, *y.shape).flatten(0, 1)


def log_density(prediction: Prediction, y: Tensor) -> Tensor:
    """Compute log p(y) of every draw and input of a regression, (S, N)."""
    likelihood = as_likelihood(prediction.likelihood)
    targets = _for_each_draw(prediction, y)
    losses = likelihood.entries(prediction.flat_outputs, targets)
    return -losses.reshape(prediction.n_draws, -1)


def for_sizes(
    prediction: Prediction,
    log_p: Tensor,
    n_draws: int | None,
    score: Callable[[Tensor], Tensor],
) -> Tensor:
    """Compute `score` of the log mean of probabilities, given `log_p` (S, ...) of all draws.

    The result (S, ...) is for every ensemble size, or (...) for `n_draws` alone.  It is NaN where a
    log mean is.
    """

    def score_or_nan(log_mean: Tensor) -> Tensor:
        value = score(log_mean)
        diverged = bool(log_mean.isnan().any())
        return torch.full_like(value, math.nan) if diverged else value

    if n_draws is not None:
        some = log_p[: prediction.size(n_draws)]
        return score_or_nan(torch.logsumexp(some, 0) - math.log(n_draws))
    log_sum = log_p[0]
    values = [score_or_nan(log_sum)]
    for size, row in enumerate(log_p[1:], 2):
        log_sum = torch.logaddexp(log_sum, row)
        log_mean = log_sum - math.log(size)
        values.append(score_or_nan(log_mean))
    return torch.stack(values)


def accuracy_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the share of inputs whose most probable class is right."""
    return (log_bma.argmax(-1) == y).to(log_bma.dtype).mean()


def nll_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the mean of -log p(y), in nats."""
    return -log_bma.gather(-1, y[:, None]).mean()


def brier_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the mean of sum_c (p_c - 1[y = c])^2."""
    one_hot = torch.nn.functional.one_hot(y, log_bma.shape[-1])
    squares = (log_bma.exp() - one_hot).square()
    return squares.sum(-1).mean()


def bins_of(log_bma: Tensor, y: Tensor, n_bins: int = N_BINS) -> Tensor:
    """Compute count, mean confidence and accuracy of each confidence bin, (B, 3).

    An empty bin is 0, NaN, NaN.  Bins are (i/B, (i+1)/B], so that a confidence of exactly 1 falls
    in the last.
    """
    confidence, predicted = log_bma.double().exp().max(-1)
    right = (predicted == y).to(confidence.dtype)
    upper = (confidence * n_bins).ceil().long()
    index = (upper - 1).clamp(0, n_bins - 1)
    count = torch.bincount(index, minlength=n_bins).to(confidence.dtype)
    columns = [count]
    for values in (confidence, right):
        total = torch.zeros_like(count).index_add_(0, index, values)
        columns.append(total / count)
    return torch.stack(columns, dim=-1).to(log_bma.dtype)


def ece_of(bins: Tensor) -> Tensor:
    """Compute the sum over bins of (count / N) |accuracy - confidence| from bins (..., B, 3)."""
    count, confidence, accuracy = bins.unbind(-1)
    gap = (accuracy - confidence).abs().nan_to_num(0.0)
    return (count * gap).sum(-1) / count.sum(-1)


def _scores_and_bins(prediction: Prediction) -> tuple[dict[str, Tensor], Tensor | None]:
    """Compute accuracy, NLL, ECE and Brier of every ensemble size, in one pass over the draws.

    A regression has NLL and RMSE, or NLL alone where there is no mean, or none in closed form.
    """
    y = labels_of(prediction)
    if not prediction.has_classes:
        return _of_regression(prediction, y), None
    likelihood = as_likelihood(prediction.likelihood)
    labels_of_place = likelihood.added(prediction.outputs[0, :1])

    def scores_then_bins(log_bma: Tensor) -> Tensor:
        bins = bins_of(log_bma, y)
        scores = [
            accuracy_of(log_bma, y),
            labels_of_place * nll_of(log_bma, y),
            ece_of(bins),
            brier_of(log_bma, y),
        ]
        return torch.cat([torch.stack(scores), bins.flatten()])

    table = for_sizes(prediction, prediction.log_probs, None, scores_then_bins)
    names = ("accuracy", "nll", "ece", "brier")
    columns, bins = table.tensor_split([len(names)], dim=1)
    scores = dict(zip(names, columns.T))
    return scores, bins.unflatten(1, (N_BINS, 3))


def _of_regression(prediction: Prediction, y: Tensor) -> dict[str, Tensor]:
    """Compute NLL and RMSE of every ensemble size, or NLL alone without a mean."""
    log_p = log_density(prediction, y)
    nll = for_sizes(prediction, log_p, None, lambda log_mean: -log_mean.mean())
    scores = {"nll": nll}
    try:
        means = prediction.means
    except ValueError:  # from a distribution without a mean
        return scores
    sizes = torch.arange(1, len(means) + 1).to(means)
    ones = [1] * (means.ndim - 1)
    mean_of_size = means.cumsum(0) / sizes.view(-1, *ones)
    errors = mean_of_size - y.reshape(means.shape[1:])
    squares = errors.flatten(1).square()
    scores["rmse"] = squares.mean(1).sqrt()
    return scores
