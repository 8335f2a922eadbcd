"""Scores of a Bayesian model average, for one or every ensemble size: accuracy, NLL, Brier."""

from __future__ import annotations

from torch import Tensor

from flatviz.checks import Count, Labels, check_choice
from flatviz.core.boundary import public
from flatviz.likelihood import as_likelihood
from flatviz.metrics.averaging import accuracy_of, brier_of, for_sizes, labels_of, log_density, nll_of
from flatviz.metrics.calibration import ace, class_ece, ece
from flatviz.results import Prediction


@public
def accuracy(prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None) -> Tensor:
    """Share of inputs whose most probable class is right; (S,) for every ensemble size, () for `n_draws`.

    Labels: `y` (N,), or those of the Data predicted on.

    Raises:
        ValueError: Without labels or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.accuracy(prediction).tolist(), fv.metrics.accuracy(prediction, n_draws=2).tolist()
        ([0.5, 0.5], 0.5)
    """
    y = labels_of(prediction, y)
    return for_sizes(prediction, prediction.log_probs, n_draws, lambda log_bma: accuracy_of(log_bma, y))


@public
def nll(prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None) -> Tensor:
    """Mean of -log p(y) in nats, p averaged over draws; (S,) for every ensemble size, () for `n_draws`.

    Of a regression, p is the mixture of the draws' distributions; of several labels an example, their losses are added up.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.nll(prediction).tolist()]
        [1.588, 0.41]
    """
    y = labels_of(prediction, y)
    if not prediction.has_classes:
        return for_sizes(prediction, log_density(prediction, y), n_draws, lambda log_mean: -log_mean.mean())
    added = as_likelihood(prediction.likelihood).added(prediction.outputs[0, :1])
    return for_sizes(prediction, prediction.log_probs, n_draws, lambda log_bma: added * nll_of(log_bma, y))


@public
def brier(prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None) -> Tensor:
    """Mean of sum_c (p_c - 1[y = c])^2, between 0 and 2; (S,) for every ensemble size, () for `n_draws`.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.brier(prediction).tolist()]
        [0.922, 0.264]
    """
    y = labels_of(prediction, y)
    return for_sizes(prediction, prediction.log_probs, n_draws, lambda log_bma: brier_of(log_bma, y))


SCORES = {"accuracy": accuracy, "nll": nll, "brier": brier, "ece": ece, "ace": ace, "class_ece": class_ece}


@public
def score(prediction: Prediction, measure: str, *, n_draws: Count | None = None) -> Tensor:
    """A score of a prediction by its name; (S,) for every ensemble size, () for `n_draws`.

    Args:
        prediction: What `predict` returned on labelled data.
        measure: "accuracy", "nll", "brier", "ece", "ace" or "class_ece": the functions of `fv.metrics`, which take further arguments.
        n_draws: Ensemble size: the first draws.

    Raises:
        ValueError: For another word, without labels, or with too many draws.

    Example:
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(float(fv.score(prediction, name, n_draws=2)), 3) for name in ("nll", "ece")]
        [0.41, 0.31]
    """
    return SCORES[check_choice(measure, tuple(SCORES), "measure")](prediction, n_draws=n_draws)
