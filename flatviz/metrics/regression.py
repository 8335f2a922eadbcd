"""Scores of a regression: coverage and width of intervals, CRPS, and a scale that mends them.

The predictive distribution of an input is the mixture over draws, F(y) = 1/S sum_s F_s(y), where
F_s is the distribution function of draw s.

    PIT       F(y), uniform on (0, 1) where predictions are calibrated (Dawid 1984)
    CRPS      integral of (F(t) - 1[y <= t])^2 over t = E|Y - y| - E|Y - Y'| / 2, in units of y
              (Gneiting & Raftery 2007)
    coverage  share of targets in the central interval of probability `level`

Each target counts separately if an example has several.
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

POINTS = 400  # points that stand for the distribution of a draw that is no Gaussian
SAMPLES = 10_000  # least number of samples of all draws, where torch has no quantiles
N_LEVELS = 99  # 1 % to 99 %


def _targets(prediction: Prediction) -> Tensor:
    """Return the targets in the shape of one draw's means, (N, ...)."""
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
    """Compute `score(size)` for every ensemble size, (S,), or for `n_draws` alone, ()."""
    if n_draws is not None:
        return score(prediction.size(n_draws))
    return torch.stack([score(size) for size in range(1, prediction.n_draws + 1)])


def _first(prediction: Prediction, size: int) -> Prediction:
    """Return the prediction of the first draws, without targets."""
    return prediction.changed(outputs=prediction.outputs[:size], y=None)


def _is_discrete(p: Distribution) -> bool:
    """Tell whether `p` is a distribution of counts; no, where it does not state its support."""
    try:
        return p.support is not None and p.support.is_discrete
    except NotImplementedError:
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

    The values are uniform on (0, 1) where the predictions are calibrated.  They pile up at 0 and 1
    where the predicted deviation is too small, and at 1/2 where it is too large.

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

    The result is (S,) for every ensemble size, () for `n_draws`.  The interval is that of a new
    target, so it includes the noise of the likelihood.  If this noise is given, and smaller than
    the errors on new inputs, the interval covers too few targets, whatever the posterior.
    Intervals of the network's function, from `prediction.means.quantile(level, 0)`, leave the noise
    out: they are far narrower, and promise no share of targets.

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
        from_median = (below[:size].mean(0) - 0.5).abs()  # in probability
        inside = (from_median <= level / 2).to(from_median)
        return inside.where(~from_median.isnan(), math.nan).mean()

    return _of_sizes(prediction, n_draws, share)


@public
def interval_width(
    prediction: Prediction,
    level: PositiveShare = 0.9,
    *,
    n_draws: Count | None = None,
) -> Tensor:
    """Compute the mean width of the central interval of probability `level`, in units of y.

    The result is (S,) for every ensemble size, () for `n_draws`.  With equal coverage the narrower
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
        first_draws = _first(prediction, size)
        low = first_draws.quantile((1 - level) / 2)
        high = first_draws.quantile((1 + level) / 2)
        return (high - low).mean()

    return _of_sizes(prediction, n_draws, width)


@public
def predictive_std(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the root mean square of the predictive standard deviation, in units of y.

    The result is (S,) for every ensemble size, () for `n_draws`.  Papers on calibration call such a
    number the sharpness of predictions; `sharpness` here is another one, that of the loss.

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
        std = _first(prediction, size).std
        return std.square().mean().sqrt()

    return _of_sizes(prediction, n_draws, rms)


@public
def quantile_calibration_error(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
) -> Tensor:
    """Compute the mean over levels p of |(share of targets below the predicted p-quantile) - p|.

    The result is (S,) for every ensemble size, () for `n_draws`.  The levels are 1 to 99 %.
    Source: Kuleshov, Fenner & Ermon 2018 (arXiv 1807.00263), with absolute differences.

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
        pits = below[:size].mean(0).flatten().sort().values
        # a target is below the p-quantile where its F(y) is below p
        share = torch.searchsorted(pits, levels, right=True).to(levels) / len(pits)
        mean_gap = (share - levels).abs().mean()
        return mean_gap.where(~pits.isnan().any(), math.nan)

    return _of_sizes(prediction, n_draws, error)


