"""65 examples in batches of 64: the last batch holds one example, which has no variance."""

import pytest
import torch
from torch import nn

import flatviz as fv

ALL = (
    lambda net, data: fv.pretrain(net, data, seed=0, epochs=2),
    lambda net, data: fv.fit_sgd(net, data, seed=0, steps=4, batch_size=64, batchnorm="train"),
    lambda net, data: fv.fit_swag(net, data, seed=0, snapshots=5, batchnorm="train"),
    lambda net, data: fv.fit_ensemble(net, data, seed=0, members=2, steps=4, batch_size=64, batchnorm="train"),
)


def made(n=65):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2))
        x = torch.randn(n, 3)
    return fv.Net.from_module(module.eval()), fv.Data(x, (x[:, 0] > 0).long())


@pytest.mark.parametrize("fit", ALL)
def test_a_last_batch_of_one_example_trains(fit):
    net, data = made()
    fit(net, data)
