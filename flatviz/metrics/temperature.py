"""Temperature scaling: one number that makes confidences right on average (Guo et al. 2017)."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy.optimize import minimize_scalar

from flatviz.checks import Labels, Positive
from flatviz.core.boundary import public
from flatviz.metrics.averaging import labels_of, nll_of, scored
from flatviz.results import Prediction

COLDEST, HOTTEST = 0.05, 20.0


@public
def fit_temperature(prediction: Prediction, y: Labels | None = None) -> float:
    """The T > 0 for which the average of softmax(logits_s / T) over draws has the smallest NLL on held-out labels.

    Found by Brent's method on log T in [log 0.05, log 20].  Fit it on data that is neither trained nor tested on.
    At an end of that interval the logits say nothing (20), or are never wrong (0.05): temperature scaling does not apply.
    y: labels (N,); default: those the prediction carries.

    Raises:
        ValueError: For outputs without a value, none to fit on, and a prediction that is no classification.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[4.0, 0.0]] * 4])  # sure of class 0, which is right three times in four
        >>> T = fv.metrics.fit_temperature(fv.Prediction(logits, torch.tensor([0, 0, 0, 1])))
        >>> round(T, 2), round(float((logits / T).softmax(-1)[0, 0, 0]), 2)
        (3.64, 0.75)
    """
    _check_categorical(prediction)
    y, logits = labels_of(prediction, y), prediction.outputs.double()
    if prediction.n_diverged:
        total = logits.shape[0] * logits.shape[1]
        raise ValueError(
            f"fit_temperature needs finite outputs, got NaN or inf for {prediction.n_diverged} of {total}: drop the draws"
        )

    def loss(log_t: float) -> float:
        return float(nll_of((logits / math.exp(log_t)).log_softmax(-1).logsumexp(0) - math.log(len(logits)), y))

    best = minimize_scalar(loss, bounds=(math.log(COLDEST), math.log(HOTTEST)), method="bounded", options=dict(xatol=1e-5))
    return math.exp(best.x)


@public
def scale_temperature(prediction: Prediction, temperature: Positive) -> Prediction:
    """The prediction with the logits of each draw divided by `temperature`, and its scores anew.

    Answers of a single draw stay; those of an average may not.

    Raises:
        ValueError: For a temperature of 0 or below, and for a prediction that is no classification.

    Example:
        >>> import torch, flatviz as fv
        >>> logits = torch.tensor([[[2.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])  # 2 draws, 2 inputs, 2 classes
        >>> prediction = fv.Prediction(logits, torch.tensor([0, 1]))
        >>> fv.metrics.scale_temperature(prediction, 2.0).outputs[0].tolist()
        [[1.0, 0.0], [1.5, 0.0]]
    """
    _check_categorical(prediction)
    cooled = replace(prediction, outputs=prediction.outputs / temperature, scores={}, bins=None)
    return cooled if prediction.y is None else scored(cooled)


def _check_categorical(prediction: Prediction) -> None:
    if prediction.likelihood != "categorical":
        raise ValueError("temperature scaling needs likelihood='categorical', got a Gaussian one")
