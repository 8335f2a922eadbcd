"""Averaged probabilities of growing ensembles, their scores, and temperature scaling."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.checks import Labels, Positive, check_is
from flatviz.core import public
from flatviz.likelihood import as_likelihood
from flatviz.results import Prediction

N_BINS = 15
# The search is for log T between +-log(100); at the bounds logits are useless, or never wrong
LARGEST_LOG_T = math.log(100)


def labels_of(prediction: Prediction, y: Tensor | None) -> Tensor:
    """Check labels (N,), given or from the prediction, as int64 of all places that count.

    Targets of a regression are checked likewise.

    Raises:
        ValueError: Without labels, or for labels that cannot be scored.
    """
    y = prediction.y if y is None else y
    if y is None:
        raise ValueError("scores need labels, got none: predict on a Data, or give y")
    # A prediction's labels were not checked by a public verb
    check_is(y, Tensor, "y", "use torch.as_tensor")
    if len(y) != prediction.outputs.shape[1]:
        raise ValueError(f"y must hold {prediction.outputs.shape[1]} labels, got {len(y)}")
    y = as_likelihood(prediction.likelihood).check(
        y.to(prediction.outputs.device), prediction.outputs[0]
    )
    if not prediction.has_classes:
        return y
    counts = as_likelihood(prediction.likelihood).counts(y)
    return (y if counts is None else y[counts]).flatten().long()


def log_density(prediction: Prediction, y: Tensor) -> Tensor:
    """Compute log p(y) of every draw and input of a regression, (S, N)."""
    many = y.expand(prediction.n_draws, *y.shape).flatten(0, 1)
    entries = as_likelihood(prediction.likelihood).entries(prediction.outputs.flatten(0, 1), many)
    return -entries.reshape(prediction.n_draws, -1)


def running_mean_log(log_p: Tensor) -> Iterator[Tensor]:
    """Iterate over logs of the means of exp(log_p[:1]), exp(log_p[:2]), ..., in log space."""
    total = None
    for size, row in enumerate(log_p, 1):
        total = row if total is None else torch.logaddexp(total, row)
        yield total - math.log(size)


def for_sizes(
    prediction: Prediction, log_p: Tensor, n_draws: int | None, score: Callable[[Tensor], Tensor]
) -> Tensor:
    """Compute `score(log mean)` for every ensemble size, (S, ...), or for `n_draws` alone.

    It is NaN where a log mean is.
    """

    def of_numbers(log_mean: Tensor) -> Tensor:
        value = score(log_mean)
        return torch.full_like(value, math.nan) if bool(log_mean.isnan().any()) else value

    if n_draws is not None:
        return of_numbers(torch.logsumexp(log_p[: prediction.size(n_draws)], 0) - math.log(n_draws))
    return torch.stack([of_numbers(log_mean) for log_mean in running_mean_log(log_p)])


def of_classes(
    prediction: Prediction,
    y: Tensor | None,
    n_draws: int | None,
    score: Callable[..., Tensor],
    *how: int | None,
) -> Tensor:
    """Compute `score(log mean, labels, *how)` of classes, as `for_sizes`."""
    log_p, y = counted(prediction, y)
    return for_sizes(prediction, log_p, n_draws, lambda log_bma: score(log_bma, y, *how))


def counted(prediction: Prediction, y: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return log probabilities (S, M, C) and labels (M,) of all places that count."""
    labels = labels_of(prediction, y)
    if y is not None:
        prediction = replace(prediction, y=y, scores={}, bins=None)
    return prediction.log_probs, labels


def averaged(prediction: Prediction, y: Tensor | None = None) -> Prediction:
    """Return the average of all draws as a prediction of one draw.

    Scoring it is far cheaper than scoring every ensemble size.
    """
    outputs = prediction.outputs.to(torch.promote_types(prediction.outputs.dtype, torch.float32))
    # torch's softmax over few classes in the last dimension is ten times as slow
    log_p = outputs.mT.contiguous().log_softmax(-2)
    log_bma = torch.logsumexp(log_p, 0).mT - math.log(prediction.n_draws)
    return scored(
        replace(prediction, outputs=log_bma[None], y=labels_of(prediction, y), scores={}, bins=None)
    )


