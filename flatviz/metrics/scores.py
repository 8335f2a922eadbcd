"""Scores of a Bayesian model average, for one or every ensemble size.

They are accuracy, recall and AUROC, NLL and Brier score, calibration errors and their bins, and
risk by coverage, each with its example (hence its length).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from flatviz.checks import Count, Whole
from flatviz.core import public
from flatviz.likelihood import CategoricalLikelihood, as_likelihood
from flatviz.prediction import (
    N_BINS,
    Prediction,
    accuracy_of,
    bins_of,
    brier_of,
    ece_of,
    for_sizes,
    labels_of,
    log_density,
    nll_of,
)
from flatviz.words import check_choice


def _of_classes(
    prediction: Prediction,
    n_draws: int | None,
    score: Callable[..., Tensor],
    *options: int | None,
) -> Tensor:
    """Compute a score of class probabilities for every ensemble size, or for `n_draws`.

    It is `score(log_bma, labels, *options)`, with the log of mean probabilities, (N, C).
    """
    y = labels_of(prediction)

    def of_mean(log_bma: Tensor) -> Tensor:
        return score(log_bma, y, *options)

    return for_sizes(prediction, prediction.log_probs, n_draws, of_mean)


@public
def accuracy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the share of inputs whose most probable class is right.

    The result is (S,) for every ensemble size, () for `n_draws`.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Raises:
        ValueError: Without labels or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.accuracy(prediction).tolist()
        [0.5, 0.5]
        >>> fv.metrics.accuracy(prediction, n_draws=2).tolist()
        0.5
    """
    return _of_classes(prediction, n_draws, accuracy_of)


@public
def recall(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the share of each class's inputs whose most probable class is right.

    The result is (S, C) for every ensemble size, (C,) for `n_draws`; NaN for a class that no input
    has.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0], [0.0, 1.0]]])  # (S, N, C)
        >>> fv.metrics.recall(fv.Prediction(logits, torch.tensor([0, 1, 1])), n_draws=1)
        tensor([1.0000, 0.5000])
    """
    return _of_classes(prediction, n_draws, _recall)


def _recall(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the recall of each class, (C,)."""
    right = (log_bma.argmax(-1) == y).to(log_bma)
    zeros = log_bma.new_zeros(log_bma.shape[-1])
    hits = zeros.scatter_add(0, y, right)
    counts = zeros.scatter_add(0, y, torch.ones_like(right))
    return hits / counts


@public
def balanced_accuracy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean of `recall` over the classes that the labels have.

    The result is (S,) for every ensemble size, () for `n_draws`.  A rare class counts as a frequent
    one.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0], [0.0, 1.0]]])  # (S, N, C)
        >>> fv.metrics.balanced_accuracy(fv.Prediction(logits, torch.tensor([0, 1, 1])))
        tensor([0.7500])
    """
    return _of_classes(prediction, n_draws, lambda log_p, y: _recall(log_p, y).nanmean())


@public
def auroc(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
    label: Whole | None = None,
) -> Tensor:
    """Compute the area under the ROC curve of p(label); (S,) for every size, () for `n_draws`.

    It is P(p of an input of the class > p of another input) + 1/2 P(equal).

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.
        label: The class that is told from all others; None: class 1 of two.

    Raises:
        ValueError: For a label that there is not, more than two classes without one, and labels all
            of the class or all of others.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[0.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]])  # (S, N, C)
        >>> fv.metrics.auroc(fv.Prediction(logits, torch.tensor([0, 1, 0, 1])))
        tensor([0.7500])
    """
    n_classes = len(prediction.classes)
    if label is None and n_classes != 2:
        raise ValueError(f"auroc needs label=, the class that is told from others, of {n_classes}")
    label = 1 if label is None else label
    if label >= n_classes:
        raise ValueError(f"label must be below {n_classes}, the number of classes, got {label}")
    positive = labels_of(prediction) == label
    if positive.all() or not positive.any():
        raise ValueError(
            f"auroc needs inputs of class {label} and of others, got {int(positive.sum())} of"
            f" {len(positive)}: predict on more"
        )
    return _of_classes(prediction, n_draws, _auroc, label)


def _auroc(log_bma: Tensor, y: Tensor, label: int) -> Tensor:
    """Compute the area from the ranks of log p / (1 - p), of which equal ones share theirs."""
    log_p = log_bma.double()
    others = torch.cat([log_p[:, :label], log_p[:, label + 1 :]], 1)
    odds = log_p[:, label] - others.logsumexp(1)
    _, place, counts = odds.unique(return_inverse=True, return_counts=True)
    rank = (counts.cumsum(0) - (counts - 1) / 2)[place]
    positive = y == label
    n_positive = positive.sum()
    n_others = len(y) - n_positive
    least = n_positive * (n_positive + 1) / 2
    return ((rank[positive].sum() - least) / (n_positive * n_others)).to(log_bma)


@public
def nll(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean of -log p(y) in nats, with p averaged over draws.

    The result is (S,) for every ensemble size, () for `n_draws`.  For a regression p is the mixture
    of the draws' distributions.  The losses of several labels of an example are added.  Weights of
    classes do not count: see `weighted_nll`.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.nll(prediction).tolist()]
        [1.588, 0.41]
    """
    if prediction.has_classes:
        one = prediction.outputs[0, :1]
        labels_per_example = as_likelihood(prediction.likelihood).added(one)
        return labels_per_example * _of_classes(prediction, n_draws, nll_of)
    log_p = log_density(prediction, labels_of(prediction))
    return for_sizes(prediction, log_p, n_draws, lambda log_mean: -log_mean.mean())


