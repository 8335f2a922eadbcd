"""What a fit takes of a device's memory is known beforehand."""

import pytest
import torch
from second_device import peak_bytes
from torch import nn

import flatviz as fv

# tensors of D numbers that a fit has at once at the most, and those for each of K rows of the factor: the parameters, their
# momentum, gradients, the perturbed copy, the prior, and the divergence in float64; of one draw a step
VECTORS = {"fit_sgd": (4, 0), "fit_sgd, SAM": (7, 0), "fit_vi": (26, 14), "fit_sabma": (26, 11)}


@pytest.mark.parametrize("rank", [0, 5])
@pytest.mark.parametrize("name", VECTORS)
def test_a_fit_stays_within_its_bound_and_the_bound_is_no_idle_one(name, rank, device):
    net = fv.Net.from_module(nn.Sequential(nn.Linear(100, 200), nn.ReLU(), nn.Linear(200, 2))).to(device)
    data = fv.Data(torch.randn(8, 100), torch.arange(8) % 2).to(device)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -6.0), 1e-3 * torch.randn(rank, net.dim).to(device))
    one = dict(seed=0, steps=3)
    fits = {
        "fit_sgd": lambda: fv.fit_sgd(net, data, **one),
        "fit_sgd, SAM": lambda: fv.fit_sgd(net, data, ascent=fv.SAM(0.05), **one),
        "fit_vi": lambda: fv.fit_vi(net, data, prior, mc_samples=1, **one),
        "fit_sabma": lambda: fv.fit_sabma(net, data, prior, radius=0.1, mc_samples=1, **one),
    }
    fits[name]()  # what is made once
    alone, each = VECTORS[name]
    peak, bound = peak_bytes(fits[name]), 4 * net.dim * (alone + each * rank)
    small = 2**17  # a pass of 8 examples, and losses
    assert bound / 3 < peak < 1.1 * bound + small