def accuracy_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the share of inputs whose most probable class is right."""
    return (log_bma.argmax(-1) == y).to(log_bma.dtype).mean()


def nll_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the mean of -log p(y), in nats."""
    return -log_bma.gather(-1, y[:, None]).mean()


def brier_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the mean of sum_c (p_c - 1[y = c])^2."""
    hot = torch.nn.functional.one_hot(y, log_bma.shape[-1])
    return (log_bma.exp() - hot).square().sum(-1).mean()


def bins_of(log_bma: Tensor, y: Tensor, n_bins: int = N_BINS) -> Tensor:
    """Compute count, mean confidence and accuracy of each confidence bin, (B, 3).

    An empty bin is 0, NaN, NaN.  Bins are (i/B, (i+1)/B], so that a confidence of exactly 1 falls
    in the last.
    """
    confidence, predicted = log_bma.double().exp().max(-1)
    right = (predicted == y).to(confidence.dtype)
    index = ((confidence * n_bins).ceil().long() - 1).clamp(0, n_bins - 1)
    count = torch.bincount(index, minlength=n_bins).to(confidence.dtype)
    total = [torch.zeros_like(count).index_add_(0, index, v) for v in (confidence, right)]
    return torch.stack([count, total[0] / count, total[1] / count], dim=-1).to(log_bma.dtype)


def ece_of(bins: Tensor) -> Tensor:
    """Compute the sum over bins of (count / N) |accuracy - confidence| from bins (..., B, 3)."""
    count = bins[..., 0]
    gap = (bins[..., 2] - bins[..., 1]).abs().nan_to_num(0.0)
    return (count * gap).sum(-1) / count.sum(-1)


def class_ece_of(
    log_bma: Tensor, y: Tensor, n_bins: int = N_BINS, label: int | None = None
) -> Tensor:
    """Compute the calibration error of all classes, or of one, as `class_ece`."""
    p = log_bma.exp()
    # The sum over a bin: its count times (share - mean)
    gap = torch.nn.functional.one_hot(y, p.shape[1]) - p
    bins = ((p.nan_to_num() * n_bins).ceil().long() - 1).clamp(0, n_bins - 1)
    each = p.new_zeros(n_bins, p.shape[1]).scatter_add_(0, bins, gap).abs().sum(0) / len(p)
    return each.mean() if label is None else each[label]


def ace_of(log_bma: Tensor, y: Tensor, n_bins: int = N_BINS) -> Tensor:
    """Compute the adaptive calibration error over bins of equal count, as `ace`.

    Equal probabilities count with their mean, so that the order of the examples has no effect.
    """
    p = log_bma.exp()
    gap = torch.nn.functional.one_hot(y, p.shape[1]) - p
    gap = _sorted_by(p, gap)
    return torch.stack(
        [part.mean(0).abs().mean() for part in gap.tensor_split(n_bins) if len(part)]
    ).mean()


def _sorted_by(keys: Tensor, values: Tensor) -> Tensor:
    """Sort each column of `values` by that of `keys`, both (N, C).

    Values of equal keys are replaced by their mean.
    """
    keys, order = keys.sort(dim=0)
    group = torch.zeros_like(order)
    group[1:] = (keys[1:] != keys[:-1]).cumsum(0)
    total = torch.zeros_like(values).scatter_add_(0, group, values.gather(0, order))
    count = torch.zeros_like(values).scatter_add_(0, group, torch.ones_like(values))
    return (total / count).gather(0, group)


def risk_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the running share of mistakes, the surest answer first, (N,)."""
    sure, predicted = log_bma.max(-1)
    wrong = _sorted_by(-sure[:, None], (predicted != y).to(log_bma)[:, None])[:, 0]
    return wrong.cumsum(0) / torch.arange(1, len(wrong) + 1, device=wrong.device, dtype=wrong.dtype)


def _means(prediction: Prediction) -> Tensor | None:
    try:
        return prediction.means
    except ValueError:  # from a distribution without a mean
        return None


