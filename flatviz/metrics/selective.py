"""Selective prediction: how often the answers are wrong that a network is most sure of."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import Count, Labels
from flatviz.core.boundary import public
from flatviz.metrics.averaging import for_sizes, labels_of
from flatviz.results import Prediction


@public
def risk_coverage(prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None) -> Tensor:
    """Share of wrong answers among the k inputs answered with the largest probability, for k = 1 .. N, (N,).

    The value at k is the risk at coverage k / N; the last is 1 - accuracy; the mean is the area under the curve (AURC).
    y: labels (N,), default those of the Data predicted on; n_draws: ensemble size, default all.  Of equal probabilities
    the first input goes first.

    Raises:
        ValueError: Without labels or with too many draws.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[3.0, 0.0], [0.0, 1.0], [2.0, 0.0]]])  # 1 draw, 3 inputs, 2 classes
        >>> fv.metrics.risk_coverage(fv.Prediction(logits, torch.tensor([0, 0, 0])))
        tensor([0.0000, 0.0000, 0.3333])
    """
    y = labels_of(prediction, y)
    return for_sizes(prediction, prediction.log_probs, n_draws or prediction.n_draws, lambda log_bma: risk_of(log_bma, y))


def risk_of(log_bma: Tensor, y: Tensor) -> Tensor:
    """Running share of mistakes, the surest answer first, (N,)."""
    sure, predicted = log_bma.max(-1)
    wrong = (predicted != y)[sure.argsort(descending=True, stable=True)].to(log_bma.dtype)
    return wrong.cumsum(0) / torch.arange(1, len(wrong) + 1, device=wrong.device, dtype=wrong.dtype)
