"""How much the draws of an ensemble differ in what they answer."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.results import Prediction


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
    answers = prediction.log_probs.argmax(-1)
    return _of_numbers(prediction, (answers[:, None] != answers[None]).to(prediction.outputs.dtype).mean(-1))


def _of_numbers(prediction: Prediction, table: Tensor) -> Tensor:
    """A table (S, S) with NaN for the pairs of a draw whose probabilities are NaN."""
    diverged = prediction.log_probs.isnan().flatten(1).any(-1)
    return table.masked_fill(diverged[:, None] | diverged, torch.nan)
