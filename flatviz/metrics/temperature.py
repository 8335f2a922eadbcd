"""Temperature scaling: one number that makes confidences right on average (Guo et al. 2017)."""

from __future__ import annotations

import math

from torch import Tensor

from flatviz.checks import check_nonnegative
from flatviz.metrics.averaging import labels_of, nll_of, scored
from flatviz.results import Prediction


def fit_temperature(prediction: Prediction, y: Tensor | None = None) -> float:
    """The T > 0 for which the average of softmax(logits_s / T) over draws has the smallest NLL on held-out labels.

    Found by golden section on log T in [log 0.05, log 20].  Fit it on data that is neither trained nor tested on.
    """
    y, logits = labels_of(prediction, y), prediction.outputs.double()

    def loss(log_t: float) -> float:
        return float(nll_of((logits / math.exp(log_t)).log_softmax(-1).logsumexp(0) - math.log(len(logits)), y))

    lo, hi, ratio = math.log(0.05), math.log(20.0), (math.sqrt(5) - 1) / 2
    a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
    fa, fb = loss(a), loss(b)
    while hi - lo > 1e-4:
        if fa < fb:
            hi, b, fb = b, a, fa
            a = hi - ratio * (hi - lo)
            fa = loss(a)
        else:
            lo, a, fa = a, b, fb
            b = lo + ratio * (hi - lo)
            fb = loss(b)
    return math.exp((lo + hi) / 2)


def scale_temperature(prediction: Prediction, temperature: float) -> Prediction:
    """The prediction with the logits of each draw divided by `temperature`, and its scores anew.

    Answers of a single draw stay; those of an average may not.  Raises ValueError for a temperature of 0 or below, and
    for a prediction that is no classification.
    """
    if check_nonnegative(temperature, "temperature") == 0:
        raise ValueError("temperature must be > 0, got 0")
    if prediction.likelihood != "categorical":
        raise ValueError("temperature scaling needs likelihood='categorical', got a Gaussian one")
    cooled = Prediction(prediction.outputs / temperature, prediction.y, "categorical", prediction.batchnorm)
    return cooled if prediction.y is None else scored(cooled)
