"""Scores of a regression: coverage and width of intervals, CRPS, and a scale that mends them.

The predictive distribution of an input is the mixture over draws, F(y) = 1/S sum_s F_s(y).

    PIT       F(y), uniform on (0, 1) where predictions are calibrated (Dawid 1984)
    CRPS      integral of (F(t) - 1[y <= t])^2 over t = E|Y - y| - E|Y - Y'| / 2, in units of y
              (Gneiting & Raftery 2007)
    coverage  share of targets in the central interval of probability `level`

Each of several targets of an example counts separately.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.distributions import Distribution, Normal

from flatviz.checks import Count, Positive, PositiveShare
from flatviz.core import public
from flatviz.likelihood import as_likelihood
from flatviz.prediction import labels_of
from flatviz.results import Prediction

POINTS = 400  # of each draw's distribution that is no Gaussian
SAMPLES = 10_000  # in all, where torch has no quantiles
N_LEVELS = 99


def _targets(prediction: Prediction) -> Tensor:
    """Targets, of the shape of a draw's means, (N, ...)."""
    if prediction.has_classes:
        raise ValueError(
            f"a regression is scored here, got {prediction.likelihood!r}, of classes: use ece, nll,"
            " brier, fit_temperature"
        )
    y = labels_of(prediction).to(prediction.outputs)
    return y.reshape(len(y), *prediction.distribution.batch_shape[1:])


def _of_sizes(
    prediction: Prediction,
    n_draws: int | None,
    score: Callable[[int], Tensor],
) -> Tensor:
    """`score(size)` for every ensemble size, (S,), or for `n_draws` alone, ()."""
    if n_draws is not None:
        return score(prediction.size(n_draws))
    return torch.stack([score(size) for size in range(1, prediction.n_draws + 1)])


def _is_discrete(p: Distribution) -> bool:
    try:
        return p.support is not None and p.support.is_discrete
    except NotImplementedError:  # of a distribution that does not say
        return False


def _cdf_at_targets(prediction: Prediction) -> Tensor:
    """Compute F(y), the distribution function of each draw at the targets, (S, N, ...)."""
    y = _targets(prediction)
    if _is_discrete(prediction.distribution):
        raise ValueError(
            "intervals and PIT need a continuous distribution, got"
            f" {prediction.likelihood!r}: use crps and nll"
        )
    return prediction.below(y)


