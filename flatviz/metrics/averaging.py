"""Averaged probabilities of an ensemble, and temperature scaling."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from flatviz.checks import Positive
from flatviz.core import public
from flatviz.likelihood import as_likelihood
from flatviz.prediction import (
    Prediction,
    labels_of,
    nll_of,
)

# The search is for T in this range on either side of the spread of the logits, with which T scales;
# at the bounds logits are useless, or never wrong
RANGE = 1000.0


def averaged(prediction: Prediction, y: Tensor | None = None) -> Prediction:
    """Return the average of all draws as a prediction of one draw.

    Scoring it is far cheaper than scoring every ensemble size.
    """
    outputs = prediction.outputs
    outputs = outputs.to(torch.promote_types(outputs.dtype, torch.float32))
    # torch's softmax over few classes in the last dimension is ten times as slow
    log_p = outputs.mT.contiguous().log_softmax(-2)
    log_bma = torch.logsumexp(log_p, 0).mT - math.log(prediction.n_draws)
    return prediction.changed(outputs=log_bma[None], y=prediction.y if y is None else y)


@public
def fit_temperature(prediction: Prediction) -> float:
    """Find T > 0 at which the average over draws of softmax(log p / T) has the smallest NLL.

    It uses Brent's method on log T.  log p are logits, or the log probabilities of another
    likelihood of classes, of all labels that count, each alike: class weights do not count.

    Source: Guo et al. 2017 (arXiv 1706.04599).

    Args:
        prediction: Outputs on a validation split, neither that of training nor that of testing.

    Raises:
        ValueError: Without labels, for outputs that are NaN or inf, a regression (use
            `fit_deviation`), and where no finite T is best: logits that are never wrong, or no
            better than chance.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[4.0, 0.0]] * 4])  # class 0, right three times in four
        >>> T = fv.metrics.fit_temperature(fv.Prediction(logits, torch.tensor([0, 0, 0, 1])))
        >>> round(T, 2), round(float((logits / T).softmax(-1)[0, 0, 0]), 2)
        (3.64, 0.75)
    """
    from scipy.optimize import minimize_scalar  # imported here, as predictions need no scipy

    # In float32 the log probabilities of small logits, such as cosines, would lose their digits
    logits = replace(prediction, outputs=prediction.outputs.double()).log_probs.detach()
    diverged = logits.isnan().any(-1).any(0)
    bad = int(diverged.sum())
    if bad:
        raise ValueError(
            f"fit_temperature needs outputs that are numbers, got NaN or inf for {bad} inputs: drop"
            " those draws"
        )
    y = labels_of(prediction)

    def nll_at(log_t: float) -> float:
        log_p = (logits / math.exp(log_t)).log_softmax(-1)
        log_bma = log_p.logsumexp(0) - math.log(len(logits))
        return float(nll_of(log_bma, y))

    middle = math.log(_spread(logits))
    ends = middle - math.log(RANGE), middle + math.log(RANGE)
    best = minimize_scalar(
        nll_at,
        bounds=ends,
        method="bounded",
        options={"xatol": 1e-8},
    )
    if any(best.fun >= nll_at(end) or abs(best.x - end) < 1e-4 for end in ends):
        raise ValueError(
            "fit_temperature needs answers that are sometimes wrong and better than chance, got"
            f" those of no best temperature between {math.exp(ends[0]):.2g} and"
            f" {math.exp(ends[1]):.2g}: predict on more than these {len(y)} validation examples"
        )
    return math.exp(best.x)


def _spread(logits: Tensor) -> float:
    """Compute the median difference of an input's largest and smallest finite logit, at least 1e-9.

    Inputs whose logits are all equal do not count.
    """
    highest = logits.amax(-1)
    lowest = torch.where(logits.isfinite(), logits, highest[..., None]).amin(-1)
    widths = highest - lowest
    some = widths[(widths > 0) & widths.isfinite()]
    return max(float(some.median()), 1e-9) if len(some) else 1.0


@public
def scale_temperature(prediction: Prediction, temperature: Positive) -> Prediction:
    """Divide every draw's logits or log probabilities by `temperature`, and score the result.

    The answers of a single draw stay; those of an average may change.

    Args:
        prediction: Outputs of S draws on N inputs, as `predict` returns.
        temperature: T > 0.

    Raises:
        ValueError: For a regression: use `scale_deviation`.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # (S, N, C)
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.scale_temperature(prediction, 2.0).outputs[0].tolist()
        [[1.0, 0.0], [1.5, 0.0]]
    """
    log_p = prediction.log_probs  # refuses a regression
    likelihood = as_likelihood(prediction.likelihood)
    outputs, likelihood = likelihood.tempered(prediction.outputs.to(log_p), temperature)
    return prediction.changed(outputs=outputs, likelihood=likelihood)
