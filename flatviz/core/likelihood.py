"""Negative log likelihood of outputs: of classes, or of targets under Gaussian noise."""

from __future__ import annotations

import math
from numbers import Real

from torch import Tensor
from torch.nn import functional as F

from flatviz.core.data import Data

Likelihood = str | float


def check_likelihood(likelihood: Likelihood) -> Likelihood:
    """'categorical', or the standard deviation of Gaussian noise on the targets (> 0)."""
    if likelihood == "categorical":
        return likelihood
    if isinstance(likelihood, Real) and not isinstance(likelihood, bool) and math.isfinite(likelihood) and likelihood > 0:
        return float(likelihood)
    raise ValueError(f"likelihood must be 'categorical' or a noise standard deviation > 0, got {likelihood!r}")


def mean_nll(outputs: Tensor, y: Tensor, likelihood: Likelihood, *, reduction: str = "mean") -> Tensor:
    """Mean over examples (or their sum, reduction="sum") of -log p(y | outputs), in nats; outputs (N, C).

    Categorical: logits and classes (N,).  Gaussian: means and targets of one shape, summed over their C components.
    """
    if likelihood == "categorical":
        return F.cross_entropy(outputs, y, reduction=reduction)
    y = y.reshape(outputs.shape)
    squared = (outputs - y).square().sum() / (2 * likelihood**2)
    loss = squared + outputs.numel() * (math.log(likelihood) + 0.5 * math.log(2 * math.pi))
    return loss if reduction == "sum" else loss / len(outputs)


def check_labels(data: Data, outputs: Tensor, likelihood: Likelihood) -> None:
    """That the outputs of a few examples can be scored on `data`'s labels."""
    if likelihood == "categorical":
        if outputs.ndim != 2:
            raise ValueError(f"the net must return logits of shape (N, C), got {tuple(outputs.shape)}")
        if data.y.is_floating_point():
            raise TypeError(
                "likelihood='categorical' needs integer class labels, got floating targets: "
                "give likelihood=the noise standard deviation for a regression"
            )
        if data.y.ndim != 1:
            raise ValueError(
                f"labels must have shape ({len(data)},), got {tuple(data.y.shape)}: use class numbers, not one-hot"
            )
        if int(data.y.max()) >= outputs.shape[1]:
            raise ValueError(
                f"labels must be in 0..{outputs.shape[1] - 1} for a net with {outputs.shape[1]} outputs, "
                f"got {int(data.y.max())}: fix the labels, or widen the head"
            )
        return
    if not data.y.is_floating_point():
        raise TypeError("a Gaussian likelihood needs floating targets, got integer labels: use likelihood='categorical'")
    per_example = outputs[0].numel()
    if data.y[0].numel() != per_example:
        raise ValueError(f"targets must have {per_example} components as the net's output, got {data.y[0].numel()}")