@public
def pit(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the probability integral transform F(y) of each target, (N, ...).

    Uniform where the predictions are calibrated: a heap at 0 and 1 is a deviation too small, one at
    1/2 a deviation too large.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        n_draws: Ensemble size, the first draws; default all S.

    Raises:
        ValueError: For classes or counts, without targets, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> means = torch.zeros(1, 3, 1)  # 1 draw, 3 inputs, 1 target
        >>> prediction = fv.Prediction(means, torch.tensor([[-1.0], [0.0], [1.0]]), likelihood=1.0)
        >>> [round(v, 3) for v in fv.metrics.pit(prediction).flatten().tolist()]
        [0.159, 0.5, 0.841]
    """
    return _cdf_at_targets(prediction)[: prediction.size(n_draws)].mean(0)


@public
def coverage(
    prediction: Prediction,
    level: PositiveShare = 0.9,
    *,
    n_draws: Count | None = None,
) -> Tensor:
    """Compute the share of targets in the central interval of probability `level`.

    (S,) for every ensemble size, () for `n_draws`.  The interval is of a new target, with the noise
    of the likelihood: a given noise below the errors on new inputs covers too few, whatever the
    posterior.  Intervals of the network's function, by `prediction.means.quantile(level, 0)`, are
    far narrower, and promise no share of targets.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        level: Probability of the interval, from the quantile (1 - level) / 2 to (1 + level) / 2.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: For classes or counts, without targets, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> y = torch.tensor([[-3.0], [0.0], [1.0]])
        >>> prediction = fv.Prediction(torch.zeros(1, 3, 1), y, likelihood=1.0)
        >>> fv.metrics.coverage(prediction, 0.9)  # -3 lies outside of 0 -+ 1.64
        tensor([0.6667])
    """
    below = _cdf_at_targets(prediction)

    def share(size: int) -> Tensor:
        away = (below[:size].mean(0) - 0.5).abs()
        inside = (away <= level / 2).to(away)
        return inside.where(~away.isnan(), math.nan).mean()

    return _of_sizes(prediction, n_draws, share)


@public
def interval_width(
    prediction: Prediction,
    level: PositiveShare = 0.9,
    *,
    n_draws: Count | None = None,
) -> Tensor:
    """Compute the mean width of the central interval of probability `level`, in units of y.

    (S,) for every ensemble size, () for `n_draws`.  With equal coverage the narrower
    prediction is better.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        level: Probability of the interval.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: For classes, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> prediction = fv.Prediction(torch.zeros(1, 3, 1), likelihood=2.0)
        >>> round(float(fv.metrics.interval_width(prediction, 0.9)), 3)  # 2 x 1.645 x 2
        6.579
    """

    def width(size: int) -> Tensor:
        first = prediction.changed(outputs=prediction.outputs[:size], y=None)
        low = first.quantile((1 - level) / 2)
        high = first.quantile((1 + level) / 2)
        return (high - low).mean()

    return _of_sizes(prediction, n_draws, width)


@public
def predictive_std(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the root mean square of the predictive standard deviation, in units of y.

    (S,) for every ensemble size, () for `n_draws`.  `sharpness` is that of the loss.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: For classes, a distribution without a variance, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> means = torch.tensor([[[3.0]], [[-3.0]]])  # 2 draws, 1 input, 1 target
        >>> fv.metrics.predictive_std(fv.Prediction(means, likelihood=4.0)).tolist()
        [4.0, 5.0]
    """

    def rms(size: int) -> Tensor:
        first = prediction.changed(outputs=prediction.outputs[:size], y=None)
        return first.std.square().mean().sqrt()

    return _of_sizes(prediction, n_draws, rms)


@public
def quantile_calibration_error(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
) -> Tensor:
    """Compute the mean over levels p of |share of targets below the predicted quantile of p - p|.

    (S,) for every ensemble size, () for `n_draws`.  The levels are 1 to 99 %.  Source:
    Kuleshov, Fenner & Ermon 2018 (arXiv 1807.00263), with absolute differences.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: For classes or counts, without targets, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> y = torch.tensor([[-0.1], [0.1]])  # a deviation of 1 is far too large
        >>> prediction = fv.Prediction(torch.zeros(1, 2, 1), y, likelihood=1.0)
        >>> round(float(fv.metrics.quantile_calibration_error(prediction)), 3)
        0.22
    """
    below = _cdf_at_targets(prediction)
    levels = torch.arange(1, N_LEVELS + 1).to(below) / (N_LEVELS + 1)

    def error(size: int) -> Tensor:
        at = below[:size].mean(0).flatten().sort().values
        share = torch.searchsorted(at, levels, right=True).to(levels) / len(at)
        error = (share - levels).abs().mean()
        return error.where(~at.isnan().any(), math.nan)

    return _of_sizes(prediction, n_draws, error)


@public
def crps(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean continuous ranked probability score, in units of y; the less, the better.

    (S,) for every ensemble size, () for `n_draws`.  For one certain value it is the absolute error.

    In closed form for mixtures of Gaussians (Grimit et al. 2006); else of 400 points of each draw's
    distribution, its quantiles where torch has them, samples of a fixed seed where not.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: For classes, without targets, or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> prediction = fv.Prediction(torch.zeros(1, 1, 1), torch.tensor([[0.0]]), likelihood=1.0)
        >>> round(float(fv.metrics.crps(prediction)), 4)  # (sqrt 2 - 1) / sqrt pi
        0.2337
    """
    y = _targets(prediction)
    p = prediction.distribution
    if not isinstance(p, Normal):
        points, exact = _points(prediction)

        def of_first(size: int) -> Tensor:
            return _of_points(points[:, :size], y, exact)

        return _of_sizes(prediction, n_draws, of_first)
    S = prediction.size(n_draws)
    shape = prediction.outputs.shape[:2]
    mean = p.loc.unflatten(0, shape)[:S]
    std = p.scale.unflatten(0, shape)[:S]
    near = _mean_size(mean - y, std)  # E|Y - y| of each draw
    total = torch.zeros_like(y)
    apart = torch.zeros_like(y)  # E|Y - Y'|, summed over pairs of draws
    values = []
    for k in range(S):  # pairs with those before
        size = k + 1
        variances = std[k].square() + std[:size].square()
        stds = variances.sqrt()
        pairs = _mean_size(mean[k] - mean[:size], stds)
        total = total + near[k]
        apart = apart + 2 * pairs.sum(0) - pairs[k]
        values.append((total / size - apart / (2 * size**2)).mean())
    return values[-1] if n_draws is not None else torch.stack(values)


def _mean_size(mean: Tensor, std: Tensor) -> Tensor:
    """Compute E|Z| of Z ~ N(mean, std^2)."""
    z = mean / std
    density = (-z.square() / 2).exp() / math.sqrt(2 * math.pi)
    return 2 * std * density + mean * torch.erf(z / math.sqrt(2))


def _points(prediction: Prediction) -> tuple[Tensor, bool]:
    """Points (P, S, N, ...) of each draw's distribution, and whether they are its quantiles."""
    levels = (torch.arange(POINTS).to(prediction.outputs) + 0.5) / POINTS
    try:
        return prediction.inverse(levels), True
    except NotImplementedError:
        n = max(POINTS, -(-SAMPLES // prediction.n_draws))
        drawn = prediction.sample(n * prediction.n_draws, seed=0)
        return drawn.unflatten(0, (n, prediction.n_draws)).to(prediction.outputs), False


def _of_points(points: Tensor, y: Tensor, exact: bool) -> Tensor:
    """Mean CRPS of points (P, S, N, ...); of samples E|Y - Y'| is over pairs of two."""
    x = points.flatten(0, 1).sort(0).values
    n = len(x)
    weight = (2 * torch.arange(1, n + 1) - n - 1).to(x)
    weighted = torch.einsum("p,p...->...", weight, x)
    pairs = n * (n if exact else n - 1)
    return ((x - y).abs().mean(0) - weighted / pairs).mean()


@public
def fit_deviation(prediction: Prediction) -> float:
    """Find the factor for predictive deviations, s = sqrt(mean z^2), z = (y - mean) / std.

    Above 1 predictions are too sure.  mean and std are those of the mixture of all draws.  For one
    draw of a Gaussian s has the smallest NLL of all factors.  `scale_deviation` applies it.

    Args:
        prediction: Outputs on a validation split, neither that of training nor that of testing.

    Raises:
        ValueError: For classes, without targets, and for outputs or a variance that are not finite.

    Example:
        >>> import torch, flatviz as fv
        >>> y = torch.tensor([[2.0], [-2.0], [2.0]])
        >>> fv.metrics.fit_deviation(fv.Prediction(torch.zeros(1, 3, 1), y, likelihood=1.0))
        2.0
    """
    y = _targets(prediction)
    z = (y - prediction.mean) / prediction.std
    scale = float(z.double().square().mean().sqrt())
    finite = prediction.std.isfinite().all()
    if not 0 < scale < math.inf or not finite:
        raise ValueError(
            "fit_deviation needs outputs and a variance that are finite, and targets beside the"
            f" means, got a scale of {scale}: drop draws that diverged, or compare quantiles"
        )
    return scale


@public
def scale_deviation(prediction: Prediction, scale: Positive) -> Prediction:
    """Rescale each predictive distribution about its mean by `scale`, and score the result.

    y becomes mean + scale (y - mean): noise and differences between draws grow alike; the
    predictive mean stays.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns for a regression.
        scale: Factor s > 0 on the deviations, as of `fit_deviation`.

    Raises:
        ValueError: For classes, and a distribution without a mean.

    Example:
        >>> import torch, flatviz as fv
        >>> prediction = fv.Prediction(torch.tensor([[[1.0]], [[3.0]]]), likelihood=0.5)
        >>> wide = fv.metrics.scale_deviation(prediction, 2.0)
        >>> wide.outputs.flatten().tolist(), round(float(wide.std / prediction.std), 6)
        ([0.0, 4.0], 2.0)
    """
    if prediction.has_classes:
        raise ValueError(
            f"a regression is scaled here, got {prediction.likelihood!r}, of classes: use"
            " scale_temperature"
        )
    likelihood = as_likelihood(prediction.likelihood)
    outputs, stretched = likelihood.stretched(prediction.outputs, prediction.mean, scale)
    return prediction.changed(outputs=outputs, likelihood=stretched)