def scored(prediction: Prediction) -> Prediction:
    """Compute accuracy, NLL, ECE and Brier of every ensemble size, in one pass over the draws.

    A regression has NLL and RMSE, or NLL alone where its mean has no closed form.
    """
    y = labels_of(prediction, None)
    if not prediction.has_classes:
        scores = {
            "nll": for_sizes(prediction, log_density(prediction, y), None, lambda p: -p.mean())
        }
        if (means := _means(prediction)) is not None:
            sizes = torch.arange(1, len(means) + 1).to(means).view(-1, *[1] * (means.ndim - 1))
            errors = means.cumsum(0) / sizes - y.view(means.shape[1:])
            scores["rmse"] = errors.flatten(1).square().mean(1).sqrt()
        return replace(prediction, scores=scores, bins=None)
    added = as_likelihood(prediction.likelihood).added(prediction.outputs[0, :1])

    def all_scores(log_bma: Tensor) -> Tensor:
        bins = bins_of(log_bma, y)
        four = [
            accuracy_of(log_bma, y),
            added * nll_of(log_bma, y),
            ece_of(bins),
            brier_of(log_bma, y),
        ]
        return torch.cat([torch.stack(four), bins.reshape(-1)])

    table = for_sizes(prediction, prediction.log_probs, None, all_scores)
    scores = dict(zip(("accuracy", "nll", "ece", "brier"), table[:, :4].T))
    bins = table[:, 4:].reshape(len(table), N_BINS, 3)
    return replace(prediction, scores=scores, bins=bins)


@public
def fit_temperature(prediction: Prediction, y: Labels | None = None) -> float:
    """Find T > 0 at which the average over draws of softmax(log p / T) has the smallest NLL.

    It uses Brent's method on log T.  log p are logits, or the log probabilities of another
    likelihood of classes, of all labels that count.

    Source: Guo et al. 2017 (arXiv 1706.04599).

    Args:
        prediction: Outputs on a validation split, neither that of training nor that of testing.
        y: Labels (N,); default those of the `Data` predicted on.

    Raises:
        ValueError: Without labels, for outputs that are NaN or inf, a regression (use
            `fit_deviation`), and where no finite T is best: logits that are never wrong, or no
            better than chance.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[4.0, 0.0]] * 4])  # class 0, right three times in four
        >>> T = fv.metrics.fit_temperature(fv.Prediction(logits, torch.tensor([0, 0, 0, 1])))
        >>> round(T, 2), round(float((logits / T).softmax(-1)[0, 0, 0]), 2)
        (3.64, 0.75)
    """
    from scipy.optimize import minimize_scalar  # imported here, as predictions need no scipy

    if bad := int(prediction.log_probs.isnan().sum((0, 2)).count_nonzero()):
        raise ValueError(
            f"fit_temperature needs outputs that are numbers, got NaN or inf for {bad} inputs: drop"
            " those draws"
        )
    log_p, y = counted(prediction, y)
    logits = log_p.detach().double()

    def nll_at(log_t: float) -> float:
        return float(
            nll_of(
                (logits / math.exp(log_t)).log_softmax(-1).logsumexp(0) - math.log(len(logits)), y
            )
        )

    ends = -LARGEST_LOG_T, LARGEST_LOG_T
    best = minimize_scalar(nll_at, bounds=ends, method="bounded", options={"xatol": 1e-8})
    if any(best.fun >= nll_at(end) or abs(best.x - end) < 1e-4 for end in ends):
        raise ValueError(
            "fit_temperature needs answers that are sometimes wrong and better than chance, got"
            " those of no best temperature between 1/100 and 100: predict on more than these"
            f" {len(y)} validation examples"
        )
    return math.exp(best.x)


@public
def scale_temperature(prediction: Prediction, temperature: Positive) -> Prediction:
    """Divide every draw's logits or log probabilities by `temperature`, and score the result.

    The answers of a single draw stay; those of an average may change.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        temperature: T > 0.

    Raises:
        ValueError: For a regression: use `scale_deviation`.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.scale_temperature(prediction, 2.0).outputs[0].tolist()
        [[1.0, 0.0], [1.5, 0.0]]
    """
    log_p = prediction.log_probs  # refuses a regression
    outputs, likelihood = as_likelihood(prediction.likelihood).tempered(
        prediction.outputs.to(log_p), temperature
    )
    cooled = replace(prediction, outputs=outputs, likelihood=likelihood, scores={}, bins=None)
    return cooled if prediction.y is None else scored(cooled)
