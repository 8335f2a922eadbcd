"""Uncertainty of an ensemble, differences between its draws, and distance to a reference posterior.

Entropies separate noise in the data from disagreement about the function.  `agreement` and
`total_variation` compare the predictions (1/S) sum_s p_s(y | x) of two ensembles on the same
inputs, without labels (Izmailov et al. 2021, arXiv 2104.14421, section 6).
"""

import math
from typing import Annotated

import numpy as np
import torch
from torch import Tensor
from torch.special import entr

from flatviz.checks import Count, Vector, kind, shown
from flatviz.core import public
from flatviz.likelihood import as_likelihood
from flatviz.results import Prediction

Averaged = Annotated[
    Prediction | Tensor,
    kind((Prediction, Tensor), "a Prediction, or averaged probabilities (N, C)"),
]


@public
def predictive_entropy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the total uncertainty of each input, in nats, (N,).

    It is H(p) = -sum_c p_c log p_c of the averaged probabilities p.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> entropy = fv.metrics.predictive_entropy(prediction)
        >>> [round(v, 3) for v in entropy.tolist()]  # log 2 where the draws contradict each other
        [0.365, 0.693]
    """
    return entr(prediction.bma(n_draws)).sum(-1)


@public
def aleatoric_entropy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the uncertainty within draws, in nats, (N,): the mean over draws of H(p_s).

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.aleatoric_entropy(prediction).tolist()]
        [0.365, 0.191]
    """
    probs = prediction.probs[: prediction.size(n_draws)]
    return entr(probs).sum(-1).mean(0)


