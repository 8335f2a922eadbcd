"""Telling inputs of another kind from the test inputs by an uncertainty score."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import Vector
from flatviz.core.boundary import public
from flatviz.core.seeds import saved_rng


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
        ImportError: Without scikit-learn.

    Example:
        >>> import torch, flatviz as fv
        >>> scores = fv.metrics.ood_scores(torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0.3, 0.8]))
        >>> round(scores["auroc"], 3), scores["base_out"]
        (0.833, 0.4)
    """
    try:
        with saved_rng():  # its import draws random numbers
            from sklearn.metrics import average_precision_score, roc_auc_score  # torchmetrics squashes scores by a sigmoid
    except ImportError as error:
        raise ImportError("ood_scores needs scikit-learn: pip install scikit-learn") from error
    score = torch.cat([inside, outside]).double().cpu().numpy()
    is_out = torch.cat([torch.zeros(len(inside)), torch.ones(len(outside))]).numpy()
    return {
        "auroc": float(roc_auc_score(is_out, score)),
        "aupr_out": float(average_precision_score(is_out, score)),
        "aupr_in": float(average_precision_score(1 - is_out, -score)),
        "fpr95_out": _fpr95(outside, inside),
        "fpr95_in": _fpr95(-inside, -outside),
        "base_out": len(outside) / len(score),
    }


def _fpr95(positive: Tensor, negative: Tensor) -> float:
    """Share of `negative` at or above the largest threshold that at least 95 % of `positive` reach."""
    ranked = positive.sort(descending=True).values
    needed = -(-95 * len(ranked) // 100)  # ceil, in whole numbers
    return float((negative >= ranked[needed - 1]).double().mean())
