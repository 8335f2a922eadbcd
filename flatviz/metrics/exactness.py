"""How near predictions are to those of a reference posterior, say `fit_hmc`'s, and how much an ensemble's draws differ.

Agreement and total variation compare what two ensembles predict, (1/S) sum_s p_s(y | x), on the same inputs, without labels.
Source: Izmailov et al. 2021 (arXiv 2104.14421), section 6.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Tensor

from flatviz.checks import kind
from flatviz.core.boundary import public
from flatviz.results import Prediction

Averaged = Annotated[Prediction | Tensor, kind((Prediction, Tensor), "a Prediction, or averaged probabilities (N, C)")]


@public
def agreement(prediction: Averaged, reference: Averaged) -> float:
    """Share of inputs on which both answer alike, in [0, 1]: argmax_y p(y | x) = argmax_y r(y | x).

    Args: prediction, reference: of the same inputs, or averaged class probabilities (N, C).
    NaN where either holds probabilities that are.

    Raises:
        TypeError: For another kind.
        ValueError: For other shapes.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.metrics.agreement(torch.tensor([[0.9, 0.1], [0.4, 0.6]]), torch.tensor([[0.6, 0.4], [0.6, 0.4]]))
        0.5
    """
    p, r = _both(prediction, reference)
    if bool(p.isnan().any() | r.isnan().any()):
        return math.nan
    return float((p.argmax(-1) == r.argmax(-1)).double().mean())


@public
def total_variation(prediction: Averaged, reference: Averaged) -> float:
    """Mean over inputs of sum_y |p(y | x) - r(y | x)| / 2, in [0, 1]: the probability by which some event may differ.

    Args: prediction, reference: of the same inputs, or averaged class probabilities (N, C).
    S draws of the reference itself are about sqrt(C / S) / 4 apart from its limit, so 0 is not within reach.

    Raises:
        TypeError: For another kind.
        ValueError: For other shapes.

    Example:
        >>> import torch, flatviz as fv
        >>> round(fv.metrics.total_variation(torch.tensor([[0.9, 0.1]]), torch.tensor([[0.6, 0.4]])), 6)
        0.3
    """
    p, r = _both(prediction, reference)
    return float((p - r).abs().sum(-1).mean() / 2)


def _both(prediction: Prediction | Tensor, reference: Prediction | Tensor) -> tuple[Tensor, Tensor]:
    """Averaged class probabilities of both, (N, C), float64 on the CPU."""
    p, r = _averaged(prediction, "prediction"), _averaged(reference, "reference")
    if p.shape != r.shape:
        raise ValueError(
            f"prediction and reference must be of the same inputs and classes, got {tuple(p.shape)}, {tuple(r.shape)}"
        )
    return p, r


def _averaged(value: Prediction | Tensor, name: str) -> Tensor:
    if isinstance(value, Prediction):
        return value.log_probs.detach().double().exp().mean(0).cpu()
    value = value.detach().double().cpu()
    if value.ndim != 2:
        raise ValueError(f"{name} must hold averaged class probabilities (N, C), got shape {tuple(value.shape)}")
    if bool(((value < 0) | ((value.sum(1, keepdim=True) - 1).abs() > 1e-2)).any()):  # half precision sums to 1 that far
        raise ValueError(f"{name} must hold class probabilities, rows >= 0 that sum to 1, got others: use logits.softmax(1)")
    return value


@public
def disagreement(prediction: Prediction) -> Tensor:
    """Share of inputs on which two draws answer differently, for each pair, (S, S); 0 on the diagonal.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.disagreement(prediction).tolist()
        [[0.0, 0.5], [0.5, 0.0]]
    """
    log_p = prediction.log_probs
    answers = log_p.argmax(-1)
    return _of_numbers(prediction, (answers[:, None] != answers[None]).to(log_p.dtype).mean(-1))


def _of_numbers(prediction: Prediction, table: Tensor) -> Tensor:
    """A table (S, S) with NaN for the pairs of a draw whose probabilities are NaN."""
    diverged = prediction.log_probs.isnan().flatten(1).any(-1)
    return table.masked_fill(diverged[:, None] | diverged, torch.nan)