@public
def crps(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean continuous ranked probability score, in units of y; lower is better.

    The result is (S,) for every ensemble size, () for `n_draws`.  For a prediction without any
    spread it is the absolute error.

    Mixtures of Gaussians have a closed form (Grimit et al. 2006).  Other distributions are replaced
    by points: 400 quantiles of each draw where torch has them, else samples with a fixed seed, at
    least 400 of each draw and 10,000 of all.

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
        points, are_quantiles = _points(prediction)

        def of_first(size: int) -> Tensor:
            return _of_points(points[:, :size], y, are_quantiles)

        return _of_sizes(prediction, n_draws, of_first)
    largest = prediction.size(n_draws)
    draws_and_inputs = prediction.outputs.shape[:2]
    mean = p.loc.unflatten(0, draws_and_inputs)[:largest]
    std = p.scale.unflatten(0, draws_and_inputs)[:largest]
    values = _of_gaussians(mean, std, y)
    return values[-1] if n_draws is not None else torch.stack(values)


def _of_gaussians(mean: Tensor, std: Tensor, y: Tensor) -> list[Tensor]:
    """Compute the mean CRPS of the first 1, 2, ..., S Gaussians, whose means are (S, N, ...)."""
    from_target = _mean_abs(mean - y, std)  # E|Y - y| of each draw
    target_sum = torch.zeros_like(y)
    pair_sum = torch.zeros_like(y)  # of E|Y - Y'| over all ordered pairs of draws
    values = []
    for k in range(len(mean)):
        size = k + 1
        of_differences = torch.hypot(std[k], std[:size])  # squares of small ones are 0
        new_pairs = _mean_abs(mean[k] - mean[:size], of_differences)  # draw k with draws 0..k
        target_sum = target_sum + from_target[k]
        # (j, k) and (k, j) are two pairs, (k, k) is one
        pair_sum = pair_sum + 2 * new_pairs.sum(0) - new_pairs[k]
        values.append((target_sum / size - pair_sum / (2 * size**2)).mean())
    return values


def _mean_abs(mean: Tensor, std: Tensor) -> Tensor:
    """Compute E|Z| of Z ~ N(mean, std^2)."""
    z = mean / std
    density = (-z.square() / 2).exp() / math.sqrt(2 * math.pi)
    return 2 * std * density + mean * torch.erf(z / math.sqrt(2))


def _points(prediction: Prediction) -> tuple[Tensor, bool]:
    """Return points (P, S, N, ...) of each draw's distribution, and whether they are quantiles."""
    levels = (torch.arange(POINTS).to(prediction.outputs) + 0.5) / POINTS
    try:
        return prediction.inverse(levels), True
    except NotImplementedError:
        per_draw = max(POINTS, math.ceil(SAMPLES / prediction.n_draws))
        drawn = prediction.sample(per_draw * prediction.n_draws, seed=0)
        by_draw = drawn.unflatten(0, (per_draw, prediction.n_draws))
        return by_draw.to(prediction.outputs), False


def _of_points(points: Tensor, y: Tensor, are_quantiles: bool) -> Tensor:
    """Compute the mean CRPS of the distributions that points (P, S, N, ...) stand for.

    For sorted points the sum of |x_i - x_j| over all pairs i < j is sum_i (2 i - n - 1) x_i.  With
    quantiles E|Y - Y'| / 2 is this sum / n^2.  With samples it is the sum / (n (n - 1)),
    which leaves out the pairs of a sample with itself and so has no bias.
    """
    x = points.flatten(0, 1).sort(0).values
    n = len(x)
    weight = (2 * torch.arange(1, n + 1) - n - 1).to(x)
    pair_sum = torch.einsum("p,p...->...", weight, x)
    n_pairs = n * (n if are_quantiles else n - 1)
    from_target = (x - y).abs().mean(0)
    return (from_target - pair_sum / n_pairs).mean()


@public
def fit_deviation(prediction: Prediction) -> float:
    """Find the factor s = sqrt(mean z^2) for predictive deviations, with z = (y - mean) / std.

    A factor above 1 says that the predictions are too sure.  mean and std are those of the mixture
    of all draws.  For a single Gaussian draw, no other factor gives a smaller NLL than s.
    `scale_deviation` applies the factor.

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
    """Rescale each predictive distribution about its mean by `scale`; the result has new scores.

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
