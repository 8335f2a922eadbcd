"""Predictions of a posterior: every draw's output, and the scores of every ensemble size."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_count, check_many_weights
from flatviz.core.batchnorm import check_batchnorm, refresh_batchnorm
from flatviz.core.data import Data
from flatviz.core.forward import forward
from flatviz.core.likelihood import Likelihood, check_labels, check_likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.metrics._bma import N_BINS, accuracy_of, bins_of, brier_of, ece_of, for_sizes, nll_of
from flatviz.results import Posterior, Prediction


def predict(
    net: Net,
    posterior: Posterior,
    x: Tensor | Data,
    n_draws: int,
    *,
    seed: int,
    batchnorm: str | Data | None = None,
    likelihood: Likelihood = "categorical",
    progress: Progress = False,
) -> Prediction:
    """Outputs of `n_draws` draws on `x` (N, ...), (S, N, C); with a `Data`, also the scores of every ensemble size.

    batchnorm: needed only by a net with BatchNorm: "frozen" uses the statistics the net holds, a `Data` re-estimates
    them for each draw.  Raises ValueError for n_draws < 1, more draws than there are, a posterior of another length,
    or a net with BatchNorm and no choice.
    """
    check_count(n_draws, "n_draws")
    check_likelihood(likelihood)
    mode = check_batchnorm(net, batchnorm)
    W = check_many_weights(posterior.sample(n_draws, seed=seed), net.dim, "draws")
    inputs = x.x if isinstance(x, Data) else x
    if isinstance(batchnorm, Data) and net.has_batchnorm:
        rows = [forward(refresh_batchnorm(net, w, batchnorm), w[None], inputs) for w in track(W, "predicting", progress)]
        outputs = torch.cat(rows)
    else:
        outputs = forward(net, W, inputs, progress=progress)
    if not isinstance(x, Data):
        return Prediction(outputs, None, likelihood, mode)
    check_labels(x, outputs[0], likelihood)
    prediction = Prediction(outputs, x.y, likelihood, mode)
    if likelihood != "categorical":
        return prediction
    return _scored(prediction)


def _scored(prediction: Prediction) -> Prediction:
    """The prediction with accuracy, NLL, ECE and Brier of every ensemble size, in one pass over the draws."""
    y = prediction.y

    def all_scores(log_bma: Tensor) -> Tensor:
        bins = bins_of(log_bma, y, N_BINS, "width")
        four = [accuracy_of(log_bma, y), nll_of(log_bma, y), ece_of(bins), brier_of(log_bma, y)]
        return torch.cat([torch.stack(four), bins.reshape(-1)])

    table = for_sizes(prediction, prediction.log_probs, None, all_scores)
    scores = dict(zip(("accuracy", "nll", "ece", "brier"), table[:, :4].T))
    bins = table[:, 4:].reshape(len(table), N_BINS, 3)
    return Prediction(prediction.outputs, y, prediction.likelihood, prediction.batchnorm, scores, bins)
