"""Predictions of a posterior: every draw's output, and the scores of every ensemble size."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, check_many_weights, kind
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.inputs import Inputs
from flatviz.core.likelihood import Likelihood, check_labels
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import saved_rng
from flatviz.engine.batchnorm import check_batchnorm, refresh_batchnorm, with_trained_buffers
from flatviz.engine.forward import forward
from flatviz.metrics.averaging import scored
from flatviz.results import AnyPosterior, Posterior, Prediction

Examples = Annotated[Tensor | Inputs | Data, kind((Tensor, Inputs, Data), "a tensor of inputs (N, ...), or fv.Data(x, y)")]


@public
def predict(
    net: Net,
    posterior: AnyPosterior,
    x: Examples,
    n_draws: Count,
    *,
    seed: Seed,
    batchnorm: Literal["frozen"] | Data | None = None,
    likelihood: Likelihood = "categorical",
    progress: Progress = False,
) -> Prediction:
    """Outputs of `n_draws` draws on `x` (N, ...), (S, N, C); with a `Data`, also the scores of every ensemble size.

    x: inputs alone, or a `Data`.  n_draws: S, the ensemble size; scores come for 1..S.
    posterior: or weight vectors (S, D), of which the first `n_draws` are taken in their order, whatever the seed.
    A net with a sampled trunk (`transfer(trunk="sampled")`) is given another one with each draw.
    batchnorm: needed only by a net with BatchNorm: "frozen" uses the statistics the net holds, or those that a fit with
    batchnorm="train" left in the posterior; a `Data` re-estimates them for each draw.

    Raises:
        ValueError: For n_draws < 1, more draws than there are, a posterior of another length, inputs the net cannot
            take, or a net with BatchNorm and no choice.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> q = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> prediction = fv.predict(net, q, data, 5, seed=0)
        >>> prediction.outputs.shape, prediction.scores["nll"].shape
        (torch.Size([5, 4, 3]), torch.Size([5]))
    """
    mode = check_batchnorm(net, batchnorm)
    inputs = x.x if isinstance(x, Data) else x
    check_inputs(net, inputs)
    W = check_many_weights(_draws(posterior, n_draws, seed), net.dim, "draws")
    trunk = "fixed" if net.trunk is None else "sampled"
    if net.trunk is not None:
        net, W = net.restrict("all"), net.trunk.joined(W, seed=seed)
    if mode == "re-estimated":
        rows = [forward(refresh_batchnorm(net, w, batchnorm), w[None], inputs) for w in track(W, "predicting", progress)]
        outputs = torch.cat(rows)
    else:
        outputs = forward(with_trained_buffers(net, posterior), W, inputs, progress=progress)
    if not isinstance(x, Data):
        return Prediction(outputs, None, likelihood, mode, trunk=trunk)
    labels = check_labels(x.y, outputs[0], likelihood)
    prediction = Prediction(outputs, labels, likelihood, mode, trunk=trunk, class_names=x.class_names)
    if likelihood != "categorical":
        return prediction
    return scored(prediction)


def _draws(posterior: Posterior | Tensor, n_draws: int, seed: int) -> Tensor:
    if not isinstance(posterior, Tensor):
        return posterior.sample(n_draws, seed=seed)
    if n_draws > len(posterior):
        raise ValueError(f"asked for {n_draws} draws, got {len(posterior)} weight vectors: lower n_draws, or give more")
    return posterior[:n_draws]


def check_inputs(net: Net, x: Tensor) -> None:
    """That the net takes such inputs, tried on one of them."""
    known = "" if net.example is None else f", which takes (N, {', '.join(map(str, net.example.shape[1:]))})"
    if x.ndim == 0 or len(x) == 0:
        raise ValueError(f"x must hold at least one input of {net!r}{known}, got shape {tuple(x.shape)}")
    try:
        with torch.inference_mode(False), torch.no_grad(), saved_rng():
            net(net.w, x[:1].clone())  # a first layer may work in place
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise ValueError(f"inputs of shape {tuple(x.shape)} do not pass through {net!r}{known}: {error}") from error
