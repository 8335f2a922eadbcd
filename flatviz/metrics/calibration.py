"""Whether a probability means what it says: expected calibration error, and the bins behind it."""

from __future__ import annotations

from torch import Tensor

from flatviz.checks import Count, Labels
from flatviz.core.boundary import public
from flatviz.metrics.averaging import N_BINS, bins_of, ece_of, for_sizes, labels_of
from flatviz.results import Prediction


@public
def ece(prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None, n_bins: Count = N_BINS) -> Tensor:
    """Expected calibration error; (S,) for every ensemble size, () for `n_draws`.

    sum over bins of (count / N) |accuracy - mean confidence|, confidence the largest probability.
    y: labels (N,), default those predicted on.  n_bins: of equal width; 15, as in Guo et al. 2017.  Values of different numbers of
    bins are not comparable.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.ece(prediction).tolist()]
        [0.536, 0.31]
    """
    return ece_of(reliability(prediction, y, n_draws=n_draws, n_bins=n_bins))


@public
def reliability(
    prediction: Prediction, y: Labels | None = None, *, n_draws: Count | None = None, n_bins: Count = N_BINS
) -> Tensor:
    """Count, mean confidence and accuracy of each bin: (S, B, 3) for every ensemble size, (B, 3) for `n_draws`.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.reliability(prediction, n_draws=2, n_bins=2).tolist()  # count, confidence, accuracy
        [[1.0, 0.5, 0.0], [1.0, 0.8807970881462097, 1.0]]
    """
    y = labels_of(prediction, y)
    return for_sizes(prediction, prediction.log_probs, n_draws, lambda log_bma: bins_of(log_bma, y, n_bins))
