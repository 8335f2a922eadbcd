"""What an ensemble does not know: noise in the data, disagreement about the function, inputs from elsewhere."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.special import entr

from flatviz.checks import Count, Vector
from flatviz.core.boundary import public
from flatviz.core.seeds import saved_rng
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


@public
def ood_scores(inside: Vector, outside: Vector) -> dict[str, float]:
    """How well a score tells inputs `outside` (M,) the distribution from those `inside` (N,); larger means more outside.

    auroc: P(outside > inside) + 1/2 P(equal).  aupr_out, aupr_in: average precision with outside, or inside (score
    negated), as the positive; each depends on its base rate, `base_out` = M / (N + M).
    fpr95_out: share of inside above the first threshold that catches 95 % of outside; fpr95_in: share of outside below
    the first that keeps 95 % of inside.  Papers report either without saying which.
    Scores: `predictive_entropy`, `mutual_information`, 1 - largest probability.

    Raises:
        ValueError: For an empty or non-finite score.

    Example:
        >>> import torch, flatviz as fv
        >>> scores = fv.metrics.ood_scores(torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0.3, 0.8]))
        >>> round(scores["auroc"], 3), scores["base_out"]
        (0.833, 0.4)
    """
    with saved_rng():  # its import draws random numbers; torchmetrics would squash scores by a sigmoid
        from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve
    score = torch.cat([inside, outside]).double().cpu().numpy()
    is_out = torch.cat([torch.zeros(len(inside)), torch.ones(len(outside))]).numpy()

    def fpr95(positive: Any, score: Any) -> float:
        false, true, _ = roc_curve(positive, score, drop_intermediate=False)
        return float(false[(true >= 0.95).argmax()])

    return {
        "auroc": float(roc_auc_score(is_out, score)),
        "aupr_out": float(average_precision_score(is_out, score)),
        "aupr_in": float(average_precision_score(1 - is_out, -score)),
        "fpr95_out": fpr95(is_out, score),
        "fpr95_in": fpr95(1 - is_out, -score),
        "base_out": len(outside) / len(score),
    }