@public
def weighted_nll(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean of -log p(y) with the class weights of the likelihood, as a fit counts them.

        sum_i weight[y_i] (-log p(y_i)) / sum_i weight[y_i]

    The result is (S,) for every ensemble size, () for `n_draws`.  Without weights it is `nll`.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Example:
        >>> import torch, flatviz as fv
        >>> likelihood = fv.Likelihood.categorical(weight=[1.0, 3.0])
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]), likelihood)
        >>> round(float(fv.metrics.weighted_nll(prediction)), 3)
        2.318
    """
    likelihood = as_likelihood(prediction.likelihood)
    weight = likelihood.weight if isinstance(likelihood, CategoricalLikelihood) else None
    if weight is None:
        return nll(prediction, n_draws=n_draws)

    def weighted(log_bma: Tensor, y: Tensor) -> Tensor:
        of_inputs = weight.to(log_bma)[y]
        losses = -log_bma.gather(-1, y[:, None])[:, 0]
        return (of_inputs * losses).sum() / of_inputs.sum()

    return _of_classes(prediction, n_draws, weighted)


@public
def brier(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the mean of sum_c (p_c - 1[y = c])^2, between 0 and 2.

    The result is (S,) for every ensemble size, () for `n_draws`.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.brier(prediction).tolist()]
        [0.922, 0.264]
    """
    return _of_classes(prediction, n_draws, brier_of)


@public
def ece(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
    n_bins: Count = N_BINS,
) -> Tensor:
    """Compute the expected calibration error; (S,) for every ensemble size, () for `n_draws`.

    It is the sum over bins of (count / N) |accuracy - mean confidence|, where confidence is the
    largest probability.  With two classes `class_ece` at label=1 is the error of p(1).

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.
        n_bins: Number of bins of equal width; 15, as in Guo et al. 2017.  Values of different
            numbers of bins are not comparable.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.ece(prediction).tolist()]
        [0.536, 0.31]
    """
    return ece_of(reliability(prediction, n_draws=n_draws, n_bins=n_bins))


@public
def class_ece(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
    n_bins: Count = N_BINS,
    label: Whole | None = None,
) -> Tensor:
    """Compute the class-wise calibration error; (S,) for every ensemble size, () for `n_draws`.

    It is the mean over classes c of the sum over bins of (count / N) |share of class c - mean p_c|,
    with bins of p_c of equal width.  So the probability of every class counts, not the largest
    alone.

    Source: Kull et al. 2019 (arXiv 1910.12656).

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.
        n_bins: Number of bins of equal width.
        label: The error of one class alone; of two classes label=1 is the error of p(1), the binary
            calibration error.  None: the mean over classes.

    Raises:
        ValueError: Without labels, with too many draws, and for a label that there is not.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.class_ece(prediction).tolist()]
        [0.536, 0.31]
    """
    if label is not None and label >= (n_classes := len(prediction.classes)):
        raise ValueError(f"label must be below {n_classes}, the number of classes, got {label}")
    return _of_classes(prediction, n_draws, _class_ece, n_bins, label)


def _class_ece(
    log_bma: Tensor,
    y: Tensor,
    n_bins: int,
    label: int | None,
) -> Tensor:
    """Compute the calibration error of all classes, or of one, as `class_ece`."""
    p = log_bma.exp()
    gap = one_hot(y, p.shape[1]) - p  # its sum over a bin is count * (share of class - mean p)
    upper = (p.nan_to_num() * n_bins).ceil().long()  # bins include their upper edge
    bins = (upper - 1).clamp(0, n_bins - 1)
    zeros = p.new_zeros(n_bins, p.shape[1])
    sums = zeros.scatter_add(0, bins, gap)
    each = sums.abs().sum(0) / len(p)
    return each.mean() if label is None else each[label]


@public
def ace(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
    n_bins: Count = N_BINS,
) -> Tensor:
    """Compute the adaptive calibration error; (S,) for every ensemble size, () for `n_draws`.

    It is 1 / (C B) times the sum over classes c and bins b of |share of class c - mean p_c|, with
    bins of equal count in the order of p_c.

    Source: Nixon et al. 2019 (arXiv 1904.01685).

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.
        n_bins: Number of bins of equal count.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.ace(prediction, n_bins=2).tolist()]
        [0.536, 0.31]
    """
    return _of_classes(prediction, n_draws, _ace, n_bins)


