"""bSAM's parts: what each of them holds."""

import pytest
import torch
from torch import nn

import flatviz as fv


def test_sorted_data_have_the_precision_of_shuffled_data():
    """Two classes, one after the other: a part of one class pulls its bias by 1/2, a part of both by next to nothing."""
    net = fv.Net.from_module(nn.Linear(1, 2).double())
    x, y = torch.zeros(40, 1, dtype=torch.float64), torch.arange(40) // 20
    order = torch.randperm(40, generator=torch.Generator().manual_seed(0))
    settings = dict(parts=2, steps=60, damping=0.01, b2=0.9, seed=0)
    net = net.at(torch.zeros_like(net.w))
    ordered, mixed = (fv.fit_bsam(net, fv.Data(x[rows], y[rows]), **settings).log_std[2:] for rows in (torch.arange(40), order))
    torch.testing.assert_close(ordered, mixed, rtol=0, atol=0.15)  # of two random dealings


def test_more_parts_than_examples_are_refused_and_a_short_last_minibatch_is_dealt_out():
    net, data = fv.Net.from_module(nn.Linear(3, 2)), fv.Data(torch.randn(9, 3), torch.arange(9) % 2)
    with pytest.raises(ValueError, match="parts must be at most the 9 examples of a minibatch, got 10: lower parts, or raise"):
        fv.fit_bsam(net, data, parts=10, seed=0)
    with pytest.raises(ValueError, match="parts must be at most the 4 examples of a minibatch, got 5"):
        fv.fit_bsam(net, data, parts=5, batch_size=4, seed=0)
    assert bool(torch.isfinite(fv.fit_bsam(net, data, parts=4, batch_size=4, steps=6, seed=0).log_std).all())  # 4, 4, 1
