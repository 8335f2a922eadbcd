"""Predictions of a Gaussian posterior through the network linearised in its weights.

    f(x; w) ~ f(x; m) + J(x) (w - m),   so f ~ N(f(x; m), V),   V = J Sigma J^T  (C, C)

It is the prediction for which Laplace's curvature is exact.  It serves any `Gaussian`: SWAG, VI, SA-BMA.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from flatviz.checks import Count, Seed, check_weights
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.engine.batchnorm import with_trained_buffers
from flatviz.gaussian import Gaussian
from flatviz.metrics.averaging import scored
from flatviz.objectives.jacobian import jacobian_chunks
from flatviz.objectives.nll import check_data
from flatviz.results import Prediction


@public
def predict_linearised(
    net: Net,
    posterior: Gaussian,
    data: Data,
    *,
    link: Literal["probit", "mc"] = "probit",
    n_draws: Count = 100,
    likelihood: Likelihood = "categorical",
    seed: Seed = 0,
) -> Prediction:
    """Predictions of the linearised network on `data`, with their scores.

    link: "probit", softmax(f / sqrt(1 + pi/8 diag V)), is one draw, whose outputs are log p; "mc" is `n_draws` draws of the logits
    from N(f, V), (S, N, C), so that `mutual_information` and every ensemble size have a meaning.
    likelihood: "categorical", or the noise's standard deviation of a regression, whose means have link="mc" alone.

    Raises:
        ValueError: For a posterior of another length, an unknown link, or one that the likelihood does not have.
        TypeError: For labels of another kind.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> mean = torch.tensor([0.0] * 8 + [2.0])  # a bias of 2 for class 2
        >>> sure, unsure = (fv.Gaussian(mean, torch.full_like(mean, log_std)) for log_std in (-9.0, 2.0))
        >>> [round(float(fv.metrics.predict_linearised(net, q, data).probs.max()), 2) for q in (sure, unsure)]
        [0.79, 0.39]
    """
    if likelihood != "categorical" and link != "mc":
        raise ValueError(f"a regression must have link='mc', draws of its means, got {link!r}, which makes class probabilities")
    check_data(net, data, likelihood)
    mean, cov = linearised(net, posterior, data)
    if link == "probit":
        outputs = (mean / (1 + math.pi / 8 * cov.diagonal(dim1=1, dim2=2)).sqrt()).log_softmax(-1)[None]
    else:
        outputs = _mc(mean, cov, n_draws, seed)
    statistics = "frozen" if net.has_batchnorm else None
    prediction = Prediction(outputs, data.y, likelihood, statistics, class_names=data.class_names)
    return scored(prediction) if likelihood == "categorical" else prediction


def linearised(net: Net, posterior: Gaussian, data: Data) -> tuple[Tensor, Tensor]:
    """F (N, C) and V (N, C, C) of the outputs."""
    if not isinstance(posterior, Gaussian):
        raise TypeError(f"posterior must be a Gaussian, got {type(posterior).__name__}: use predict")
    check_weights(posterior.center, net.dim, "posterior.center")
    means, covs = [], []
    for f, J in jacobian_chunks(with_trained_buffers(net, posterior), posterior.mean, data):
        means.append(f)
        covs.append(posterior.cov_mul(J) @ J.transpose(1, 2))
    return torch.cat(means), torch.cat(covs)


def _mc(mean: Tensor, cov: Tensor, n_draws: int, seed: int) -> Tensor:
    """Draws of the logits, (S, N, C)."""
    values, vectors = _eigen(cov)
    root = (vectors * values.sqrt()[:, None, :]) @ vectors.transpose(1, 2)  # symmetric: no choice of eigenvectors is in it
    z = torch.randn(n_draws, *mean.shape, generator=generator(seed), dtype=torch.float64).to(root.device)
    return (mean.double() + (root @ z[..., None])[..., 0]).to(mean.dtype)


def _eigen(cov: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues (N, C) and eigenvectors of V in float64, none below what the dtype of V can distinguish from zero.

    V of rank below C is common, and its rounding then makes eigenvalues of either sign.
    """
    wide = cov.double()
    values, vectors = torch.linalg.eigh((wide + wide.transpose(1, 2)) / 2)
    floor = cov.shape[1] * torch.finfo(cov.dtype).eps * values[:, -1:]
    return torch.maximum(values, floor.clamp_min(1e-100)), vectors
