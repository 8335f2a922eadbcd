"""Slow and obviously right: what the tests compare with."""

from __future__ import annotations

import torch

import flatviz as fv
from flatviz.core.seeds import generator
from flatviz.training.batched import members_loss
from flatviz.training.gradient import TrainingLoss, gradient
from flatviz.training.starts import starts


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


def stopping_at(step: int):
    """A progress function that cancels before this step."""

    def stop(done, total, label):
        if done == step:
            raise KeyboardInterrupt

    return stop


def one_by_one(net, data, seeds, *, epochs, lr, weight_decay, batch_size):
    """The same training of one network after the other, plain SGD: what `train_pool` is compared with, (S, D)."""
    rows = []
    for w, seed in zip(starts(net, list(seeds), "fresh"), seeds):
        loss, source, w = members_loss(net, data, "categorical", "frozen", 1).losses[0], generator(seed), w.clone()
        for _ in range(epochs):
            for index in torch.randperm(len(data), generator=source).split(batch_size):
                g = gradient(loss, w, index)[1]
                w = w - lr * (g + weight_decay * w)
        rows.append(w)
    return torch.stack(rows)
