"""What an ensemble does not know, split in two: noise in the data, and disagreement about the function."""

from __future__ import annotations

from torch import Tensor
from torch.special import entr

from flatviz.checks import Count
from flatviz.core.boundary import public
from flatviz.results import Prediction


@public
def predictive_entropy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Total uncertainty of each input, in nats, (N,): H(p) = -sum_c p_c log p_c of the averaged probabilities p.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.predictive_entropy(prediction).tolist()]  # log 2 where the draws contradict each other
        [0.365, 0.693]
    """
    return entr(prediction.bma(n_draws)).sum(-1)


@public
def aleatoric_entropy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """The part that every draw sees, in nats, (N,): the mean over draws of H(p_s).

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.aleatoric_entropy(prediction).tolist()]
        [0.365, 0.191]
    """
    return entr(prediction.probs[: prediction.size(n_draws)]).sum(-1).mean(0)


@public
def mutual_information(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """The epistemic part, in nats, (N,): H(p) - mean_s H(p_s) = mean_s KL(p_s || p) >= 0.

    Between the label and the draw; biased low for few draws, 0 for one.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.mutual_information(prediction).tolist()]
        [0.0, 0.502]
    """
    epistemic = predictive_entropy(prediction, n_draws=n_draws) - aleatoric_entropy(prediction, n_draws=n_draws)
    return epistemic.clamp_min(0)  # below 0 by rounding only
