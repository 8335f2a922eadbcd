"""The biases that docstrings own up to: how cold cyclical SGLD's draws are, how wide bSAM's Gaussian is."""

import math

import pytest
import torch
from torch import nn

import flatviz as fv

N = 50


@pytest.fixture(scope="module")
def curved():
    """1,500 weights that never meet, at their mode, of curvatures 4, .4 and .04: f = 1/2 sum h_i w_i^2 + c."""
    h = torch.tensor([4.0, 0.4, 0.04], dtype=torch.float64).repeat_interleave(500)

    class Each(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros_like(h))

        def forward(self, x):
            return x * h.sqrt() * self.w

    x = torch.ones(N, len(h), dtype=torch.float64)
    return fv.Net.from_module(Each()), fv.Data(x, torch.zeros_like(x)), h


@pytest.mark.parametrize("settings", [{}, dict(noisy_share=1.0, lr=0.2)])
def test_a_cycle_of_sgld_ends_with_the_share_of_the_variance_that_its_noisy_rates_allow(curved, settings):
    net, data, h = curved
    still = dict(seed=0, n_draws=1, cycles=1, weight_decay=0.0, likelihood=1.0)
    w = fv.fit_csgld(net, data, **still, **settings).W[0]
    share, lr = settings.get("noisy_share", 0.2), settings.get("lr", 0.05)
    area = sum(lr / 2 * (1 + math.cos(math.pi * k / 150)) for k in range(150 - round(150 * share), 150))
    found = (w.square() * N * h).view(3, 500).mean(1)
    expected = 1 - torch.exp(-2 * h * area).view(3, 500).mean(1)
    torch.testing.assert_close(found, expected, rtol=0.2, atol=0)  # three standard errors of 500 squares; large steps add some