def _ace(log_bma: Tensor, y: Tensor, n_bins: int) -> Tensor:
    """Compute the adaptive calibration error over bins of equal count, as `ace`.

    Equal probabilities count with their mean, so that the order of the examples has no effect.
    """
    p = log_bma.exp()
    gap = one_hot(y, p.shape[1]) - p
    gap = _sorted_by(p, gap)
    parts = gap.tensor_split(n_bins)
    errors = [part.mean(0).abs().mean() for part in parts if len(part)]
    return torch.stack(errors).mean()


def _sorted_by(keys: Tensor, values: Tensor) -> Tensor:
    """Sort each column of `values` by that of `keys`, both (N, C).

    Values of equal keys are replaced by their mean.
    """
    keys, order = keys.sort(dim=0)
    group = torch.zeros_like(order)
    group[1:] = (keys[1:] != keys[:-1]).cumsum(0)
    zeros = torch.zeros_like(values)
    ones = torch.ones_like(values)
    total = zeros.scatter_add(0, group, values.gather(0, order))
    count = zeros.scatter_add(0, group, ones)
    return (total / count).gather(0, group)


@public
def reliability(
    prediction: Prediction,
    *,
    n_draws: Count | None = None,
    n_bins: Count = N_BINS,
) -> Tensor:
    """Compute count, mean confidence and accuracy of each confidence bin.

    The result is (S, B, 3) for every ensemble size, (B, 3) for `n_draws`.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; None: every size 1..S.
        n_bins: Number of bins of equal width.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.reliability(prediction, n_draws=2, n_bins=2).tolist()
        [[1.0, 0.5, 0.0], [1.0, 0.8807970881462097, 1.0]]
    """
    return _of_classes(prediction, n_draws, bins_of, n_bins)


@public
def risk_coverage(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the share of wrong answers among the k surest ones, for k = 1 .. N: (N,).

    The value at k is the risk at coverage k / N; the last is 1 - accuracy; the mean is the area
    under the curve (AURC).  Inputs of equal probability count with their mean.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Raises:
        ValueError: Without labels or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[3.0, 0.0], [0.0, 1.0], [2.0, 0.0]]])  # (1, 3, 2)
        >>> fv.metrics.risk_coverage(fv.Prediction(logits, torch.tensor([0, 0, 0])))
        tensor([0.0000, 0.0000, 0.3333])
    """
    return _of_classes(prediction, n_draws or prediction.n_draws, _risk)


def _risk(log_bma: Tensor, y: Tensor) -> Tensor:
    """Compute the running share of mistakes, the surest answer first, (N,)."""
    log_confidence, predicted = log_bma.max(-1, keepdim=True)
    wrong = (predicted != y[:, None]).to(log_bma)
    wrong = _sorted_by(-log_confidence, wrong)[:, 0]
    answered = torch.arange(1, len(wrong) + 1).to(wrong)
    return wrong.cumsum(0) / answered


SCORES = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "nll": nll,
    "weighted_nll": weighted_nll,
    "brier": brier,
    "ece": ece,
    "ace": ace,
    "class_ece": class_ece,
}
OF_A_REGRESSION = ("coverage", "crps", "interval_width", "pit", "quantile_calibration_error")


@public
def score(prediction: Prediction, measure: str, *, n_draws: Count | None = None) -> Tensor:
    """Compute a score of a prediction by its name; (S,) for every ensemble size, () for `n_draws`.

    Args:
        prediction: Result of `predict` on labelled data.
        measure: "accuracy", "balanced_accuracy", "nll", "weighted_nll", "brier", "ece", "ace" or
            "class_ece": the functions of `fv.metrics`, which take further arguments.  Weights of
            classes, as of `Likelihood.categorical(weight=...)`, count in "weighted_nll" alone.
            `fv.metrics.recall` of each class and `auroc`, and those of a regression beside the NLL,
            are functions alone: `fv.metrics.crps`, `coverage`, `interval_width`.
        n_draws: Ensemble size: the first draws.

    Raises:
        ValueError: For another word, without labels, or with too many draws.

    Example:
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(float(fv.score(prediction, name, n_draws=2)), 3) for name in ("nll", "ece")]
        [0.41, 0.31]
    """
    if measure in ("recall", "auroc"):
        raise ValueError(
            f"measure {measure!r} is of a class, and a function: call"
            f" fv.metrics.{measure}(prediction)"
        )
    if measure in OF_A_REGRESSION:
        raise ValueError(
            f"measure {measure!r} is one of a regression, which is a function: call"
            f" fv.metrics.{measure}(prediction)"
        )
    return SCORES[check_choice(measure, tuple(SCORES), "measure")](prediction, n_draws=n_draws)
