"""Slow and obviously right: what the tests compare with."""

from __future__ import annotations

import torch

import flatviz as fv
from flatviz.training.gradient import TrainingLoss


def random_gaussian(seed: int, dim: int = 7, rank: int = 3, dtype=torch.float64) -> fv.Gaussian:
    """A Gaussian whose mean, widths and factor are all different."""
    g = torch.Generator().manual_seed(seed)
    mean, log_std = (torch.randn(dim, generator=g, dtype=dtype) for _ in range(2))
    return fv.Gaussian(mean, 0.3 * log_std - 1, 0.3 * torch.randn(rank, dim, generator=g, dtype=dtype))


def dense_covariance(q: fv.Gaussian) -> torch.Tensor:
    """Sigma (D, D), written out."""
    return torch.diag((2 * q.log_std).exp()) + q.factor.T @ q.factor


def as_torch(q: fv.Gaussian) -> torch.distributions.LowRankMultivariateNormal:
    """The same Gaussian in torch's own words."""
    return torch.distributions.LowRankMultivariateNormal(q.mean, q.factor.T, (2 * q.log_std).exp())


class FunctionLoss(TrainingLoss):
    """A plain function of (w, index) as a training loss."""

    def __init__(self, function):
        self.function = function

    def __call__(self, w, index):
        return self.function(w, index)
