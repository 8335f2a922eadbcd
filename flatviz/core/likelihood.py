"""Negative log likelihood of outputs: of classes, or of targets under Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Annotated

from torch import Tensor
from torch.nn import functional as F


def check_likelihood(likelihood: str | float, name: str = "likelihood") -> str | float:
    """'categorical', or the standard deviation of Gaussian noise on the targets (> 0)."""
    if isinstance(likelihood, str) and likelihood == "categorical":
        return likelihood
    if isinstance(likelihood, Real) and not isinstance(likelihood, bool) and math.isfinite(likelihood) and likelihood > 0:
        return float(likelihood)
    raise ValueError(f"{name} must be 'categorical' or a noise standard deviation > 0, got {likelihood!r}")


Likelihood = Annotated[str | float, check_likelihood]


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


def output_gradient(outputs: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """Derivative of -log p(y | outputs) in the outputs, of the shape of outputs (N, C)."""
    if likelihood != "categorical":
        return (outputs - y.reshape(outputs.shape)) / likelihood**2
    return outputs.softmax(-1) - F.one_hot(y, outputs.shape[-1])


def output_curvature(outputs: Tensor, likelihood: Likelihood) -> Callable[[Tensor], Tensor]:
    """U -> Lambda u, Lambda = d^2 (-log p) / d outputs^2 (N, C, C): diag(p) - p p^T for classes, 1 / noise^2 else.

    u has the shape of outputs (N, C), or with dimensions in between, (N, ..., C).
    """
    if likelihood != "categorical":
        return lambda u: u / likelihood**2
    p = outputs.softmax(-1)

    def product(u: Tensor) -> Tensor:
        wide = p.view(len(p), *[1] * (u.ndim - 2), p.shape[-1])
        return wide * (u - (wide * u).sum(-1, keepdim=True))

    return product


def check_labels(y: Tensor, outputs: Tensor, likelihood: Likelihood) -> Tensor:
    """Labels `y` (N,) as int64, or targets (N, ...), once outputs (n, C) of any n examples can be scored on such.

    Raises:
        ValueError: For labels out of range, or of another shape.
        TypeError: For another kind.
    """
    if likelihood == "categorical":
        if outputs.ndim != 2:
            raise ValueError(f"the net must return logits of shape (N, C), got {tuple(outputs.shape)}")
        if y.is_floating_point() or y.is_complex():
            raise TypeError(
                f"likelihood='categorical' needs integer class labels, got {'complex' if y.is_complex() else 'floating'} targets: "
                "give likelihood=the noise standard deviation for a regression"
            )
        if y.ndim != 1:
            raise ValueError(f"labels must have shape ({len(y)},), got {tuple(y.shape)}: use class numbers, not one-hot")
        y, n_classes = y.long(), outputs.shape[1]
        lowest, highest = (int(t) for t in y.aminmax())
        if lowest < 0 or highest >= n_classes:
            raise ValueError(
                f"labels must be in 0..{n_classes - 1} for a net with {n_classes} outputs, "
                f"got {lowest if lowest < 0 else highest}: fix the labels, or widen the head"
            )
        return y
    if not y.is_floating_point():
        raise TypeError("a Gaussian likelihood needs floating targets, got integer labels: use likelihood='categorical'")
    if [side for side in y.shape[1:] if side > 1] != [side for side in outputs.shape[1:] if side > 1]:
        wanted = f"(N, {', '.join(map(str, outputs.shape[1:]))})"
        raise ValueError(f"targets must have shape {wanted} as the net's outputs, got {tuple(y.shape)}: permute their axes")
    return y