@public
def mutual_information(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the epistemic uncertainty, in nats, (N,).

        H(p) - mean_s H(p_s) = mean_s KL(p_s || p) >= 0

    It is the mutual information of the label and the draw, where p is the mean over draws of p_s.
    With few draws it is biased low; with one draw it is 0.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> [round(v, 3) for v in fv.metrics.mutual_information(prediction).tolist()]
        [0.0, 0.502]
    """
    total = predictive_entropy(prediction, n_draws=n_draws)
    within = aleatoric_entropy(prediction, n_draws=n_draws)
    return (total - within).clamp_min(0)  # below 0 by rounding only


@public
def energy(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute the free energy -log sum_c exp(logit_c) of each input, its mean over draws, (N,).

    It is larger for inputs further from the training data, where logits are small.

    Source: Liu et al. 2020 (arXiv 2010.03759).

    Args:
        prediction: Logits of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Raises:
        ValueError: For outputs that are not logits (S, N, C).

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [9.0, 0.0]]])  # (S, N, C)
        >>> [round(v, 2) for v in fv.metrics.energy(fv.Prediction(logits)).tolist()]
        [-2.13, -9.0]
    """
    return -_logits(prediction, n_draws).logsumexp(-1).mean(0)


@public
def max_logit(prediction: Prediction, *, n_draws: Count | None = None) -> Tensor:
    """Compute minus the largest logit of each input, its mean over draws, (N,).

    It is larger for inputs further from the training data.

    Source: Hendrycks et al. 2022 (arXiv 1911.11132).

    Args:
        prediction: Logits of S draws on N inputs, as `predict` returns.
        n_draws: Ensemble size, the first draws; default all S.

    Raises:
        ValueError: For outputs that are not logits (S, N, C).

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [9.0, 0.0]]])  # (S, N, C)
        >>> fv.metrics.max_logit(fv.Prediction(logits)).tolist()
        [-2.0, -9.0]
    """
    return -_logits(prediction, n_draws).amax(-1).mean(0)


def _logits(prediction: Prediction, n_draws: int | None) -> Tensor:
    """Return the logits (S, N, C) of the first draws; log p would not have their level."""
    likelihood = as_likelihood(prediction.likelihood)
    if likelihood.name not in ("categorical", "soft") or prediction.outputs.ndim != 3:
        raise ValueError(
            "a score of logits needs those of one label an example, (S, N, C), got"
            f" {shown(prediction.outputs)} of {likelihood!r}: use predictive_entropy"
        )
    return prediction.outputs[: prediction.size(n_draws)]


@public
def ood_scores(inside: Vector, outside: Vector) -> dict[str, float]:
    """Measure how well a score separates inputs `outside` the distribution from those `inside`.

    A larger score must mean further outside.  Such scores are `predictive_entropy`,
    `mutual_information`, `energy`, `max_logit`, and 1 minus the largest probability.  They need no
    labels.

    Args:
        inside: Score of each input from the distribution, (N,).
        outside: Score of each input from elsewhere, (M,).

    Returns:
        Name -> value:

        - `auroc`: P(outside > inside) + 1/2 P(equal);
        - `aupr_out`: average precision with outside as the positive class;
        - `aupr_in`: average precision with inside as the positive class, the score negated;
        - `fpr95_out`: share of inside at or above the highest threshold that at least 95 % of
          outside reach;
        - `fpr95_in`: share of outside at or below the lowest threshold that at least 95 % of inside
          stay within.  Papers call both FPR95, so say which you report;
        - `base_out`: M / (N + M), the share of outside, on which both average precisions depend.

    Raises:
        ValueError: For an empty or non-finite score.

    Example:
        >>> import torch, flatviz as fv
        >>> scores = fv.metrics.ood_scores(torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0.3, 0.8]))
        >>> round(scores["auroc"], 3), scores["base_out"]
        (0.833, 0.4)
    """
    # Not torchmetrics: it squashes scores beyond 0 and 1 by a sigmoid
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    both = torch.cat([inside, outside])
    score = both.detach().double().cpu().numpy()
    is_out = np.repeat([0, 1], [len(inside), len(outside)])

    def fpr95(is_positive: object, score: object) -> float:
        false_rates, true_rates, _ = roc_curve(is_positive, score, drop_intermediate=False)
        first = (true_rates >= 0.95).argmax()  # thresholds fall, so rates rise
        return float(false_rates[first])

    return {
        "auroc": float(roc_auc_score(is_out, score)),
        "aupr_out": float(average_precision_score(is_out, score)),
        "aupr_in": float(average_precision_score(1 - is_out, -score)),
        "fpr95_out": fpr95(is_out, score),
        "fpr95_in": fpr95(1 - is_out, -score),
        "base_out": len(outside) / len(score),
    }


@public
def agreement(prediction: Averaged, reference: Averaged) -> float:
    """Compute the share of inputs with the same most probable class in both, in [0, 1].

    The result is NaN if either holds a NaN probability.

    Args:
        prediction: A `Prediction`, or averaged class probabilities (N, C).
        reference: The same of the other posterior, on the same inputs.

    Raises:
        TypeError: For another kind.
        ValueError: For other shapes.

    Example:
        >>> import torch, flatviz as fv
        >>> p = torch.tensor([[0.9, 0.1], [0.4, 0.6]])
        >>> fv.metrics.agreement(p, torch.tensor([[0.6, 0.4], [0.6, 0.4]]))
        0.5
    """
    p, r = _both(prediction, reference)
    if (p + r).isnan().any():  # argmax would take NaN for the largest
        return math.nan
    same = p.argmax(-1) == r.argmax(-1)
    return float(same.double().mean())


@public
def total_variation(prediction: Averaged, reference: Averaged) -> float:
    """Compute the mean over inputs of sum_y |p(y | x) - r(y | x)| / 2, in [0, 1].

    At one input it is the largest difference between the probabilities that the two give to any set
    of classes.  Even S draws from the reference posterior itself are about sqrt(C / S) / 4 away
    from its average over infinitely many draws, so do not expect 0.

    Args:
        prediction: A `Prediction`, or averaged class probabilities (N, C).
        reference: The same of the other posterior, on the same inputs.

    Raises:
        TypeError: For another kind.
        ValueError: For other shapes.

    Example:
        >>> import torch, flatviz as fv
        >>> p = torch.tensor([[0.9, 0.1]])
        >>> round(fv.metrics.total_variation(p, torch.tensor([[0.6, 0.4]])), 6)
        0.3
    """
    p, r = _both(prediction, reference)
    return float((p - r).abs().sum(-1).mean() / 2)


def _both(prediction: Prediction | Tensor, reference: Prediction | Tensor) -> tuple[Tensor, Tensor]:
    """Return the averaged class probabilities of both, (N, C) each, in float64 on the CPU."""
    p = _averaged(prediction, "prediction")
    r = _averaged(reference, "reference")
    if p.shape != r.shape:
        raise ValueError(
            f"both must be of the same inputs and classes, got {tuple(p.shape)}, {tuple(r.shape)}"
        )
    return p, r


def _averaged(value: Prediction | Tensor, name: str) -> Tensor:
    """Average a `Prediction` over its draws, or check averaged probabilities; `name` is for errors.

    The result is (N, C), in float64 on the CPU.

    Raises:
        ValueError: For a tensor that does not hold probabilities (N, C).
    """
    if isinstance(value, Prediction):
        probs = value.log_probs.detach().double().exp()
        return probs.mean(0).cpu()
    value = value.detach().double().cpu()
    if value.ndim != 2:
        raise ValueError(
            f"{name} must hold averaged class probabilities (N, C), got shape {tuple(value.shape)}"
        )
    sum_error = (value.sum(1) - 1).abs()
    # 1e-2 allows for probabilities in half precision
    if (value < 0).any() or (sum_error > 1e-2).any():
        raise ValueError(
            f"{name} must hold class probabilities, rows >= 0 that sum to 1, got others: use"
            " logits.softmax(1)"
        )
    return value


@public
def disagreement(prediction: Prediction) -> Tensor:
    """Compute the share of inputs on which two draws differ in their answer, for each pair, (S, S).

    The answer of a draw is its most probable class.  The share is 0 on the diagonal, and NaN in the
    row and column of a diverged draw.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.disagreement(prediction).tolist()
        [[0.0, 0.5], [0.5, 0.0]]
    """
    log_p = prediction.log_probs
    answers = log_p.argmax(-1)
    diverged = log_p.isnan().flatten(1).any(-1)
    differ = answers[:, None] != answers
    table = differ.to(log_p.dtype).mean(-1)
    return table.masked_fill(diverged[:, None] | diverged, torch.nan)
